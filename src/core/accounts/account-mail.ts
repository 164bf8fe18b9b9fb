/**
 * Mails about an account, to its own address.
 *
 * Owns: handing them over behind the answer, and telling what became of them. Invariants: a mail never decides an
 * outcome, and no event names the address (P18); whether a stranger's request leads to a mail is not shown by the work
 * that follows the answer (P17).
 */
import type { AccountCore } from '../core.ts';
import type { Events } from '../events.ts';
import type { AccountMail, Handover } from '../mail/mailer.ts';

export function sendAfter({ mailer, events, inBackground }: AccountCore, mail: AccountMail): void {
  inBackground(async () => tellEnd(events, mail, await mailer.sendAccountMail(mail)));
}

/**
 * For requests that anybody can make for any address. All mails that could follow are written and signed on this thread,
 * whatever is known of the address, so the next request on it waits as long; sending one is left, and that comes after a
 * pause, so it does not follow the answer.
 *
 * @param chosen one of `mails`; `null`: none is sent
 */
export function sendOneOf(
  deps: AccountCore,
  mails: readonly AccountMail[],
  chosen: AccountMail | null,
): void {
  const { mailer, events, inBackground, pauseBeforeSending } = deps;
  inBackground(async () => {
    const written = [];
    for (const mail of mails) written.push({ mail, ...(await mailer.writeAccountMail(mail)) });
    await pauseBeforeSending();
    for (const { mail, send } of written) if (mail === chosen) tellEnd(events, mail, await send());
  });
}

function tellEnd(events: Events, { kind }: AccountMail, { state }: Handover): void {
  events({ event: 'account_mail_ended', kind, state });
}

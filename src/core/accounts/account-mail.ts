/**
 * Emails about an account, sent to its address after the response. An email never decides an outcome, and no event names the address
 * (P18). The work after the response does not reveal whether a stranger's request caused an email (P17).
 */

import type { Events } from '../events.ts';
import type { AccountMail, Handover } from '../mailer.ts';
import type { AccountCore } from '../ports/core.ts';

export function sendAfter({ mailer, events, inBackground }: AccountCore, mail: AccountMail): void {
  inBackground(async () => reportEnd(events, mail, await mailer.sendAccountMail(mail)));
}

/**
 * Serves requests that anyone can make for any address. Every email that could follow is written and signed on this thread for every
 * address, so the next request always waits equally long. Only the sending differs, and a random pause before it hides its timing.
 *
 * @param chosen one of `mails`; `null` sends none
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
    for (const { mail, send } of written) if (mail === chosen) reportEnd(events, mail, await send());
  });
}

function reportEnd(events: Events, { kind }: AccountMail, { state }: Handover): void {
  events({ event: 'account_mail_ended', kind, state });
}

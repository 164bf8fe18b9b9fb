/**
 * Mails about an account, to its own address.
 *
 * Owns: handing them over behind the answer, and telling what became of them. Invariant: a mail never decides an
 * outcome, and no event names the address (P18).
 */
import type { InBackground } from './background.ts';
import type { AccountMail, Events, Mailer } from './ports.ts';

export interface AccountMailDeps {
  readonly mailer: Pick<Mailer, 'sendAccountMail'>;
  readonly events: Events;
  readonly inBackground: InBackground;
}

export function sendBehind({ mailer, events, inBackground }: AccountMailDeps, mail: AccountMail): void {
  inBackground(async () => {
    const { state } = await mailer.sendAccountMail(mail);
    events({ event: 'account_mail_ended', kind: mail.kind, state });
  });
}

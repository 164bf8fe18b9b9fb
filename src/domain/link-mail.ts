/**
 * The mail to a recipient: handed over, and what became of it noted.
 *
 * Owns: making the mail of a stored record. Invariant: the plain address goes to the mailer and nowhere else; the event
 * and the receipt say only how it ended (P18).
 */
import { tagOf } from './access.ts';
import type { Links } from './links.ts';
import type { Events, Mailer, SecretStore } from './ports.ts';
import type { Mailing } from './receipts.ts';
import type { NewRecord } from './secret.ts';
import { Sensitive } from './sensitive.ts';

export interface LinkMailDeps {
  readonly store: SecretStore;
  readonly mailer: Mailer;
  readonly links: Links;
  readonly events: Events;
}

type MailedRecord = Pick<NewRecord, 'secretId' | 'receiptId' | 'hasPassphrase' | 'expiresAt' | 'shareDomain'>;

/** @param from the sender's username */
export async function sendLink(
  deps: LinkMailDeps,
  record: MailedRecord,
  { secretKey, to }: Mailing,
  from: string,
  locale: string,
): Promise<void> {
  const state = await deps.mailer.sendSecretLink({
    to,
    from: new Sensitive(from),
    link: new Sensitive(deps.links.secretUrl(secretKey, record.shareDomain)),
    hasPassphrase: record.hasPassphrase,
    expiresAt: record.expiresAt,
    locale,
  });
  deps.events({ event: 'mail_ended', tag: tagOf(record.secretId), state });
  await deps.store.setDelivery(record.receiptId, state);
}

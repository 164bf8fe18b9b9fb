/**
 * The mail to a recipient: queued, handed over, and what became of it noted.
 *
 * Owns: making the mail of a stored record, and the order of what is noted. Invariant: the plain address goes to the mailer
 * and into a box, and the server's reply into a box alone (P9): the event says only how it ended (P18). `queued` is noted
 * with the time until which it is to be believed, so that a process that ends leaves no mail that looks under way.
 */
import type { RandomBytes } from '../../crypto/random.ts';
import type { Events } from '../events.ts';
import type { Links } from '../links.ts';
import {
  firstTrySeconds,
  type Mailer,
  type MailFaceOf,
  type MailLocaleOf,
  type SecretStore,
} from '../ports.ts';
import { tagOf } from '../secrets/access.ts';
import { type Mailing, sealNote } from '../secrets/receipts.ts';
import type { NewRecord, StoredDelivery } from '../secrets/secret.ts';
import { Sensitive } from '../sensitive.ts';

export interface LinkMailDeps {
  readonly store: SecretStore;
  readonly mailer: Pick<Mailer, 'sendSecretLink'>;
  readonly mailFaceOf: MailFaceOf;
  readonly mailLocaleOf: MailLocaleOf;
  readonly links: Links;
  readonly events: Events;
  readonly random: RandomBytes;
}

type MailedRecord = Pick<NewRecord, 'secretId' | 'receiptId' | 'hasPassphrase' | 'expiresAt' | 'shareDomain'>;
type Noted = Pick<StoredDelivery, 'state' | 'staleAt'>;

function note(
  { store, random }: LinkMailDeps,
  receiptId: NewRecord['receiptId'],
  mailing: Mailing,
  { state, staleAt }: Noted,
  reply: string | null,
): Promise<void> {
  return store.setDelivery(receiptId, { state, staleAt, ...sealNote(random, receiptId, mailing, reply) });
}

/** Notes that the mail is about to be handed over. */
export function queueLink(
  deps: LinkMailDeps,
  receiptId: NewRecord['receiptId'],
  mailing: Mailing,
): Promise<void> {
  const staleAt = deps.store.now() + firstTrySeconds;
  return note(deps, receiptId, mailing, { state: 'queued', staleAt }, null);
}

/**
 * @param from the sender's username
 * @param asked the language that the caller named, if any
 */
export async function sendLink(
  deps: LinkMailDeps,
  record: MailedRecord,
  mailing: Mailing,
  from: string,
  asked: string | null,
): Promise<void> {
  const { receiptId, hasPassphrase, expiresAt, shareDomain } = record;
  const { secretKey, to } = mailing;
  const link = new Sensitive(deps.links.secretUrl(secretKey, shareDomain));
  const locale = deps.mailLocaleOf(asked);
  const face = await deps.mailFaceOf(shareDomain);
  let noted: Promise<unknown> = Promise.resolve();
  const onRetry = (withinSeconds: number, reply: string | null) => {
    const queued: Noted = { state: 'queued', staleAt: deps.store.now() + withinSeconds };
    // One behind the other, so that the store never keeps the earlier of two; the mail goes on without a note.
    noted = noted.then(() => note(deps, receiptId, mailing, queued, reply)).catch(() => undefined);
  };
  const mail = { to, from: new Sensitive(from), link, hasPassphrase, expiresAt, locale, face };
  const { state, reply } = await deps.mailer.sendSecretLink(mail, onRetry);
  deps.events({ event: 'mail_ended', tag: tagOf(record.secretId), state });
  await noted;
  await note(deps, receiptId, mailing, { state, staleAt: null }, reply);
}

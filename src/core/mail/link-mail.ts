/**
 * The mail to a recipient: queued, handed over, and what became of it noted; and deliver, the same mail once more or to
 * another address.
 *
 * The plain address goes to the mailer and into a box, and the server's reply into a box alone (P9): the event says only
 * how it ended (P18). `queued` is noted with the time until which it is to be believed, so that a process that ends leaves
 * no mail that looks under way.
 *
 * A delivery takes the order find → check → open → count → queue → hand over. A mail goes out only for a secret that
 * waits, never beside another mail of the same secret, and to a new address only for an account that manages the record:
 * whoever merely holds the receipt's key reaches nobody new.
 */

import type { Account, Caller } from '../accounts/accounts.ts';
import type { Core } from '../core.ts';
import { tagOf } from '../secrets/access.ts';
import type { DeliverInput, DeliverOutcome, TooManyMails } from '../secrets/outcomes.ts';
import {
  findManaged,
  findReceipt,
  type Mailing,
  type ManagedReceipt,
  openMailing,
  sealNote,
} from '../secrets/receipts.ts';
import type { NewRecord, StoredDelivery, StoredReceipt } from '../secrets/secret.ts';
import { Sensitive } from '../sensitive.ts';
import { firstTrySeconds } from './mailer.ts';
import { parseRecipient, withParsedRecipient } from './recipients.ts';

/**
 * What is noted in the place of a reply where the mail server gave none that could be. It names no host, no address and no
 * setting, because whoever holds the receipt's key reads it.
 */
export const mailTroubles = {
  unreachable: 'The mail server cannot be reached.',
  unanswered: 'The mail server did not answer.',
} as const;

export type MailTrouble = keyof typeof mailTroubles;

/** Which trouble a reply stands for; `null` where it is the server's own, or there is none. */
export function mailTroubleOf(reply: string | null): MailTrouble | null {
  const names = Object.keys(mailTroubles) as MailTrouble[];
  return names.find((name) => mailTroubles[name] === reply) ?? null;
}

type MailedRecord = Pick<NewRecord, 'secretId' | 'receiptId' | 'hasPassphrase' | 'expiresAt' | 'shareDomain'>;
type Noted = Pick<StoredDelivery, 'state' | 'staleAt'>;

function note(
  { store, random }: Core,
  receiptId: NewRecord['receiptId'],
  mailing: Mailing,
  { state, staleAt }: Noted,
  reply: string | null,
): Promise<void> {
  return store.setDelivery(receiptId, { state, staleAt, ...sealNote(random, receiptId, mailing, reply) });
}

/** Notes that the mail is about to be handed over, where none is. */
function queueLink(deps: Core, receiptId: NewRecord['receiptId'], mailing: Mailing) {
  const staleAt = deps.store.now() + firstTrySeconds;
  return deps.store.queueDelivery(receiptId, { staleAt, ...sealNote(deps.random, receiptId, mailing, null) });
}

/**
 * @param from the sender's username
 * @param asked the language that the caller named, if any
 */
export async function sendLink(
  deps: Core,
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

type Told = Extract<DeliverOutcome, { receipt: unknown }>['outcome'];

export async function deliver(deps: Core, given: DeliverInput, caller: Caller): Promise<DeliverOutcome> {
  const input = withParsedRecipient(given);
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const refusal = checkRecipient(input, managed.stored, caller);
  if (refusal !== null) return refusal;
  const outcome = await send(deps, managed, input, caller);
  if (typeof outcome !== 'string') return outcome;
  // What was read before may be out of date (P6).
  const told = await findReceipt(deps, input, caller);
  return told.outcome === 'unknown' ? told : { outcome, receipt: told.receipt };
}

/** Whether this caller may name this address; `null` when nothing stands in the way. */
function checkRecipient(
  { recipient }: DeliverInput,
  { owner }: StoredReceipt,
  caller: Caller,
): DeliverOutcome | null {
  if (recipient === null) return null;
  const isManager = caller.kind === 'account' && (owner === null || owner === caller.account.id);
  if (!isManager) return { outcome: 'recipient_needs_account' };
  const address = recipient.expose();
  return parseRecipient(address) !== null ? null : { outcome: 'undeliverable_recipient', recipient: address };
}

/** Of several calls at once, on whatever nodes, the one whose mail the store has queued hands it over. */
async function send(
  deps: Core,
  managed: ManagedReceipt,
  { recipient, locale }: DeliverInput,
  caller: Caller,
): Promise<Told | TooManyMails> {
  const { stored } = managed;
  const mailing = openMailing(deps, managed, recipient);
  if (mailing === null) return 'nothing_to_send';
  if (stored.delivery?.state === 'queued') return 'in_flight';
  const sender = await senderOf(deps, stored, caller);
  if (sender === null) return 'nothing_to_send';
  const quota = deps.mailQuota.take(sender.id, mailing.to);
  if (quota.outcome === 'too_many') return { ...quota, outcome: 'too_many_mails' };
  const queued = await queueLink(deps, stored.receiptId, mailing);
  if (queued !== 'queued') {
    deps.mailQuota.refund(sender.id, mailing.to);
    return queued === 'gone' ? 'nothing_to_send' : 'in_flight';
  }
  deps.inBackground(() => sendLink(deps, stored, mailing, sender.username, locale));
  return 'queued';
}

/** The account that made the secret; where none did, the one that asks. */
async function senderOf(deps: Core, { owner }: StoredReceipt, caller: Caller): Promise<Account | null> {
  if (caller.kind === 'account' && (owner === null || owner === caller.account.id)) return caller.account;
  return owner === null ? null : deps.store.findAccountById(owner);
}

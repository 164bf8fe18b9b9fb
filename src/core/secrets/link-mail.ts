/**
 * The email with the link: queued, handed over, and its result recorded. `deliver` sends it again, or to another address, in
 * the order find → check → open → count → queue → hand over.
 *
 * The plain address goes only to the mailer and into a box, the server's reply only into a box (P9); the event reports only
 * how it ended (P18). `queued` is recorded with the time when it goes stale, so that no email looks in flight after its
 * process has died. An email goes out only while its secret waits, one at a time per secret, and to a new address only for
 * an account that manages the record: the metadata key is not enough.
 */

import type { Account, Caller } from '../account.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { tagOf } from '../keys.ts';
import { parseRecipient } from '../mail/recipients.ts';
import { firstTrySeconds } from '../mailer.ts';
import type { Core } from '../ports/core.ts';
import type { NewRecord, StoredDelivery } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import type { DeliverInput, DeliverOutcome, RecipientRefusal, TooManyMails } from './outcomes.ts';
import {
  findManaged,
  findReceipt,
  type Mailing,
  type ManagedReceipt,
  openMailing,
  sealNote,
} from './receipts.ts';

/** Recorded if there is no reply. Anyone with the metadata key can read it, so it names no host, address or setting. */
export const mailTroubles = {
  unreachable: 'The mail server cannot be reached.',
  unanswered: 'The mail server did not answer.',
} as const;

export type MailTrouble = keyof typeof mailTroubles;

/** Returns `null` if the reply is the mail server's, or missing. */
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

/** Records that the email is about to be handed over, unless another one already is. */
function queueLink(deps: Core, receiptId: NewRecord['receiptId'], mailing: Mailing) {
  const staleAt = deps.store.now() + firstTrySeconds;
  return deps.store.queueDelivery(receiptId, { staleAt, ...sealNote(deps.random, receiptId, mailing, null) });
}

/**
 * @param sender the account whose address and name are in the email
 * @param asked the language that the caller requested
 */
export async function sendLink(
  deps: Core,
  record: MailedRecord,
  mailing: Mailing,
  sender: Account,
  asked: string | null,
): Promise<void> {
  const { receiptId, hasPassphrase, expiresAt, shareDomain } = record;
  const { secretKey, to } = mailing;
  const link = new Sensitive(deps.links.secretUrl(secretKey, shareDomain));
  const locale = deps.mailLocaleOf(asked);
  const brand = await deps.mailBrandOf(shareDomain);
  const senderName = await senderNameOf(deps.store, sender, shareDomain);
  const from = new Sensitive(sender.username);
  let noted: Promise<unknown> = Promise.resolve();
  const onRetry = (withinSeconds: number, reply: string | null) => {
    const queued: Noted = { state: 'queued', staleAt: deps.store.now() + withinSeconds };
    // Notes are written in order, so that the latest wins. Sending continues even if one fails.
    noted = noted.then(() => note(deps, receiptId, mailing, queued, reply)).catch(() => undefined);
  };
  const mail = { to, from, senderName, link, hasPassphrase, expiresAt, locale, brand };
  const { state, reply } = await deps.mailer.sendSecretLink(mail, onRetry);
  deps.events({ event: 'mail_ended', tag: tagOf(record.secretId), state });
  await noted;
  await note(deps, receiptId, mailing, { state, staleAt: null }, reply);
}

type Sending = Extract<DeliverOutcome, { receipt: unknown }>['outcome'];

/** Sends the recipient's email again, or to another address. */
export async function deliver(deps: Core, input: DeliverInput, caller: Caller): Promise<DeliverOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const address = input.recipient === null ? null : parseRecipient(input.recipient.expose());
  const refusal = input.recipient === null ? null : checkRecipient(input.recipient, address, caller);
  if (refusal !== null) return refusal;
  if (managed.stored.sealed) return { outcome: 'link_unknown' };
  const outcome = await send(deps, managed, address, input.locale, caller);
  if (typeof outcome !== 'string') return outcome;
  // The record read above may be out of date (P6).
  const found = await findReceipt(deps, input, caller);
  return found.outcome === 'unknown' ? found : { outcome, receipt: found.receipt };
}

/** @param parsed the recipient, or `null` if it is not a deliverable address */
export function checkRecipient(
  recipient: Sensitive<string>,
  parsed: string | null,
  caller: Caller,
): RecipientRefusal | null {
  if (caller.kind === 'anonymous') return { outcome: 'recipient_needs_account' };
  return parsed === null ? { outcome: 'undeliverable_recipient', recipient: recipient.expose() } : null;
}

/** Sends the email. Of concurrent calls, on any nodes, only the one whose email the store has queued hands it over. */
async function send(
  deps: Core,
  managed: ManagedReceipt,
  address: string | null,
  locale: string,
  caller: Caller,
): Promise<Sending | TooManyMails> {
  const { stored } = managed;
  const mailing = await openMailing(deps, managed, address);
  if (mailing === null) return 'nothing_to_send';
  if (stored.delivery?.state === 'queued') return 'in_flight';
  if (caller.kind === 'anonymous') return 'nothing_to_send';
  const sender = caller.account;
  const quota = await deps.mailQuota.take(sender.id, mailing.to);
  if (quota.outcome === 'too_many') return { ...quota, outcome: 'too_many_mails' };
  const queued = await queueLink(deps, stored.receiptId, mailing);
  if (queued !== 'queued') {
    await deps.mailQuota.refund(sender.id, mailing.to);
    return queued === 'gone' ? 'nothing_to_send' : 'in_flight';
  }
  deps.inBackground(() => sendLink(deps, stored, mailing, sender, locale));
  return 'queued';
}

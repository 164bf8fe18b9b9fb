/**
 * The mail with the link: queued, handed over, and its result noted. And deliver: the same mail once more, or to another
 * address.
 *
 * The plain address goes only to the mailer and into a box, the server's reply only into a box (P9); the event says only
 * how it ended (P18). `queued` is noted with the time at which it goes stale, so a process that dies leaves no mail that
 * looks in flight.
 *
 * A delivery takes the order find → check → open → count → queue → hand over. A mail goes out only while its secret waits,
 * one at a time per secret, and to a new address only for an account that manages the record: holding the metadata key is
 * not enough.
 */

import type { Account, Caller } from '../account.ts';
import { senderNameOf } from '../accounts/sender-name.ts';
import { parseRecipient, withParsedRecipient } from '../mail/recipients.ts';
import { firstTrySeconds } from '../mailer.ts';
import type { Core } from '../ports/core.ts';
import type { NewRecord, StoredDelivery } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import { tagOf } from './access.ts';
import type { DeliverInput, DeliverOutcome, TooManyMails } from './outcomes.ts';
import {
  findManaged,
  findReceipt,
  type Mailing,
  type ManagedReceipt,
  openMailing,
  sealNote,
} from './receipts.ts';

/** Noted in place of a missing reply. Names no host, address or setting: anyone with the metadata key may read it. */
export const mailTroubles = {
  unreachable: 'The mail server cannot be reached.',
  unanswered: 'The mail server did not answer.',
} as const;

export type MailTrouble = keyof typeof mailTroubles;

/** The trouble that a reply stands for; `null` if the reply is the server's own, or missing. */
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

/** Notes that the mail is about to be handed over, unless one already is. */
function queueLink(deps: Core, receiptId: NewRecord['receiptId'], mailing: Mailing) {
  const staleAt = deps.store.now() + firstTrySeconds;
  return deps.store.queueDelivery(receiptId, { staleAt, ...sealNote(deps.random, receiptId, mailing, null) });
}

/**
 * @param sender its address and its name are in the mail
 * @param asked the language that the caller asked for
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
    // In order, so that the later note wins. The mail goes on even if a note fails.
    noted = noted.then(() => note(deps, receiptId, mailing, queued, reply)).catch(() => undefined);
  };
  const mail = { to, from, senderName, link, hasPassphrase, expiresAt, locale, brand };
  const { state, reply } = await deps.mailer.sendSecretLink(mail, onRetry);
  deps.events({ event: 'mail_ended', tag: tagOf(record.secretId), state });
  await noted;
  await note(deps, receiptId, mailing, { state, staleAt: null }, reply);
}

type Sending = Extract<DeliverOutcome, { receipt: unknown }>['outcome'];

export async function deliver(deps: Core, given: DeliverInput, caller: Caller): Promise<DeliverOutcome> {
  const input = withParsedRecipient(given);
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const refusal = checkRecipient(input, caller);
  if (refusal !== null) return refusal;
  if (managed.stored.sealed) return { outcome: 'link_unknown' };
  const outcome = await send(deps, managed, input, caller);
  if (typeof outcome !== 'string') return outcome;
  // What was read before may be out of date (P6).
  const found = await findReceipt(deps, input, caller);
  return found.outcome === 'unknown' ? found : { outcome, receipt: found.receipt };
}

/** Why this caller may not mail this address; `null` if they may. */
function checkRecipient({ recipient }: DeliverInput, caller: Caller): DeliverOutcome | null {
  if (recipient === null) return null;
  if (caller.kind === 'anonymous') return { outcome: 'recipient_needs_account' };
  const address = recipient.expose();
  return parseRecipient(address) !== null ? null : { outcome: 'undeliverable_recipient', recipient: address };
}

/** Of several simultaneous calls, on any nodes, only the one whose mail the store has queued hands it over. */
async function send(
  deps: Core,
  managed: ManagedReceipt,
  { recipient, locale }: DeliverInput,
  caller: Caller,
): Promise<Sending | TooManyMails> {
  const { stored } = managed;
  const mailing = await openMailing(deps, managed, recipient);
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

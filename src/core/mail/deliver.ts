/**
 * Deliver: the recipient's mail once more, or to another address.
 *
 * Owns: the order find → check → open → count → queue → hand over. Invariant: a mail goes out only for a secret that waits,
 * never beside another mail of the same secret, and to a new address only for an account that manages the record: whoever
 * merely holds the receipt's key reaches nobody new.
 */
import { hex } from '../../crypto/bytes.ts';
import type { Account, Caller } from '../accounts/accounts.ts';
import type { InBackground } from '../background.ts';
import type { MailQuota } from '../ports.ts';
import type { DeliverInput, DeliverOutcome, TooManyMails } from '../secrets/outcomes.ts';
import {
  findManaged,
  findReceipt,
  type ManagedReceipt,
  openMailing,
  type ReceiptDeps,
} from '../secrets/receipts.ts';
import type { StoredReceipt } from '../secrets/secret.ts';
import { type LinkMailDeps, queueLink, sendLink } from './link-mail.ts';
import { parseRecipient, withParsedRecipient } from './recipients.ts';

export type DeliverDeps = ReceiptDeps &
  LinkMailDeps & {
    readonly mailQuota: MailQuota;
    /** Receipt ids, in hex, whose mail is about to be noted as queued. */
    readonly aboutToMail: Set<string>;
    /** Keeps a promise that outlives the call: the mail. */
    readonly inBackground: InBackground;
  };

type Told = Extract<DeliverOutcome, { receipt: unknown }>['outcome'];

export async function deliver(
  deps: DeliverDeps,
  given: DeliverInput,
  caller: Caller,
): Promise<DeliverOutcome> {
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
  if (recipient === undefined) return null;
  const isManager = caller.kind === 'account' && (owner === null || owner === caller.account.id);
  if (!isManager) return { outcome: 'recipient_needs_account' };
  const address = recipient.expose();
  return parseRecipient(address) !== null ? null : { outcome: 'undeliverable_recipient', recipient: address };
}

/** Two calls at once hand over one mail: there is no wait between looking and marking. */
async function send(
  deps: DeliverDeps,
  managed: ManagedReceipt,
  { recipient, locale }: DeliverInput,
  caller: Caller,
): Promise<Told | TooManyMails> {
  const { stored } = managed;
  const mailing = openMailing(deps, managed, recipient ?? null);
  if (mailing === null) return 'nothing_to_send';
  const name = hex(stored.receiptId);
  if (stored.delivery?.state === 'queued' || deps.aboutToMail.has(name)) return 'in_flight';
  deps.aboutToMail.add(name);
  try {
    const sender = await senderOf(deps, stored, caller);
    if (sender === null) return 'nothing_to_send';
    const quota = deps.mailQuota.take(sender.id, mailing.to);
    if (quota.outcome === 'too_many') return { ...quota, outcome: 'too_many_mails' };
    await queueLink(deps, stored.receiptId, mailing);
    deps.inBackground(() => sendLink(deps, stored, mailing, sender.username, locale));
    return 'queued';
  } finally {
    // From here on the store's own `queued` stands for it.
    deps.aboutToMail.delete(name);
  }
}

/** The account that made the secret; where none did, the one that asks. */
async function senderOf(
  deps: DeliverDeps,
  { owner }: StoredReceipt,
  caller: Caller,
): Promise<Account | null> {
  if (caller.kind === 'account' && (owner === null || owner === caller.account.id)) return caller.account;
  return owner === null ? null : deps.store.findAccountById(owner);
}

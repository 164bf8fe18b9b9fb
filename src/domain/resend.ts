/**
 * Resend: the recipient's mail once more.
 *
 * Owns: the order find → open → queue → hand over. Invariant: a mail goes out only for a secret that waits, only to the
 * address that the creator's box holds, and never beside another mail of the same secret.
 */
import { hex } from '../crypto/bytes.ts';
import type { Caller } from './accounts.ts';
import type { InBackground } from './background.ts';
import { type LinkMailDeps, sendLink } from './link-mail.ts';
import type { ReceiptInput, ResendOutcome } from './outcomes.ts';
import { findManaged, findReceipt, type Mailing, openMailing, type ReceiptDeps } from './receipts.ts';
import type { StoredReceipt } from './secret.ts';

export type ResendDeps = ReceiptDeps &
  LinkMailDeps & {
    /** Receipt ids, in hex, whose mail is about to be noted as queued. */
    readonly aboutToMail: Set<string>;
    /** Keeps a promise that outlives the call: the mail. */
    readonly inBackground: InBackground;
  };

export async function resend(
  deps: ResendDeps,
  input: ReceiptInput & { readonly locale: string },
  caller: Caller,
): Promise<ResendOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const outcome = await sendAgain(deps, managed.stored, openMailing(deps, managed), input.locale);
  // What was read before may be out of date (P6).
  const told = await findReceipt(deps, input, caller);
  return told.outcome === 'unknown' ? told : { outcome, receipt: told.receipt };
}

/** Two calls at once hand over one mail: there is no wait between looking and marking. */
async function sendAgain(
  deps: ResendDeps,
  stored: StoredReceipt,
  mailing: Mailing | null,
  locale: string,
): Promise<'queued' | 'in_flight' | 'nothing_to_send'> {
  const name = hex(stored.receiptId);
  if (mailing === null || stored.owner === null) return 'nothing_to_send';
  if (stored.delivery?.state === 'queued' || deps.aboutToMail.has(name)) return 'in_flight';
  deps.aboutToMail.add(name);
  try {
    const owner = await deps.store.findAccountById(stored.owner);
    if (owner === null) return 'nothing_to_send';
    await deps.store.setDelivery(stored.receiptId, 'queued');
    deps.inBackground(() => sendLink(deps, stored, mailing, owner.username, locale));
    return 'queued';
  } finally {
    // From here on the store's own `queued` stands for it.
    deps.aboutToMail.delete(name);
  }
}

/** Closed sets of words. */

/** In display order. */
export const noticeKinds = ['read', 'burned', 'expiring'] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export const burners = ['creator', 'recipient'] as const;
/** Who burned a secret: the holder of its metadata key, or of its link. */
export type Burner = (typeof burners)[number];

export const receiptStates = ['new', 'viewed', 'received', 'burned', 'expired'] as const;
/** In `new` and `viewed` (the creator has looked), the secret is still waiting; the other states are final. */
export type ReceiptState = (typeof receiptStates)[number];

export const deliveryStates = ['queued', 'accepted', 'refused', 'given_up', 'not_sent'] as const;
/**
 * State of the email to the recipient.
 * - `queued`: being handed over, or waiting for a retry.
 * - `accepted`: the mail server took it. Whether it was read is unknown.
 * - `refused`: the mail server rejected it permanently.
 * - `given_up`: the mail server deferred it until the last try, or could not be reached.
 * - `not_sent`: the mail server never responded, or the process ended: emails are kept only in memory.
 */
export type DeliveryState = (typeof deliveryStates)[number];

export const requestStates = ['open', 'full', 'ended'] as const;
/** `full`: open, but without a free place. `ended` is final. */
export type RequestState = (typeof requestStates)[number];

export const answerStates = ['new', 'received', 'burned', 'expired', 'unknown'] as const;
/** Of the answer's secret, for the asker. `unknown`: its record has ended too. */
export type AnswerState = (typeof answerStates)[number];

export const lockCauses = ['passphrase', 'code'] as const;
/** What too many wrong ones of were tried. */
export type LockCause = (typeof lockCauses)[number];

export const domainStates = ['unverified', 'pending', 'verified', 'lost'] as const;
/**
 * - `unverified`: the TXT record has not been seen.
 * - `pending`: it has been seen, but the name does not point to the server yet.
 * - `verified`: it has been seen and the name points here, as links, brand and certificates require.
 * - `lost`: it was verified, but a later check found the record gone or the name pointing elsewhere.
 */
export type DomainState = (typeof domainStates)[number];

/** The mail to a secret's recipient, in the client's form. */
import { optionalText, timeAt, toObject, wordAt } from './wire.ts';

const deliveryStates = ['queued', 'accepted', 'refused', 'given_up', 'not_sent'] as const;

/**
 * State of the mail to the recipient.
 * - `queued`: being handed over, or waiting for a retry.
 * - `accepted`: the mail server took it. Whether it was read is unknown.
 * - `refused`: the mail server rejected it permanently.
 * - `given_up`: the mail server deferred it until the last try, or could not be reached.
 * - `not_sent`: the mail server never answered.
 */
export type DeliveryState = (typeof deliveryStates)[number];

export interface Delivery {
  readonly state: DeliveryState;
  readonly at: Date;
  /** The mail server's last reply, in one line, or that it cannot be reached or did not answer; `null` for neither. */
  readonly reply: string | null;
}

export interface WireDelivery {
  readonly state: DeliveryState;
  readonly at: number;
  readonly reply: string | null;
}

export function toDelivery(delivery: unknown): Delivery | null {
  if (delivery === null || delivery === undefined) return null;
  const record = toObject<WireDelivery>(delivery);
  return {
    state: wordAt(record, 'state', deliveryStates),
    at: timeAt(record, 'at'),
    reply: optionalText(record, 'reply'),
  };
}

/** The mail to a secret's recipient, in the client's form. */
import { type DeliveryState, deliveryStates } from '../src/protocol/vocabulary.ts';
import { optionalText, timeAt, toObject, wordAt } from './wire.ts';

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

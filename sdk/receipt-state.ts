export const receiptStates = ['new', 'viewed', 'received', 'burned', 'expired'] as const;

/** `new` and `viewed` (the creator has looked) still wait; the others are final. */
export type ReceiptState = (typeof receiptStates)[number];

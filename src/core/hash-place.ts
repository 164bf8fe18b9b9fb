/**
 * Whose turn a slow hash takes: the places in the queue are shared out by client and by purpose (P21).
 */
import type { Caller } from './accounts/accounts.ts';

export interface HashPlace {
  /** A client's prefix, or an account; `''` outside a request. */
  readonly client: string;
  /** `create`: for a new secret. `prove`: to open, burn or log in, and for a new password, whose address is proven. */
  readonly purpose: 'create' | 'prove';
}

/** Who a caller counts as: an account alone, wherever it calls from; else the client's prefix. */
export function clientOf(caller: Caller, clientPrefix: string): string {
  return caller.kind === 'account' ? `account ${caller.account.id}` : clientPrefix;
}

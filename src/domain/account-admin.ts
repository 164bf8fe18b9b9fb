/**
 * Making accounts and tokens.
 *
 * Owns: how a token is drawn and shown once, and how the account's data key is wrapped under it. Invariant: what is
 * stored opens no receipt without a token: the data key exists only wrapped (P9). A token made without an existing one
 * gets a data key of its own: it works for everything, but lists only what is created with it from then on.
 */
import { openBox, sealBox } from '../crypto/box.ts';
import { hex } from '../crypto/bytes.ts';
import { hashToken } from '../crypto/derive.ts';
import type { RandomBytes } from '../crypto/random.ts';
import type { ApiToken, StoredToken } from './accounts.ts';
import type { PlanName } from './plans.ts';
import type { AccountStore, NewToken } from './ports.ts';
import { isDeliverable } from './recipients.ts';
import { Sensitive } from './sensitive.ts';
import type { UnixSeconds } from './time.ts';

export interface AccountAdminDeps {
  readonly store: AccountStore & { now(): UnixSeconds };
  readonly random: RandomBytes;
}

const tokenBytes = 32;
const dataKeyBytes = 32;
const tokenForm = /^[0-9a-f]{64}$/;
const noBinding = new Uint8Array(0);
export const firstTokenName = 'first';

/** The token, or `null` when the text is not one in its only spelling. */
export function parseApiToken(text: string): ApiToken | null {
  return tokenForm.test(text) ? (text as ApiToken) : null;
}

function tokenBytesOf(token: ApiToken): Uint8Array {
  return Buffer.from(token, 'hex');
}

export function tokenHashOf(token: ApiToken): Uint8Array {
  return hashToken(tokenBytesOf(token));
}

/** The account's data key, 32 bytes; `null` when the stored token is not this one or is damaged. */
export function openDataKey(token: ApiToken, stored: Pick<StoredToken, 'wrappedDataKey'>): Uint8Array | null {
  return openBox(stored.wrappedDataKey, {
    label: 'accountDataKey',
    keyMaterial: tokenBytesOf(token),
    binding: noBinding,
  });
}

export type CreateAccountOutcome =
  | { readonly outcome: 'created'; readonly username: string; readonly token: Sensitive<ApiToken> }
  | { readonly outcome: 'exists' }
  | { readonly outcome: 'invalid_email' };

export async function createAccount(
  deps: AccountAdminDeps,
  input: { readonly email: string; readonly plan: PlanName },
): Promise<CreateAccountOutcome> {
  if (!isDeliverable(input.email)) return { outcome: 'invalid_email' };
  const username = input.email.toLowerCase();
  const made = makeToken(deps, { name: firstTokenName, expiresAt: null, dataKey: deps.random(dataKeyBytes) });
  const account = await deps.store.createAccount(
    { username, plan: input.plan, createdAt: deps.store.now() },
    made.stored,
  );
  return account === null
    ? { outcome: 'exists' }
    : { outcome: 'created', username, token: new Sensitive(made.token) };
}

export type CreateTokenOutcome =
  | {
      readonly outcome: 'created';
      readonly tokenId: number;
      readonly token: Sensitive<ApiToken>;
      /** Whether the token also lists what was created with the existing one. */
      readonly canListEarlier: boolean;
    }
  | { readonly outcome: 'no_account' }
  /** The existing token is not one of this account. */
  | { readonly outcome: 'invalid_token' };

export interface CreateTokenInput {
  readonly email: string;
  readonly name: string;
  readonly expiresAt?: UnixSeconds;
  /** A live token of the account, whose data key the new one shares. */
  readonly existingToken?: Sensitive<string>;
}

export async function createToken(
  deps: AccountAdminDeps,
  input: CreateTokenInput,
): Promise<CreateTokenOutcome> {
  const account = await deps.store.findAccount(input.email.toLowerCase());
  if (account === null) return { outcome: 'no_account' };
  const shared =
    input.existingToken === undefined
      ? undefined
      : await dataKeyBehind(deps, account.username, input.existingToken.expose());
  if (shared === null) return { outcome: 'invalid_token' };
  const dataKey = shared ?? deps.random(dataKeyBytes);
  const made = makeToken(deps, { name: input.name, expiresAt: input.expiresAt ?? null, dataKey });
  const { tokenId } = await deps.store.addToken(account.id, made.stored);
  return {
    outcome: 'created',
    tokenId,
    token: new Sensitive(made.token),
    canListEarlier: shared !== undefined,
  };
}

async function dataKeyBehind(
  deps: AccountAdminDeps,
  username: string,
  text: string,
): Promise<Uint8Array | null> {
  const token = parseApiToken(text);
  const found = token === null ? null : await deps.store.findToken(tokenHashOf(token));
  if (token === null || found === null || found.account.username !== username) return null;
  if (found.token.expiresAt !== null && deps.store.now() >= found.token.expiresAt) return null;
  return openDataKey(token, found.token);
}

interface TokenInput {
  readonly name: string;
  readonly expiresAt: UnixSeconds | null;
  readonly dataKey: Uint8Array;
}

function makeToken(deps: AccountAdminDeps, input: TokenInput): { token: ApiToken; stored: NewToken } {
  const bytes = deps.random(tokenBytes);
  const token = hex(bytes) as ApiToken;
  const box = {
    label: 'accountDataKey',
    keyMaterial: bytes,
    binding: noBinding,
    content: input.dataKey,
    random: deps.random,
  } as const;
  return {
    token,
    stored: {
      tokenHash: hashToken(bytes),
      name: input.name,
      wrappedDataKey: sealBox(box),
      createdAt: deps.store.now(),
      expiresAt: input.expiresAt,
    },
  };
}

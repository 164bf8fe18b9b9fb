/**
 * Accounts, their tokens, share domains and the check values of the wrapping roots, in memory.
 *
 * Owns: the uniqueness of usernames, token hashes and share domains.
 */
import type { Account, AccountId, StoredToken } from '../../domain/accounts.ts';
import type { AccountStore, NewToken } from '../../domain/ports.ts';

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const copyOf = (token: StoredToken): StoredToken => ({
  ...token,
  tokenHash: token.tokenHash.slice(),
  wrappedDataKey: token.wrappedDataKey.slice(),
});

export function createMemoryAccounts(rootKidsInUse: () => number[]): AccountStore {
  const accounts = new Map<AccountId, Account>();
  const tokens = new Map<number, StoredToken>();
  const shareDomains = new Map<string, AccountId>();
  const rootChecks = new Map<number, Uint8Array>();
  let lastTokenId = 0;

  const accountNamed = (username: string): Account | null =>
    [...accounts.values()].find((account) => account.username === username) ?? null;

  function insertToken(accountId: AccountId, token: NewToken): StoredToken {
    lastTokenId += 1;
    const stored = copyOf({ ...token, tokenId: lastTokenId, accountId, lastUsedAt: null });
    tokens.set(lastTokenId, stored);
    return copyOf(stored);
  }

  return {
    async createAccount(newAccount, token) {
      if (accountNamed(newAccount.username) !== null) return null;
      const account = { ...newAccount, id: (accounts.size + 1) as AccountId };
      accounts.set(account.id, account);
      insertToken(account.id, token);
      return account;
    },
    findAccount: async (username) => accountNamed(username),
    findAccountById: async (id) => accounts.get(id) ?? null,
    listAccounts: async () => [...accounts.values()],
    async setPlan(id, plan) {
      const account = accounts.get(id);
      if (account !== undefined) accounts.set(id, { ...account, plan });
    },

    async findToken(tokenHash) {
      const token = [...tokens.values()].find((each) => textOf(each.tokenHash) === textOf(tokenHash));
      const account = token === undefined ? undefined : accounts.get(token.accountId);
      return token === undefined || account === undefined ? null : { account, token: copyOf(token) };
    },
    addToken: async (id, token) => insertToken(id, token),
    listTokens: async (id) => [...tokens.values()].filter((each) => each.accountId === id).map(copyOf),
    async revokeToken(id, tokenId) {
      return tokens.get(tokenId)?.accountId === id && tokens.delete(tokenId);
    },
    async noteTokenUse(tokenId, at) {
      const token = tokens.get(tokenId);
      if (token === undefined) return;
      tokens.set(tokenId, { ...token, lastUsedAt: Math.max(at, token.lastUsedAt ?? 0) });
    },

    async addShareDomain(id, domain) {
      if (!shareDomains.has(domain)) shareDomains.set(domain, id);
      return shareDomains.get(domain) === id;
    },
    findShareDomainOwner: async (domain) => shareDomains.get(domain) ?? null,
    listShareDomains: async (id) =>
      [...shareDomains]
        .filter(([, owner]) => owner === id)
        .map(([domain]) => domain)
        .sort(),
    async removeShareDomain(id, domain) {
      return shareDomains.get(domain) === id && shareDomains.delete(domain);
    },

    findRootCheck: async (kid) => rootChecks.get(kid)?.slice() ?? null,
    async addRootCheck(kid, check) {
      // The first value stays: a root that does not fit it must be noticed, not written over it (P12).
      if (!rootChecks.has(kid)) rootChecks.set(kid, check.slice());
    },
    rootKidsInUse: async () => rootKidsInUse(),
  };
}

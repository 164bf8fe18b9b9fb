/** An installation with two accounts, and everyone who may ask for one of its records. */
import type { DialectName } from '../../src/api/version.ts';
import {
  type AccountId,
  anonymous,
  type Caller,
  type TokenScope,
  tokenScopes,
} from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { giveDomain } from '../support/own-domain.ts';
import { password, signUpAs } from '../web/signed-in.ts';
import type { Keys, Standing } from './ownership-rows.ts';

export const texts = { value: 'cnry-value-9Qd3', memo: 'cnry-payroll-4Tz7', recipient: 'frieda@example.org' };
export const obfuscated = 'fr*****@e*****.org';
export const domain = 'secrets.example.org';

/** What a caller sends with every request, and who that is to a door. */
export interface Who {
  readonly headers: Readonly<Record<string, string>>;
  readonly formToken: string;
  /** To the API and the command: `wrong` where the credentials are refused. */
  readonly api: 'nobody' | 'wrong' | Holder;
  /** To the pages: `stale` where a form is of a session that has ended. */
  readonly page: 'nobody' | 'stale' | Holder;
  readonly token: { readonly username: string; readonly text: string } | null;
}

interface Holder {
  readonly id: AccountId;
  readonly scopes: readonly TokenScope[];
}

/** Of each version. */
interface Dialects {
  readonly v1: DialectName;
  readonly v2: DialectName;
}

export interface World {
  readonly app: TestApp;
  readonly dialects: Dialects;
  readonly alice: AccountId;
  readonly callers: ReadonlyMap<string, Who>;
  /** Owners of what was stored since the last time. */
  takeStored(): (AccountId | null)[];
  /** A fresh record, waiting, with a memo; an account's has a recipient too. */
  fresh(isOwned: boolean): Promise<Keys>;
}

/** @param isLocked whether Alice's account is, after she has shared */
export async function openWorld(dialects: Dialects, isLocked: boolean): Promise<World> {
  const stored: (AccountId | null)[] = [];
  const app = createTestApp({
    dialect: dialects.v1,
    v2Dialect: dialects.v2,
    wrapStore: (store) => ({
      ...store,
      put: async (record) => {
        await store.put(record);
        stored.push(record.owner);
      },
    }),
  });
  const callers = new Map<string, Who>();
  const nobody = { headers: {}, formToken: '', api: 'nobody', page: 'nobody', token: null } as const;
  callers.set('nobody', nobody);
  const ids = new Map<string, Caller>();
  for (const name of ['alice', 'eve']) {
    const isOut = isLocked && name === 'alice';
    const { signedIn, cookie } = await signUpAs(app, `${name}@example.com`);
    const { caller, formToken } = signedIn;
    ids.set(name, caller);
    const { id, username } = caller.account;
    const page = isOut ? 'stale' : { id, scopes: tokenScopes };
    callers.set(`${name}’s session`, { ...nobody, headers: { cookie }, formToken, page });
    for (const scopes of [tokenScopes, ...tokenScopes.map((scope) => [scope])]) {
      const input = { name: scopes.join(), scopes, expiresAt: null, password: new Sensitive(password) };
      const made = await app.accounts.createToken(signedIn, { ...input, locale: 'en' });
      if (made.outcome !== 'created') throw new Error(made.outcome);
      const text = made.token.expose();
      const authorization = `Basic ${btoa(`${username}:${text}`)}`;
      const api = isOut ? 'wrong' : { id, scopes };
      const token = { username, text };
      callers.set(`${name}’s token to ${scopes.join(', ')}`, {
        ...nobody,
        headers: { authorization },
        api,
        token,
      });
    }
  }
  await app.accounts.settled();
  const alice = ids.get('alice');
  if (alice?.kind !== 'account') throw new Error('there is no Alice');
  await giveDomain(app.store, alice.account.id, domain);
  if (isLocked) await app.store.lockAccount(alice.account.id);
  return {
    ...{ app, dialects, callers, alice: alice.account.id },
    takeStored: () => stored.splice(0),
    async fresh(isOwned) {
      const given = { value: new Sensitive(texts.value), memo: new Sensitive(texts.memo) };
      const recipient = isOwned ? new Sensitive(texts.recipient) : null;
      const made = await app.service.conceal(
        { ...noOptions, ...given, recipient, ttlSeconds: 3_600 },
        isOwned ? alice : anonymous,
      );
      if (made.outcome !== 'created') throw new Error(made.outcome);
      await app.service.settled();
      stored.length = 0;
      return { secret: made.receipt.secretKey ?? '', metadata: made.receipt.metadataKey };
    },
  };
}

export async function standingOf({ app }: World, { metadata }: Keys): Promise<Standing> {
  const found = await app.service.findReceipt({ metadataKey: metadata, authority: 'holder' }, anonymous);
  if (found.outcome !== 'found') throw new Error('the record is gone');
  const { state, viewedAt, memo, ttlSeconds, secretTtlSeconds } = found.receipt;
  const ttl = secretTtlSeconds === null ? ttlSeconds : secretTtlSeconds;
  const allowances = app.events.filter(({ event }) => event === 'attempts_allowed').length;
  return { state, viewed: viewedAt !== null, memo, ttl, mails: app.mails.length, allowances };
}

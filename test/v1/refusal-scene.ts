/** The setting for v1's refusals: accounts, secrets, and the texts that several rows share. */
import { expect } from 'bun:test';
import type { TestAccount, TestAppOptions } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { type Answer, createV1Caller, type Json, type V1Caller } from './caller.ts';

/** Where each case starts: one account with a secret of its own, another account, one anonymous secret. */
export interface Scene extends V1Caller {
  readonly alice: TestAccount;
  readonly bob: TestAccount;
  /** Alice's, protected by the passphrase `right`. */
  readonly own: Json;
  readonly anonymous: Json;
}

export const closedDomain = 'closed.bob.example';

export async function sceneOf(options: TestAppOptions): Promise<Scene> {
  const caller = createV1Caller(options);
  const alice = await caller.app.account('alice@example.com');
  const bob = await caller.app.account('bob@example.com', 'identity');
  await giveDomain(caller.app.store, bob.id, 'bob.example');
  await giveDomain(caller.app.store, bob.id, closedDomain, { isPublic: false });
  const own = await caller.share({ passphrase: 'right', ttl: '600' }, alice);
  const anonymous = await caller.share({ ttl: '600' });
  return { ...caller, alice, bob, own, anonymous };
}

export const unknownKey = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';
export const multipart = 'multipart/form-data; boundary=x';
export const partsOf = (names: readonly string[]) =>
  `${names.map((name) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\na\r\n`).join('')}--x--`;
export const json = { 'content-type': 'application/json' };
export const bad = `Basic ${btoa(`alice@example.com:${'0'.repeat(64)}`)}`;

export type Expected = Record<string, unknown> | ((scene: Scene) => Record<string, unknown>);
export interface Case {
  readonly title: string;
  readonly documented: number;
  readonly upstream: number;
  readonly body: Expected;
  /** Of the upstream dialect, where it is another. */
  readonly upstreamBody?: Expected;
  readonly call: (scene: Scene) => Promise<Answer>;
}

export const message = (text: string) => ({ message: text });
export const saying = (pattern: RegExp) => ({ message: expect.stringMatching(pattern) });
export const nothingToShare = message('You did not provide anything to share');
export const notAuthorized = message('Not authorized');

/** A waiting secret, created without the form, so that tests of its link depend on nothing else. */
import type { Caller } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import type { TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { lockWindow } from '../support/lockout.ts';

export interface Waiting {
  readonly secretPath: string;
  readonly secretKey: string;
  readonly metadataKey: string;
}

export interface WaitingOptions {
  /** `canary` when absent. */
  readonly value?: string;
  readonly passphrase?: string;
  readonly ttlSeconds?: number;
  /** Anonymous when absent. */
  readonly caller?: Caller;
  /** Where codes to open it go; an account's alone. */
  readonly verify?: string;
}

export async function makeWaiting(
  app: Pick<TestApp, 'service'>,
  options: WaitingOptions = {},
): Promise<Waiting> {
  const { value = 'canary', passphrase, ttlSeconds, caller = { kind: 'anonymous' }, verify } = options;
  const input = {
    ...noOptions,
    value: new Sensitive(value),
    passphrase: passphrase === undefined ? null : new Sensitive(passphrase),
    ttlSeconds: ttlSeconds ?? null,
    verify: verify === undefined ? null : new Sensitive(verify),
  };
  const made = await app.service.conceal(input, caller);
  if (made.outcome !== 'created') throw new Error(`nothing was made: ${made.outcome}`);
  const { secretKey, metadataKey } = made.receipt;
  if (secretKey === null) throw new Error('what was just made is gone');
  return { secretPath: `/secret/${secretKey}`, secretKey, metadataKey };
}

/** Waiting for ten minutes, because too many wrong passphrases were tried; `right` is the right one. */
export async function makeLocked(app: Pick<TestApp, 'service'>): Promise<Waiting> {
  const made = await makeWaiting(app, { passphrase: 'right', ttlSeconds: 3_600 });
  await lockWindow(app, made.secretKey);
  return made;
}

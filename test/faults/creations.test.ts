/**
 * Idempotent creation over a real store: several servers, a process that dies at any step, and whoever takes the disk (P5, P9).
 */
import { afterEach, describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '../../src/core/errors.ts';
import { parseSecretKey, secretIdOf } from '../../src/core/keys.ts';
import type { TokenCaller } from '../../src/core/secrets/idempotency.ts';
import type { Idempotency, RepeatableOutcome } from '../../src/core/secrets/outcomes.ts';
import type { SecretService, ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { creationMaterial, creationRandom, unwrapSeed } from '../../src/crypto/creation.ts';
import { deriveCreationId } from '../../src/crypto/derive.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import { randomText, systemRandom } from '../../src/crypto/random.ts';
import type { Store } from '../../src/store/store.ts';
import { openSqliteSubject, type SqliteSubject } from '../stores/subjects.ts';
import { noOptions } from '../support/inputs.ts';
import { createBench, guess } from '../support/service-bench.ts';

const ring = createKeyRing([{ kid: 1, key: systemRandom(32) }]);
const email = 'ann@example.org';
const value = 'what only Ann’s reader may see';
const idempotencyKey = 'deployment 4711, password of the database';
const request = {
  target: 'POST /api/v2/secret/conceal',
  bodyHash: new Uint8Array(createHash('sha256').update('a body').digest()),
};
const idempotency: Idempotency = { key: idempotencyKey, index: 0, request };

const subjects: SqliteSubject[] = [];
afterEach(async () => {
  for (const subject of subjects.splice(0)) await subject.close();
});

async function scene() {
  const subject = await openSqliteSubject();
  subjects.push(subject);
  const serverOn = (store: Store) =>
    createBench({ wrap: () => store as ServiceParts['store'], deps: { ring, random: systemRandom } });
  const bench = serverOn(subject.store);
  const { token, ...caller } = await bench.signUp(email);
  if (caller.apiToken === null) throw new Error('not by a token');
  return { subject, serverOn, bench, token, caller: { ...caller, apiToken: caller.apiToken } };
}

const conceal = (service: SecretService, caller: TokenCaller) =>
  service.concealOnce({ ...noOptions, sealed: null, value: new Sensitive(value) }, idempotency, caller);

function keysOf(outcome: RepeatableOutcome): string {
  if (outcome.outcome === 'repeated') return `${outcome.secretKey} ${outcome.receipt.metadataKey}`;
  if (outcome.outcome === 'created') return `${outcome.receipt.secretKey} ${outcome.receipt.metadataKey}`;
  throw new Error(outcome.outcome);
}

const isInFlight = ({ outcome }: RepeatableOutcome) => outcome === 'in_flight';

async function waiting(store: Store, { account }: TokenCaller): Promise<number> {
  return (await store.countOwned(account.id)).waiting;
}

describe('equal requests to several servers', () => {
  it('200 at once, through four handles on one store, make one secret (P5)', async () => {
    const { subject, serverOn, bench, caller } = await scene();
    const others = await Promise.all([1, 2, 3].map(async () => serverOn(await subject.openSecond())));
    const servers = [bench, ...others].map(({ service }) => service);
    const keys = new Set<string>();
    let left = 200;
    for (let round = 0; left > 0 && round < 100; round += 1) {
      const asked = Array.from({ length: left }, (_, n) => conceal(servers[n % 4] ?? bench.service, caller));
      const outcomes = await Promise.all(asked);
      for (const each of outcomes) if (!isInFlight(each)) keys.add(keysOf(each));
      left = outcomes.filter(isInFlight).length;
    }
    expect([left, keys.size]).toEqual([0, 1]);
    expect(await waiting(subject.store, caller)).toBe(1);
  });
});

class Died extends ServiceError {
  constructor() {
    super('unavailable', 'the process is gone');
  }
}

/** A process whose nth call of the store is the last: it dies before the call, or when the store has decided it. */
function dyingAt(store: Store, nth: number, when: 'before' | 'after'): Store {
  let calls = 0;
  const names = [
    'findCreation',
    'reserveCreation',
    'takeOverCreation',
    'put',
    'releaseCreation',
    'countMismatch',
  ];
  const get = (target: Store, name: keyof Store) => {
    const method = target[name];
    if (!names.includes(name)) return method;
    return async (...given: unknown[]) => {
      calls += 1;
      if (calls > nth || (calls === nth && when === 'before')) throw new Died();
      const answer = await (method as (...asked: unknown[]) => Promise<unknown>)(...given);
      if (calls === nth) throw new Died();
      return answer;
    };
  };
  return new Proxy(store, { get: (target, name) => get(target, name as keyof Store) });
}

describe('a process that dies while it creates', () => {
  for (const nth of [1, 2, 3]) {
    for (const when of ['before', 'after'] as const) {
      it(`${when} its decision number ${nth} leaves one secret, whose keys the next request gets (P5)`, async () => {
        const { subject, serverOn, caller } = await scene();
        const { service } = serverOn(dyingAt(subject.store, nth, when));
        const died: unknown = await conceal(service, caller).catch((error: unknown) => error);
        expect(died).toBeInstanceOf(Died);
        const store = await subject.reopen();
        const stored = await waiting(store, caller);
        expect(stored).toBe(nth === 3 && when === 'after' ? 1 : 0);
        const next = serverOn(store);
        const first = await conceal(next.service, caller);
        const isHeld = (nth === 2 && when === 'after') || (nth === 3 && when === 'before');
        expect(first.outcome).toBe(isHeld ? 'in_flight' : stored === 1 ? 'repeated' : 'created');
        subject.wallClock.advance(30);
        const second = await conceal(next.service, caller);
        expect(second.outcome).toBe(isHeld ? 'created' : 'repeated');
        const third = await conceal(next.service, caller);
        expect(new Set([second, third].map(keysOf)).size).toBe(1);
        if (!isHeld) expect(keysOf(first)).toBe(keysOf(second));
        expect(await waiting(store, caller)).toBe(1);
        const revealed = await next.service.reveal(guess(keysOf(second).split(' ')[0] ?? ''), caller);
        expect(revealed.outcome).toBe('revealed');
      });
    }
  }

  it('and turns out to have been slow stores nothing once another has taken over (P5)', async () => {
    const { subject, serverOn, caller } = await scene();
    const slow = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const store = {
      ...subject.store,
      async put(...given: Parameters<Store['put']>) {
        reached.resolve();
        await slow.promise;
        await subject.store.put(...given);
      },
    };
    const first = conceal(serverOn(store).service, caller).catch((error: unknown) => error);
    await reached.promise;
    subject.wallClock.advance(30);
    const { service } = serverOn(await subject.openSecond());
    const second = await conceal(service, caller);
    slow.resolve();
    expect(await first).toBeInstanceOf(ServiceError);
    expect(keysOf(await conceal(service, caller))).toBe(keysOf(second));
    expect(await waiting(subject.store, caller)).toBe(1);
  });
});

describe('whoever takes the disk and the root keys', () => {
  it('finds neither token nor key nor value, and derives no key without the token (P9, P13)', async () => {
    const { subject, bench, token, caller } = await scene();
    const created = await conceal(bench.service, caller);
    const [secretKey = '', metadataKey = ''] = keysOf(created).split(' ');
    const files = readdirSync(subject.directory, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => readFileSync(join(each.parentPath, each.name)));
    const disk = Buffer.concat(files);
    expect(disk.length).toBeGreaterThan(10_000);
    const hidden = [idempotencyKey, value, secretKey, metadataKey, token, Buffer.from(token, 'hex')];
    for (const each of hidden) expect(disk.includes(each)).toBe(false);
    const id = secretIdOf(
      parseSecretKey(secretKey) ??
        (() => {
          throw new Error('no key');
        })(),
    );
    expect(disk.includes(id)).toBe(true);
    const { tokenHash = new Uint8Array(0) } = (await subject.store.listTokens(caller.account.id))[0] ?? {};
    const { key: root } = ring.current;
    for (const guessed of [tokenHash, new Uint8Array(32), root]) {
      const material = creationMaterial(guessed, idempotencyKey, 0);
      const seed = await seedIn(subject.store, caller);
      expect(seed).toHaveLength(32);
      const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
      const random = creationRandom('creationSecret', material, seed);
      expect(randomText(alphabet, 31, random)).not.toBe(secretKey);
    }
    const material = creationMaterial(Buffer.from(token, 'hex'), idempotencyKey, 0);
    const random = creationRandom('creationSecret', material, await seedIn(subject.store, caller));
    expect(randomText('0123456789abcdefghijklmnopqrstuvwxyz', 31, random)).toBe(secretKey);
  });
});

/** As the root's holder reads it. */
async function seedIn(store: Store, { apiToken }: TokenCaller): Promise<Uint8Array> {
  const material = creationMaterial(apiToken.bytes.expose(), idempotencyKey, 0);
  const id = deriveCreationId(material) as Parameters<Store['findCreation']>[0];
  const row = await store.findCreation(id);
  return (row && unwrapSeed(ring, id, row.wrappedSeed)) ?? new Uint8Array(0);
}

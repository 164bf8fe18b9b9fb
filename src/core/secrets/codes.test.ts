/** Codes from an email: the order of the steps, what each of them counts, and whom a stranger with the link can keep out (P9, P14, P21). */
import { describe, expect, it } from 'bun:test';
import { asOwner, found } from '../../../test/support/receipts.ts';
import { clientSecret } from '../../../test/support/sealed-wire.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess, type ShareOptions } from '../../../test/support/service-bench.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import { anonymous } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import type { CodeInput, RevealInput } from './outcomes.ts';
import { rewrapOlder } from './rewrap.ts';
import { createService, type ServiceParts } from './service.ts';

type Store = ServiceParts['store'];

const newLook = (() => {
  const random = seededRandom('nonces of openers');
  return () => random(16);
})();
const verify = 'anna@example.org';
const home = '203.0.113.0/24';
const foreign = (n: number) => `100.64.${n}.0/24`;
const wrongOf = (code: string) => (code === '000000' ? '000001' : '000000');

/** @param wrap as in `createBench` */
async function createScene(wrap: (store: Store) => Store = (store) => store, options: ShareOptions = {}) {
  const bench = createBench({ wrap });
  const caller = await bench.signUp('jo@example.org');
  const share = (to = verify, by = caller) =>
    bench.share(options.sealed === undefined ? 'the value' : '', {
      ...{ caller: by, verify: new Sensitive(to), ttlSeconds: 604_800 },
      ...options,
    });
  const { secretKey, metadataKey } = await share();
  const ask = async (look: Uint8Array, clientPrefix = home, input: Partial<CodeInput> = {}) => {
    const given = { secretKey, look, linkProof: null, clientPrefix, locale: 'en', ...input };
    const { outcome } = await bench.service.mailCode(given);
    await bench.service.settled();
    return outcome;
  };
  const codeFor = async (look: Uint8Array, clientPrefix = home) => {
    expect(await ask(look, clientPrefix)).toBe('queued');
    return bench.codeMailed();
  };
  const open = async (
    look: Uint8Array,
    code: string,
    more: Partial<RevealInput> = {},
    service = bench.service,
  ) => (await service.reveal({ ...guess(secretKey, '', home), look, code, ...more }, anonymous)).outcome;
  const receipt = async () => found(await bench.service.findReceipt(asOwner(metadataKey), caller));
  return { bench, caller, share, secretKey, metadataKey, ask, codeFor, open, receipt };
}

/** Notes the names of a store's calls. */
function noting(calls: string[]) {
  return (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function' || !/Code|reserve|refund|claim/.test(String(name))) return method;
        return (...args: unknown[]) => {
          calls.push(String(name));
          return Reflect.apply(method, target, args);
        };
      },
    });
}

describe('a code', () => {
  it('has six digits, each as likely at each place', async () => {
    const { bench, share } = await createScene();
    const counts = new Map<string, number>();
    const tally = (...at: [number, string]) => counts.set(at.join(), (counts.get(at.join()) ?? 0) + 1);
    for (let n = 0; n < 500; n += 1) {
      if (n % 100 === 0) bench.advance(3_600);
      const { secretKey } = await share(`anna${n}@example.org`);
      await bench.service.mailCode({
        secretKey,
        look: newLook(),
        linkProof: null,
        clientPrefix: home,
        locale: 'en',
      });
      await bench.service.settled();
      const code = bench.codeMailed();
      expect(code).toMatch(/^[0-9]{6}$/);
      for (const [place, digit] of [...code].entries()) tally(place, digit);
    }
    // 50 are expected; a place that lacks a digit, or favours one, is far outside.
    expect(counts.size).toBe(60);
    for (const count of counts.values()) expect(count).toBeWithin(25, 80);
  });

  it('P5: is stored before it is mailed, and not mailed if it was not stored', async () => {
    const steps: string[] = [];
    const { bench, ask } = await createScene((store) => ({
      ...store,
      async putCode(...given) {
        steps.push('stored');
        return store.putCode(...given);
      },
    }));
    const { sendAccountMail } = bench.deps.mailer;
    Object.assign(bench.deps.mailer, {
      sendAccountMail(mail: Parameters<typeof sendAccountMail>[0]) {
        steps.push('mailed');
        return sendAccountMail(mail);
      },
    });
    await ask(newLook());
    expect(steps).toEqual(['stored', 'mailed']);
    const down = await createScene((store) => ({
      ...store,
      putCode: () => Promise.reject(new Error('down')),
    }));
    expect(await down.ask(newLook()).catch(() => 'rejected')).toBe('rejected');
    await down.bench.service.settled();
    expect(down.bench.accountMails).toEqual([]);
  });

  it('P14: is counted before it is compared, and before a passphrase is', async () => {
    const calls: string[] = [];
    const { bench, codeFor, open } = await createScene(noting(calls), { passphrase: 'right' });
    const look = newLook();
    const code = await codeFor(look);
    expect(calls).toEqual(['reserve', 'putCode', 'setCodeState']);
    const { stretched } = bench.hasher;
    const passphrase = new Sensitive('right');
    calls.length = 0;
    expect(await open(look, wrongOf(code), { passphrase })).toBe('code_wrong');
    expect([calls, bench.hasher.stretched - stretched]).toEqual([['findCode', 'reserve'], 0]);
    calls.length = 0;
    expect(await open(look, code, { passphrase })).toBe('revealed');
    expect(calls).toEqual(['findCode', 'reserve', 'refund', 'reserve', 'refund', 'claim']);
  });

  it('P14: is never compared where it cannot be counted', async () => {
    const none = { outcome: 'exhausted', retryAfterSeconds: 1, needsCreator: false } as const;
    const state = { isFull: false };
    const { codeFor, open } = await createScene((store) => ({
      ...store,
      reserve: async (...given) => (state.isFull ? none : store.reserve(...given)),
    }));
    const look = newLook();
    const code = await codeFor(look);
    state.isFull = true;
    expect(await open(look, code)).toBe('codes_exhausted');
    state.isFull = false;
    expect(await open(look, code)).toBe('revealed');
  });

  it('P14: where none is under way is no guess', async () => {
    const calls: string[] = [];
    const { open } = await createScene(noting(calls));
    for (let n = 0; n < 30; n += 1) expect(await open(newLook(), '123456')).toBe('code_required');
    expect(new Set(calls)).toEqual(new Set(['findCode']));
  });

  it('P3: opens again after a claim that failed, because nothing marks it as used', async () => {
    const state = { isDown: false };
    const { codeFor, open } = await createScene((store) => ({
      ...store,
      claim: (...given) =>
        state.isDown ? Promise.reject(new Error('the store is away')) : store.claim(...given),
    }));
    const look = newLook();
    const code = await codeFor(look);
    expect(await open(look, code, { isAbandoned: () => true })).toBe('abandoned');
    state.isDown = true;
    expect(await open(look, code).catch(() => 'rejected')).toBe('rejected');
    state.isDown = false;
    expect(await open(look, code)).toBe('revealed');
  });

  it('P1: of two openers with codes of their own opens for one', async () => {
    const { codeFor, open } = await createScene();
    const looks = [newLook(), newLook()];
    const codes = [await codeFor(looks[0] as Uint8Array), await codeFor(looks[1] as Uint8Array, foreign(1))];
    const outcomes = await Promise.all(looks.map((look, n) => open(look, codes[n] ?? '')));
    expect(outcomes.sort()).toEqual(['revealed', 'unknown']);
  });

  it('P12: stays good through a restart and a rotation', async () => {
    const { bench, codeFor, open } = await createScene();
    const look = newLook();
    const code = await codeFor(look);
    const ring = createKeyRing([bench.deps.ring.current, { kid: 2, key: bench.deps.random(32) }]);
    const restarted = createService({ ...bench.deps, ring });
    expect(await open(look, wrongOf(code), {}, restarted)).toBe('code_wrong');
    await rewrapOlder({ store: bench.memory, ring, random: bench.deps.random }, () => {});
    expect(await bench.memory.rootKidsInUse()).toEqual([2]);
    expect(await open(look, code, {}, restarted)).toBe('revealed');
  });

  it('of a secret that ended or whose account is gone is unknown, and mails nothing', async () => {
    const { bench, ask, codeFor, open, share, caller } = await createScene();
    const other = await share();
    const look = newLook();
    await open(look, await codeFor(look));
    const mails = bench.accountMails.length;
    expect(await ask(look)).toBe('unknown');
    await bench.memory.deleteAccount(caller.account.id);
    expect(await ask(look, home, { secretKey: other.secretKey })).toBe('unknown');
    expect(bench.accountMails).toHaveLength(mails);
  });
});

describe('the path of an end-to-end link', () => {
  it('P9: shows nothing, mails nothing and uses nothing up', async () => {
    const sealed = clientSecret();
    const calls: string[] = [];
    const { bench, ask, open } = await createScene(noting(calls), { sealed: sealed.input() });
    for (let n = 0; n < 30; n += 1)
      for (const linkProof of [null, sealed.proofs.proof])
        expect(await ask(newLook(), home, { linkProof })).toBe('incomplete_link');
    expect([calls, bench.accountMails]).toEqual([[], []]);
    const look = newLook();
    expect(await ask(look, home, { linkProof: sealed.proofs.linkProof })).toBe('queued');
    const code = bench.codeMailed();
    calls.length = 0;
    for (const proofs of [null, { ...sealed.proofs, linkProof: sealed.proofs.proof }])
      for (const given of [code, wrongOf(code)])
        expect(await open(look, given, { proofs })).toBe('incomplete_link');
    expect(calls).toEqual([]);
    expect(await open(look, code, { proofs: sealed.proofs })).toBe('revealed');
  });
});

describe('a stranger with the link', () => {
  it('P14: cannot keep the right person from asking, from fewer than ten networks', async () => {
    const { ask, codeFor, open } = await createScene();
    for (let network = 0; network < 9; network += 1)
      for (let n = 0; n < 5; n += 1) await ask(newLook(), foreign(network));
    const look = newLook();
    expect(await open(look, await codeFor(look))).toBe('revealed');
  });

  it('P14: cannot keep the right person from trying, from fewer than eight networks', async () => {
    const { codeFor, open, receipt } = await createScene();
    const stranger = newLook();
    const code = await codeFor(stranger, foreign(0));
    for (let network = 0; network < 7; network += 1)
      for (let n = 0; n < 9; n += 1) await open(stranger, wrongOf(code), { clientPrefix: foreign(network) });
    expect((await receipt()).locked).toBeNull();
    const look = newLook();
    expect(await open(look, await codeFor(look))).toBe('revealed');
  });

  it('P14: who used up the mails of a network is no trouble for long: the creator allows more', async () => {
    const { bench, caller, metadataKey, ask, codeFor } = await createScene();
    for (let n = 0; n < 3; n += 1) await codeFor(newLook());
    expect(await ask(newLook())).toBe('too_many_mails');
    const change = { ...asOwner(metadataKey), memo: undefined, ttlSeconds: null };
    await bench.service.change({ ...change, allowsMore: true }, caller);
    expect(await ask(newLook())).toBe('too_many_mails');
    await bench.service.change({ ...change, allowsCodes: true }, caller);
    expect(await ask(newLook())).toBe('queued');
  });

  it('P14: gets 100 wrong codes in all, and locks nobody out for good: the creator allows more', async () => {
    const { bench, caller, metadataKey, ask, codeFor, open, receipt } = await createScene();
    let tried = 0;
    for (let round = 0; round < 12; round += 1) {
      const look = newLook();
      if (round % 3 === 0) bench.advance(86_400);
      const code = await codeFor(look, foreign(200 + round));
      for (let network = 0; network < 30; network += 1)
        if ((await open(look, wrongOf(code), { clientPrefix: foreign(network) })) === 'code_wrong')
          tried += 1;
      bench.advance(600);
    }
    expect([tried, (await receipt()).locked]).toEqual([100, { by: 'code', until: null }]);
    for (let network = 0; network < 25; network += 1) await ask(newLook(), foreign(network));
    const look = newLook();
    const before = await ask(look);
    const change = { ...asOwner(metadataKey), memo: undefined, ttlSeconds: null, allowsCodes: true };
    expect(await bench.service.change(change, caller)).toMatchObject({
      outcome: 'found',
      receipt: { locked: null },
    });
    expect(before).toBe('too_many_mails');
    expect(await open(look, await codeFor(look))).toBe('revealed');
  });
});

describe('mails with codes', () => {
  it('P21: are thirty a day from one account’s secrets to a mailbox, forty to it from all, and a hundred an hour from an account', async () => {
    const { bench, share, caller } = await createScene();
    const others = [await bench.signUp('al@example.org'), await bench.signUp('bo@example.org')];
    const mailedBy = async (by: typeof caller, to: string, times: number) => {
      let queued = 0;
      for (let n = 0; n < times; n += 1) {
        const { secretKey } = await share(to, by);
        const input = { secretKey, look: newLook(), linkProof: null, clientPrefix: home, locale: 'en' };
        if ((await bench.service.mailCode(input)).outcome === 'queued') queued += 1;
      }
      return queued;
    };
    expect(await mailedBy(caller, verify, 15)).toBe(15);
    expect(await mailedBy(caller, 'Anna@EXAMPLE.org', 10)).toBe(10);
    expect(await mailedBy(caller, 'anna+other@example.org', 10)).toBe(5);
    let elsewhere = 0;
    for (let n = 0; n < 100; n += 1) elsewhere += await mailedBy(caller, `person${n}@example.org`, 1);
    expect(elsewhere).toBe(70);
    const [al, bo] = others as [typeof caller, typeof caller];
    expect([await mailedBy(al, verify, 30), await mailedBy(bo, verify, 3)]).toEqual([10, 0]);
    bench.advance(86_400);
    expect(await mailedBy(bo, verify, 1)).toBe(1);
  });

  it('P21: are not counted if the store does not answer', async () => {
    let isAway = true;
    const { ask } = await createScene((store) => ({
      ...store,
      reserve: async (...given) => (isAway ? Promise.reject(new Error('away')) : store.reserve(...given)),
    }));
    for (let n = 0; n < 40; n += 1) await ask(newLook()).catch(() => null);
    isAway = false;
    expect(await ask(newLook())).toBe('queued');
  });

  it('P21: are counted for a secret only if the mailbox takes one', async () => {
    const calls: string[] = [];
    const { ask, share } = await createScene(noting(calls));
    for (let n = 0; n < 30; n += 1) await ask(newLook(), home, { secretKey: (await share()).secretKey });
    calls.length = 0;
    expect(await ask(newLook())).toBe('too_many_mails');
    expect(calls).toEqual([]);
  });
});

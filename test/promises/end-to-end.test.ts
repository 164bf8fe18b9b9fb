/**
 * End-to-end secrets against those who have less than the whole link: a scanner with the path alone, somebody who wants to use up
 * the attempts, and someone who writes to the database, with and without the roots. Each check also fails on a seeded defect.
 */
import { describe, expect, it } from 'bun:test';
import { anonymous } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { StoredSecret } from '../../src/core/secret.ts';
import { attemptLimits } from '../../src/core/secrets/attempts.ts';
import type { RevealInput, RevealOutcome } from '../../src/core/secrets/outcomes.ts';
import type { SecretService, ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { type Canary, dumpOf, findCanaries } from '../support/canary.ts';
import { noOptions } from '../support/inputs.ts';
import { sealedUnderTheRoot, underTheRoot } from '../support/sealed-sample.ts';
import { type ClientSecret, clientSecret } from '../support/sealed-wire.ts';
import { createBench, guess } from '../support/service-bench.ts';

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const json = { 'content-type': 'application/json' };

async function concealed({ service }: Pick<TestApp, 'service'>, sealed: ClientSecret): Promise<string> {
  const input = { ...noOptions, value: new Sensitive(''), sealed: sealed.input() };
  const made = await service.conceal(input, anonymous);
  if (made.outcome !== 'created' || made.receipt.secretKey === null) throw new Error(made.outcome);
  return made.receipt.secretKey;
}

async function reveal(app: Pick<TestApp, 'fetch'>, key: string, body: object) {
  const path = `/api/v2/secret/${key}/reveal`;
  const answer = await app.fetch(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
  return { status: answer.status, ...(await answer.json()) };
}

describe('100 readers with the whole link at once', () => {
  async function winners(options: TestAppOptions, hasPassphrase: boolean): Promise<number[]> {
    const app = createTestApp(options);
    const sealed = clientSecret({ hasPassphrase });
    const key = await concealed(app, sealed);
    const answers = await Promise.all(Array.from({ length: 100 }, () => reveal(app, key, sealed.body)));
    return answers.map(({ status }) => status).filter((status) => status === 200);
  }

  it('P1: get the ciphertext to exactly one', async () => {
    expect(await winners({}, false)).toEqual([200]);
  });

  it('P1: get it to no more than one where a passphrase makes each of them a guess', async () => {
    expect((await winners({}, true)).length).toBeLessThanOrEqual(1);
  });

  it('are many winners where a claim reads, then deletes (self-test)', async () => {
    const wrapStore: TestAppOptions['wrapStore'] = (store) => ({
      ...store,
      async claim(target) {
        if ((await store.findSecret(target.secretId)) === null) return 'gone';
        await Promise.resolve();
        await store.claim(target, clientStays);
        return 'won';
      },
    });
    expect((await winners({ wrapStore }, false)).length).toBeGreaterThan(1);
  });
});

/** Everything that has the path alone: mail scanners, previews, thieves of a proxy’s log. */
const scanners = (key: string): [path: string, init: RequestInit][] => {
  const [page, v1, v2] = [`/secret/${key}`, `/api/v1/secret/${key}`, `/api/v2/secret/${key}`];
  const reading = [page, v2, `${v2}/status`, v1].flatMap((path): [string, RequestInit][] => [
    [path, {}],
    [path, { method: 'HEAD' }],
    [`${path}?continue=true&passphrase=x&link_proof=${'A'.repeat(43)}&proof=${'A'.repeat(43)}`, {}],
  ]);
  const posts: [string, RequestInit][] = [
    ...[page, v1, v2, `${v2}/reveal`, `/api/v2/guest/secret/${key}/reveal`].flatMap(
      (path): [string, RequestInit][] => [
        [path, { method: 'POST' }],
        [path, { method: 'POST', headers: form, body: '' }],
        [path, { method: 'POST', headers: form, body: 'passphrase=x&continue=true' }],
        [path, { method: 'POST', headers: json, body: '{}' }],
        [path, { method: 'POST', headers: json, body: '{"continue":true,"passphrase":"x"}' }],
      ],
    ),
  ];
  return [...reading, ...posts];
};

/** Whether the secret is still there with every guess left, after each of them has come several times. */
async function survives(options: TestAppOptions, hasPassphrase: boolean): Promise<boolean> {
  const app = createTestApp(options);
  const sealed = clientSecret({ hasPassphrase });
  const key = await concealed(app, sealed);
  const rounds = Math.ceil(attemptLimits.perLife / scanners(key).length) + 1;
  for (let round = 0; round < rounds; round += 1)
    for (const [path, init] of scanners(key)) await (await app.fetch(path, init)).arrayBuffer();
  const events = app.events.filter(({ event }) => event !== 'concealed');
  if (events.length > 0) return false;
  return (await reveal(app, key, { continue: true, ...sealed.body })).status === 200;
}

describe('a scanner with the path alone', () => {
  for (const hasPassphrase of [false, true])
    for (const dialect of ['documented', 'upstream'] as const)
      it(`P4 P14: consumes nothing and uses up no guess (passphrase: ${hasPassphrase}, ${dialect})`, async () => {
        expect(await survives({ dialect, v2Dialect: dialect }, hasPassphrase)).toBe(true);
      });

  it('is noticed where a reveal without proofs opens (self-test)', async () => {
    const sealed = clientSecret();
    const wrapService = (service: SecretService): SecretService => ({
      ...service,
      reveal: (input, caller) => service.reveal({ ...input, proofs: sealed.proofs }, caller),
    });
    expect(await survives({ wrapService }, false)).toBe(false);
  });

  it('is noticed where a wrong link counts as a guess (self-test)', async () => {
    const wrapService = (service: SecretService): SecretService => ({
      ...service,
      async reveal(input, caller) {
        const outcome = await service.reveal(input, caller);
        if (outcome.outcome !== 'incomplete_link') return outcome;
        return service.reveal(
          { ...input, proofs: { ...clientSecret().proofs, proof: new Uint8Array(32) } },
          caller,
        );
      },
    });
    expect(await survives({ wrapService }, true)).toBe(false);
  });

  it('sees a page without a form and without a field that a form could send', async () => {
    const app = createTestApp();
    for (const hasPassphrase of [false, true]) {
      const key = await concealed(app, clientSecret({ hasPassphrase }));
      const answer = await app.fetch(`/secret/${key}`);
      const page = await answer.text();
      const main = page.slice(page.indexOf('<main'), page.indexOf('</main>'));
      expect([answer.status, /<form\b| name=/.test(main)]).toEqual([200, false]);
    }
  });
});

/** Someone who changes what the store gives back, and how often the service then asked it for a claim. */
async function against(
  sealed: ClientSecret | null,
  change: (found: StoredSecret, ring: ServiceParts['ring'], epochKey: Uint8Array) => Partial<StoredSecret>,
  input: Partial<RevealInput>,
  share: Parameters<ReturnType<typeof createBench>['share']>[1] = {},
) {
  let claims = 0;
  let ring: ServiceParts['ring'] | null = null;
  const bench = createBench({
    wrap: (store) => ({
      ...store,
      async findSecret(id) {
        const found = await store.findSecret(id);
        if (found === null || ring === null) return found;
        const { key } = await store.epochFor(found.expiresAt);
        return { ...found, ...change(found, ring, key) };
      },
      claim(target, isAbandoned) {
        claims += 1;
        return store.claim(target, isAbandoned);
      },
    }),
  });
  const { secretKey } = await bench.share(sealed === null ? 'the value' : '', {
    ...share,
    sealed: sealed?.input() ?? null,
  });
  ring = bench.deps.ring;
  const told = await bench.service
    .reveal({ ...guess(secretKey), ...input }, anonymous)
    .catch((fault: unknown) => fault);
  const refused = told instanceof ServiceError ? told.code : told instanceof Error ? 'fault' : null;
  return { outcome: refused ?? (told as RevealOutcome).outcome, claims };
}

/** The same secret with the other flag, under an outer layer of its own: what takes a root. */
function rewrapped(
  found: StoredSecret,
  ring: ServiceParts['ring'],
  epochKey: Uint8Array,
  sealed: boolean,
): Partial<StoredSecret> {
  const inner = underTheRoot(found.sealedSecret, found, ring.current, epochKey);
  if (inner === null) throw new Error('not opened');
  const context = { ...found, sealed };
  const sealedSecret = sealedUnderTheRoot(inner, found.sealedSecret, context, ring.current, epochKey);
  return { sealed, sealedSecret };
}

describe('someone who writes to the database', () => {
  const plainAsks: readonly Partial<RevealInput>[] = [{}, { passphrase: new Sensitive('right') }];

  for (const hasPassphrase of [false, true]) {
    const sealed = clientSecret({ hasPassphrase });

    it(`P3 P9: cannot make an end-to-end secret a plain one (passphrase: ${hasPassphrase})`, async () => {
      for (const input of [...plainAsks, { proofs: sealed.proofs }]) {
        const { outcome, claims } = await against(sealed, () => ({ sealed: false }), input);
        expect([outcome, claims]).toEqual(['damaged', 0]);
      }
    });

    it(`P3 P9: cannot make a plain secret an end-to-end one (passphrase: ${hasPassphrase})`, async () => {
      const share = hasPassphrase ? { passphrase: 'right' } : {};
      for (const input of [...plainAsks, { proofs: sealed.proofs }]) {
        const { outcome, claims } = await against(null, () => ({ sealed: true }), input, share);
        expect([outcome, claims]).toEqual(['damaged', 0]);
      }
    });

    it(`P9: with a root, can only destroy: no flag lets anything out (passphrase: ${hasPassphrase})`, async () => {
      for (const input of [...plainAsks, { proofs: sealed.proofs }]) {
        for (const [content, flag] of [
          [sealed, false],
          [null, true],
        ] as const) {
          const share = hasPassphrase && content === null ? { passphrase: 'right' } : {};
          const { outcome } = await against(
            content,
            (found, ring, epochKey) => rewrapped(found, ring, epochKey, flag),
            input,
            share,
          );
          expect(outcome).toBeOneOf([
            'damaged',
            'fault',
            'not_sealed',
            'passphrase_missing',
            'passphrase_wrong',
          ]);
        }
      }
    });
  }

  it('P9: learns neither ciphertext nor proofs from what the store is handed, nor anyone from events and errors', async () => {
    for (const hasPassphrase of [false, true]) expect(await leaksOf(hasPassphrase)).toEqual([]);
  });

  it('is noticed where the store is handed a proof (self-test)', async () => {
    const { linkProof } = clientSecret({ hasPassphrase: true }).proofs;
    const found = await leaksOf(true, { detailsBox: linkProof });
    expect(found).toContain('link proof');
  });
});

/** What of a whole life is in the store’s calls, the events and the errors. */
async function leaksOf(
  hasPassphrase: boolean,
  kept: { readonly detailsBox?: Uint8Array } = {},
): Promise<string[]> {
  const sealed = clientSecret({ hasPassphrase });
  const { linkHash, proofHash } = sealed.input();
  const heard: Buffer[] = [];
  const bench = createBench({
    wrap: (store) =>
      new Proxy(store, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name);
          if (typeof method !== 'function') return method;
          return (...given: unknown[]) => {
            const args = name === 'put' ? [{ ...(given[0] as object), ...kept }] : given;
            heard.push(dumpOf([name, ...args]));
            return Reflect.apply(method, target, args);
          };
        },
      }),
  });
  const { secretKey } = await bench.share('', { sealed: sealed.input() });
  const other = clientSecret({ seed: 'other' }).proofs;
  for (const proofs of [null, other, { ...sealed.proofs, proof: other.proof }, sealed.proofs])
    await bench.service.reveal({ ...guess(secretKey), proofs }, anonymous);
  const canaries: Canary[] = [
    { name: 'link proof', content: sealed.proofs.linkProof },
    { name: 'proof', content: sealed.proofs.proof },
    { name: 'link hash', content: linkHash },
    { name: 'proof hash', content: proofHash },
    { name: 'ciphertext', content: sealed.ciphertext.subarray(100, 140) },
    { name: 'secret key', content: secretKey },
  ];
  const places = [...heard, ...bench.events.map(dumpOf)];
  expect(bench.events.map(({ event }) => event)).toContain('revealed');
  return places.flatMap((place) => findCanaries(place, canaries).map(({ canary }) => canary));
}

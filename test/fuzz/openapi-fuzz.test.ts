/**
 * The service against requests made from its own OpenAPI document.
 *
 * No 5xx, no undocumented status, every body valid against its closed schema, no leaked exception, and two control
 * secrets made beforehand are readable exactly once afterwards. The same run over a service with a seeded defect fails
 * (the last tests).
 */

import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { exampleOf } from '../../src/api/openapi/schema.ts';
import { askBody } from '../../src/api/v2/request-records.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { type ApiSurface, createApi } from '../../src/http/api.ts';
import type { Operation, Reply } from '../../src/http/operation.ts';
import { createFetch } from '../../src/http/pipeline.ts';
import { createRateLimiter } from '../../src/http/rate-limit.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { count, limitMs } from '../support/counts.ts';
import { announceSeed } from '../support/run-seed.ts';
import { createJudge, documentOf, type Judge, surfacesOf } from '../v2/documented-app.ts';
import { type Credentials, requestsFor, type WantedRequest } from './requests.ts';

/**
 * Requests to one installation. With 10,000, the rarest required answers came once or twice, or not at all, so a run that
 * misses some is followed by another.
 */
const fullRun = count({ usual: 8_000, long: 20_000 });
const runCount = count({ usual: 1, long: 50 });
const mostRuns = runCount + 4;
const defectRun = 4_500;
/** The same in every run: whether a rare defect is found must not depend on luck. */
const fixedSeed = 1;
const slowestShare = 0.99;
const largestDurationMs = 100;
/** About 15 s of one core; the rest is for a machine that is busy with other things. */
const timeLimitMs = 180_000;

type Fetch = (request: Request) => Response | Promise<Response>;

interface Verdict {
  readonly sent: number;
  readonly findings: readonly string[];
  readonly slowestMs: number;
  readonly controls: readonly string[];
}

interface Target {
  readonly app: TestApp;
  readonly fetch: Fetch;
  readonly faults: readonly unknown[];
  /** How often each operation gave each answer, such as `v2.burn 409`. */
  readonly answers: ReadonlyMap<string, number>;
}

/** The real service, or one whose operations were changed. */
async function createTarget(
  change: (surface: ApiSurface) => ApiSurface = (surface) => surface,
): Promise<Target> {
  const app = createTestApp({ plans: { identity: { ...builtInPlans.identity, maxPlaces: 10_000 } } });
  const faults: unknown[] = [];
  const answers = new Map<string, number>();
  const parts = surfacesOf(app).map((surface) =>
    createApi(change(surface), {
      authenticate: app.service.authenticate,
      limiter: createRateLimiter({ table: 'off', nowMs: () => 0 }),
      clientAddressOf: () => '192.0.2.1',
      bodyCapBytes: 65_536,
      ownOrigin: 'https://mayfly.example',
      allowedOrigins: new Set(),
      onAnswer: ({ operation, status }) => {
        const name = `${operation ?? 'none'} ${status}`;
        answers.set(name, (answers.get(name) ?? 0) + 1);
      },
      onFault: (error) => faults.push(error),
    }),
  );
  const [first] = parts;
  if (first === undefined) throw new Error('there is no version');
  return { app, fetch: createFetch(parts, first.serve), faults, answers };
}

async function fuzz(target: Target, judge: Judge, seed: number, requests: number): Promise<Verdict> {
  const { app } = target;
  const accountAt = await makeAccounts(app, requests);
  const controls = await makeControls(app);
  const controlKeys = controls.flatMap(({ secretKey, metadataKey }) => [secretKey, metadataKey]);
  const pool = createKeyPool(controlKeys, await makeBait(app));
  const requestKeys = await makeRequests(app, accountAt(0));
  const durationsMs: number[] = [];

  async function send(wanted: WantedRequest): Promise<readonly string[]> {
    app.clock.advance(wanted.pauseSeconds);
    const request = toRequest(wanted, accountAt(durationsMs.length), (choice) => {
      if (choice.kind === 'text') return choice.segment;
      if (choice.kind === 'control') return controlKeys[choice.number * 2] ?? '';
      return wanted.path.includes('/request/') ? (requestKeys[choice.number] ?? '') : pool.at(choice.number);
    });
    const startedMs = performance.now();
    const response = await target.fetch(request);
    const text = await response.text();
    durationsMs.push(performance.now() - startedMs);
    if (response.status === 200) pool.note(text);
    const { pathname } = new URL(request.url);
    return judge(request.method, pathname, { status: response.status, text, headers: response.headers });
  }

  const property = fc.asyncProperty(requestsFor(await documentOf(app)), async (wanted) => {
    const findings = await send(wanted);
    if (findings.length > 0) throw new Error(findings.join('; '));
  });
  const run = await fc.check(property, { seed, numRuns: requests, maxSkipsPerRun: 10 });
  const findings = run.failed ? [`${fc.stringify(run.counterexample)}: ${String(run.errorInstance)}`] : [];
  if (target.faults.length > 0)
    findings.push(`${target.faults.length} faults escaped: ${String(target.faults[0])}`);
  durationsMs.sort((a, b) => a - b);
  return {
    sent: durationsMs.length,
    findings,
    slowestMs: durationsMs[Math.floor(durationsMs.length * slowestShare)] ?? 0,
    controls: await readControls(target, controls),
  };
}

/** Changes accounts from time to time: with thousands of records, one account's lists would take up the whole run. */
async function makeAccounts(app: TestApp, requests: number): Promise<(sent: number) => string> {
  const accountCount = 10;
  const numbers = Array.from({ length: accountCount }, (_, number) => number);
  const accounts = await Promise.all(
    numbers.map((number) => app.account(`fuzz${number}@example.com`, 'identity')),
  );
  return (sent) => accounts[Math.floor((sent * accountCount) / requests) % accountCount]?.authorization ?? '';
}

interface Control {
  readonly secretKey: string;
  readonly metadataKey: string;
  readonly value: string;
  readonly passphrase: string | null;
}

async function makeControls(app: TestApp): Promise<readonly Control[]> {
  const owner = await app.account('control@example.com');
  const make = async (value: string, passphrase: string | null): Promise<Control> => {
    const made = await post(
      app.fetch,
      '/api/v2/secret/conceal',
      { secret: { secret: value, passphrase } },
      owner.authorization,
    );
    return { secretKey: made.record.secret.key, metadataKey: made.record.metadata.key, value, passphrase };
  };
  return [await make('the plain control', null), await make('the guarded control', 'control passphrase')];
}

/** The results of two reveals of each control; the first must return its value, the second be refused. */
async function readControls(
  { app, fetch }: Target,
  controls: readonly Control[],
): Promise<readonly string[]> {
  // The run's guesses have used up this client's attempts.
  app.clock.advance(3_600);
  const told: string[] = [];
  for (const { secretKey, passphrase, value } of controls) {
    const reveal = () =>
      post(
        (path, init) => Promise.resolve(fetch(new Request(`http://localhost${path}`, init))),
        `/api/v2/secret/${secretKey}/reveal`,
        { passphrase },
      );
    const [first, second] = [await reveal(), await reveal()];
    told.push(first.record?.secret_value === value ? 'read' : `lost: ${first.error}`);
    told.push(second.error ?? 'read again');
  }
  return told;
}

const intact = ['read', 'unknown_secret', 'read', 'unknown_secret'];

async function post(
  send: (path: string, init: RequestInit) => Promise<Response>,
  path: string,
  body: unknown,
  authorization?: string,
) {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  const response = await send(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return JSON.parse(await response.text());
}

/** Requests by the document's example, whose proofs are then examples too: as many as a choice of keys has numbers. */
async function makeRequests(app: TestApp, authorization: string): Promise<readonly string[]> {
  const body = { ...(exampleOf(askBody) as object), answers: 20 };
  const made = Array.from({ length: 64 }, () => post(app.fetch, '/api/v2/request', body, authorization));
  return (await Promise.all(made)).map(({ record }) => record.key);
}

interface KeyPool {
  at(number: number): string;
  note(text: string): void;
}

/** A secret whose passphrase no request guesses, so that the attempts at it run out. */
async function makeBait(app: TestApp): Promise<string> {
  const made = await post(app.fetch, '/api/v2/secret/conceal', {
    secret: 'bait',
    passphrase: 'never guessed',
  });
  return made.record.secret.key;
}

/** Keys seen in answers of the run, except the controls'; and now and then the bait. */
function createKeyPool(excluded: readonly string[], bait: string): KeyPool {
  const size = 63;
  const keys: string[] = [];
  let next = 0;
  return {
    at: (number) => keys[number - 1] ?? bait,
    note(text) {
      for (const [, key = ''] of text.matchAll(/"(?:metadata_key|secret_key|key)":"([0-9a-z]{31})"/g)) {
        if (excluded.includes(key) || keys.includes(key)) continue;
        keys[next % size] = key;
        next += 1;
      }
    },
  };
}

const credentialHeaders: Readonly<Record<Exclude<Credentials, 'right'>, string | null>> = {
  none: null,
  wrong: `Basic ${btoa(`fuzz0@example.com:${'0'.repeat(64)}`)}`,
  broken: 'Basic %%%',
};

/** The document's example name, which accounts of the run register and remove; or another one. */
function domainFor(choice: WantedRequest['key']): string {
  if (choice.kind === 'text') return choice.segment;
  return choice.number < 8 ? 'secrets.example.com' : 'nobody.example.com';
}

function toRequest(
  wanted: WantedRequest,
  authorization: string,
  keyFor: (choice: WantedRequest['key']) => string,
): Request {
  const path = wanted.path
    .replace('{domain}', () => domainFor(wanted.key))
    .replace(/\{\w+\}/g, () => keyFor(wanted.key));
  const credentials = wanted.credentials === 'right' ? authorization : credentialHeaders[wanted.credentials];
  const query = wanted.query === '' ? '' : `?${wanted.query}`;
  const body = typeof wanted.body === 'string' ? new TextEncoder().encode(wanted.body) : wanted.body;
  try {
    return new Request(`http://localhost${path}${query}`, {
      method: wanted.method,
      headers: { ...wanted.headers, ...(credentials !== null && { authorization: credentials }) },
      ...(body !== null && { body }),
    });
  } catch {
    // No client could send this.
    fc.pre(false);
    throw new Error('unreachable');
  }
}

describe('the service under requests made from its own document', () => {
  const seed = announceSeed('openapi-fuzz');

  it(
    `answers ${runCount * fullRun} of them or more as documented, without a fault, and keeps the control secrets (P1, P4, P18, P26)`,
    async () => {
      const answered = new Set<string>();
      const isEnough = (runs: number) => runs >= runCount && unseen(answered).length === 0;
      for (let run = 0; run < mostRuns && !isEnough(run); run += 1)
        for (const name of await fuzzOnce(seed + run)) answered.add(name);
      expect(unseen(answered)).toEqual([]);
    },
    limitMs(timeLimitMs),
  );

  /** The answers that were given, such as `v2.burn 409`. */
  async function fuzzOnce(runSeed: number): Promise<Iterable<string>> {
    const target = await createTarget();
    const verdict = await fuzz(target, createJudge(await documentOf(target.app)), runSeed, fullRun);
    expect(verdict.findings).toEqual([]);
    expect(verdict.sent).toBeGreaterThanOrEqual(fullRun);
    expect(verdict.controls).toEqual(intact);
    expect(verdict.slowestMs).toBeLessThan(largestDurationMs);
    const answers = JSON.stringify(Object.fromEntries([...target.answers].sort()));
    console.log(`openapi-fuzz: MAYFLY_SEED=${runSeed} ${answers}`);
    return target.answers.keys();
  }

  /** A run that only ever meets refusals, or never meets some of them, would prove little. */
  function unseen(answered: ReadonlySet<string>): readonly string[] {
    const operations = surfacesOf(createTestApp()).flatMap((surface) =>
      surface.operations.map(({ name }) => `${name} 200`),
    );
    // A discard needs the key of an answer to the same request.
    const byChance = 'v2.requestDiscard 200';
    const refusals = [
      'v2.conceal 413',
      'v2.conceal 415',
      'v2.conceal 422',
      'v2.conceal 400',
      'v2.conceal 401',
    ];
    const endings = ['v2.burn 409', 'v2.burn 401', 'v2.reveal 404', 'v2.reveal 422', 'v2.reveal 403'];
    const strays = ['none 404', 'none 405', 'none 204'];
    const wanted = [...operations, ...refusals, ...endings, ...strays].filter(
      (name) => !answered.has(name) && name !== byChance,
    );
    const exhausted = [...answered].some((name) => /^v\d\.(?:reveal|inspect) 429$/.test(name));
    return exhausted ? wanted : [...wanted, 'attempts used up'];
  }

  type Spoil = (operation: Operation) => Operation['handle'];

  const defects: readonly [string, string, Spoil][] = [
    [
      'a field that no schema names',
      'v2.conceal',
      withBody((body) => ({ ...body, recipient: 'joe@example.org' })),
    ],
    ['a number sent as a text', 'v1.conceal', withBody((body) => ({ ...body, ttl: '3600' }))],
    [
      'an undocumented status',
      'v2.receipt',
      ({ handle }) =>
        async (...call) => ({ ...(await handle(...call)), status: 418 }),
    ],
    [
      'a fault at one input in many',
      'v2.reveal',
      ({ handle }) =>
        (input, ...rest) => {
          if (/[^\x20-\x7e]/.test(JSON.stringify(input))) throw new TypeError('seeded');
          return handle(input, ...rest);
        },
    ],
  ];
  for (const [what, name, spoil] of defects) {
    it(
      `finds ${what}`,
      async () => {
        const target = await createTarget((surface) => withDefect(surface, name, spoil));
        const verdict = await fuzz(target, createJudge(await documentOf(target.app)), fixedSeed, defectRun);
        expect(verdict.findings).not.toEqual([]);
      },
      timeLimitMs,
    );
  }

  it(
    'finds a GET that consumes',
    async () => {
      const target = await createTarget((surface) =>
        withDefect(surface, 'v2.secretStatus', ({ handle }) => async (secretKey, caller, exchange) => {
          const answer = await handle(secretKey, caller, exchange);
          await target.app.service.reveal(
            {
              passphrase: null,
              proofs: null,
              secretKey: String(secretKey),
              clientPrefix: '',
              isAbandoned: clientStays,
            },
            caller,
          );
          return answer;
        }),
      );
      const verdict = await fuzz(target, createJudge(await documentOf(target.app)), fixedSeed, defectRun);
      expect(verdict.controls).not.toEqual(intact);
    },
    timeLimitMs,
  );

  function withBody(change: (body: object) => object): Spoil {
    return ({ handle }) =>
      async (...call) => {
        const reply: Reply = await handle(...call);
        return reply.status === 200 ? { ...reply, body: change(reply.body as object) } : reply;
      };
  }

  function withDefect(surface: ApiSurface, name: string, spoil: Spoil): ApiSurface {
    const operations = surface.operations.map((operation) =>
      operation.name === name ? { ...operation, handle: spoil(operation) } : operation,
    );
    return { ...surface, operations };
  }
});

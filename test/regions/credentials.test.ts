/**
 * Credentials of one region on a key of another, through the router, at every door that names a key.
 *
 * Proves that they close nothing that is open without an account, and that wrong, revoked and doubtful ones never pass as no
 * credentials: within a region nothing changes.
 */
import { describe, expect, it } from 'bun:test';
import { parseRegionLabel, type Region, type RegionLabel } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { createClientAddressOf } from '../../src/http/client-address.ts';
import { type Hop, routerRegions } from '../../src/router/fleet.ts';
import { assembleRouter } from '../../src/router/start.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { hopTo } from '../support/router-front.ts';
import { proxiesOf } from '../support/settings.ts';

type Dialect = 'documented' | 'upstream';
type Door = readonly [method: 'GET' | 'POST' | 'PATCH', path: string, body?: object];

const regions = ['us', 'eu'].map(
  (label): Region => ({
    label: parseRegionLabel(label) as RegionLabel,
    baseUrl: `https://${label}.mayfly.example`,
  }),
);

/** Two regions and the router, without sockets; `us.answer` replaces what the region us answers. */
function openFleet(dialect: Dialect) {
  const [us, eu] = regions.map((own) =>
    createTestApp({
      ...{ dialect, v2Dialect: dialect, baseUrl: own.baseUrl },
      regions: { own: own.label, all: regions },
    }),
  );
  if (us === undefined || eu === undefined) throw new Error('two regions are needed');
  const fault: { us: (() => Response) | null; seen: string[] } = { us: null, seen: [] };
  const hop: Hop = async ({ host }, request) => {
    const label = host.slice(0, 2);
    fault.seen.push(`${label} ${request.target}`);
    if (label === 'us' && fault.us !== null) return { outcome: 'answered', response: fault.us() };
    return hopTo((label === 'us' ? us : eu).handler, host, request);
  };
  const router = assembleRouter(
    {
      regions: routerRegions(regions, []),
      ...{ weights: null, deprecatedSince: null, onChange: () => {}, onAnswer: () => {} },
      clientAddressOf: createClientAddressOf(proxiesOf([])),
    },
    {
      ...{ hop, abandon: () => {}, after: () => () => {}, random: systemRandom },
      nowMs: () => performance.now(),
    },
  );
  for (const { servers } of router.fleet.regions)
    for (const server of servers) router.fleet.setHealth(server, true);
  /** Through the router, at a door on keys of its own. */
  const ask = async (
    { secretKey, metadataKey }: Keys,
    [method, path, body]: Door,
    authorization?: string,
  ) => {
    const content = body === undefined ? null : JSON.stringify(body);
    const headers = new Headers({ 'content-type': 'application/json' });
    if (content !== null) headers.set('content-length', String(content.length));
    if (authorization !== undefined) headers.set('authorization', authorization);
    const url = `http://router${path.replace('SECRET', secretKey).replace('RECEIPT', metadataKey)}`;
    const response = await router.fetch(new Request(url, { method, headers, body: content }), undefined);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { us, eu, ask, fault };
}

interface Keys {
  readonly secretKey: string;
  readonly metadataKey: string;
}

async function make(app: TestApp, authorization?: string): Promise<Keys> {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (authorization !== undefined) headers.set('authorization', authorization);
  const body = JSON.stringify({ secret: { secret: 'the value' } });
  const made = await app.fetch('/api/v2/secret/conceal', { method: 'POST', headers, body });
  const { record } = JSON.parse(await made.text());
  return { secretKey: record.secret.key, metadataKey: record.metadata.key };
}

async function isWaiting(app: TestApp, { secretKey }: Keys): Promise<boolean> {
  const answer = await app.fetch(`/api/v2/secret/${secretKey}/status`);
  return answer.status === 200 && ['new', 'viewed'].includes(JSON.parse(await answer.text()).record.state);
}

const opening: readonly Door[] = [
  ['POST', '/api/v1/secret/SECRET', {}],
  ['GET', '/api/v2/secret/SECRET'],
  ['GET', '/api/v2/secret/SECRET/status'],
  ['POST', '/api/v2/secret/SECRET/reveal', { continue: true }],
  ['POST', '/api/v2/secret/SECRET/burn', { continue: true }],
];
const managing: readonly Door[] = [
  ['GET', '/api/v1/private/RECEIPT'],
  ['POST', '/api/v1/metadata/RECEIPT', {}],
  ['POST', '/api/v1/receipt/RECEIPT/burn', {}],
  ['GET', '/api/v2/private/RECEIPT'],
  ['PATCH', '/api/v2/receipt/RECEIPT', { memo: 'x' }],
  ['POST', '/api/v2/private/RECEIPT/deliver', {}],
  ['POST', '/api/v2/receipt/RECEIPT/burn', { continue: true }],
];
const doors = [...opening, ...managing];
const named = (list: readonly Door[]) => list.map((door) => [`${door[0]} ${door[1]}`, door] as const);

/** Without what is drawn anew for each secret, and what a clock says. */
const shapeOf = ({ status, text }: { status: number; text: string }, { secretKey, metadataKey }: Keys) => [
  status,
  text
    .replaceAll(secretKey, 'SECRET')
    .replaceAll(metadataKey, 'RECEIPT')
    .replace(/"[0-9a-z]{6,20}"/g, '""'),
];

const account = 'where this needs an account';
const needsAccount = `Not authorized: these credentials belong to the region us, but the key belongs to the region eu, ${account}`;

describe.each(['documented', 'upstream'] as const)(
  'P16: credentials of another region, dialect %s',
  (dialect) => {
    it.each(named(doors))(
      '%s answers as without an account, or says which region wants one',
      async (_name, door) => {
        const { us, eu, ask, fault } = openFleet(dialect);
        const { authorization } = await us.account();
        const [mine, bare] = [await make(eu), await make(eu)];
        const without = await ask(bare, door);
        const got = await ask(mine, door, authorization);
        if (without.status !== 401) return expect(shapeOf(got, mine)).toEqual(shapeOf(without, bare));
        expect(got.status).toBe(401);
        expect(JSON.parse(got.text)).toMatchObject({ message: needsAccount });
        expect(got.headers.get('www-authenticate')).toContain('Basic');
        expect(await isWaiting(eu, mine)).toBe(true);
        // The key is nowhere but with its region.
        expect(fault.seen.filter((line) => line.startsWith('us ') && /[0-9a-z]{31}/.test(line))).toEqual([]);
      },
    );

    it('open what is open, and manage only where this needs no account', async () => {
      const { us, eu, ask } = openFleet(dialect);
      const { authorization } = await us.account();
      const refused: Door[] = [];
      for (const door of doors)
        if ((await ask(await make(eu), door, authorization)).status === 401) refused.push(door);
      const always = managing.filter(([, path]) => path.endsWith('/deliver'));
      expect(refused).toEqual(dialect === 'documented' ? [...managing] : always);
    });

    it('are asked about nowhere at a guest’s door, which looks at none', async () => {
      const { us, eu, ask, fault } = openFleet(dialect);
      const { authorization } = await us.account();
      fault.us = () => new Response(null, { status: 503 });
      const door: Door = ['POST', '/api/v2/guest/secret/SECRET/reveal', { continue: true }];
      for (const credentials of [authorization, 'Basic nonsense']) {
        const got = await ask(await make(eu), door, credentials);
        expect([got.status, JSON.parse(got.text).record.secret_value]).toEqual([200, 'the value']);
      }
      expect(fault.seen.filter((line) => line.includes('authcheck'))).toEqual([]);
    });

    it.each(named(doors))(
      '%s stays closed to wrong, revoked and doubtful ones, and nothing is done',
      async (_name, door) => {
        const { us, eu, ask, fault } = openFleet(dialect);
        const { authorization, username } = await us.account();
        const wrong = `Basic ${btoa(`${username}:${'0'.repeat(64)}`)}`;
        const within = await eu.account('bob@example.com');
        const wrongWithin = `Basic ${btoa(`${within.username}:${'0'.repeat(64)}`)}`;
        const keys = await make(eu);
        const refusal = await eu.fetch(
          door[1].replace('SECRET', keys.secretKey).replace('RECEIPT', keys.metadataKey),
          {
            method: door[0],
            headers: { authorization: wrong, 'content-type': 'application/json' },
            ...(door[2] !== undefined && { body: JSON.stringify(door[2]) }),
          },
        );
        expect([401, 404]).toContain(refusal.status);
        const words = await refusal.text();
        const refuses = async (credentials: string) => {
          const { status, text } = await ask(keys, door, credentials);
          expect([status, text]).toEqual([refusal.status, words]);
        };
        for (const credentials of [wrong, wrongWithin, 'Basic nonsense', 'Bearer x'])
          await refuses(credentials);
        // Once right, and remembered; then revoked, locked or out of reach.
        await ask(await make(eu), door, authorization);
        for (const [status, answered] of [
          [401, refusal.status],
          [429, 503],
          [503, 503],
        ] as const) {
          fault.us = () => new Response(null, { status });
          const got = await ask(keys, door, authorization);
          expect([status, got.status]).toEqual([status, answered]);
        }
        expect(await isWaiting(eu, keys)).toBe(true);
      },
    );

    it('are let in again by their own region, and only there count as its account', async () => {
      const { us, eu, ask } = openFleet(dialect);
      const [ours, theirs] = [await us.account(), await eu.account('bob@example.com')];
      const keys = await make(eu, theirs.authorization);
      const state = async (authorization: string) =>
        (await ask(keys, ['GET', '/api/v2/private/RECEIPT'], authorization)).status;
      expect(await state(theirs.authorization)).toBe(200);
      expect(await state(ours.authorization)).toBe(dialect === 'documented' ? 401 : 200);
      expect((await ask(await make(us), ['GET', '/api/v2/private/RECEIPT'], ours.authorization)).status).toBe(
        200,
      );
    });
  },
);

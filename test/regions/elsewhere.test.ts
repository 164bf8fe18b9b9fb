/**
 * A region's own server, asked for a key that another region has made: the answer of an unknown key, and where to ask. By the form of
 * the key alone: nothing is looked up, and a key without a region or of this one gets no such words (P17).
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createClient, MayflyError } from '../../sdk/mayfly.ts';
import { generateSecretKey, parseRegionLabel, type RegionLabel } from '../../src/core/keys.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import { clientRequest } from '../support/asking.ts';
import {
  createAccount,
  freePort,
  makeDataDir,
  runProduct,
  type StartedServer,
  startServer,
} from '../support/started-server.ts';

setDefaultTimeout(60_000);

const label = (text: string) => parseRegionLabel(text) as RegionLabel;
const elsewhere = 'https://eu.example.com/below';
const hint = `The key is of the region eu: ask ${elsewhere}`;

async function startRegion(dialect: string) {
  const [port, dataDir] = [await freePort(), await makeDataDir()];
  const own = `http://localhost:${port}`;
  const env = {
    MAYFLY_BASE_URL: own,
    MAYFLY_REGION: 'us',
    MAYFLY_REGIONS: `us=${own},eu=${elsewhere}`,
    MAYFLY_V1_DIALECT: dialect,
    MAYFLY_V2_DIALECT: dialect,
  };
  const { basic } = await createAccount(dataDir, 'jo@example.org');
  return { own, basic, node: await startServer({ port, dataDir, env }) };
}

const apiDoors = [
  ['POST', '/api/v1/secret/KEY'],
  ['POST', '/api/v1/private/KEY'],
  ['POST', '/api/v1/private/KEY/burn'],
  ['GET', '/api/v2/secret/KEY'],
  ['GET', '/api/v2/secret/KEY/status'],
  ['POST', '/api/v2/secret/KEY/reveal'],
  ['POST', '/api/v2/secret/KEY/burn'],
  ['GET', '/api/v2/private/KEY'],
  ['POST', '/api/v2/private/KEY/burn'],
  ['POST', '/api/v2/secret/status'],
  ['POST', '/api/v2/request/KEY/look'],
  ['POST', '/api/v2/request/KEY/answers'],
] as const;

const pages = ['/secret/KEY', '/secret/KEY?lang=de', '/receipt/KEY', '/receipt/KEY/burn'] as const;

/** Every hint in an answer, wherever it is. */
const hintsIn = (body: unknown): unknown[] =>
  typeof body !== 'object' || body === null
    ? []
    : Object.entries(body).flatMap(([name, value]) => (name === 'hint' ? [value] : hintsIn(value)));

const { ask, owner } = clientRequest();
const proofs = { ...ask, ...owner };

async function askApi(
  node: StartedServer,
  basic: string,
  [method, door]: (typeof apiDoors)[number],
  key: string,
) {
  const headers = { authorization: basic, 'content-type': 'application/json' };
  const content = door.endsWith('/secret/status') ? { identifiers: key } : { continue: true, ...proofs };
  const init = method === 'GET' ? { headers } : { method, headers, body: JSON.stringify(content) };
  const answer = await fetch(`http://localhost:${node.port}${door.replace('KEY', key)}`, init);
  return { status: answer.status, body: await answer.json() };
}

for (const dialect of ['documented', 'upstream'])
  describe(`P17, P20: a key of another region, in the dialect ${dialect}`, () => {
    test('is unknown at every door of the API, which says where to ask, and leads every page there', async () => {
      const { node, basic } = await startRegion(dialect);
      try {
        const [foreign, ours] = [label('eu'), label('us')].map((region) =>
          generateSecretKey(systemRandom, region),
        );
        // Of a region that this installation does not know.
        const strange = generateSecretKey(systemRandom, label('zz'));
        for (const door of apiDoors) {
          const there = await askApi(node, basic, door, foreign ?? '');
          const here = await askApi(node, basic, door, ours ?? '');
          expect([...door, ...hintsIn(there.body)]).toEqual([...door, hint]);
          expect([...door, there.status]).toEqual([...door, here.status]);
          for (const key of [ours ?? '', strange, 'no-key'])
            expect([...door, hintsIn((await askApi(node, basic, door, key)).body)]).toEqual([...door, []]);
          const text = JSON.stringify(there.body)
            .replaceAll(foreign ?? '', '')
            .replace(`,"hint":"${hint}"`, '');
          expect(text).toBe(JSON.stringify(here.body).replaceAll(ours ?? '', ''));
        }
        const visit = (path: string, key: string) =>
          fetch(`http://localhost:${node.port}${path.replace('KEY', key)}`, { redirect: 'manual' });
        for (const path of pages) {
          const { status, headers } = await visit(path, foreign ?? '');
          expect([path, status, headers.get('location')]).toEqual([
            path,
            307,
            `${elsewhere}${path.replace('KEY', foreign ?? '')}`,
          ]);
          expect(headers.get('cache-control')).toBe('no-store');
          for (const key of [ours ?? '', strange])
            expect([path, (await visit(path, key)).status]).toEqual([path, 404]);
        }
      } finally {
        await node[Symbol.asyncDispose]();
      }
    });
  });

test('the SDK and the command say where to ask', async () => {
  const { node, own } = await startRegion('documented');
  try {
    const key = generateSecretKey(systemRandom, label('eu'));
    const error = await createClient({ server: own })
      .reveal(key)
      .catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(MayflyError);
    expect(error).toMatchObject({ code: 'unknown_secret', hint });
    const run = await runProduct(['src/main.ts', 'reveal', `${own}/secret/${key}`]);
    expect([run.code, run.stderr]).toEqual([1, `There is no such secret at ${own}. ${hint}.\n`]);
  } finally {
    await node[Symbol.asyncDispose]();
  }
});

/** Requests and their answers through several nodes, against whatever is half made beside them. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { ServiceError } from '../../../src/core/errors.ts';
import type { NewRequest } from '../../../src/core/request.ts';
import type { Engine } from '../../../src/store/postgres/engine.ts';
import type { Store } from '../../../src/store/store.ts';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { accountNamed } from '../conformance/account-fixtures.ts';
import { countOf } from '../conformance/check.ts';
import { answer, ask, many, newAnswer, newRequest, outcomeOf } from '../conformance/request-fixtures.ts';
import { holding, openNodes as openSeeded, untilWaiting } from './seeded-nodes.ts';
import { countWhere, type Nodes, openNodes, racers } from './two-nodes.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

/** What two calls answer, through one node each, that have both come as far as they can while nothing gets into a table. */
async function atOnce(
  nodes: Nodes,
  table: string,
  call: (node: Store) => Promise<string>,
): Promise<string[]> {
  await nodes.ask(`CREATE OR REPLACE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(77); RETURN NEW; END'`);
  await nodes.ask(
    `CREATE OR REPLACE TRIGGER stay BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION stay()`,
  );
  const release = await holding(server, nodes.schema, 'SELECT pg_advisory_xact_lock(77)');
  const answers = [nodes.one, nodes.other].map(call);
  await untilWaiting(server, 2);
  await release();
  return (await Promise.all(answers)).sort();
}

async function answersAtOnce(nodes: Nodes): Promise<string[]> {
  const request = await ask(nodes.one);
  return atOnce(nodes, 'records', (node) => outcomeOf(node, request));
}

async function requestsAtOnce(nodes: Nodes): Promise<string[]> {
  const { id: owner } = await accountNamed(nodes.one, 'ann@example.org');
  return atOnce(nodes, 'requests', (node) => node.putRequest(newRequest(node, { owner, places: 2 }), 3));
}

describe('what two nodes decide at once', () => {
  it('P5: of a hundred answers a request takes one, if one was wanted', async () => {
    await using nodes = await openNodes(server);
    const request = await ask(nodes.one);
    const asked = Array.from({ length: racers }, (_, n) => outcomeOf(nodes.node(n), request));
    const outcomes = await Promise.all(asked);
    expect([countOf(outcomes, 'stored'), countOf(outcomes, 'full')]).toEqual([1, racers - 1]);
    expect(await countWhere(nodes, 'records')).toBe(1);
  });

  it('P5: a request takes one of two answers, and both without its lock (self-test)', async () => {
    await using nodes = await openNodes(server);
    expect(await answersAtOnce(nodes)).toEqual(['full', 'stored']);
    await nodes.seed('hold_request', 'FOR UPDATE', '');
    await nodes.ask('ALTER TABLE answers DROP CONSTRAINT answers_request_id_number_key');
    expect(await answersAtOnce(nodes)).toEqual(['stored', 'stored']);
  });

  it('P21: an account gets one of two requests, and both without its lock (self-test)', async () => {
    await using nodes = await openNodes(server);
    expect(await requestsAtOnce(nodes)).toEqual(['stored', 'too_many_places']);
    await using seeded = await openNodes(server);
    await seeded.seed('judge_places', 'FOR NO KEY UPDATE', '');
    expect(await requestsAtOnce(seeded)).toEqual(['stored', 'stored']);
  });
});

const lock = 'UPDATE accounts SET locked_at = 1 WHERE id = $1';
const half: readonly {
  readonly what: string;
  readonly statements: (request: NewRequest) => readonly (readonly [string, readonly unknown[]])[];
  readonly told: string;
}[] = [
  { what: 'is being locked', statements: ({ owner }) => [[lock, [owner]]], told: 'unknown' },
  {
    what: 'is being deleted',
    statements: ({ owner }) => [
      ['DELETE FROM accounts WHERE id = $1', [owner]],
      ['DELETE FROM requests WHERE owner = $1', [owner]],
    ],
    told: 'unknown',
  },
  {
    what: 'closes its request',
    statements: ({ id }) => [['UPDATE requests SET is_ended = 1 WHERE request_id = $1', [id]]],
    told: 'ended',
  },
  {
    what: 'wants no more answers than there are',
    statements: ({ id }) => [['UPDATE requests SET places = 1 WHERE request_id = $1', [id]]],
    told: 'full',
  },
];

describe('an answer that comes while its asker', () => {
  for (const { what, statements, told } of half)
    it(`${what}: waits, and stores nothing`, async () => {
      await using nodes = await openNodes(server);
      const { id: owner } = await accountNamed(nodes.one, 'ann@example.org');
      const request = await ask(nodes.one, { owner, places: 2 });
      await answer(nodes.one, request);
      expect(await nodes.during(statements(request), () => outcomeOf(nodes.other, request))).toBe(told);
      expect(await countWhere(nodes, 'records')).toBe(1);
    });

  it('is being locked would be stored without a lock of the account (self-test)', async () => {
    await using nodes = await openNodes(server);
    const { id: owner } = await accountNamed(nodes.one, 'ann@example.org');
    const request = await ask(nodes.one, { owner });
    await nodes.seed('hold_request', 'FOR SHARE', '');
    expect(await nodes.during([[lock, [owner]]], () => outcomeOf(nodes.other, request))).toBe('stored');
  });

  it('is being locked makes no request either', async () => {
    await using nodes = await openNodes(server);
    const { id: owner } = await accountNamed(nodes.one, 'ann@example.org');
    const put = () => nodes.other.putRequest(newRequest(nodes.other, { owner }), 9).catch(({ code }) => code);
    expect(await nodes.during([[lock, [owner]]], put)).toBe('unavailable');
    expect(await countWhere(nodes, 'requests')).toBe(0);
  });
});

it('P5: an answer that is sent again is told of only once the first is durable', async () => {
  let isDurable = true;
  const doubting = (engine: Engine): Engine => ({
    ...engine,
    async prove(seen, since) {
      if (!isDurable) throw new ServiceError('unavailable', 'It may be lost in a failover.');
      await engine.prove(seen, since);
    },
  });
  await using opened = await openSeeded(server, 1, doubting);
  const [node] = opened.nodes;
  if (node === undefined) throw new Error('there is a node');
  const request = await ask(node);
  const sent = await answer(node, request);
  const tellings = [
    () => node.putAnswer({ ...newAnswer(node, request), id: sent.id }),
    () => node.findAnswer(request.id, sent.id),
    () => node.listAnswers(request.id),
    () => node.putAnswer(newAnswer(node, request)),
  ];
  isDurable = false;
  for (const tell of tellings) await expect(tell()).rejects.toMatchObject({ code: 'unavailable' });
  isDurable = true;
  for (const tell of tellings) await tell();
});

it('finds what became of all answers in one statement, which reads no value', async () => {
  const read: string[] = [];
  const noting = (engine: Engine): Engine => ({
    ...engine,
    read(statement, values, askedAtMs) {
      read.push(statement.text);
      return engine.read(statement, values, askedAtMs);
    },
  });
  await using opened = await openSeeded(server, 1, noting);
  const [node] = opened.nodes;
  if (node === undefined) throw new Error('there is a node');
  const request = await ask(node, { places: 20 });
  const sent = await Promise.all(many(20, () => answer(node, request)));
  read.length = 0;
  const lives = await node.findLives(sent.map(({ record }) => record.receiptId));
  expect(lives.map((life) => life?.state)).toEqual(many(20, () => 'waiting'));
  expect(read).toHaveLength(1);
  expect(read[0]).not.toContain('sealed_secret');
});

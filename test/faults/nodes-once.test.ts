/** Mails of nodes that share a store, each sent once: real processes, a real mail server, a real PostgreSQL. */
import { describe, expect, it } from 'bun:test';
import { openPostOffice } from '../mail/post-office.ts';
import { startNodes } from '../support/nodes.ts';
import { type PostgresServer, startPostgres, until } from '../support/postgres.ts';
import { type Credentials, type StartedServer, startServer } from '../support/started-server.ts';

/** Opens and closes; waiting for it takes as long as it is closed. */
function createGate() {
  let opening = Promise.withResolvers<void>();
  opening.resolve();
  return {
    passed: () => opening.promise,
    open: () => opening.resolve(),
    close() {
      opening = Promise.withResolvers<void>();
    },
  };
}

/** Nodes, and the mail server that they send by: it takes recipients while its gate is open. */
async function openScene({ url }: PostgresServer, nodeCount: number) {
  const gate = createGate();
  const office = await openPostOffice([], {
    onRcptTo: (_address, _session, done) => void gate.passed().then(() => done()),
  });
  const env = { MAYFLY_SMTP_URL: office.url, MAYFLY_MAIL_FROM: 'noreply@mayfly.example' };
  const nodes = await startNodes({ url, durability: 'single', nodeCount, env });
  return {
    ...nodes,
    office,
    gate,
    async [Symbol.asyncDispose]() {
      gate.open();
      await nodes[Symbol.asyncDispose]();
      await office[Symbol.asyncDispose]();
    },
  };
}

interface Answer {
  readonly record?: { readonly metadata?: { readonly key: string } };
}

async function post({ port }: StartedServer, path: string, { basic }: Credentials, fields: object = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
    method: 'POST',
    headers: { authorization: basic, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

/**
 * The mails that arrive when a secret's mail is asked for again ten times of each of two nodes, after its first one.
 * @param defect statements that seed one
 */
async function deliverAtOnce(defect: readonly string[]): Promise<{ sent: number; statuses: number[] }> {
  await using server = await startPostgres();
  await using scene = await openScene(server, 2);
  for (const statement of defect) await server.ask(statement);
  const { servers, owner, office, gate } = scene;
  const [first] = servers;
  if (first === undefined) throw new Error('there are two nodes');
  const fields = { secret: 'x', recipient: 'jo@example.org' };
  const made = await post(first, '/secret/conceal', owner, fields);
  const isAccepted = "SELECT 1 FROM records WHERE delivery = 'accepted'";
  await until('the first mail', async () => (await server.ask(isAccepted)).length === 1);
  // A mail that was handed over may be sent again, so the mail server keeps the next ones waiting.
  gate.close();
  const path = `/private/${made.body.record?.metadata?.key}/deliver`;
  const asking = servers.flatMap((node) => Array.from({ length: 10 }, () => post(node, path, owner)));
  const statuses = (await Promise.all(asking)).map(({ status }) => status);
  gate.open();
  const wanted = statuses.filter((status) => status === 200).length;
  await until('the mails', async () => office.arrived.length >= 1 + wanted);
  return { sent: office.arrived.length - 1, statuses: statuses.toSorted() };
}

/** A mail that is queued again is forgotten at once. */
const forgetQueued = [
  `CREATE FUNCTION forget_queued() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN IF NEW.delivery = 'queued' THEN NEW.delivery := NULL; END IF; RETURN NEW; END $$`,
  'CREATE TRIGGER forgets BEFORE UPDATE ON records FOR EACH ROW EXECUTE FUNCTION forget_queued()',
];

describe('two nodes', () => {
  it('send one mail between them, however many ask both of them for it at once', async () => {
    expect(await deliverAtOnce([])).toEqual({ sent: 1, statuses: [200, ...Array(19).fill(409)] });
  }, 60_000);

  it('send more than one when the store forgets that a mail is queued', async () => {
    expect((await deliverAtOnce(forgetQueued)).sent).toBeGreaterThan(1);
  }, 60_000);

  it('send each notice once, when both find it due as they start', async () => {
    await using server = await startPostgres();
    await using scene = await openScene(server, 1);
    const { servers, owner, office, env } = scene;
    const [maker] = servers;
    if (maker === undefined) throw new Error('there is a node');
    const fields = { secret: 'x', notify: ['expiring'], ttl: 3_600 };
    for (let n = 0; n < 20; n += 1) await post(maker, '/secret/conceal', owner, fields);
    await server.ask('UPDATE records SET notice_due_at = 1');
    const [one, other] = await Promise.all([startServer({ env }), startServer({ env })]);
    await using _one = one;
    await using _other = other;
    await until('the notices', async () => office.arrived.length >= 20);
    expect(await server.ask('SELECT 1 FROM records WHERE notice_due_at IS NOT NULL')).toEqual([]);
    // What a node has taken it hands over before it ends.
    for (const node of [maker, one, other]) node.kill('SIGTERM');
    await Promise.all([maker.exited, one.exited, other.exited]);
    expect(office.arrived.map(({ to }) => to)).toEqual(Array(20).fill([owner.username]));
  }, 60_000);
});

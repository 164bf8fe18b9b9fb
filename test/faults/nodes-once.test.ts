/** Mails of nodes that share a store, each sent once: real processes, a real mail server, a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openPostOffice } from '../mail/post-office.ts';
import { type PostgresServer, startPostgres, until } from '../support/postgres.ts';
import { makeDataDir, runProduct, type StartedServer, startServer } from '../support/started-server.ts';

let server: PostgresServer;
let folder: string;

beforeAll(async () => {
  [server, folder] = await Promise.all([startPostgres(), makeDataDir()]);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

interface Gate {
  readonly isOpen: Promise<void>;
  open(): void;
}

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { isOpen: promise, open: resolve };
}

/** Nodes over one store with one mail server, which takes recipients while its gate is open. */
async function openScene() {
  let gate = closedGate();
  const office = await openPostOffice([], {
    onRcptTo: (_address, _session, done) => void gate.isOpen.then(() => done()),
  });
  const env = {
    MAYFLY_STORE: server.url,
    MAYFLY_STORE_DURABILITY: 'single',
    MAYFLY_ROOT_KEYS_FILE: join(folder, 'keys.json'),
    MAYFLY_SMTP_URL: office.url,
    MAYFLY_MAIL_FROM: 'noreply@mayfly.example',
  };
  const nodes: StartedServer[] = [];
  return {
    office,
    nodes,
    openGate: () => gate.open(),
    closeGate() {
      gate = closedGate();
    },
    async start(): Promise<StartedServer> {
      const node = await startServer({ env });
      nodes.push(node);
      return node;
    },
    async signUp(email: string): Promise<string> {
      const args = ['src/main.ts', 'account', 'create', email, '--json'];
      const { stdout, stderr } = await runProduct(args, env);
      if (stdout === '') throw new Error(`no account was made: ${stderr}`);
      const { username, token } = JSON.parse(stdout) as { username: string; token: string };
      return `Basic ${Buffer.from(`${username}:${token}`).toString('base64')}`;
    },
    async [Symbol.asyncDispose]() {
      gate.open();
      for (const node of nodes) await node[Symbol.asyncDispose]();
      await office[Symbol.asyncDispose]();
    },
  };
}

async function post({ port }: StartedServer, path: string, authorization: string, fields: object = {}) {
  const answer = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(fields),
  });
  return { status: answer.status, body: (await answer.json()) as Answer };
}

interface Answer {
  readonly record?: { readonly metadata?: { readonly key: string } };
}

/** What the store notes of the mail of the newest secret. */
async function newestDelivery(): Promise<string | null> {
  const rows = await server.ask<{ delivery: string }>(
    'SELECT delivery FROM records ORDER BY position DESC LIMIT 1',
  );
  return rows[0]?.delivery ?? null;
}

/** The mails that arrive when a secret's mail is asked for again ten times of each of two nodes, after its first one. */
async function deliverAtOnce(email: string): Promise<{ sent: number; statuses: number[] }> {
  await using scene = await openScene();
  scene.openGate();
  // The first makes the key file.
  const first = await scene.start();
  const nodes = [first, await scene.start()];
  const authorization = await scene.signUp(email);
  const made = await post(first, '/secret/conceal', authorization, {
    secret: 'x',
    recipient: 'jo@example.org',
  });
  const key = made.body.record?.metadata?.key;
  await until('the first mail', async () => (await newestDelivery()) === 'accepted');
  // A mail that was handed over already may be sent again, so the mail server keeps the next ones waiting.
  scene.closeGate();
  const asking = nodes.flatMap((node) =>
    Array.from({ length: 10 }, () => post(node, `/private/${key}/deliver`, authorization)),
  );
  const statuses = (await Promise.all(asking)).map(({ status }) => status);
  scene.openGate();
  const wanted = statuses.filter((status) => status === 200).length;
  await until('the mails', async () => scene.office.arrived.length >= 1 + wanted);
  return { sent: scene.office.arrived.length - 1, statuses: statuses.toSorted() };
}

describe('two nodes', () => {
  it('P6: send one mail between them, however many ask both of them for it at once', async () => {
    const { sent, statuses } = await deliverAtOnce('ann@example.org');
    expect(statuses).toEqual([200, ...Array(19).fill(409)]);
    expect(sent).toBe(1);
  }, 60_000);

  it('P6: send more than one when the store forgets that a mail is queued', async () => {
    await server.ask(`
      CREATE FUNCTION forget_queued() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.delivery = 'queued' THEN NEW.delivery := NULL; END IF; RETURN NEW; END $$`);
    await server.ask(
      'CREATE TRIGGER forgets BEFORE UPDATE ON records FOR EACH ROW EXECUTE FUNCTION forget_queued()',
    );
    try {
      expect((await deliverAtOnce('bob@example.org')).sent).toBeGreaterThan(1);
    } finally {
      await server.ask('DROP TRIGGER forgets ON records');
    }
  }, 60_000);

  it('P6: send each notice once, when both find it due as they start', async () => {
    await using scene = await openScene();
    scene.openGate();
    const maker = await scene.start();
    const authorization = await scene.signUp('eve@example.org');
    for (let n = 0; n < 20; n += 1)
      await post(maker, '/secret/conceal', authorization, { secret: 'x', notify: ['expiring'], ttl: 3_600 });
    await server.ask('UPDATE records SET notice_due_at = 1 WHERE notice_due_at IS NOT NULL');
    await Promise.all([scene.start(), scene.start()]);
    await until('the notices', async () => scene.office.arrived.length >= 20);
    const [due] = await server.ask<{ n: number }>(
      'SELECT count(*)::int AS n FROM records WHERE notice_due_at <= 1',
    );
    expect(due?.n).toBe(0);
    // What a node has taken it hands over before it ends.
    for (const node of scene.nodes) {
      node.kill('SIGTERM');
      await node.exited;
    }
    expect(scene.office.arrived.map(({ to }) => to)).toEqual(Array(20).fill(['eve@example.org']));
  }, 60_000);
});

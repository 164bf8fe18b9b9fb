/**
 * `kill -9` between a code and its reveal: a code that was mailed opens after the restart, whatever of its request was cut off, and
 * an opener whose mail was lost gets another for the same nonce (P1, P3, P5).
 */
import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { count, limitMs } from '../support/counts.ts';
import { announceSeed, createDice } from '../support/run-seed.ts';
import { createAccount, makeDataDir, type StartedServer, startServer } from '../support/started-server.ts';

const killCount = count({ usual: 1, long: 30 });
const openerCount = 16;

interface Opener {
  readonly key: string;
  readonly value: string;
  readonly address: string;
  readonly look: string;
}

interface Answer {
  readonly error?: string;
  readonly record?: {
    readonly secret_value?: string;
    readonly secret?: { readonly key: string; readonly verify: boolean };
  };
}

const newLook = (): string => randomBytes(16).toString('base64url');

async function post({ port }: StartedServer, path: string, body: unknown, basic = '') {
  const response = await fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(basic && { authorization: basic }) },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer };
}

async function conceal(server: StartedServer, basic: string, n: number): Promise<Opener> {
  const address = `opener.${n}.${randomBytes(4).toString('hex')}@example.org`;
  const value = `value ${n} ${randomBytes(6).toString('hex')}`;
  const { body } = await post(
    server,
    '/secret/conceal',
    { secret: { secret: value, verify: address } },
    basic,
  );
  const { key = '', verify } = body.record?.secret ?? {};
  expect(verify).toBe(true);
  return { key, value, address, look: newLook() };
}

/** The last code in the outbox for each address. */
function mailed(dataDir: string): Map<string, string> {
  const outbox = join(dataDir, 'outbox');
  const names = existsSync(outbox) ? readdirSync(outbox).sort() : [];
  const mails = names.map((name) => readFileSync(join(outbox, name), 'utf8'));
  return new Map(
    mails.flatMap((text) => {
      const [, to] = /^To: <?([^\s>]+)/m.exec(text) ?? [];
      const [, one, two] = /Your code: (\d{3}) (\d{3})/.exec(text) ?? [];
      return to === undefined || one === undefined ? [] : [[to, `${one}${two}`] as const];
    }),
  );
}

async function untilMailed(dataDir: string, openers: readonly Opener[]): Promise<Map<string, string>> {
  for (;;) {
    const codes = mailed(dataDir);
    if (openers.every(({ address }) => codes.has(address))) return codes;
    await new Promise((resume) => setTimeout(resume, 2));
  }
}

const askFor = (server: StartedServer, { key, look }: Opener) =>
  post(server, `/secret/${key}/code`, { look });
const reveal = (server: StartedServer, { key }: Opener, look: string, code: string) =>
  post(server, `/secret/${key}/reveal`, { look, code });

test(
  `P1, P3, P5: after a kill (of ${killCount}) a mailed code opens once, for its opener alone`,
  async () => {
    const dice = createDice(announceSeed('code, kill'));
    const dataDir = await makeDataDir();
    let [cut, kept] = [0, 0];
    try {
      const { basic } = await createAccount(dataDir, 'jo@example.org');
      for (let kills = 0; kills < killCount; kills += 1) {
        const openers: Opener[] = [];
        {
          await using server = await startServer({ dataDir });
          for (let n = 0; n < openerCount; n += 1) openers.push(await conceal(server, basic, n));
          const half = openers.slice(0, openerCount / 2);
          for (const opener of half) expect((await askFor(server, opener)).status).toBe(200);
          await untilMailed(dataDir, half);
          let left = 1 + dice(half.length / 2);
          const asks = openers.slice(half.length).map(async (opener) => {
            await askFor(server, opener);
            left -= 1;
            if (left === 0) server.kill('SIGKILL');
          });
          const ends = await Promise.allSettled(asks);
          cut += ends.filter(({ status }) => status === 'rejected').length;
          expect((await server.exited).signal).toBe('SIGKILL');
        }
        await using server = await startServer({ dataDir });
        const before = mailed(dataDir);
        for (const opener of openers) {
          if (before.has(opener.address)) kept += 1;
          else expect((await askFor(server, opener)).status).toBe(200);
          const code = (await untilMailed(dataDir, [opener])).get(opener.address) ?? '';
          expect((await reveal(server, opener, newLook(), code)).body.error).toBe('code_required');
          expect((await reveal(server, opener, opener.look, code)).body.record?.secret_value).toBe(
            opener.value,
          );
          expect((await reveal(server, opener, newLook(), code)).status).toBe(404);
        }
      }
      console.log(`code, kill: ${killCount} kills, ${cut} requests cut off, ${kept} codes mailed before`);
      expect(kept).toBeGreaterThanOrEqual((killCount * openerCount) / 2);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  limitMs(60_000),
);

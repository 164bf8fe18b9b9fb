/**
 * `kill -9` between claim and answer: whoever holds the nonce loses nothing, and nobody else gains anything.
 *
 * Openers ask with a nonce of their own while the server is killed under them, is started again on the same folder, and is asked
 * again. Each opener's first question after a kill must be answered with the value (P3); no more than three answers ever arrive, and
 * a stranger gets the uniform 404 (P1).
 */
import { expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { count, limitMs } from '../support/counts.ts';
import { announceSeed, createDice } from '../support/run-seed.ts';
import { makeDataDir, type StartedServer, startServer } from '../support/started-server.ts';

/** In each kill some dozen reveals are on their way. */
const killCount = count({ usual: 4, long: 60 });
const openerCount = 48;
const connectionCount = 16;

interface Opener {
  readonly key: string;
  readonly value: string;
  readonly look: string;
  /** Answers with the value that have arrived. */
  answers: number;
}

const newLook = (): string => randomBytes(16).toString('base64url');

async function post({ port }: StartedServer, path: string, body: unknown): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/api/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function conceal(server: StartedServer, n: number): Promise<Opener> {
  const value = `value ${n} ${randomBytes(6).toString('hex')}`;
  const answer = await post(server, '/secret/conceal', { secret: { secret: value } });
  const { record } = (await answer.json()) as { record: { secret: { key: string } } };
  return { key: record.secret.key, value, look: newLook(), answers: 0 };
}

/** Whether the opener was answered with the value. */
async function ask(server: StartedServer, opener: Opener, look = opener.look): Promise<boolean> {
  const answer = await post(server, `/secret/${opener.key}/reveal`, { look });
  const { status } = answer;
  const body = (await answer.json()) as { record?: { secret_value?: string } };
  if (status !== 200) {
    expect(status).toBe(404);
    return false;
  }
  expect(body.record?.secret_value).toBe(opener.value);
  if (look === opener.look) opener.answers += 1;
  return true;
}

/** Several connections ask for one after the other, and the server is killed when so many were answered; how many were cut off. */
async function killAmong(
  server: StartedServer,
  openers: readonly Opener[],
  killAt: number,
  killTurns: number,
): Promise<number> {
  let turns = killTurns;
  const fire = () => {
    if (turns-- > 0) setImmediate(fire);
    else server.kill('SIGKILL');
  };
  const waiting = [...openers];
  let answered = 0;
  async function askOneByOne(): Promise<void> {
    for (let opener = waiting.pop(); opener !== undefined; opener = waiting.pop()) {
      await ask(server, opener);
      answered += 1;
      if (answered === killAt) fire();
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: connectionCount }, askOneByOne));
  expect((await server.exited).signal).toBe('SIGKILL');
  return ends.filter(({ status }) => status === 'rejected').length;
}

test(
  `P1, P3: through ${killCount} kills between claim and answer an opener loses nothing and a stranger gains nothing`,
  async () => {
    const dice = createDice(announceSeed('look, kill'));
    const dataDir = await makeDataDir();
    let cut = 0;
    let betweenClaimAndAnswer = 0;
    try {
      for (let kills = 0; kills < killCount; kills += 1) {
        const openers: Opener[] = [];
        {
          await using server = await startServer({ dataDir });
          for (let n = 0; n < openerCount; n += 1) openers.push(await conceal(server, n));
          cut += await killAmong(server, openers, 1 + dice(openerCount - connectionCount), dice(12));
        }
        {
          await using server = await startServer({ dataDir });
          const strangers = openers.filter(({ answers }) => answers === 1);
          for (const opener of strangers) expect(await ask(server, opener, newLook())).toBe(false);
          for (const opener of openers) expect(await ask(server, opener)).toBe(true);
          server.kill('SIGKILL');
          await server.exited;
        }
        await using server = await startServer({ dataDir });
        for (const opener of openers) {
          while (await ask(server, opener));
          // An answer that was cut off counts as one.
          expect(opener.answers).toBeGreaterThanOrEqual(2);
          expect(opener.answers).toBeLessThanOrEqual(3);
          if (opener.answers === 2) betweenClaimAndAnswer += 1;
          expect(await ask(server, opener, newLook())).toBe(false);
        }
      }
      console.log(
        `look, kill: ${killCount} kills, ${cut} answers cut off, ${betweenClaimAndAnswer} of them after the claim`,
      );
      // Kills that cut no answer off would prove nothing.
      expect(cut).toBeGreaterThan(killCount);
    } finally {
      await rm(dataDir, { recursive: true, force: true });
    }
  },
  limitMs(120_000),
);

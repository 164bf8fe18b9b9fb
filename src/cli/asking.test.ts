/** The commands that ask people: from the question to the value, without a process. What they print else is in their transcripts. */
import { describe, expect, it } from 'bun:test';
import { createClient, type Fetch, type MayflyClient } from '../../sdk/mayfly.ts';
import { createTestApp } from '../../test/support/app.ts';
import { fakeLogins, fakeWorld, type WholeWorld } from '../../test/support/cli-world.ts';
import { Sensitive } from '../core/sensitive.ts';
import { sections } from './commands.ts';
import type { Program } from './programs.ts';
import { runCommand } from './run.ts';

const server = 'http://localhost:3000';
const linkForm = /http:\/\/localhost:3000\/ask\/[0-9a-z]{31}#[\w-]{43}/g;

/**
 * An installation whose account asks. `answering` runs when a command first asks for answers, with the links that it showed, so that no
 * test has to wait.
 */
async function scene(answering: (sender: MayflyClient, links: readonly string[]) => Promise<unknown>) {
  const app = createTestApp({ baseUrl: server });
  const { username, token } = await app.account('jo@example.org');
  const direct: Fetch = async (url, init) => app.handler(new Request(url, init));
  const sender = createClient({ server, fetch: direct });
  const logins = fakeLogins();
  await logins.keep(server, username, new Sensitive(token));
  const saved = new Map<string, string | Uint8Array>();
  const started: Program[] = [];
  const run = async (args: readonly string[], terminal: Partial<WholeWorld['terminal']> = {}) => {
    let isAnswered = false;
    const fetch: Fetch = async (url, init) => {
      if (url.endsWith('/answers') && !isAnswered) {
        isAnswered = true;
        await answering(sender, [...new Set(written.err.match(linkForm))]);
      }
      return direct(url, init);
    };
    const { world, written } = fakeWorld({
      fetch,
      openLogins: async () => ({ outcome: 'open', logins }),
      openOutputFile: async (path) => ({
        outcome: 'open',
        file: {
          keep: async (content) => void saved.set(path, content),
          drop: async () => void saved.set(path, 'dropped'),
        },
      }),
      programs: {
        find: async (command) => command,
        run: async (program) => {
          started.push(program);
          return { outcome: 'ended', exit: { code: 0 } } as never;
        },
      },
    });
    const code = await runCommand(args, sections, { ...world, terminal: { ...world.terminal, ...terminal } });
    return { code, ...written };
  };
  return { run, saved, started };
}

const prompt = 'Password of the NAS';

describe('mayfly ask', () => {
  it('says how to log in if only accounts may ask', async () => {
    const app = createTestApp({ baseUrl: server });
    const fetch: Fetch = async (url, init) => app.handler(new Request(url, init));
    const { world, written } = fakeWorld({ fetch });
    expect(await runCommand(['ask', prompt], sections, world)).toBe(1);
    expect(written.err).toBe(
      'An account is required to ask for secrets: run mayfly login, or set MAYFLY_USERNAME and MAYFLY_TOKEN.\n',
    );
  });
});

describe('mayfly ask --wait', () => {
  it('prints the value alone on standard output, and in a log only the link to answer (P18)', async () => {
    const { run } = await scene((sender, [link = '']) => sender.answer(link, { value: 'open sesame' }));
    const { code, out, err } = await run(['ask', prompt, '--wait']);
    expect([code, out]).toEqual([0, 'open sesame']);
    expect(err).toMatch(/^Anyone with this link can answer “Password of the NAS”, until \S+:\nhttp\S+\n$/);
    expect(err).not.toContain('/answers/');
  });

  it('shows a person a QR code, and how to go on', async () => {
    const { run } = await scene((sender, [link = '']) => sender.answer(link, { value: 'open sesame' }));
    const { out, err } = await run(['ask', prompt, '--wait'], { isErrorSeen: true });
    expect([out, /▀/.test(err)]).toEqual(['open sesame', true]);
    expect(err).toMatch(/mayfly answers --wait 'http:\/\/localhost:3000\/answers\/[0-9a-z]{31}#[\w-]{22}'\n/);
  });

  it('saves a file where it is told, and several answers as they come', async () => {
    const file = { name: 'key.pem', type: '', bytes: new TextEncoder().encode('PEM') };
    const { run, saved } = await scene((sender, [link = '']) => sender.answer(link, { file }));
    expect((await run(['ask', prompt, '--wait', '-o', 'nas.pem'])).code).toBe(0);
    expect((await run(['ask', prompt, '--wait'])).code).toBe(0);
    expect([...saved]).toEqual([
      ['nas.pem', file.bytes],
      ['key.pem', file.bytes],
    ]);
    const both = await scene(async (sender, [link = '']) => {
      await sender.answer(link, { value: 'one' });
      await sender.answer(link, { file });
    });
    expect((await both.run(['ask', prompt, '--wait', '--answers', '2'])).out).toBe('one');
    expect([...both.saved.keys()]).toEqual(['key.pem']);
  });

  it('says when no answer can come, and leaves no empty file', async () => {
    const { run, saved } = await scene(async (sender, [link = '']) => {
      const { link: sent } = await sender.answer(link, { value: 'x' });
      await sender.burnUnread(sent);
    });
    expect(await run(['ask', prompt, '--wait', '--json', '-o', 'nas.txt'])).toMatchObject({
      code: 1,
      out: '{"error":"no_answer"}\n',
    });
    expect([...saved]).toEqual([['nas.txt', 'dropped']]);
  });
});

describe('mayfly run --ask', () => {
  it('asks for all values first, and starts the command with them (P18)', async () => {
    const { run, started } = await scene(async (sender, links) => {
      for (const [at, link] of links.entries()) await sender.answer(link, { value: `value ${at}` });
    });
    const asked = ['--ask', 'DB_PASSWORD=The database password', '--ask', 'TOKEN=The token'];
    const { out, err } = await run(['run', ...asked, '--', 'deploy', '--now']);
    expect(started).toEqual([
      {
        file: 'deploy',
        args: ['--now'],
        variables: new Map([
          ['DB_PASSWORD', 'value 0'],
          ['TOKEN', 'value 1'],
        ]),
      },
    ]);
    expect([out, err.match(linkForm)?.length, /value|\/answers\//.test(err)]).toEqual(['', 2, false]);
  });

  it('asks nobody if another secret is gone, and starts nothing if an answer cannot be had', async () => {
    const gone = `NAME=${server}/secret/${'0'.repeat(31)}`;
    const { run, started } = await scene(async (sender, [link = '']) => {
      const { link: sent } = await sender.answer(link, { value: 'x' });
      await sender.burnUnread(sent);
    });
    const never = await run(['run', '--secret', gone, '--ask', 'A=a', '--', 'deploy']);
    expect([never.code, never.err.includes('/ask/')]).toEqual([1, false]);
    const lost = await run(['run', '--ask', 'A=a', '--json', '--', 'deploy']);
    expect([lost.code, lost.out]).toEqual([1, '{"error":"no_answer","lost":[],"unsure":null}\n']);
    expect(lost.err).toContain('A: There is no answer to open');
    expect(started).toEqual([]);
  });
});

/** The command at a real terminal: what it asks, what is seen there, and where nothing of it is left (P18). */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lookUntil } from '../support/look-until.ts';
import { createAccount, repositoryRoot, type StartedServer, startServer } from '../support/started-server.ts';
import { openTmux, type TerminalSession } from '../support/tmux.ts';
import { mayfly } from './command-run.ts';

const passphrase = 'canary-horse-7c41';
const value = 'canary-value-93be';

let server: StartedServer;
let folder = '';
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'mayfly-'));
  await mkdir(join(folder, 'bin'));
  const script = `#!/bin/sh\nexec ${process.execPath} ${join(repositoryRoot, 'src/main.ts')} "$@"\n`;
  await writeFile(join(folder, 'bin', 'mayfly'), script, { mode: 0o755 });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** A shell with a history, in which `mayfly` talks to the server. */
async function openShell(): Promise<TerminalSession> {
  const terminal = await openTmux(['bash', '--norc', '--noprofile'], {
    PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
    HOME: folder,
    HISTFILE: join(folder, 'history'),
    PS1: '> ',
    TERM: 'screen',
    LANG: 'C.UTF-8',
    MAYFLY_SERVER: `http://127.0.0.1:${server.port}`,
    MAYFLY_DATA_DIR: server.dataDir,
  });
  await terminal.until(/^>/m);
  return terminal;
}

/** Types a line, and waits for what follows it. */
async function enter(terminal: TerminalSession, text: string, then: RegExp): Promise<string> {
  terminal.type(text);
  terminal.press('Enter');
  return terminal.until(then);
}

let screens = 0;

/** Else a question or an answer that is still on the screen would be taken for the next. */
async function clear(terminal: TerminalSession): Promise<void> {
  screens += 1;
  await enter(terminal, `clear; echo screen ${screens}`, new RegExp(`^screen ${screens}$`, 'm'));
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It ended meanwhile.
    return '';
  }
}

/** What \`ps\` shows of every process, with its environment. */
function processes(): readonly { readonly pid: string; readonly shown: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => ({
      pid,
      shown: readOrNothing(`/proc/${pid}/cmdline`) + readOrNothing(`/proc/${pid}/environ`),
    }));
}

function commandOf(words: string): string {
  const found = processes().find(({ shown }) =>
    shown.includes(`src/main.ts\0${words.replaceAll(' ', '\0')}\0`),
  );
  if (found === undefined) throw new Error(`nobody runs mayfly ${words}`);
  return found.pid;
}

function assertUnseen(texts: readonly string[]): void {
  const seen = processes().filter(({ shown }) => texts.some((text) => shown.includes(text)));
  expect(seen.map(({ pid }) => pid)).toEqual([]);
}

/** The codes of the emails in this folder, as they are written there, oldest first. */
function codesIn(outbox: string): string[] {
  const texts = readdirSync(outbox)
    .sort()
    .map((name) => readFileSync(join(outbox, name), 'utf8'));
  return texts.flatMap((text) => /Your code: (\d{3} \d{3})/.exec(text)?.[1] ?? []);
}

describe('at a terminal', () => {
  it('share asks twice for the passphrase, unseen, and takes the secret until Ctrl-D; reveal asks for it too', async () => {
    await using terminal = await openShell();
    await enter(terminal, 'mayfly share --passphrase', /^Passphrase: $/m);
    await enter(terminal, passphrase, /^Repeat passphrase: $/m);
    assertUnseen([passphrase]);
    await enter(terminal, passphrase, /press Ctrl-D/);
    await enter(terminal, value, new RegExp(`^${value}$`, 'm'));
    assertUnseen([passphrase, value]);
    expect(readFileSync(`/proc/${commandOf('share --passphrase')}/coredump_filter`, 'utf8').trim()).toBe(
      '00000000',
    );
    terminal.press('C-d');
    const link =
      /http:\S+\/secret\/\S+/.exec(await terminal.until(/\/secret\/[0-9a-z]{31}#[\w-]{22}/))?.[0] ?? '';
    await clear(terminal);
    const own = link.replace('localhost', '127.0.0.1');
    await enter(terminal, `mayfly reveal ${own}`, /^Passphrase: $/m);
    const pid = commandOf(`reveal ${own}`);
    expect(readFileSync(`/proc/${pid}/coredump_filter`, 'utf8').trim()).toBe('00000000');
    await enter(terminal, passphrase, new RegExp(`^${value}$`, 'm'));
    await enter(terminal, 'history -a; echo kept', /^kept$/m);
    const history = await readFile(join(folder, 'history'), 'utf8');
    expect(history).toContain('mayfly share --passphrase\n');
    expect(history).not.toContain('canary');
    expect(terminal.history()).not.toContain(passphrase);
    expect(server.stdout() + server.stderr()).not.toContain('canary');
  }, 60_000);

  it('reveal asks for the code that was emailed, again after a wrong one; Ctrl-C opens nothing (P3)', async () => {
    const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
    const env = { MAYFLY_SERVER: `http://127.0.0.1:${server.port}`, MAYFLY_USERNAME: username };
    const shared = await mayfly(
      ['share', '--verify', 'anna@example.org'],
      { ...env, MAYFLY_TOKEN: token },
      value,
    );
    await using terminal = await openShell();
    const reveal = `clear; mayfly reveal ${shared.out.trim()}; echo "code $?"`;
    expect(await enter(terminal, reveal, /^Code: $/m)).toContain('We sent a code to an*****@e*****.org.');
    terminal.press('C-c');
    await clear(terminal);
    await enter(terminal, reveal, /^Code: $/m);
    const codes = await lookUntil(
      'both emails',
      async () => codesIn(join(server.dataDir, 'outbox')),
      ({ length }) => length === 2,
    );
    const [first = '', second = ''] = codes;
    await enter(terminal, first, /^Wrong code: 4 attempts left\.\s+Code: $/m);
    expect(await enter(terminal, second, /^code \d$/m)).toMatch(new RegExp(`^${value}\\s+code 0$`, 'm'));
  }, 60_000);

  it('a core file, where the system leaves one, holds neither passphrase nor secret', async () => {
    await using terminal = await openShell();
    const cores = join(folder, 'cores');
    await enter(terminal, `mkdir ${cores}; cd ${cores}; ulimit -c unlimited; clear; echo moved`, /^moved$/m);
    await enter(terminal, 'mayfly share --passphrase; echo "code $?"', /^Passphrase: $/m);
    await enter(terminal, passphrase, /^Repeat passphrase: $/m);
    await enter(terminal, passphrase, /press Ctrl-D/);
    terminal.press('C-\\');
    await terminal.until(/^code 131$/m);
    for (const name of readdirSync(cores)) {
      // With memory in it, it would be too large to read.
      expect([name, statSync(join(cores, name)).size < 1_000_000]).toEqual([name, true]);
      expect([name, readFileSync(join(cores, name)).includes(passphrase)]).toEqual([name, false]);
    }
  }, 60_000);

  it('a corrected passphrase is the corrected one, and two that differ share nothing', async () => {
    await using terminal = await openShell();
    await enter(terminal, 'mayfly share --passphrase; echo "code $?"', /^Passphrase: $/m);
    terminal.type('wröng');
    terminal.press('C-u');
    terminal.type('one of them');
    terminal.press('BSpace', 'C-z');
    await enter(terminal, '', /^Repeat passphrase: $/m);
    const seen = await enter(terminal, 'one of the others', /^code \d+$/m);
    expect(seen).toContain('The two passphrases differ.');
    expect(seen).toMatch(/^code 2$/m);
    await clear(terminal);
    await enter(terminal, 'mayfly share --passphrase < /dev/tty', /^Passphrase: $/m);
    terminal.type('on');
    terminal.press('C-u');
    await enter(terminal, 'onee\u007f', /^Repeat passphrase: $/m);
    await enter(terminal, 'one', /press Ctrl-D/);
    terminal.press('C-c');
  }, 60_000);

  it('Ctrl-C at any question ends with 130, does nothing, and leaves the terminal as it was', async () => {
    await using terminal = await openShell();
    await enter(terminal, `cd ${folder}; stty -a > before; echo noted`, /^noted$/m);
    for (const [line, question] of [
      ['mayfly share --passphrase', /^Passphrase: $/m],
      ['mayfly share', /press Ctrl-D/],
      ['mayfly login --server https://secrets.example.org jo@example.org', /^API token \(not shown\): $/m],
      ['mayfly reveal', /^Link or key: $/m],
    ] as const) {
      await enter(terminal, `clear; ${line}; echo "code $?"`, question);
      terminal.type('half');
      terminal.press('C-c');
      // Bash leaves the whole list where a signal ended a part of it.
      const asked = await enter(terminal, '', /(code \d+|^> $)/m);
      if (!/code 130/.test(asked)) await enter(terminal, 'echo "code $?"', /^code 130$/m);
      await enter(terminal, 'clear; stty -a > after; cmp before after && echo sane', /^sane$/m);
    }
  }, 60_000);

  it('a y/N question takes anything but yes for no', async () => {
    await using terminal = await openShell();
    await enter(terminal, 'echo hunter22 | mayfly share --quiet', /\/secret\//);
    for (const answer of ['', 'n', 'yep']) {
      await clear(terminal);
      await enter(terminal, 'mayfly burn-all; echo "code $?"', /Burn all of them\? \[y\/N\] $/m);
      expect(await enter(terminal, answer, /^code \d$/m)).toMatch(/Nothing was changed\.\s+code 1/);
    }
    await clear(terminal);
    await enter(terminal, 'mayfly burn-all; echo "code $?"', /Burn all of them\? \[y\/N\] $/m);
    expect(await enter(terminal, 'Yes', /^code \d$/m)).toMatch(/burned\.\s+code 0/);
  }, 60_000);

  it('without a clipboard program the terminal’s own is asked for, and the value is printed when it did not arrive', async () => {
    await using terminal = await openShell();
    await enter(terminal, `cd ${folder}; printf '${value}' > v; mayfly share --quiet < v`, /#[\w-]{22}$/m);
    const link = /http:\S+#[\w-]{22}$/m.exec(terminal.screen())?.[0] ?? '';
    await enter(terminal, `clear; mayfly reveal --copy ${link}`, /Did it arrive\? \[Y\/n\] $/m);
    expect(terminal.screen()).not.toContain(value);
    await enter(terminal, 'n', new RegExp(`^${value}$`, 'm'));
  }, 60_000);

  it('a link and what went wrong have a colour, but not with NO_COLOR, on a dumb terminal or in a pipe', async () => {
    await using terminal = await openShell();
    const share = `printf '${value}' | ${'mayfly share; mayfly burn x; echo "code $?"'}`;
    await enter(terminal, share, /^code 1$/m);
    expect(terminal.coloured()).toContain('\u001b[36mhttp://127.0.0.1');
    expect(terminal.coloured()).toContain('\u001b[31mThis is not');
    expect(terminal.screen()).toMatch(/^Opens once\. Expires in 7 days \(\d{4}-\d\d-\d\d \d\d:\d\d\)\.$/m);
    for (const plain of ['export NO_COLOR=1', 'unset NO_COLOR; export TERM=dumb']) {
      await clear(terminal);
      await enter(terminal, `${plain}; ${share}`, /^code 1$/m);
      expect(terminal.coloured()).not.toContain('\u001b[3');
    }
    await enter(terminal, 'export TERM=screen FORCE_COLOR=1; clear; echo forced', /^forced$/m);
    await enter(
      terminal,
      `printf '${value}' | mayfly share 2>&1 | od -c | grep -c 033; echo piped`,
      /^0\s+piped$/m,
    );
  }, 60_000);

  it('a server that takes long is waited for in sight, and nothing of that stays', async () => {
    await using terminal = await openShell();
    const seen = Promise.withResolvers<void>();
    const slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch() {
        await seen.promise;
        return Response.json({ success: false, error: 'unknown_secret', message: 'x' }, { status: 404 });
      },
    });
    const status = `mayfly status 0123456789abcdefghijklmnopqrstu --server http://127.0.0.1:${slow.port}`;
    await enter(terminal, `clear; ${status}; echo "code $?"`, /^[|/\\-] Waiting for http:\S+ …$/m);
    seen.resolve();
    expect(await terminal.until(/^code 1$/m)).not.toContain('Waiting');
    await slow.stop(true);
  }, 60_000);
});

import { describe, expect, it } from 'bun:test';
import { Readable } from 'node:stream';
import { createSettableClock, putNew, ttlSeconds } from '../../test/stores/conformance/check.ts';
import { ask, outcomeOf } from '../../test/stores/conformance/request-fixtures.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import type { WholeWorld } from '../../test/support/cli-world.ts';
import { readConfig } from '../config/read.ts';
import { systemRandom } from '../crypto/random.ts';
import { sections } from './commands.ts';
import { runCommand } from './run.ts';

function installation(command: readonly string[]) {
  const clock = createSettableClock();
  const store = createMemoryStore({ clock });
  const unasked = () => Promise.reject(new Error('not here'));
  const run = async (args: readonly string[], answer: string | null = null) => {
    const written = { out: '', err: '' };
    const world: WholeWorld = {
      terminal: {
        out(text) {
          written.out += text;
        },
        err(text) {
          written.err += text;
        },
        show: () => {},
        isInteractive: answer !== null,
        isOutputSeen: false,
        isErrorSeen: false,
        tint: (_stream, _tint, text) => text,
        waiting: (_words, work) => work(),
        readInput: unasked,
        streams: () => ({ input: Readable.from([]), output: process.stdout }),
        ask: async (question) => {
          written.err += question;
          return answer;
        },
        askHidden: unasked,
      },
      version: '1.2.3',
      readConfig: async () => readConfig({}),
      settingProblems: unasked,
      parseServerAddress: unasked,
      openAccounts: async () => ({
        outcome: 'open',
        accounts: { store, random: systemRandom, close: async () => {} },
      }),
      backups: { write: unasked, preview: unasked, restore: unasked },
      moves: { move: unasked, cancel: unasked },
      restores: { preview: unasked, accept: unasked },
      migrate: async () => ({ outcome: 'refused', problem: 'No store here.' }),
      serve: unasked,
      route: unasked,
      examine: unasked,
      fetch: unasked,
      statusOf: unasked,
      random: systemRandom,
      wallClockMs: Date.now,
      sleep: unasked,
      readFile: unasked,
      openOutputFile: unasked,
      openClipboard: unasked,
      fetchedFrom: unasked,
      openLogins: unasked,
      programs: { find: unasked, run: unasked },
    };
    return { code: await runCommand(args, sections, world), ...written };
  };
  return {
    clock,
    store,
    run: (args: readonly string[], answer?: string) => run([...command, ...args], answer),
  };
}

const setTime = ['store', 'set-time'];

describe('mayfly store set-time', () => {
  it('does nothing, and says so, when store time and the clock agree', async () => {
    const { run } = installation(setTime);
    expect(await run([])).toEqual({
      code: 0,
      out: '',
      err: 'Store time and the clock of this machine agree: nothing to do.\n',
    });
  });

  it('says what it means and asks, and changes nothing without a yes', async () => {
    const { clock, store, run } = installation(setTime);
    await putNew(store);
    clock.jump(30 * 86_400);
    const before = store.now();
    for (const answer of ['', 'n', 'no', 'of course']) {
      const { code, err } = await run([], answer);
      expect([answer, code, store.now()]).toEqual([answer, 1, before]);
      expect(err).toContain('2027-02-14T08:00:00Z, 30 days ahead');
      expect(err).toContain('1 unread secret will expire and be erased.');
      expect(err).toEndWith('Nothing was changed.\n');
    }
    const unasked = await run(['--json']);
    expect([unasked.code, unasked.out, store.now()]).toEqual([1, '{"error":"not_confirmed"}\n', before]);
    expect(unasked.err).toEndWith('No terminal to ask for confirmation: add --yes.\n');
  });

  it('sets store time to the clock after a yes, or with --yes', async () => {
    for (const [args, answer] of [
      [[], 'y\n'],
      [[], 'YES'],
      [['--yes'], undefined],
    ] as const) {
      const { clock, store, run } = installation(setTime);
      clock.jump(-86_400);
      const { code, err } = await run(args, answer);
      expect([code, store.now(), store.clock().verdict]).toEqual([0, clock.read(), 'agreed']);
      expect(err).toContain('1 day behind');
      expect(err).toEndWith('Done. Running servers follow within a second.\n');
    }
  });

  it('with --json prints whether it changed anything, and the time', async () => {
    const { clock, run } = installation(setTime);
    clock.jump(ttlSeconds);
    const changed = await run(['--yes', '--json']);
    expect(JSON.parse(changed.out)).toEqual({ changed: true, time: clock.read() });
    expect(JSON.parse((await run(['--json'])).out)).toEqual({ changed: false, time: clock.read() });
  });
});

describe('mayfly burn-all', () => {
  it('says what it means and asks, and burns nothing without a yes', async () => {
    const { store, run } = installation(['burn-all']);
    const { secretId } = await putNew(store);
    await putNew(store);
    for (const answer of ['', 'n', 'no', 'all of them']) {
      const { code, err } = await run([], answer);
      expect([answer, code]).toEqual([answer, 1]);
      expect(err).toStartWith('2 unread secrets will be burned, from all accounts and anonymous senders.');
      expect(err).toEndWith('Nothing was changed.\n');
    }
    expect((await run(['--json'])).out).toBe('{"error":"not_confirmed"}\n');
    expect(await store.findSecret(secretId)).not.toBeNull();
  });

  it('burns all after a yes, or with --yes, and says how many', async () => {
    for (const [args, answer] of [
      [[], 'y\n'],
      [['--yes'], undefined],
    ] as const) {
      const { store, run } = installation(['burn-all']);
      const { secretId, receiptId } = await putNew(store);
      const { code, err } = await run(args, answer);
      expect([code, await store.findSecret(secretId)]).toEqual([0, null]);
      expect((await store.findReceipt(receiptId))?.state).toBe('burned');
      expect(err).toEndWith('Done. 1 secret burned.\n');
      expect(await run(args)).toEqual({ code: 0, out: '', err: 'No unread secrets: nothing to do.\n' });
    }
  });

  it('ends all requests for secrets, also when no secret waits', async () => {
    const { store, run } = installation(['burn-all']);
    const request = await ask(store);
    const { err } = await run(['--yes']);
    expect(err).toStartWith('0 unread secrets will be burned');
    expect(err).toContain('All requests for secrets end.');
    expect(await outcomeOf(store, request)).toBe('ended');
  });

  it('goes on to the end of a large store, and shows it, but not with --json', async () => {
    const { store, run } = installation(['burn-all']);
    await putNew(store);
    const batches = [30_000, 30_000, 30_000, 30_000, 5];
    store.burnAll = async (after) => {
      const at = Number(after ?? 0);
      return { burned: batches[at] ?? 0, next: at + 1 === batches.length ? null : String(at + 1) };
    };
    const { err } = await run(['--yes']);
    expect(err.split('\n').slice(1)).toEqual([
      '60000 of 1',
      '120000 of 1',
      'Done. 120005 secrets burned.',
      '',
    ]);
    const json = await run(['--yes', '--json']);
    expect([JSON.parse(json.out), json.err.split('\n').length]).toEqual([{ burned: 120_005 }, 2]);
  });
});

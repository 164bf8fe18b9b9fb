import { describe, expect, it } from 'bun:test';
import { createSettableClock, putNew, ttlSeconds } from '../../test/stores/conformance/check.ts';
import { createMemoryStore } from '../../test/stores/memory.ts';
import { readConfig } from '../config/read.ts';
import { systemRandom } from '../crypto/random.ts';
import type { World } from './command.ts';
import { runCommand } from './run.ts';

function installation() {
  const clock = createSettableClock();
  const store = createMemoryStore({ clock });
  const unasked = () => Promise.reject(new Error('not here'));
  const run = async (args: readonly string[], answer: string | null = null) => {
    const written = { out: '', err: '' };
    const world: World = {
      terminal: {
        out(text) {
          written.out += text;
        },
        err(text) {
          written.err += text;
        },
        isInteractive: answer !== null,
        isOutputSeen: false,
        readInput: unasked,
        ask: async (question) => {
          written.err += question;
          return answer;
        },
        askHidden: unasked,
      },
      version: '1.2.3',
      readConfig: async () => readConfig({}),
      parseServerAddress: unasked,
      openAccounts: async () => ({
        outcome: 'open',
        accounts: { store, random: systemRandom, close: async () => {} },
      }),
      backups: { write: unasked, look: unasked, restore: unasked },
      serve: unasked,
      route: unasked,
      examine: unasked,
      fetch: unasked,
      readFile: unasked,
    };
    return { code: await runCommand(['store', 'set-time', ...args], world), ...written };
  };
  return { clock, store, run };
}

describe('mayfly store set-time', () => {
  it('does nothing, and says so, when store time and the clock agree', async () => {
    const { run } = installation();
    expect(await run([])).toEqual({
      code: 0,
      out: '',
      err: 'Store time and the clock of this machine agree: nothing to do.\n',
    });
  });

  it('says what it means and asks, and changes nothing without a yes', async () => {
    const { clock, store, run } = installation();
    await putNew(store);
    clock.jump(30 * 86_400);
    const before = store.now();
    for (const answer of ['', 'n', 'no', 'of course']) {
      const { code, err } = await run([], answer);
      expect([answer, code, store.now()]).toEqual([answer, 1, before]);
      expect(err).toContain('2027-02-14T08:00:00Z, 30 days ahead');
      expect(err).toContain('1 waiting secret then has expired and will be erased.');
      expect(err).toEndWith('Nothing was changed.\n');
    }
    const unasked = await run(['--json']);
    expect([unasked.code, unasked.out, store.now()]).toEqual([1, '{"error":"not_confirmed"}\n', before]);
    expect(unasked.err).toEndWith('Nobody can be asked here: add --yes.\n');
  });

  it('sets store time to the clock after a yes, or with --yes', async () => {
    for (const [args, answer] of [
      [[], 'y\n'],
      [[], 'YES'],
      [['--yes'], null],
    ] as const) {
      const { clock, store, run } = installation();
      clock.jump(-86_400);
      const { code, err } = await run(args, answer);
      expect([code, store.now(), store.clock().verdict]).toEqual([0, clock.read(), 'agreed']);
      expect(err).toContain('1 day behind');
      expect(err).toEndWith('Done. A server that is running follows within a second.\n');
    }
  });

  it('with --json prints whether it changed anything, and the time', async () => {
    const { clock, run } = installation();
    clock.jump(ttlSeconds);
    const changed = await run(['--yes', '--json']);
    expect(JSON.parse(changed.out)).toEqual({ changed: true, time: clock.read() });
    expect(JSON.parse((await run(['--json'])).out)).toEqual({ changed: false, time: clock.read() });
  });
});

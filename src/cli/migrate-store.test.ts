import { describe, expect, it } from 'bun:test';
import { fakeWorld, runCli } from '../../test/support/cli-world.ts';
import type { StoreMove, StoreMoveOutcome } from '../core/store-copies.ts';
import type { Moves } from './operator.ts';

const copied: StoreMoveOutcome = { outcome: 'copied', rows: 7, from: '/srv/one', to: '/srv/two' };
const command = ['migrate-store', 'sqlite:/srv/one', 'sqlite:/srv/two'];

/** Moves that note what was asked of them. */
function recorder(outcome: StoreMoveOutcome = copied, rows: readonly number[] = []) {
  const asked: string[] = [];
  const moves: Moves = {
    async move(_settings, { from, to, isFinishing, onProgress }: StoreMove) {
      asked.push(`${from} ${to}${isFinishing ? ' and finish' : ''}`);
      for (const soFar of rows) onProgress(soFar, 100);
      return outcome;
    },
    async cancel(_settings, from) {
      asked.push(`cancel ${from}`);
      return { outcome: 'cancelled' };
    },
  };
  return { asked, moves };
}

/** A terminal at which somebody answers. */
function answering(answer: string) {
  const { terminal } = fakeWorld().world;
  return { ...terminal, isInteractive: true, ask: async () => answer };
}

describe('mayfly migrate-store', () => {
  it('only copies, asks nothing, and says what follows', async () => {
    const { asked, moves } = recorder(copied, [5, 30, 31, 100]);
    const { code, out, err } = await runCli(command, { moves });
    expect([code, out, asked]).toEqual([0, '', ['sqlite:/srv/one sqlite:/srv/two']]);
    expect(err).toBe(
      '30 % of 100 rows\n100 % of 100 rows\nCopied 7 rows. /srv/one keeps serving; run this again to copy later changes. ' +
        '--finish closes it and opens the copy.\n',
    );
  });

  it.each([
    ['y', 0, ['sqlite:/srv/one sqlite:/srv/two and finish']],
    ['n', 1, []],
  ] as const)('finishes only for who agrees (%s)', async (answer, code, calls) => {
    const { asked, moves } = recorder({ ...copied, outcome: 'moved' });
    const ended = await runCli([...command, '--finish'], { moves, terminal: answering(answer) });
    expect([ended.code, asked]).toEqual([code, [...calls]]);
  });

  it('finishes without a question for --yes, and prints the result as JSON', async () => {
    const { asked, moves } = recorder({ ...copied, outcome: 'moved' }, [100]);
    const { code, out } = await runCli([...command, '--finish', '--yes', '--json'], { moves });
    expect([code, out, asked.length]).toEqual([0, '{"outcome":"moved","rows":7}\n', 1]);
  });

  it('ends a move with FROM alone', async () => {
    const { asked, moves } = recorder();
    const { code, err } = await runCli(['migrate-store', 'sqlite:/srv/one', '--cancel'], { moves });
    expect([code, asked]).toEqual([0, ['cancel sqlite:/srv/one']]);
    expect(err).toContain('FROM keeps serving');
    expect((await runCli([...command, '--cancel'], { moves })).code).toBe(2);
    expect((await runCli(['migrate-store', 'sqlite:/srv/one'], { moves })).code).toBe(2);
  });

  it('says why it refuses', async () => {
    const { moves } = recorder({ outcome: 'refused', problem: 'There is a store in /srv/two.' });
    const { code, out, err } = await runCli([...command, '--json'], { moves });
    expect([code, out, err]).toEqual([1, '{"error":"failed"}\n', 'There is a store in /srv/two.\n']);
  });
});

describe('mayfly store accept-restore', () => {
  const facts = { takenAt: 1_800_000_000, waiting: 2, accounts: 1 };
  const restores = () => {
    const asked: string[] = [];
    const note = (what: string) => async () => {
      asked.push(what);
      return { outcome: 'done', facts } as const;
    };
    return { asked, restores: { preview: note('preview'), accept: note('accept') } };
  };

  it.each([
    ['y', 0, ['preview', 'accept']],
    ['n', 1, ['preview']],
  ] as const)('says what is burned, and burns it only for who agrees (%s)', async (answer, code, calls) => {
    const { asked, restores: given } = restores();
    const written: string[] = [];
    const terminal = { ...answering(answer), err: (text: string) => void written.push(text) };
    const ended = await runCli(['store', 'accept-restore'], { restores: given, terminal });
    expect([ended.code, asked]).toEqual([code, [...calls]]);
    expect(written.join('')).toStartWith(
      'The restored store is from 2027-01-15T08:00:00Z: 2 unread secrets, 1 account.\n',
    );
    expect(written.join('')).toContain('their links stop working');
  });

  it('changes nothing where nothing was restored', async () => {
    const refused = async () => ({ outcome: 'refused', problem: 'It was not restored.' }) as const;
    const { code, err } = await runCli(['store', 'accept-restore', '--yes'], {
      restores: { preview: refused, accept: refused },
    });
    expect([code, err]).toEqual([1, 'It was not restored.\n']);
  });
});

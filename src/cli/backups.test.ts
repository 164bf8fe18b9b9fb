import { describe, expect, it } from 'bun:test';
import { fakeWorld, runCli } from '../../test/support/cli-world.ts';
import type { BackupFacts } from '../core/store-copies.ts';
import type { Backups } from './operator.ts';

const facts: BackupFacts = { takenAt: 1_800_000_000, waiting: 2, accounts: 1 };
const done = async () => ({ outcome: 'done', facts }) as const;
const refused = async () => ({ outcome: 'refused', problem: 'The disk is full.' }) as const;

/** Backups that note what was asked of them. */
function recorder(answers: Partial<Backups> = {}) {
  const asked: string[] = [];
  const backups: Backups = {
    write: (settings, file, onProgress) => {
      asked.push(`write ${file}`);
      return (answers.write ?? done)(settings, file, onProgress);
    },
    preview: (settings, file) => {
      asked.push(`preview ${file}`);
      return (answers.preview ?? done)(settings, file);
    },
    restore: (settings, file, onProgress) => {
      asked.push(`restore ${file}`);
      return (answers.restore ?? done)(settings, file, onProgress);
    },
  };
  return { asked, backups };
}

/** A terminal at which somebody answers. */
function answering(answer: string) {
  const { terminal } = fakeWorld().world;
  const said: string[] = [];
  const err = (text: string) => void said.push(text);
  return { said, terminal: { ...terminal, err, isInteractive: true, ask: async () => answer } };
}

describe('mayfly backup', () => {
  it('says what the file holds and what it does not', async () => {
    const { asked, backups } = recorder();
    const { code, out, err } = await runCli(['backup', 'b.db'], { backups });
    expect([code, out, asked]).toEqual([0, '', ['write b.db']]);
    expect(err).toStartWith(
      'Wrote and checked b.db, the store as of 2027-01-15T08:00:00Z: 2 unread secrets, 1 account.\n',
    );
    expect(err).toContain('keys.json');
  });

  it('with --json prints the same as one object, and nothing else', async () => {
    const { out, err } = await runCli(['backup', 'b.db', '--json'], recorder());
    expect([JSON.parse(out), err]).toEqual([{ taken_at: facts.takenAt, waiting: 2, accounts: 1 }, '']);
  });

  it('says why there is none', async () => {
    const { backups } = recorder({ write: refused });
    const { code, err } = await runCli(['backup', 'b.db'], { backups });
    expect([code, err]).toEqual([1, 'No backup was made. The disk is full.\n']);
    expect((await runCli(['backup', 'b.db', '--json'], { backups })).out).toBe('{"error":"failed"}\n');
  });

  it('shows progress in tenths, each once, and none with --json', async () => {
    const mebibyte = 2 ** 20;
    const { backups } = recorder({
      write: async (_settings, _file, onProgress) => {
        for (const written of [0, 1, 1, 25, 39, 100, 120]) onProgress(written * mebibyte, 100 * mebibyte);
        return done();
      },
    });
    const { err } = await runCli(['backup', 'b.db'], { backups });
    expect(err.split('\n').slice(0, 4)).toEqual([
      '20 % of 104.8 MB',
      '30 % of 104.8 MB',
      '90 % of 104.8 MB',
      expect.stringContaining('checked b.db,'),
    ]);
    expect((await runCli(['backup', 'b.db', '--json'], { backups })).err).toBe('');
  });
});

describe('mayfly restore', () => {
  it('says what it means and asks; without a yes nothing is written', async () => {
    for (const answer of ['', 'n', 'no', 'of course']) {
      const [{ asked, backups }, { said, terminal }] = [recorder(), answering(answer)];
      const { code } = await runCli(['restore', 'b.db'], { backups, terminal });
      expect([answer, code, asked]).toEqual([answer, 1, ['preview b.db']]);
      const [words, last] = [said.join(''), said.at(-1)];
      expect(words).toContain('The backup is from 2027-01-15T08:00:00Z: 2 unread secrets, 1 account.');
      expect(words).toContain('all of them are burned');
      expect(words).toContain('Everyone is logged out.');
      expect(last).toBe('Nothing was changed.\n');
    }
    const { asked, backups } = recorder();
    const unasked = await runCli(['restore', 'b.db', '--json'], { backups });
    expect([unasked.code, unasked.out, asked]).toEqual([1, '{"error":"not_confirmed"}\n', ['preview b.db']]);
    expect(unasked.err).toEndWith('No terminal to ask for confirmation: add --yes.\n');
  });

  it('restores after a yes, or with --yes, and says what is left to do', async () => {
    for (const [args, answer] of [
      [['restore', 'b.db'], 'y\n'],
      [['restore', 'b.db'], 'YES'],
      [['restore', 'b.db', '--yes'], ''],
    ] as const) {
      const [{ asked, backups }, { said, terminal }] = [recorder(), answering(answer)];
      const { code } = await runCli(args, { backups, terminal });
      expect([code, asked]).toEqual([0, ['preview b.db', 'restore b.db']]);
      expect(said.at(-1)).toStartWith('Done. Copy its keys to ');
    }
    const { out } = await runCli(['restore', 'b.db', '--yes', '--json'], recorder());
    expect(JSON.parse(out)).toEqual({ taken_at: facts.takenAt, waiting: 2, accounts: 1, burned: 2 });
  });

  it('says why it does not, before and after it asked', async () => {
    for (const answers of [{ preview: refused }, { restore: refused }]) {
      const { code, err } = await runCli(['restore', 'b.db', '--yes'], recorder(answers));
      expect([code, err.endsWith('b.db was not restored. The disk is full.\n')]).toEqual([1, true]);
    }
  });
});

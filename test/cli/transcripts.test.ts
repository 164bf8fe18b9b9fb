/**
 * Every command as its transcript has it: help, success and ten wrong uses. `MAYFLY_TRANSCRIPTS=write bun test test/cli/transcripts`
 * writes down what is answered now, to be read before it is kept.
 */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../../src/cli/commands.ts';
import { headings, parseTranscript, renderTranscript, transcriptName } from './transcript.ts';

const folder = join(import.meta.dir, 'transcripts');
const isWriting = process.env.MAYFLY_TRANSCRIPTS === 'write';

describe('the transcript of', () => {
  for (const command of commands) {
    const path = join(folder, transcriptName(command));
    it(`mayfly ${command.path.join(' ')} is what happens`, async () => {
      const kept = readFileSync(path, 'utf8');
      const happens = await renderTranscript(parseTranscript(kept));
      if (isWriting) writeFileSync(path, happens);
      else expect(happens).toBe(kept);
    });

    it(`mayfly ${command.path.join(' ')} has help, success and ten wrong uses, each of them refused`, () => {
      const steps = parseTranscript(readFileSync(path, 'utf8'));
      const [help, success, wrong] = headings.map((heading) =>
        steps.filter((step) => step.heading === heading),
      );
      const failed = (recorded: string) => /^= [12]$/m.test(recorded);
      expect([help?.length, (success?.length ?? 0) > 0, (wrong?.length ?? 0) >= 10]).toEqual([1, true, true]);
      expect([...(help ?? []), ...(success ?? [])].filter(({ recorded }) => failed(recorded))).toEqual([]);
      expect(wrong?.filter(({ recorded }) => !failed(recorded))).toEqual([]);
    });
  }

  it('no other command is kept', () => {
    expect(readdirSync(folder).sort()).toEqual(commands.map(transcriptName).sort());
  });
});

describe('a wrong use', () => {
  const wrong = commands.flatMap((command) =>
    parseTranscript(readFileSync(join(folder, transcriptName(command)), 'utf8')).filter(
      ({ heading }) => heading === 'wrong uses',
    ),
  );

  /** The first word that is no command is quoted, and nothing after it. */
  it('is never answered with a value or a passphrase (P18)', () => {
    const leaky = wrong.filter(
      ({ line, recorded }) => !/^mayfly (help )?hunter2/.test(line) && /hunter2|correct horse/.test(recorded),
    );
    expect(leaky.map(({ line }) => line)).toEqual([]);
  });
});

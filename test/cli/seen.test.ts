/**
 * What a person sees at a terminal, beside what a program gets: local times instead of ISO 8601 in UTC, a tick and a few colours. JSON is
 * the same in both.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Terminal } from '../../src/cli/terminal.ts';
import { runCli } from '../support/cli-world.ts';
import { parseTranscript, runStep, type Step } from './transcript.ts';

const folder = join(import.meta.dir, 'transcripts');
const steps = readdirSync(folder).flatMap((name) =>
  parseTranscript(readFileSync(join(folder, name), 'utf8')),
);

const seen: Partial<Terminal> = {
  isOutputSeen: true,
  isErrorSeen: true,
  tint: (_stream, tint, text) => `<${tint}>${text}</>`,
};

const stepOf = (line: string, answers: readonly string[] = []): Step => ({
  heading: '',
  line,
  answers,
  recorded: '',
});

// It is 2025-05-08T10:26:40Z in the transcripts, so 15:56 here.
const zoneBefore = process.env.TZ;
beforeAll(() => {
  process.env.TZ = 'Asia/Kolkata';
});
afterAll(() => {
  process.env.TZ = zoneBefore ?? 'UTC';
});

const iso = /\b\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** A command that prints a time: what a person sees of it, then what a program gets. */
const times: readonly (readonly [line: string, seen: string, piped: string])[] = [
  [
    'mayfly share --ttl 1h < password.txt',
    'Opens once. Expires in 1 hour (16:56).',
    'Opens once. Expires in 1 hour (2025-05-08T11:26:40Z).',
  ],
  [
    'mayfly share --ttl 9h < password.txt',
    'Opens once. Expires in 9 hours (2025-05-09 00:56).',
    'Opens once. Expires in 9 hours (2025-05-08T19:26:40Z).',
  ],
  ['mayfly generate', 'Expires in 7 days (2025-05-15 15:56).', 'Expires in 7 days (2025-05-15T10:26:40Z).'],
  ['mayfly recent', 'opened\t2025-05-08 15:56', 'opened\t2025-05-08T10:26:40Z'],
  ['mayfly account list', 'used 2025-05-08 15:56', 'used 2025-05-08T10:26:40Z'],
  ['mayfly account list', 'LOCKED 2025-05-08 15:56', 'LOCKED 2025-05-08T10:26:40Z'],
  ['mayfly account token list jo@example.org', 'created 2025-05-08 15:56', 'created 2025-05-08T10:26:40Z'],
  ['mayfly account reset jo@example.org', '24 hours (2025-05-09 15:56)', '24 hours (2025-05-09T10:26:40Z)'],
  ['mayfly account lock locked@example.org', 'since 2025-05-08 15:56.', 'since 2025-05-08T10:26:40Z.'],
  [
    'mayfly account delete jo@example.org --yes',
    'created 2025-05-08 15:56)',
    'created 2025-05-08T10:26:40Z)',
  ],
  ['mayfly backup backup.db', 'as of 2025-05-08 15:56: 2', 'as of 2025-05-08T10:26:40Z: 2'],
  ['mayfly restore backup.db --yes', 'from 2025-05-08 15:56: 2', 'from 2025-05-08T10:26:40Z: 2'],
  ['mayfly store accept-restore --yes', 'from 2025-05-08 15:56: 2', 'from 2025-05-08T10:26:40Z: 2'],
  ['mayfly keys list', '1\t2025-05-01 05:30\tcurrent', '1\t2025-05-01T00:00:00Z\tcurrent'],
];

describe('a time', () => {
  it.each(times)('of %s is local for a person, and ISO 8601 for a program', async (line, local, piped) => {
    expect(await runStep(stepOf(line), seen)).toContain(local);
    expect(await runStep(stepOf(line))).toContain(piped);
  });

  it('is never ISO 8601 for a person, whatever the command', async () => {
    const wrong: string[] = [];
    for (const step of steps) {
      const lines = (await runStep(step, seen)).split('\n').filter((line) => !/^[[{"]/.test(line));
      if (!iso.test(step.line) && iso.test(lines.join('\n'))) wrong.push(step.line);
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});

describe('a size', () => {
  it.each([
    [999, '999 bytes'],
    [1_000, '1 kB'],
    [100_000, '100 kB'],
    [1_999_999, '1.9 MB'],
    [10_737_418_240, '10.7 GB'],
  ])('of %d bytes is in plain units, never more than it is', async (limit, words) => {
    const answer = { success: false, error: 'too_large', message: 'Larger than 1 byte', limit };
    const fetch = async () => Response.json(answer, { status: 413 });
    const { err } = await runCli(['share', '--plain'], { fetch }, 'x');
    expect(err).toBe(`Too large: the limit of http://localhost:3000 is ${words}.\n`);
  });
});

/** What is coloured, and what it says. */
const colours: readonly (readonly [line: string, answers: readonly string[], shown: string])[] = [
  ['mayfly share < password.txt', [], '<link>http://localhost:3000/secret/<key 1>#<end></>'],
  ['mayfly burn $METADATA', [], '! <done>✓</> Burned. The link no longer works.'],
  ['mayfly burn-all', ['n'], '! <warning>Burn all of them?</> [y/N]'],
  ['mayfly burn $GONE_METADATA', [], '! <refusal>'],
  ['mayfly share --tll 1h', [], '! <refusal>Unknown option --tll. Did you mean --ttl?</>'],
  [
    'mayfly share --ttl 60d < password.txt',
    [],
    '! <warning>Expires in 14 days: the server does not allow 60 days.</>',
  ],
  ['PORT=x mayfly config', [], '! <refusal>PORT'],
  ['mayfly run --secret A=$GONE -- deploy', [], '! <refusal>A: There is no such secret'],
  ['mayfly doctor', [], '<done>ok    </>  settings'],
  ['mayfly doctor', [], '<warning>advice</>  mail'],
  ['mayfly ttl $GONE_METADATA', [], '! The secret is gone: opened.'],
  ['mayfly memo $GONE_METADATA', [], '! No memo.'],
];

describe('a colour', () => {
  it.each(colours)('of %s %j says what it is about', async (line, answers, shown) => {
    expect(await runStep(stepOf(line, answers), seen)).toContain(shown);
  });

  it('is in no JSON', async () => {
    const written: [line: string, json: string][] = [];
    for (const step of steps.filter(({ line }) => line.includes('--json'))) {
      const json = (text: string) => text.split('\n').filter((line) => /^[[{]/.test(line));
      expect([step.line, json(await runStep(step, seen))]).toEqual([step.line, json(step.recorded)]);
      written.push([step.line, json(step.recorded).join('\n')]);
    }
    expect(written.length).toBeGreaterThan(20);
  }, 60_000);
});

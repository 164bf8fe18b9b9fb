/** Files of `NAME=value` lines: what is taken, what is refused, and that what was written comes back. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { announceSeed } from '../../test/support/run-seed.ts';
import { readAs } from '../config/text.ts';
import { type Assignment, type EnvFileOutcome, parseEnvFile } from './env-file.ts';

function read(text: string): Record<string, string> {
  const parsed = parseEnvFile(readAs('lines', text));
  if (parsed.outcome === 'refused') throw new Error(JSON.stringify(parsed.refusals));
  return Object.fromEntries(parsed.assignments.map(({ name, value }) => [name, value]));
}

describe('an environment file', () => {
  it.each([
    ['A=b', 'b'],
    ['A=b=c==', 'b=c=='],
    ['export A=b', 'b'],
    ['A=https://x.example/?a=1&b=(2);*~!', 'https://x.example/?a=1&b=(2);*~!'],
    ['A=pässwört', 'pässwört'],
    [`A='a "b" #c $d \\n \`e\`'`, 'a "b" #c $d \\n `e`'],
    ['A="it\'s #1, $HOME"', "it's #1, $HOME"],
    ['A="a\\nb\\tc\\"d\\\\e"', 'a\nb\tc"d\\e'],
    ['A="\\\\n"', '\\n'],
    ['A=" "', ' '],
    ['A="a\tb"', 'a\tb'],
  ])('%j holds %j', (text, value) => {
    expect(read(text)).toEqual({ A: value });
  });

  it('may have comments, empty lines and the line breaks of any system', () => {
    expect(read('# one\r\nA=1\r\n\n  # two\n\t\n_b2="2"\n#A=3')).toEqual({ A: '1', _b2: '2' });
    expect(read('')).toEqual({});
  });

  const form =
    'it is not NAME=value; NAME consists of letters, digits and _, and does not begin with a digit';
  const bare = 'a value with spaces, quotes, #, $, ` or \\ must be in quotes';
  const double =
    'double quotes must enclose the whole value, with \\n, \\t, \\" and \\\\ as the only escapes';
  const single = 'single quotes must enclose the whole value, with no single quote inside';
  const control = 'it contains a control character';
  it.each([
    ['hunter2', form],
    ['1A=hunter2', form],
    ['A-B=hunter2', form],
    ['A =hunter2', form],
    [' A=hunter2', form],
    ['export=hunter2 x', bare],
    ['exportA hunter2', form],
    ['\uFEFFA=hunter2', form],
    ['A=', 'the value is empty'],
    ['A=""', 'the value is empty'],
    ['A= hunter2', bare],
    ['A=hunter2 ', bare],
    ['A=hunter2 # comment', bare],
    ['A=hunter#2', bare],
    ['A=$hunter2', bare],
    ['A=`hunter2`', bare],
    ['A=hunter\\2', bare],
    ["A=hunter'2", bare],
    ['A="hunter2', double],
    ['A="hunter2" # comment', double],
    ['A="hunter"2"', double],
    ['A="hunter2\\"', double],
    ['A="\\hunter2"', double],
    ['A="hunter2\\$"', double],
    ["A='hunter2", single],
    ["A='hunter'2'", single],
    ["A='hunter2' ", single],
    ['A="hunter\x002"', control],
    ['A=hunter\r2', control],
    ['A="hunter\u001b2"', control],
  ])('%j is refused by its line, and the text is not repeated (P18)', (line, problem) => {
    const parsed = parseEnvFile(`# first\nOK=1\n${line}\n`);
    expect(parsed).toEqual({ outcome: 'refused', refusals: [{ line: 3, problem }] });
    expect(JSON.stringify(parsed)).not.toContain('hunter');
  });

  it('is refused with every wrong line at once, and for a name that comes twice', () => {
    expect(parseEnvFile('A=1\nA=2\nB=\n')).toEqual({
      outcome: 'refused',
      refusals: [
        { line: 2, problem: 'an earlier line has the same name' },
        { line: 3, problem: 'the value is empty' },
      ],
    });
  });

  it('with names that objects have anyway is a file like others', () => {
    const parsed = parseEnvFile('__proto__=1\nconstructor=2');
    expect(parsed).toMatchObject({ assignments: [{ name: '__proto__' }, { name: 'constructor' }] });
  });
});

/** A value in double quotes, which can hold every value. */
function quoted(value: string): string {
  const escaped = value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return `"${escaped.replaceAll('\t', '\\t')}"`;
}

const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/);
const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const tricky = fc.string({ unit: fc.constantFrom(...'\\"\'`$# =\n\tnté'), minLength: 1, maxLength: 12 });
const value = fc.oneof(anyText, tricky).filter((text) => !/[^\P{Cc}\t\n]/u.test(text));
const file = fc.uniqueArray(fc.record({ name, value }), { selector: (each) => each.name, maxLength: 20 });
const seed = announceSeed('environment files');

function cameBack(written: readonly Assignment[], write: (value: string) => string): boolean {
  const text = written.map((each) => `export ${each.name}=${write(each.value)}\n# a comment\n`).join('\n');
  const expected: EnvFileOutcome = { outcome: 'read', assignments: written };
  return Bun.deepEquals(parseEnvFile(text), expected, true);
}

describe('what a writer of such files writes', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(file, (written) => cameBack(written, quoted)),
      { seed: seed | 0, numRuns: 500 },
    );
  });

  it('self-test: a writer that does not escape is found out', () => {
    const found = fc.check(
      fc.property(file, (written) => cameBack(written, (text) => `"${text}"`)),
      { seed: seed | 0, numRuns: 500 },
    );
    expect(found.failed).toBe(true);
  });
});

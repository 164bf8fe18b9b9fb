/** Text from files, pipes, prompts, settings and programs: every door reads it as the table of docs/command.md says. */
import { afterAll, describe, expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';
import { type Door, type Row, rows } from './text-door.ts';
import { otherDoors, removeFolder } from './text-doors.ts';
import { commandDoors } from './text-doors-command.ts';

afterAll(removeFolder);

const doors = [...commandDoors, ...otherDoors];

const page = readFileSync(join(repositoryRoot, 'docs', 'command.md'), 'utf8');
const [, section = ''] = page.split('\n## How text is read\n');
const table = section
  .split('\n## ')[0]
  ?.split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '));

/** The rules of a row: for a mark, CR LF, the last line break, and what is around it. */
function ruleOf(row: Row): readonly string[] {
  const found = table?.find(([what]) => what?.startsWith(rows[row]));
  if (found?.length !== 5) throw new Error(`docs/command.md has no rule for ${rows[row]}.`);
  return found.slice(1);
}

/** As the rules have it, worked out without the product's code. */
function asRuled(row: Row, text: string): string {
  const [mark, crlf, last, around] = ruleOf(row);
  let read = mark === 'dropped' && text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (crlf === 'read as LF') read = read.split('\r\n').join('\n');
  const isDropped =
    last === 'dropped' || (last === 'dropped from a single line' && read.split('\n').length === 2);
  if (isDropped && read.endsWith('\n')) read = read.slice(0, read.endsWith('\r\n') ? -2 : -1);
  const blank = /[\s\u200B\uFEFF]/;
  if (around !== 'dropped') return read;
  while (blank.test(read.at(0) ?? '')) read = read.slice(1);
  while (blank.test(read.at(-1) ?? '')) read = read.slice(0, -1);
  return read;
}

/** What Windows, shells, editors and chats put before and after a text. */
const usual = [
  ['', '\n'],
  ['', '\r\n'],
  ['\uFEFF', ''],
  ['\uFEFF', '\n'],
  ['\uFEFF', '\r\n'],
] as const;
const ofValues = [
  ['', '\n\n'],
  ['', '\nmore'],
  ['', '\nmore\n'],
  ['', '\r\nmore\r\n'],
  ['\uFEFF', '\r\nmore\r\n'],
  [' ', ' \n'],
  ['\uFEFF\uFEFF', ''],
  ['', '\r'],
  ['\n', ''],
] as const;
const ofWords = [
  [' ', ' '],
  ['\t', '\n\n'],
  ['\uFEFF ', '\u00A0\r\n'],
  ['\u200B', '\u200B'],
  ['', '\uFEFF'],
] as const;
const additions: Readonly<Record<Row, readonly (readonly [string, string])[]>> = {
  exact: [...usual, ...ofValues],
  value: [...usual, ...ofValues],
  word: [...usual, ...ofWords],
  lines: usual,
  document: usual,
};

const encode = (text: string) => new TextEncoder().encode(text);

function samplesOf({ row, text }: Door): readonly string[] {
  const samples = additions[row].map(([before, after]) => before + text + after);
  // Of Windows in every line.
  return row === 'lines' || row === 'document'
    ? [...samples, ...samples.map((sample) => sample.replace(/\r?\n/g, '\r\n'))]
    : samples;
}

/** JSON is compared by what it holds; PEM, which is one line break longer at most, by its text. */
const isJson = ({ row, text }: Door) => row === 'document' && text.startsWith('{');

describe('text that is handed over', () => {
  for (const door of doors)
    it(`is read as the table says: ${door.row}, ${door.name}`, async () => {
      const clean = await door.read(encode(door.text));
      if (!isJson(door)) expect(clean).toBe(door.text);
      expect(clean).not.toBeNull();
      for (const sample of samplesOf(door)) {
        const read = isJson(door) ? clean : asRuled(door.row, sample);
        expect([sample, await door.read(encode(sample))]).toEqual([sample, read]);
      }
    });

  for (const door of doors.filter(({ takesText, name }) => !takesText && name !== 'share FILE'))
    it(`is refused where it is not UTF-8: ${door.row}, ${door.name}`, async () => {
      // As Windows PowerShell writes a file, and as an old editor writes one letter.
      const utf16 = new Uint8Array(Buffer.from(`\uFEFF${door.text}\r\n`, 'utf16le'));
      const latin1 = new Uint8Array(Buffer.from(door.text.replace(/[eo1A]/, 'é'), 'latin1'));
      for (const bytes of [utf16, latin1]) expect(await door.read(bytes)).toBeNull();
    });

  it('comes in by doors that are named once, some for each row of the table', () => {
    expect(new Set(doors.map(({ name }) => name)).size).toBe(doors.length);
    expect(table?.length).toBe(Object.keys(rows).length + 2);
    for (const row of Object.keys(rows)) expect(doors.some((door) => door.row === row)).toBe(true);
  });
});

/** Rules that a reviewer would otherwise have to check, each with a seeded breach that proves the check can fail. */
import { describe, expect, it } from 'bun:test';
import { isTest, readSources, type SourceFile } from './source-files.ts';

interface Rule {
  readonly name: string;
  readonly breach: (source: SourceFile) => boolean;
  /** A file that breaks the rule. */
  readonly seeded: SourceFile;
}

const maxLines = 430;
/** Tables may grow with what they list. */
const dataTables = ['test/v1/refusal-cases.ts'];

/** The reading itself; keys typed one by one; what the kernel and npm have written. */
const ownDecoders = [
  'src/config/text.ts',
  'src/cli/terminal.ts',
  'src/cli/programs.ts',
  'src/ops/machine-clock.ts',
];

function codeOf(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}

/** Prose in a string is not code: "was any of it read" forces no type. */
function withoutTexts(code: string): string {
  return code.replace(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g, "''");
}

function isProduct({ path }: SourceFile): boolean {
  return path.startsWith('src/') || path.startsWith('sdk/');
}

const rules: readonly Rule[] = [
  {
    name: `no file is longer than ${maxLines} lines, data tables aside`,
    breach: ({ path, text }) => text.split('\n').length - 1 > maxLines && !dataTables.includes(path),
    seeded: { path: 'src/x.ts', text: 'x\n'.repeat(maxLines + 1) },
  },
  {
    name: 'the environment is read only in src/config/read.ts',
    breach: (source) =>
      isProduct(source) &&
      !isTest(source) &&
      source.path !== 'src/config/read.ts' &&
      /\b(process|Bun|import\.meta)\.env\b/.test(codeOf(source.text)),
    seeded: { path: 'src/http/x.ts', text: 'const debug = process.env.DEBUG;' },
  },
  {
    name: 'text that people hand over is decoded only in src/config/text.ts',
    breach: (source) =>
      /^src\/(?:(?:cli|config|ops|web\/brand)\/|\w+\.ts$)/.test(source.path) &&
      !isTest(source) &&
      !ownDecoders.includes(source.path) &&
      /new TextDecoder\(|\breadFile(?:Sync)?\(.*['"]utf-?8['"]\)|\.text\(\)/.test(codeOf(source.text)),
    seeded: { path: 'src/cli/x.ts', text: `const token = readFileSync(path, 'utf8').trim();` },
  },
  {
    name: 'the process is ended only in src/main.ts',
    breach: (source) =>
      isProduct(source) &&
      source.path !== 'src/main.ts' &&
      /\bprocess\.(exit|abort|exitCode|reallyExit)\b/.test(codeOf(source.text)),
    seeded: { path: 'src/cli/x.ts', text: 'process.exit(1);' },
  },
  {
    name: 'nothing is written to the console (P18)',
    breach: (source) => isProduct(source) && !isTest(source) && /\bconsole\.\w+\(/.test(codeOf(source.text)),
    seeded: { path: 'src/core/x.ts', text: 'console.log(secret);' },
  },
  {
    name: 'core, cryptography and protocol know no clock and no randomness but what they are given',
    breach: ({ path, text }) =>
      /^src\/(core|crypto|protocol)\//.test(path) &&
      !['src/core/time.ts', 'src/crypto/random.ts'].includes(path) &&
      !/\.test\.ts$/.test(path) &&
      /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|randomBytes\(|getRandomValues/.test(
        codeOf(text),
      ),
    seeded: { path: 'src/core/x.ts', text: 'const now = Date.now();' },
  },
  {
    name: 'there are named exports only, and no file hands on another one whole',
    breach: (source) => isProduct(source) && /^export (default\b|\* )/m.test(source.text),
    seeded: { path: 'src/x.ts', text: `export * from './y.ts';` },
  },
  {
    name: 'types are neither silenced nor forced',
    breach: ({ text }) =>
      /^\s*(\/\/|\/\*) @ts-/m.test(text) ||
      /\bas an[y]\b|: an[y]\b|<an[y]\b/.test(withoutTexts(codeOf(text))),
    seeded: { path: 'src/x.ts', text: ['const x = y as', 'any;'].join(' ') },
  },
  {
    name: 'no test is left out',
    breach: (source) =>
      isTest(source) &&
      /\b(it|test|describe)\s*\.\s*(skip|only|todo|failing|if|skipIf|todoIf)\b/.test(codeOf(source.text)),
    seeded: { path: 'test/x.test.ts', text: `it${'.'}skip('x', () => {});` },
  },
  {
    name: 'no test in src sleeps',
    breach: (source) =>
      source.path.startsWith('src/') &&
      isTest(source) &&
      /\b(Bun\.sleep|sleepSync)\(/.test(codeOf(source.text)),
    seeded: { path: 'src/x.test.ts', text: 'await Bun.sleep(100);' },
  },
  {
    name: 'nothing names a folder of the machine it was written on',
    breach: ({ text }) => /(^|[^\w.*])\/(work|root|Users|tmp|var\/tmp)\/\w/m.test(text),
    seeded: { path: 'test/x.ts', text: `const folder = '/${'tmp'}/x';` },
  },
];

const sources = readSources(['src', 'sdk', 'test', 'scripts', 'bench']);

describe('the rules of the house', () => {
  for (const { name, breach, seeded } of rules) {
    it(name, () => {
      expect(sources.filter(breach).map(({ path }) => path)).toEqual([]);
    });

    it(`self-test: a breach is found (${name})`, () => {
      expect(breach(seeded)).toBe(true);
    });
  }
});

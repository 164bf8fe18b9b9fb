/**
 * How much of the English reads translated: phrases that engineers who grew up with it seldom write, counted per 10,000 words.
 *
 * One such phrase proves nothing, and many in one place do: a sentence is then rewritten, not its words exchanged. A bound is
 * what was reached, rounded up. It only ever goes down.
 */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentsIn, wordsIn } from '../../scripts/stats.mjs';
import { repositoryRoot } from '../support/started-server.ts';
import { isTest, readSources } from './source-files.ts';

const phrases: readonly RegExp[] = [
  /\b(whoever|whatever|wherever)\b/i,
  /\bnobody(’s|'s)?\b/i,
  /\b(is|are|be) none\b/i,
  /\bby then\b/i,
  /\banew\b/i,
  /\bmeanwhile\b/i,
  /\bat once\b/i,
  /\bbesides\b/i,
  /\bapart from\b/i,
  /\bnothing but\b/i,
  /\bis to be\b/i,
  /\bthat of\b/i,
  /\bas it (is|was)\b/i,
  /\bwhere there (is|are)\b/i,
  /\b(of|for|by|in|to|under) which\b/i,
  /\bof (its|their|his|her|our|your) own\b/i,
  /(^|[.:;] )What (is|was|has|they|it|a|the|others|only|comes|must|needs|remains)\b/,
  /\bwhat (became of|waits|is left|is there|is no|it is for|they are)\b/i,
  /\bstands? (in|for|as|below|beside|there)\b/i,
  /\bstays? (unsaid|unknown|as it)\b/i,
  /\btells? (what|whether|which|that)\b/i,
  /\bhears? of\b/i,
  /\bis (made|read|asked) (of|by|out|for) (it|them|what)\b/i,
  /\bleads? to (it|them|nothing)\b/i,
];

interface Place {
  readonly path: string;
  readonly text: string;
}

interface Kind {
  /** Phrases in 10,000 words, at most. */
  readonly bound: number;
  readonly read: () => readonly Place[];
}

const textOf = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');

/** Without code, in blocks and in lines. */
const proseOf = (text: string) => text.replace(/^\s*```.*?^\s*```/gms, '').replace(/`[^`\n]*`/g, ' ');

/** Texts long enough to be sentences. */
const stringsIn = (text: string) =>
  Array.from(text.matchAll(/(['"`])((?:(?!\1).){24,})\1/g), ([, , inner = '']) => inner);

function documentsIn(folder: string): Place[] {
  return readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.includes('node_modules'))
    .map((name) => ({ path: `${folder}/${name}`, text: proseOf(textOf(`${folder}/${name}`)) }));
}

const codeIn = (folders: readonly string[], read: (text: string) => readonly string[]) =>
  readSources(folders)
    .filter((source) => !isTest(source))
    .map(({ path, text }) => ({ path, text: read(text).join('\n') }));

const isDecision = ({ path }: Place) => path.startsWith('docs/decisions/');
const atTheRoot = ['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md'];

const kinds: Readonly<Record<string, Kind>> = {
  comments: { bound: 12, read: () => codeIn(['src', 'sdk'], commentsIn) },
  'help and messages': { bound: 2, read: () => codeIn(['src/cli', 'src/config', 'src/ops'], stringsIn) },
  documents: {
    bound: 7,
    read: () => [
      ...['docs', 'sdk', 'deploy'].flatMap(documentsIn).filter((each) => !isDecision(each)),
      ...atTheRoot.map((path) => ({ path, text: proseOf(textOf(path)) })),
    ],
  },
  decisions: { bound: 4, read: () => documentsIn('docs/decisions') },
  pages: {
    bound: 7,
    read: () => [{ path: 'src/locale/en.json', text: stringsIn(textOf('src/locale/en.json')).join('\n') }],
  },
};

function found({ path, text }: Place): string[] {
  return phrases.flatMap((phrase) =>
    Array.from(
      text.matchAll(new RegExp(phrase, `${phrase.flags}g`)),
      ({ index }) => `${path}: …${text.slice(Math.max(0, index - 40), index + 60).replaceAll('\n', ' ')}…`,
    ),
  );
}

/** A sentence when a kind has more than its bound, with some of the places. */
function tooMany(name: string, { bound, read }: Kind): string | null {
  const places = read();
  const words = places.reduce((sum, { text }) => sum + wordsIn(text), 0);
  const all = places.flatMap(found);
  const rate = (10_000 * all.length) / words;
  if (rate <= bound) return null;
  return [
    `${name}: ${rate.toFixed(1)} phrases that read translated in 10,000 words, ${bound} at most.`,
    'Rewrite some sentences: who does what, the verb early, one idea each. Among them:',
    ...all.slice(-20),
  ].join('\n');
}

describe('the English', () => {
  it.each(Object.entries(kinds))('of %s reads as if written in it', (name, kind) => {
    expect(tooMany(name, kind)).toBeNull();
  });

  it('self-test: it counts per 10,000 words, whatever the case, and shows the place', () => {
    const read = () => [{ path: 'x.md', text: `Nobody reads it. ${'word '.repeat(996)}` }];
    expect(tooMany('x', { bound: 10.1, read })).toBeNull();
    expect(tooMany('x', { bound: 9, read })).toContain('x.md: …Nobody reads it. word');
  });

  it('self-test: it reads comments, texts and prose, and no code', () => {
    expect(commentsIn('/** One\n * two. */\nconst a = 1; // three\nconst u = "http://x";')).toEqual([
      'One two.',
      'three',
    ]);
    expect(stringsIn(`const a = 'short'; const b = 'long enough to be a sentence.';`)).toEqual([
      'long enough to be a sentence.',
    ]);
    expect(proseOf('One `two`.\n```\nthree\n```\nFour.')).toBe('One  .\n\nFour.');
  });
});

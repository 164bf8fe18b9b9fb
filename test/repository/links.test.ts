/** What one file of the repository says of another leads somewhere: links and their anchors, pages that are named, parts that are quoted. */
import { describe, expect, it } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

const folders = ['docs', 'deploy', 'sdk', 'src', 'scripts', 'bench', 'test'];
/** Prose and whatever has comments or texts; a changelog speaks of pages as they were. */
const texts = /\.(?:md|tsx?|mjs|sh|ya?ml|json|conf|cfg|txt|tpl|service|example)$|^[^.]+$/;

function filesBelow(folder: string): string[] {
  return readdirSync(join(repositoryRoot, folder)).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(join(repositoryRoot, path)).isDirectory()) return filesBelow(path);
    return texts.test(name) ? [path] : [];
  });
}

function treeFiles(): readonly string[] {
  const atTop = readdirSync(repositoryRoot).filter(
    (name) => texts.test(name) && name !== 'CHANGELOG.md' && statSync(join(repositoryRoot, name)).isFile(),
  );
  return [...atTop, ...folders.flatMap(filesBelow)];
}

interface Files {
  readonly has: (path: string) => boolean;
  readonly read: (path: string) => string;
}

const tree: Files = {
  has: (path) => existsSync(join(repositoryRoot, path)),
  read: (path) => readFileSync(join(repositoryRoot, path), 'utf8'),
};

/** Without blocks of code, whose `#` are comments and whose brackets are no links. */
const proseOf = (markdown: string) => markdown.replace(/^ *```[\s\S]*?^ *```$/gm, '');

function headingsOf(markdown: string): readonly string[] {
  return Array.from(proseOf(markdown).matchAll(/^#{1,6} (.+)$/gm), ([, title = '']) => title.trim());
}

/** As GitHub makes them. */
function anchorsOf(markdown: string): readonly string[] {
  const seen = new Map<string, number>();
  return headingsOf(markdown).map((title) => {
    const id = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    return before === 0 ? id : `${id}-${before}`;
  });
}

/** Links of a page that lead nowhere, pictures included. */
function deadLinks(path: string, files: Files): string[] {
  const prose = proseOf(files.read(path));
  const targets = [
    ...Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target),
    ...Array.from(prose.matchAll(/\b(?:src|srcset|href)="([^"]+)"/g), ([, target = '']) => target),
  ];
  return targets.filter((target) => {
    if (/^(?:https?|mailto):/.test(target)) return false;
    const [file = '', anchor] = target.split('#');
    const at = file === '' ? path : normalize(join(dirname(path), file));
    if (!files.has(at)) return true;
    return anchor !== undefined && !anchorsOf(files.read(at)).includes(anchor);
  });
}

/** A page by its path from the root, or one of `docs/` by its name. */
function pageNamed(name: string, files: Files): string | null {
  return [name, `docs/${name}`].find(files.has) ?? null;
}

const quote = '["“]([^"”\\n]{2,60})["”]';
const quotedAfter = new RegExp(`([\\w/-]+\\.md)\`?\\)?,? ${quote}`, 'g');
const quotedBefore = new RegExp(`${quote} (?:in|of) (?:\\w+'s )?\`?(README|[\\w/-]+\\.md)`, 'g');

/** Pages that a text names and that there are not, and parts of pages that it quotes and that they do not have. */
function deadMentions(path: string, files: Files): string[] {
  const text = files.read(path);
  const named = Array.from(text.matchAll(/(?<![\w/.-])docs\/[\w/-]+\.md\b/g), ([name]) => name);
  const quoted = [
    ...Array.from(text.matchAll(quotedAfter), ([, page = '', part = '']) => ({ page, part })),
    ...Array.from(text.matchAll(quotedBefore), ([, part = '', page = '']) => ({
      page: page === 'README' ? 'README.md' : page,
      part,
    })),
  ];
  return [
    ...named.filter((name) => !files.has(name)),
    ...quoted
      .filter(({ page, part }) => {
        const at = pageNamed(page, files);
        return at !== null && !headingsOf(files.read(at)).includes(part);
      })
      .map(({ page, part }) => `${page}: ${part}`),
  ];
}

/** Files that a page names in code and that do not exist. A path may leave out its first folders: `core/keys.ts`. */
function deadPaths(page: string, paths: readonly string[]): string[] {
  const named = Array.from(
    page.matchAll(/`((?:[\w@.-]+\/)+[\w.-]+\.(?:tsx?|mjs|sh|json))`/g),
    ([, name = '']) => name,
  );
  return named.filter(
    (name) => !name.startsWith('node_modules/') && !paths.some((path) => `/${path}`.endsWith(`/${name}`)),
  );
}

describe('the repository', () => {
  // This file has seeded flaws.
  const all = treeFiles().filter((path) => path !== 'test/repository/links.test.ts');

  it('has no link that leads nowhere in its Markdown', () => {
    const pages = all.filter((path) => path.endsWith('.md'));
    expect(pages.length).toBeGreaterThan(80);
    expect(pages.flatMap((path) => deadLinks(path, tree).map((link) => `${path}: ${link}`))).toEqual([]);
  });

  it('names no page that is not there, and quotes no part that its page does not have', () => {
    expect(all.flatMap((path) => deadMentions(path, tree).map((named) => `${path}: ${named}`))).toEqual([]);
  });

  it('names no source file in its Markdown that is not there', () => {
    const paths = treeFiles();
    const pages = all.filter((path) => path.endsWith('.md'));
    const dead = pages.flatMap((path) => deadPaths(tree.read(path), paths).map((name) => `${path}: ${name}`));
    expect(dead).toEqual([]);
  });

  it('self-test: a source file that moved is found, by its whole path and by its end', () => {
    const page =
      'See `src/core/keys.ts`, `core/keys.ts`, `src/keys.ts`, `re/keys.ts` and `node_modules/a/b.json`.';
    expect(deadPaths(page, ['src/core/keys.ts'])).toEqual(['src/keys.ts', 're/keys.ts']);
  });

  it('self-test: a missing page, a missing part and a missing picture are found, each way they are named', () => {
    const pages: Readonly<Record<string, string>> = {
      'README.md': '# Top\n\n## One part\n\n```sh\n# Not a part\n```\n\n## One part\n',
      'docs/a.md':
        '[1](../README.md#one-part) [2](../README.md#one-part-1) [3](../README.md#not-a-part) [4](#gone) [5](b.md)\n' +
        '<img src="gone.png"> [6](https://example.org/#x)',
      'deploy/x.yaml':
        '# docs/a.md and docs/b.md say it; see "Two parts" in Mayfly\'s README, docs/a.md, “One part”, and "One part" in README.',
    };
    const files: Files = { has: (path) => path in pages, read: (path) => pages[path] ?? '' };
    expect(deadLinks('docs/a.md', files)).toEqual(['../README.md#not-a-part', '#gone', 'b.md', 'gone.png']);
    expect(deadMentions('deploy/x.yaml', files)).toEqual([
      'docs/b.md',
      'docs/a.md: One part',
      'README.md: Two parts',
    ]);
  });
});

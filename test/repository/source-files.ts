/** The project's own files and what they import, for the tests that check its rules. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

export interface SourceFile {
  /** Relative to the repository's root, with `/`. */
  readonly path: string;
  readonly text: string;
}

const codeForm = /\.(ts|tsx|mjs)$/;

export function readSources(folders: readonly string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(repositoryRoot, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name).split(sep).join('/'))
      .filter((path) => codeForm.test(path))
      .sort()
      .map((path) => ({ path, text: readFileSync(join(repositoryRoot, path), 'utf8') })),
  );
}

export function isTest({ path }: SourceFile): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** What a file imports: paths relative to the repository's root for its own files, names for packages. */
export function importsOf({ path, text }: SourceFile): string[] {
  const found = text.matchAll(/(?:^|[;\s}])(?:from|import)\s*\(?\s*'([^'\n]+)'/g);
  return [...found].map(([, target = '']) =>
    target.startsWith('.')
      ? normalize(join(dirname(path), target))
          .split(sep)
          .join('/')
      : target,
  );
}

/** The names that a file imports from another, except types. */
export function namesFrom({ path, text }: SourceFile, target: string): string[] {
  const statements = text.matchAll(/import\s+\{([^}]*)\}\s+from\s+'([^']+)'/g);
  return [...statements]
    .filter(
      ([, , from = '']) =>
        normalize(join(dirname(path), from))
          .split(sep)
          .join('/') === target,
    )
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim().split(/\s+as\s+/)[0] ?? '')
    .filter((name) => name !== '' && !name.startsWith('type '));
}

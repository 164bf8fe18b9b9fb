/** The layout is the architecture: which folder may import which, and what may open sealed data. */
import { describe, expect, it } from 'bun:test';
import { circlesIn, folderGraph } from '../../scripts/stats.mjs';
import { importsOf, isTest, namesFrom, readSources, type SourceFile } from './source-files.ts';

/** What each part may import besides itself and `src/protocol`: other parts, packages and built-in modules. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  'src/protocol': [],
  'src/crypto': ['node:crypto'],
  'src/config': ['src/core', 'src/crypto', 'src/locale', 'zod', 'node:*'],
  'src/core': ['src/crypto', 'node:crypto', 'node:url'],
  'src/locale': [],
  'src/store': ['src/core', 'bun:sqlite', 'pg', 'node:*'],
  'src/mail': ['src/config', 'src/core', 'src/locale', 'hono/jsx', 'hono/html', 'nodemailer', 'node:*'],
  'src/ops': [
    'src/config',
    'src/core',
    'src/crypto',
    'pino',
    'prom-client',
    '@node-rs/argon2',
    '@zxcvbn-ts/language-common',
    'tldts',
    'zod',
    'node:*',
  ],
  'src/http': ['src/config', 'src/core', 'src/crypto', 'zod', 'node:*'],
  'src/api': ['src/config', 'src/core', 'src/http', 'hono/jsx', 'hono/html', 'zod', 'zod-openapi', 'node:*'],
  'src/web': [
    'src/config',
    'src/core',
    'src/http',
    'src/locale',
    'hono/jsx',
    'hono/html',
    'marked',
    'qr',
    'sdk',
    'zod',
    'node:*',
  ],
  'src/router': [
    'src/config',
    'src/core',
    'src/crypto',
    'src/http',
    'src/locale',
    'hono/html',
    'bun',
    'node:*',
  ],
  'src/cli': [
    'src/config',
    'src/core',
    'src/ops',
    'sdk',
    '@modelcontextprotocol/server',
    '@modelcontextprotocol/server/stdio',
    'commander',
    'qr',
    'zod',
    'node:*',
  ],
  'src/site.ts': ['src/config', 'src/core', 'src/http', 'src/locale', 'src/api', 'src/web'],
  'src/stores.ts': ['src/config', 'src/core', 'src/ops', 'src/store', 'node:*'],
  'src/moves.ts': ['src/stores.ts', 'src/config', 'src/core', 'src/ops', 'src/store', 'node:*'],
  'src/app.ts': ['src/*', 'node:*'],
  'src/start.ts': ['src/*'],
  'src/main.ts': [
    'src/app.ts',
    'src/start.ts',
    'src/stores.ts',
    'src/moves.ts',
    'src/router',
    'src/cli',
    'src/config',
    'src/ops',
    'src/crypto',
    'package.json',
    'node:*',
  ],
  sdk: ['hash-wasm', 'hpke'],
};

/** The part that a project path belongs to; a package is its own part. */
function partOf(path: string): string {
  if (path.startsWith('sdk/')) return 'sdk';
  const [first = '', second = ''] = path.split('/');
  return first === 'src' ? `${first}/${second}` : path;
}

function isAllowed(part: string, target: string): boolean {
  const targetPart = partOf(target);
  if (targetPart === part || (targetPart === 'src/protocol' && part in allowed)) return true;
  return (allowed[part] ?? []).some((pattern) =>
    pattern.endsWith('*') ? targetPart.startsWith(pattern.slice(0, -1)) : targetPart === pattern,
  );
}

/** Every import that the table does not allow. A part that is not in the table may import nothing. */
function strayImports(sources: readonly SourceFile[]): string[] {
  return sources.flatMap((source) =>
    importsOf(source)
      .filter((target) => !isAllowed(partOf(source.path), target))
      .map((target) => `${source.path} imports ${target}`),
  );
}

/** Parts that are handed their settings: they import only types from `config/`. */
const readersOfSettings = ['http', 'api', 'web', 'mail', 'router', 'ops', 'cli', 'site.ts'].map(
  (part) => `src/${part}`,
);
/** Exempt, because they know no settings: they compare words, read JSON by a schema, and read text. */
const openToAll = ['src/config/nearest.ts', 'src/config/json.ts', 'src/config/text.ts'];

function fetchedSettings(sources: readonly SourceFile[]): string[] {
  const values = (source: SourceFile) =>
    importsOf({ path: source.path, text: source.text.replace(/^import type [^;]*;/gm, '') });
  return sources
    .filter(({ path }) => readersOfSettings.includes(partOf(path)))
    .flatMap((source) =>
      values(source)
        .filter((target) => target.startsWith('src/config/') && !openToAll.includes(target))
        .map((target) => `${source.path} imports more than types of ${target}`),
    );
}

/** Which files may import a function that opens sealed data. */
const locks: readonly {
  readonly file: string;
  readonly name: string;
  readonly holders: readonly string[];
}[] = [
  { file: 'src/crypto/envelope.ts', name: 'open', holders: ['src/core/secrets/reveal.ts'] },
  {
    file: 'src/crypto/box.ts',
    name: 'openBox',
    holders: [
      'src/core/secrets/receipts.ts',
      'src/core/accounts/data-key.ts',
      'src/core/secrets/recent.ts',
      'src/core/requests/mailbox.ts',
    ],
  },
  {
    file: 'src/core/accounts/data-key.ts',
    name: 'openDataKey',
    holders: [
      'src/core/accounts/tokens.ts',
      'src/core/accounts/passwords.ts',
      'src/core/accounts/sessions.ts',
    ],
  },
  { file: 'src/crypto/envelope.ts', name: 'openCreatorKey', holders: ['src/core/secrets/receipts.ts'] },
  { file: 'src/crypto/look.ts', name: 'unwrapLook', holders: ['src/core/secrets/look.ts'] },
  { file: 'src/crypto/version-1.ts', name: 'unwrapCreatorBox', holders: ['src/core/secrets/receipts.ts'] },
];

function brokenLocks(sources: readonly SourceFile[]): string[] {
  return locks.flatMap(({ file, name, holders }) =>
    sources
      .filter((source) => !holders.includes(source.path) && source.path !== file)
      .filter((source) => namesFrom(source, file).includes(name) || importsWhole(source, file))
      .map((source) => `${source.path} can open with ${name}`),
  );
}

/** `import * as`, `import()` and re-exports give every name at once. */
function importsWhole(source: SourceFile, file: string): boolean {
  const base = file.split('/').at(-1) ?? '';
  const whole = new RegExp(`(\\* as \\w+ from|import\\(|export (\\*|\\{[^}]*\\}) from)\\s*'[^']*/${base}'`);
  return importsOf(source).includes(file) && whole.test(source.text);
}

const sources = readSources(['src', 'sdk']).filter((source) => !isTest(source));

describe('the layout', () => {
  it('lets no part import what lies beside or above it', () => {
    expect(strayImports(sources)).toEqual([]);
  });

  it('self-test: imports across and upwards, static or dynamic, are found', () => {
    const seeded: SourceFile[] = [
      { path: 'src/core/keys.ts', text: `import { z } from 'zod';` },
      { path: 'src/core/keys.ts', text: `import { readFileSync } from 'node:fs';` },
      { path: 'src/store/store.ts', text: `import type { Links } from '../config/read.ts';` },
      { path: 'src/http/pipeline.ts', text: `const { x } = await import('../api/v1/record.ts');` },
      { path: 'src/crypto/box.ts', text: `import {\n  a,\n} from '../core/keys.ts';` },
      { path: 'sdk/mayfly.ts', text: `export { a } from '../src/core/keys.ts';` },
      { path: 'src/protocol/link.ts', text: `import { a } from '../core/keys.ts';` },
      { path: 'src/fresh/new.ts', text: `import '../core/keys.ts';` },
    ];
    for (const source of seeded) expect(strayImports([source])).toHaveLength(1);
  });

  it('lets the parts know the types of settings, and get their values from the app', () => {
    expect(fetchedSettings(sources)).toEqual([]);
  });

  it('self-test: a value of the settings is found, beside a type, dynamic, handed on or for its effect', () => {
    for (const text of [
      `import { readConfig } from '../config/read.ts';`,
      `import { type Settings, readConfig } from '../config/read.ts';`,
      `import type { Settings } from '../config/read.ts';\nimport { definitions } from '../config/settings.ts';`,
      `const { readConfig } = await import('../config/read.ts');`,
      `export { definitions } from '../config/settings.ts';`,
      `import '../config/read.ts';`,
    ]) {
      for (const part of readersOfSettings)
        expect(fetchedSettings([{ path: `${part}/x.ts`, text }])).toHaveLength(1);
    }
    const type = `import type { Settings } from '../config/read.ts';`;
    expect(fetchedSettings([{ path: 'src/web/x.ts', text: type }])).toEqual([]);
  });

  it('lets only the reveal open a secret, and only receipts open theirs (P1, P9)', () => {
    expect(brokenLocks(sources)).toEqual([]);
    // If these functions were renamed, the check above would guard nothing.
    for (const { file, name, holders } of locks) {
      const named = sources
        .filter((source) => namesFrom(source, file).includes(name))
        .map(({ path }) => path);
      expect(named.sort()).toEqual([...holders].sort());
    }
  });

  const graphOf = (files: readonly SourceFile[]) =>
    new Map(files.map((source) => [source.path, importsOf(source)]));

  it('has no circle: no file and no folder imports itself by way of others', () => {
    const graph = graphOf(sources);
    expect(circlesIn(graph)).toEqual([]);
    expect(circlesIn(folderGraph(graph))).toEqual([]);
  });

  it('self-test: a record that knows a service closes a circle of folders', () => {
    const text = `import type { SecretService } from './secrets/service.ts';`;
    const seeded = graphOf([...sources, { path: 'src/core/seeded.ts', text }]);
    expect(circlesIn(seeded)).toEqual([]);
    expect(circlesIn(folderGraph(seeded)).flat()).toEqual(
      expect.arrayContaining(['src/core', 'src/core/secrets']),
    );
  });

  it('self-test: another door is found, under another name, whole or handed on', () => {
    const path = 'src/core/secrets/burn.ts';
    for (const text of [
      `import { open } from '../../crypto/envelope.ts';`,
      `import { proveKeys, open as peek } from '../../crypto/envelope.ts';`,
      `import * as envelope from '../../crypto/envelope.ts';`,
      `const envelope = await import('../../crypto/envelope.ts');`,
      `export { open } from '../../crypto/envelope.ts';`,
      `import { openCreatorKey } from '../../crypto/envelope.ts';`,
      `import { openBox } from '../../crypto/box.ts';`,
    ]) {
      expect(brokenLocks([{ path, text }]).length).toBeGreaterThan(0);
    }
  });
});

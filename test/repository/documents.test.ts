/** Generated documents are up to date, and everything the project is built from is accounted for (P27). */
import { describe, expect, it } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readJson } from '../../src/config/json.ts';
import { builtInRateLimits, rateLimitsFile } from '../../src/config/json-files.ts';
import { renderReference } from '../../src/config/reference.ts';
import { definitions } from '../../src/config/settings.ts';
import { repositoryRoot } from '../support/started-server.ts';

function read(path: string): string {
  return readFileSync(join(repositoryRoot, path), 'utf8');
}

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly scripts: Readonly<Record<string, string>>;
}

const lock = JSON.parse(read('package-lock.json')) as Lock;
const manifest = JSON.parse(read('package.json')) as Manifest;

describe('generated documents', () => {
  it('docs/configuration.md is what the settings say: run `npm run docs` when this fails', () => {
    expect(read('docs/configuration.md')).toBe(renderReference());
  });

  it('self-test: a setting that changed would be noticed', () => {
    expect(read('docs/configuration.md')).toContain(definitions.port.doc);
    expect(renderReference().replace(definitions.port.doc, 'Something else.')).not.toBe(
      read('docs/configuration.md'),
    );
  });
});

/** The pages that an index of links does not lead to, and the links that lead nowhere. */
function indexFlaws(index: string, pages: readonly string[]): string[] {
  const links = Array.from(index.matchAll(/\]\(([^)#]+)\)/g), ([, link = '']) => link);
  return [
    ...pages.filter((page) => !links.includes(page)).map((page) => `${page} is not named`),
    ...links
      .filter((link) => !existsSync(join(repositoryRoot, 'docs', link)))
      .map((link) => `${link} is not there`),
  ];
}

describe('docs/README.md', () => {
  const pages = readdirSync(join(repositoryRoot, 'docs')).filter(
    (name) => /\.md$/.test(name) && name !== 'README.md',
  );

  it('names every page of the folder, and nothing that is not there', () => {
    expect(indexFlaws(read('docs/README.md'), pages)).toEqual([]);
  });

  it('self-test: a page without a line and a link that leads nowhere are found', () => {
    expect(indexFlaws('[a](api.md) [b](gone.md)', ['api.md', 'glossary.md'])).toEqual([
      'glossary.md is not named',
      'gone.md is not there',
    ]);
  });
});

describe('the rate limits of docs/configuration.md', () => {
  const section = renderReference().split('## Rate limits')[1]?.split('\n## ')[0] ?? '';
  const [table, example] = [...section.matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => json);

  it('are the built-in table', () => {
    expect(JSON.parse(table ?? '')).toEqual(JSON.parse(JSON.stringify(builtInRateLimits)));
  });

  it('show a file that is accepted', () => {
    expect(readJson(example ?? '', rateLimitsFile)).toMatchObject({
      value: { create: { account: { limit: 24_000, windowSeconds: 3_600, burst: 2_000 } } },
    });
  });
});

/** What is wrong with a lockfile. */
function flawsOf({ packages }: Lock): string[] {
  const entries = Object.entries(packages).filter(([path]) => path !== '');
  return entries.flatMap(([path, entry]) => {
    const absent = Object.keys(entry.optionalDependencies ?? {}).filter(
      (name) => !(`node_modules/${name}` in packages),
    );
    return [
      ...(entry.integrity === undefined ? [`${path} has no integrity`] : []),
      ...(entry.resolved === undefined ? [] : [`${path} has an address`]),
      ...(entry.hasInstallScript === true && path !== 'node_modules/bun'
        ? [`${path} runs an install script`]
        : []),
      ...absent.map((name) => `${path} may need ${name}, which is not locked: npm ci refuses`),
    ];
  });
}

describe('dependencies (P27)', () => {
  it('are locked with integrity and without addresses, whole for every system, and only the runtime runs a script', () => {
    expect(flawsOf(lock)).toEqual([]);
  });

  it('self-test: each of these flaws is found', () => {
    const sound = { integrity: 'sha512-x' };
    const seeded: Lock = {
      packages: {
        '': {},
        'node_modules/a': {},
        'node_modules/b': { ...sound, resolved: 'https://registry.example/b.tgz' },
        'node_modules/c': { ...sound, hasInstallScript: true },
        'node_modules/d': { ...sound, optionalDependencies: { e: '1' } },
      },
    };
    expect(flawsOf(seeded)).toHaveLength(4);
  });

  it('are few, pinned to a version, and each has a line in docs/dependencies.md', () => {
    const named = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(Object.keys(manifest.dependencies).length).toBeLessThanOrEqual(16);
    const page = read('docs/dependencies.md');
    expect(Object.keys(named).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
    expect(Object.entries(named).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('the ways in', () => {
  it('every script of package.json names a file that exists', () => {
    for (const command of Object.values(manifest.scripts)) {
      const path = /scripts\/[\w-]+\.(?:mjs|sh)/.exec(command)?.[0] ?? '';
      expect([command, statSync(join(repositoryRoot, path)).isFile()]).toEqual([command, true]);
    }
  });

  it('.ci/run can be run, and runs the tests with nothing left out', () => {
    expect(statSync(join(repositoryRoot, '.ci/run')).mode & 0o111).toBe(0o111);
    expect(read('.ci/run')).toContain('npm test -- --strict');
  });
});

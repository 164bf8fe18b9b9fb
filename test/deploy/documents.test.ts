/** The settings named in operators' pages and the files of deploy/ exist, and the Caddyfile explains everything it reads. */
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';
import { shippedCaddyfile } from './caddy.ts';
import { unknownSettingsIn } from './settings-named.ts';

const docs = join(repositoryRoot, 'docs');
const pageNames = ['install.md', 'proxies.md', 'operating.md', 'backup.md', 'upgrade.md', 'regions.md'];
const page = pageNames.map((name) => readFileSync(join(docs, name), 'utf8')).join('\n');
const caddyfile = readFileSync(shippedCaddyfile, 'utf8');
const otherFiles = ['nginx.conf', 'apache.conf', 'haproxy.cfg'].map((name) =>
  readFileSync(join(repositoryRoot, 'deploy', name), 'utf8'),
);

const placeholders = [...caddyfile.matchAll(/\{\$([A-Z_]+)/g)].map(([, name = '']) => name);
const unknownIn = (text: string) => unknownSettingsIn(text, placeholders);

describe('the pages for operators', () => {
  test('names only settings that there are, of Mayfly or of the Caddyfile', () => {
    expect(unknownIn(page)).toEqual([]);
    for (const file of [caddyfile, ...otherFiles]) expect(unknownIn(file)).toEqual([]);
  });

  test('self-test: a setting that is not there is found', () => {
    expect(unknownIn(`${page}\nMAYFLY_METRICS_PORT=9090`)).toEqual(['MAYFLY_METRICS_PORT']);
  });

  test('links only to files that there are', () => {
    const targets = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, target = '']) => target);
    const local = targets.filter((target) => !target.includes('://'));
    expect(local.length).toBeGreaterThan(0);
    expect(local.filter((target) => !existsSync(join(docs, target)))).toEqual([]);
  });
});

describe('the Caddyfile', () => {
  test('explains every setting that it reads, and no other, at its top', () => {
    const [top = ''] = caddyfile.split('\n{\n');
    const explained = [...top.matchAll(/^# {3}([A-Z_]+) /gm)].map(([, name = '']) => name);
    expect([...new Set(placeholders)].sort()).toEqual(explained.sort());
  });
});

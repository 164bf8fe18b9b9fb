/** What package-lock.json has npm say to a newcomer. */
import { expect, it } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly engines?: { readonly node?: string };
  readonly deprecated?: string;
}

const lock = readFileSync(join(import.meta.dir, '..', '..', 'package-lock.json'), 'utf8');
const packages: readonly (readonly [path: string, locked: Locked])[] = Object.entries(
  JSON.parse(lock).packages,
);

/** README names Node 20; a dependency needs its 19th minor version. */
const nodes = ['20.19.0', '20.20.2'];

/** What npm would warn of, at every installation. */
function warnings([path, { engines, deprecated }]: readonly [path: string, locked: Locked]): string[] {
  const range = engines?.node ?? '*';
  const unfit = nodes
    .filter((node) => !Bun.semver.satisfies(node, range))
    .map((node) => `${path} on ${node}: ${range}`);
  return deprecated === undefined ? unfit : [...unfit, `${path}: ${deprecated}`];
}

it('every package takes Node 20 and none is deprecated, so that npm warns of nothing', () => {
  expect(packages.length).toBeGreaterThan(50);
  expect(packages.flatMap(warnings)).toEqual([]);
});

it('self-test: a package for a newer Node, and a deprecated one, are found', () => {
  expect(warnings(['a', { engines: { node: '>=22' } }])).toHaveLength(nodes.length);
  expect(warnings(['b', { engines: { node: '^18 || >=20.5' }, deprecated: 'use another' }])).toEqual([
    'b: use another',
  ]);
});

/**
 * Owns: the proof that the router finds in a path the key that a region finds there, in every spelling, and no other.
 */
import { describe, expect, it } from 'bun:test';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { generateMetadataKey } from '../core/keys.ts';
import { parseRegionLabel } from '../core/regions.ts';
import { destinationOf, labelIn } from './destination.ts';

const eu = parseRegionLabel('eu');
const key = generateMetadataKey(seededRandom('destination'), eu);

describe('a path of the API', () => {
  it.each([
    [`/api/v1/secret/${key}`, 'v1'],
    [`/api/v1/private/${key}`, 'v1'],
    [`/api/v1/metadata/${key}`, 'v1'],
    [`/api/v1/receipt/${key}`, 'v1'],
    [`/api/v1/private/${key}/burn`, 'v1'],
    [`/api/v1/private/${key}/`, 'v1'],
    [`/api/v2/secret/${key}`, 'v2'],
    [`/api/v2/secret/${key}/status`, 'v2'],
    [`/api/v2/secret/${key}/reveal`, 'v2'],
    [`/api/v2/private/${key}`, 'v2'],
    [`/api/v2/private/${key}/burn`, 'v2'],
    [`/api/v2/receipt/${key}/deliver`, 'v2'],
    [`/api/v2/guest/secret/${key}`, 'v2'],
    [`/api/v2/guest/secret/${key}/reveal`, 'v2'],
  ] as const)('%s names its key', (path, version) => {
    expect(destinationOf(path)).toEqual({ kind: 'api', version, key });
    expect(labelIn(key)).toBe(eu);
  });

  it.each([
    ['/api/v1/share', 'v1'],
    ['/api/v1/private/recent', 'v1'],
    ['/api/v1/receipt/recent/', 'v1'],
    ['/api/v1/secret/', 'v1'],
    ['/api/v1/secret', 'v1'],
    [`/api/v1//secret/${key}`, 'v1'],
    [`/api/v1/SECRET/${key}`, 'v1'],
    [`/api/v1/%73ecret/${key}`, 'v1'],
    ['/api/v2/secret/conceal', 'v2'],
    ['/api/v2/secret/generate', 'v2'],
    ['/api/v2/private/recent', 'v2'],
    ['/api/v2/secret/status', 'v2'],
    ['/api/v2/guest/secret/conceal', 'v2'],
    ['/api/v2/guest/secret/generate', 'v2'],
    [`/api/v2/guest/guest/secret/${key}`, 'v2'],
    [`/api/v2/guest/${key}`, 'v2'],
    [`/api/v1/guest/secret/${key}`, 'v1'],
    [`/api/v2/metadata/${key}`, 'v2'],
    ['/api/v2/domains/example.com', 'v2'],
    ['/api/docs', 'v2'],
    ['/api', 'v2'],
    [`/api/v3/secret/${key}`, 'v2'],
  ] as const)('%s names none', (path, version) => {
    expect(destinationOf(path)).toEqual({ kind: 'api', version, key: null });
  });
});

describe('a path of a page', () => {
  it('names its key, or none', () => {
    for (const segment of ['secret', 'receipt', 'private'])
      expect(destinationOf(`/${segment}/${key}`)).toEqual({ kind: 'page', key });
    expect(destinationOf(`/receipt/${key}/burn`)).toEqual({ kind: 'page', key });
    for (const path of ['/', '/recent', '/secret', '/secret/', `//secret/${key}`, `/apis/v1/secret/${key}`])
      expect(destinationOf(path)).toEqual({ kind: 'page', key: null });
  });
});

describe('a key in a path', () => {
  const encoded = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');

  it('counts in any percent-encoding, as a region decodes it once', () => {
    expect(labelIn(encoded)).toBe(eu);
    expect(labelIn(encoded.toUpperCase())).toBe(eu);
    expect(labelIn(`%${key.charCodeAt(0).toString(16)}${key.slice(1)}`)).toBe(eu);
  });

  it.each([
    ['encoded twice', encoded.replaceAll('%', '%25')],
    ['in upper case', key.toUpperCase()],
    ['with a dot behind it', `${key}%2e`],
    ['with a blank behind it', `${key}%20`],
    ['cut', key.slice(1)],
    ['cut-off encoding', `${key.slice(1)}%`],
    ['broken UTF-8', `${key}%ff`],
    ['with an encoded slash', `x%2f${key}`],
  ])('is none %s', (_what, segment) => expect(labelIn(segment)).toBeNull());
});

/** Proves that links come from the configured address, and that its path is kept. */
import { describe, expect, it } from 'bun:test';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { generateMetadataKey, generateSecretKey } from './keys.ts';
import { createLinks } from './links.ts';

const random = seededRandom('links');
const [key, metadataKey] = [generateSecretKey(random, null), generateMetadataKey(random, null)];

describe('links (P20)', () => {
  it.each([
    ['https://mayfly.example', 'https://mayfly.example', 'mayfly.example', '443'],
    ['https://mayfly.example/', 'https://mayfly.example', 'mayfly.example', '443'],
    ['https://MAYFLY.example/once//', 'https://mayfly.example/once', 'mayfly.example', '443'],
    ['http://localhost:3000', 'http://localhost:3000', 'localhost', '3000'],
    ['http://mayfly.example', 'http://mayfly.example', 'mayfly.example', '80'],
    ['https://mayfly.example:443/a?query#part', 'https://mayfly.example/a', 'mayfly.example', '443'],
  ])('of %s begin with %s', (configured, base, host, port) => {
    const links = createLinks(configured);
    expect(links).toMatchObject({ baseUrl: base, siteHost: host, sitePort: port });
    expect(links.secretUrl(key, '')).toBe(`${base}/secret/${key}`);
    expect(links.receiptUrl(metadataKey)).toBe(`${base}/receipt/${metadataKey}`);
    expect(links.linkOrigin('')).toBe(new URL(base).origin);
  });

  it('of a share domain are on that domain; the receipt stays on the site', () => {
    const links = createLinks('https://mayfly.example/once');
    expect(links.secretUrl(key, 'secrets.example.org')).toBe(
      `https://secrets.example.org/once/secret/${key}`,
    );
    expect(links.linkOrigin('secrets.example.org')).toBe('https://secrets.example.org');
    expect(links.receiptUrl(metadataKey)).toBe(`https://mayfly.example/once/receipt/${metadataKey}`);
  });

  it('are not made from what is no address', () => expect(() => createLinks('mayfly')).toThrow());
});

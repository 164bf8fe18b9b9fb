/** How v2 encodes ttls, values and records. */
import { describe, expect, it } from 'bun:test';
import { createLinks } from '../../core/links.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { encodeMetadata, metadataRecord, naturalDuration } from './records.ts';
import { displayLines } from './reveal.ts';

const secretKey = 's'.repeat(31) as NonNullable<ReceiptView['secretKey']>;
const metadataKey = 'm'.repeat(31) as ReceiptView['metadataKey'];

const waiting: ReceiptView = {
  custid: 'alice@example.com',
  metadataKey,
  secretKey,
  secretShortkey: 'ssssss',
  state: 'new',
  ttlSeconds: 3_600,
  secretTtlSeconds: 3_590,
  longestTtlSeconds: 604_790,
  metadataTtlSeconds: 7_190,
  recipient: null,
  shareDomain: '',
  hasPassphrase: false,
  sealed: false,
  createdAt: 1_000,
  updatedAt: 1_000,
  viewedAt: null,
  receivedAt: null,
  burnedAt: null,
  burnedBy: null,
  delivery: null,
  notify: [],
  memo: '',
  codes: [],
  verify: false,
  locked: null,
};

describe('the lifetime in words', () => {
  const cases: readonly [number, string][] = [
    [1, '1 second'],
    [60, '60 seconds'],
    [61, '1 minute'],
    [3_600, '60 minutes'],
    [3_601, '1 hour'],
    [86_400, '24 hours'],
    [86_401, '1 day'],
    [604_800, '7 days'],
    [2_592_000, '30 days'],
  ];
  for (const [seconds, words] of cases) {
    it(`of ${seconds} seconds is ${words}`, () => {
      expect(naturalDuration(seconds)).toBe(words);
    });
  }
});

describe('the lines to show', () => {
  const cases: readonly [string, number][] = [
    ['', 4],
    ['a'.repeat(79), 4],
    ['a'.repeat(80), 5],
    ['a\nb', 5],
    ['\n'.repeat(100), 30],
  ];
  for (const [value, lines] of cases) {
    it(`of ${value.length} characters are ${lines}`, () => {
      expect(displayLines(value)).toBe(lines);
    });
  }
});

describe("a creator's record", () => {
  const links = createLinks('https://mayfly.example/once/');

  for (const [state, flag] of [
    ['received', 'is_received'],
    ['burned', 'is_burned'],
    ['expired', 'is_expired'],
  ] as const) {
    it(`that is ${state} is destroyed and has no key and no link`, () => {
      const gone = { ...waiting, state, secretKey: null, secretTtlSeconds: null };
      const record = encodeMetadata(gone, links);
      expect(metadataRecord.parse(record)).toEqual(record);
      expect(record[flag]).toBe(true);
      expect(record.is_destroyed).toBe(true);
      const { secret_key, share_path, share_url, secret_state, secret_ttl, recipients } = record;
      expect([secret_key, share_path, share_url, secret_state, secret_ttl, recipients]).toEqual([
        null,
        '',
        '',
        null,
        0,
        '',
      ]);
      expect(JSON.stringify(record)).not.toContain(secretKey);
    });
  }

  it('that the creator has looked at still waits', () => {
    const record = encodeMetadata({ ...waiting, state: 'viewed', viewedAt: 1_005 }, links);
    expect(record).toMatchObject({
      is_viewed: true,
      viewed: 1_005,
      is_destroyed: false,
      secret_state: 'new',
    });
  });

  it('has links under the configured path, and on the share domain when there is one (P20)', () => {
    expect(encodeMetadata(waiting, links).share_url).toBe(`https://mayfly.example/once/secret/${secretKey}`);
    const shared = encodeMetadata({ ...waiting, shareDomain: 'secrets.example.com' }, links);
    expect(shared.share_url).toBe(`https://secrets.example.com/once/secret/${secretKey}`);
    expect(shared.metadata_url).toBe(`https://mayfly.example/once/receipt/${metadataKey}`);
  });
});

/** Proves that a ring holds each root once, wraps under the newest and finds the older ones. */
import { describe, expect, it } from 'bun:test';
import { hex } from './bytes.ts';
import { createKeyRing, type RootKey, rootCheck } from './keyring.ts';

const root = (kid: number, byte = kid): RootKey => ({ kid, key: new Uint8Array(32).fill(byte) });

describe('the key ring', () => {
  it('wraps under the root with the highest key id, whatever the order', () => {
    const ring = createKeyRing([root(7), root(65_535), root(1)]);
    expect(ring.current.kid).toBe(65_535);
    expect(ring.all.map(({ kid }) => kid)).toEqual([1, 7, 65_535]);
    expect(ring.find(7)?.key[0]).toBe(7);
    expect(ring.find(2)).toBeNull();
  });

  it.each([
    ['no root', [], 'there is no root key'],
    ['key id 0', [root(0)], 'key id 0 is not 1–65535'],
    ['key id 65,536', [root(65_536)], 'key id 65536 is not 1–65535'],
    ['a fractional key id', [root(1.5)], 'key id 1.5 is not 1–65535'],
    ['a short root', [{ kid: 3, key: new Uint8Array(31) }], 'root 3 is not 32 bytes'],
    ['a long root', [{ kid: 3, key: new Uint8Array(33) }], 'root 3 is not 32 bytes'],
    ['a key id twice', [root(4), root(4, 9)], 'key id 4 is there twice'],
  ])('refuses %s', (_name, roots, message) => {
    expect(() => createKeyRing(roots)).toThrow(new RangeError(message));
  });

  it('tells roots apart by their check values, which show nothing of the root (P12)', () => {
    const checks = [root(1), root(2), root(3)].map(rootCheck).map(hex);
    expect(new Set(checks).size).toBe(3);
    expect(checks.every((check) => check.length === 64)).toBe(true);
    expect(hex(rootCheck(root(9, 1)))).toBe(hex(rootCheck(root(1))));
  });
});

import { expect, it } from 'bun:test';
import { hintOf } from './hint.ts';

it('a hint is the first 47 bits of an id, a non-negative integer that SQLite keeps in 6 bytes', () => {
  expect(hintOf(new Uint8Array(16))).toBe(0);
  expect(hintOf(new Uint8Array(16).fill(255))).toBe(2 ** 47 - 1);
  expect(hintOf(Uint8Array.of(0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07))).toBe(0x010203040506);
  expect(hintOf(Uint8Array.of(0x80, 0, 0, 0, 0, 1))).toBe(1);
});

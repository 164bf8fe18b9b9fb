/** Proves that a box opens only for its holder, its purpose and its record. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { type BoxInput, openBox, sealBox } from './box.ts';
import { hex, utf8 } from './bytes.ts';
import type { BoxLabel } from './derive.ts';

const random = seededRandom('boxes');
const at: BoxInput = {
  label: 'creator',
  keyMaterial: utf8('k'.repeat(31)),
  binding: new Uint8Array(16).fill(3),
};
const content = utf8('0123456789abcdefghijklmnopqrstu');
const box = sealBox({ ...at, content, random });
const labels: readonly BoxLabel[] = [
  'creator',
  'details',
  'recent',
  'note',
  'address',
  'cursor',
  'memo',
  'answer',
  'accountDataKey',
];

describe('a box', () => {
  it('opens to the same bytes, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom(...labels),
        fc.uint8Array({ minLength: 31, maxLength: 32 }),
        fc.uint8Array({ maxLength: 16 }),
        (bytes, label, keyMaterial, binding) => {
          const place = { label, keyMaterial, binding };
          const opened = openBox(sealBox({ ...place, content: bytes, random }), place);
          expect(opened === null ? null : hex(opened)).toBe(hex(bytes));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('shows only the 64-byte bucket of its length (P11)', () => {
    const sizeOf = (length: number) => sealBox({ ...at, content: new Uint8Array(length), random }).length;
    expect([0, 1, 31, 60].map(sizeOf)).toEqual([112, 112, 112, 112]);
    expect([61, 124].map(sizeOf)).toEqual([176, 176]);
  });

  it('shows of a memo only whether it is short or long (P11)', () => {
    const memo = { ...at, label: 'memo' } as const;
    const sizeOf = (length: number) => sealBox({ ...memo, content: new Uint8Array(length), random }).length;
    expect([1, 60, 252].map(sizeOf)).toEqual([304, 304, 304]);
    // 500 characters take 2,000 bytes at most.
    expect([253, 1_000, 2_000, 2_044].map(sizeOf)).toEqual([2_096, 2_096, 2_096, 2_096]);
    expect(sizeOf(2_045)).toBe(4_144);
  });

  it('opens under no other key, label or binding', () => {
    expect(openBox(box, at)).not.toBeNull();
    expect(openBox(box, { ...at, keyMaterial: utf8('l'.repeat(31)) })).toBeNull();
    expect(openBox(box, { ...at, binding: new Uint8Array(16).fill(4) })).toBeNull();
    expect(openBox(box, { ...at, binding: new Uint8Array(0) })).toBeNull();
    for (const label of labels) expect(openBox(box, { ...at, label }) !== null).toBe(label === 'creator');
  });

  it('refuses to open when cut off at any length', () => {
    for (let length = 0; length < box.length; length += 1)
      expect(openBox(box.slice(0, length), at)).toBeNull();
  });

  it('gives its holder bytes that share no memory with what is wiped', () => {
    expect(openBox(box, at)?.byteOffset).toBe(0);
  });
});

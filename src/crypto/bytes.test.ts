/** Proves that the encodings are injective and reversible, which the additional data rely on. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { concat, equalInConstantTime, FieldReader, FieldWriter, hex, utf8 } from './bytes.ts';

const runs = { numRuns: 1000 };
const bytes = (maxLength = 40) => fc.uint8Array({ maxLength });

function written(fields: readonly Uint8Array[]): Uint8Array {
  const writer = new FieldWriter(fields.reduce((size, field) => size + 4 + field.length, 0));
  for (const field of fields) writer.field(field);
  return writer.bytes;
}

describe('the field encoding', () => {
  it('gives back what was written', () => {
    fc.assert(
      fc.property(
        fc.nat(0xff),
        fc.nat(0xffff),
        fc.nat({ max: 0xffffffff }),
        fc.maxSafeNat(),
        bytes(),
        bytes(),
        (u8, u16, u32, u64, field, rest) => {
          const size = 1 + 2 + 4 + 8 + 4 + field.length + rest.length;
          const writer = new FieldWriter(size).u8(u8).u16(u16).u32(u32).u64(u64).field(field).raw(rest);
          const reader = new FieldReader(writer.bytes);
          expect([reader.u8(), reader.u16(), reader.u32()]).toEqual([u8, u16, u32]);
          expect(reader.u32() * 2 ** 32 + reader.u32()).toBe(u64);
          expect(hex(reader.field())).toBe(hex(field));
          expect(hex(reader.rest())).toBe(hex(rest));
        },
      ),
      runs,
    );
  });

  it('writes integers big-endian', () => {
    const writer = new FieldWriter(15).u8(0xfe).u16(0x0102).u32(0x80000001).u64(Number.MAX_SAFE_INTEGER);
    expect(hex(writer.bytes)).toBe('fe010280000001001fffffffffffff');
  });

  it('never writes two lists of fields alike', () => {
    fc.assert(
      fc.property(fc.array(bytes(4), { maxLength: 4 }), fc.array(bytes(4), { maxLength: 4 }), (a, b) => {
        const same = a.length === b.length && a.every((field, at) => hex(field) === hex(b[at] ?? utf8('-')));
        expect(hex(written(a)) === hex(written(b))).toBe(same);
      }),
      runs,
    );
  });

  it('joins without a prefix alike, which is why the prefix is there', () => {
    expect(hex(concat(utf8('ab'), utf8('c')))).toBe(hex(concat(utf8('a'), utf8('bc'))));
    expect(hex(written([utf8('ab'), utf8('c')]))).not.toBe(hex(written([utf8('a'), utf8('bc')])));
  });

  it('refuses to read past the end, at every length', () => {
    const whole = written([utf8('twelve bytes')]);
    for (let length = 0; length < whole.length; length += 1) {
      expect(() => new FieldReader(whole.subarray(0, length)).field()).toThrow(RangeError);
    }
    const tooShort = new FieldReader(new Uint8Array(0));
    for (const read of [() => tooShort.u8(), () => tooShort.u16(), () => tooShort.u32()]) {
      expect(read).toThrow(RangeError);
    }
    expect(tooShort.rest()).toHaveLength(0);
  });

  it('refuses bytes that do not fit the announced size', () => {
    expect(() => new FieldWriter(3).raw(utf8('four'))).toThrow(RangeError);
  });

  it('reads a part of a larger buffer at its own offset', () => {
    const part = Uint8Array.of(9, 9, 0, 0, 0, 1, 7, 9).subarray(2, 7);
    expect(hex(new FieldReader(part).field())).toBe('07');
    expect(hex(part)).toBe('0000000107');
  });
});

describe('comparing in constant time', () => {
  it('agrees with comparing by content', () => {
    fc.assert(
      fc.property(bytes(3), bytes(3), (a, b) => expect(equalInConstantTime(a, b)).toBe(hex(a) === hex(b))),
      runs,
    );
  });
});

describe('text', () => {
  it('is UTF-8, byte for byte', () => {
    expect(hex(utf8('ä€🔑\u0000'))).toBe('c3a4e282acf09f949100');
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
        (text) =>
          expect(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(utf8(text))).toBe(text),
      ),
      runs,
    );
  });
});

/** Proves that the cipher accepts only the whole 16-byte tag over exactly these bytes. */
import { describe, expect, it } from 'bun:test';
import { createDecipheriv } from 'node:crypto';
import fc from 'fast-check';
import { seal, tagBytes, unseal } from './aead.ts';
import { hex, utf8 } from './bytes.ts';
import type { SealKeys } from './derive.ts';

const keys: SealKeys = { key: new Uint8Array(32).fill(7), nonce: new Uint8Array(12).fill(9) };
const aad = utf8('what it belongs to');

/** The defect: a cipher that trusts the length of the tag it is given. */
function unsealWithAnyTag(sealed: Uint8Array, cut: number): boolean {
  const body = sealed.subarray(0, sealed.length - tagBytes);
  const tag = sealed.subarray(body.length, body.length + cut);
  const decipher = createDecipheriv('aes-256-gcm', keys.key, keys.nonce, { authTagLength: cut });
  decipher.setAAD(aad).setAuthTag(tag);
  decipher.update(body);
  try {
    decipher.final();
    return true;
  } catch {
    return false;
  }
}

describe('sealing', () => {
  it('opens to the same bytes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.uint8Array({ maxLength: 60 }), (plain, data) => {
        const opened = unseal(keys, seal(keys, plain, data), data);
        expect(opened === null ? null : hex(opened)).toBe(hex(plain));
      }),
      { numRuns: 1000 },
    );
  });

  it('adds 16 bytes, always', () => {
    for (const length of [0, 1, 15, 16, 17, 4096]) {
      expect(seal(keys, new Uint8Array(length), aad)).toHaveLength(length + 16);
    }
  });

  it('refuses every shorter tag: bytes cut from the end, to nothing', () => {
    const sealed = seal(keys, utf8('forty-two'), aad);
    for (let length = 0; length < sealed.length; length += 1) {
      expect(unseal(keys, sealed.subarray(0, length), aad)).toBeNull();
    }
  });

  it('refuses other additional data and other keys', () => {
    const sealed = seal(keys, utf8('value'), aad);
    expect(unseal(keys, sealed, utf8('what it belongs tO'))).toBeNull();
    expect(unseal(keys, sealed, new Uint8Array(0))).toBeNull();
    expect(unseal({ ...keys, key: new Uint8Array(32).fill(8) }, sealed, aad)).toBeNull();
    expect(unseal({ ...keys, nonce: new Uint8Array(12).fill(8) }, sealed, aad)).toBeNull();
  });

  it('is stricter than the runtime, which takes a tag of 4 bytes when it is allowed to', () => {
    const sealed = seal(keys, utf8('value'), aad);
    expect([4, 8, 12, 16].filter((cut) => unsealWithAnyTag(sealed, cut))).toEqual([4, 8, 12, 16]);
  });
});

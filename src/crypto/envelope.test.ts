/** Proves that a row opens only with root, link and passphrase together, and only in its own place. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { type SealedSample, sealedSample } from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { seal } from './aead.ts';
import { FieldWriter, hex, utf8 } from './bytes.ts';
import { deriveOuterKeys } from './derive.ts';
import {
  open,
  openVerifier,
  proveKeys,
  rewrapSecret,
  type SecretContext,
  secretAad,
  type UnwrappedSecret,
  unwrapSecret,
} from './envelope.ts';
import { createKeyRing } from './keyring.ts';

function unwrapped(sample: SealedSample, row = sample.row, ring = sample.ring): UnwrappedSecret {
  const outcome = unwrapSecret(row, sample.context, ring);
  if (outcome.outcome !== 'unwrapped') throw new Error(outcome.outcome);
  return outcome.secret;
}

function opened(sample: SealedSample, row = sample.row, ring = sample.ring): string {
  const secret = unwrapped(sample, row, ring);
  const keys = proveKeys(secret, sample.secretKey, sample.passphrase?.key ?? null);
  if (keys === null) throw new Error('not proven');
  return hex(open(secret, keys));
}

describe('a sealed secret', () => {
  it('opens to the same bytes, whatever they are, with and without passphrase', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.boolean(),
        fc.option(fc.maxSafeNat(), { nil: null }),
        fc.constantFrom('', 'secrets.example.org'),
        (value, hasPassphrase, owner, shareDomain) => {
          const sample = sealedSample({ value, hasPassphrase, owner, shareDomain });
          expect(opened(sample)).toBe(hex(utf8(value)));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('shows only the 256-byte bucket of its length (P11)', () => {
    const sizeOf = (length: number) => sealedSample({ value: 'x'.repeat(length) }).row.length;
    expect([1, 100, 252].map(sizeOf)).toEqual([395, 395, 395]);
    expect([253, 508].map(sizeOf)).toEqual([651, 651]);
    expect([1_000, 10_000].map(sizeOf)).toEqual([1_163, 10_379]);
    expect(sealedSample({ hasPassphrase: true }).row).toHaveLength(395 + 76);
  });

  it('is another row each time, though the same in all but the random salts', () => {
    const one = sealedSample();
    const random = seededRandom('another');
    const again = rewrapSecret(one.row, one.context, one.ring, random);
    expect(again === null ? '' : hex(again)).not.toBe(hex(one.row));
  });

  it('cannot be read as another’s: rows exchanged between records are damaged', () => {
    const [one, two] = [sealedSample({ seed: 'one' }), sealedSample({ seed: 'two' })];
    const ring = createKeyRing([one.root]);
    const moved = unwrapSecret(one.row, two.context, ring);
    expect(moved.outcome).toBe('damaged');
  });

  const changes: ReadonlyArray<[string, Partial<SecretContext>]> = [
    ['secret id', { secretId: new Uint8Array(16) }],
    ['time of creation', { createdAt: 1_790_000_001 }],
    ['expiry, put off by a second', { expiresAt: 1_790_604_801 }],
    ['expiry, put off by 2^32 seconds', { expiresAt: 1_790_604_800 + 2 ** 32 }],
    ['passphrase flag', { hasPassphrase: true }],
    ['owner, another', { owner: 8 }],
    ['owner, none', { owner: null }],
    ['share domain, another', { shareDomain: 'secrets.example.net' }],
    ['share domain, none', { shareDomain: '' }],
  ];
  it.each(changes)('is damaged when its record’s %s is changed', (_name, change) => {
    const sample = sealedSample({ owner: 7, shareDomain: 'secrets.example.org' });
    expect(unwrapSecret(sample.row, { ...sample.context, ...change }, sample.ring).outcome).toBe('damaged');
    expect(unwrapSecret(sample.row, sample.context, sample.ring).outcome).toBe('unwrapped');
  });

  it('tells "no owner" from "owner 0", and every context from every other', () => {
    const base = sealedSample().context;
    expect(hex(secretAad({ ...base, owner: 0 }))).not.toBe(hex(secretAad(base)));
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.string(), fc.string(), (a, b, domainA, domainB) => {
        const one = secretAad({ ...base, createdAt: a, shareDomain: domainA });
        const two = secretAad({ ...base, createdAt: b, shareDomain: domainB });
        expect(hex(one) === hex(two)).toBe(a === b && hex(utf8(domainA)) === hex(utf8(domainB)));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the commitment', () => {
  it('refuses a wrong link, with and without passphrase, at every character', () => {
    for (const sample of [sealedSample(), sealedSample({ hasPassphrase: true })]) {
      const secret = unwrapped(sample);
      for (let at = 0; at < sample.secretKey.length; at += 1) {
        const letter = sample.secretKey[at] === 'a' ? 'b' : 'a';
        const wrong = sample.secretKey.slice(0, at) + letter + sample.secretKey.slice(at + 1);
        expect(proveKeys(secret, wrong, sample.passphrase?.key ?? null)).toBeNull();
      }
    }
  });

  it('refuses every wrong bit of the stretched passphrase, and its absence (P15)', () => {
    const sample = sealedSample({ hasPassphrase: true });
    const secret = unwrapped(sample);
    const key = sample.passphrase?.key ?? new Uint8Array(32);
    for (let bit = 0; bit < 256; bit += 1) {
      const wrong = key.slice();
      wrong[bit >> 3] = (wrong[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(proveKeys(secret, sample.secretKey, wrong)).toBeNull();
    }
    expect(proveKeys(secret, sample.secretKey, null)).toBeNull();
    expect(proveKeys(secret, sample.secretKey, new Uint8Array(0))).toBeNull();
  });

  it('refuses a passphrase where none was set', () => {
    const sample = sealedSample();
    expect(proveKeys(unwrapped(sample), sample.secretKey, new Uint8Array(32))).toBeNull();
  });

  it('is decided without the ciphertext: a body that cannot be decrypted proves all the same (P3)', () => {
    const sample = sealedSample();
    const secret = unwrapped(sample);
    const blank = { ...secret, body: secret.body.slice(0, 32) };
    const keys = proveKeys(blank, sample.secretKey, null);
    if (keys === null) throw new Error('not proven');
    expect(() => open(blank, keys)).toThrow(RangeError);
  });

  it('refuses a body that is too short to hold it', () => {
    const sample = sealedSample();
    const secret = unwrapped(sample);
    for (let length = 0; length < 32; length += 1) {
      expect(proveKeys({ ...secret, body: secret.body.slice(0, length) }, sample.secretKey, null)).toBeNull();
    }
  });
});

describe('the passphrase’s verifier', () => {
  it('is the bcrypt hash for whoever has the link, and nothing for anyone else', () => {
    const sample = sealedSample({ hasPassphrase: true });
    const secret = unwrapped(sample);
    expect(openVerifier(secret, sample.secretKey)).toBe(sample.passphrase?.verifierHash ?? '');
    expect(openVerifier(secret, sealedSample({ seed: 'two' }).secretKey)).toBeNull();
  });

  it('is not there without a passphrase', () => {
    const sample = sealedSample();
    expect(openVerifier(unwrapped(sample), sample.secretKey)).toBeNull();
  });
});

describe('the outer layer', () => {
  const old = sealedSample({ kid: 1 });
  const next = { kid: 2, key: seededRandom('next root')(32) };
  const both = createKeyRing([old.root, next]);

  it('can be exchanged for a new root without the link, and the secret still opens (P12)', () => {
    const moved = rewrapSecret(old.row, old.context, both, seededRandom('rotation'));
    if (moved === null) throw new Error('not rewrapped');
    expect(hex(moved.subarray(0, 3))).toBe('010002');
    expect(opened(old, moved, both)).toBe(hex(old.value));
    expect(opened(old, moved, createKeyRing([next]))).toBe(hex(old.value));
  });

  it('opens no more under the old root alone', () => {
    const moved = rewrapSecret(old.row, old.context, both, seededRandom('rotation'));
    if (moved === null) throw new Error('not rewrapped');
    expect(unwrapSecret(moved, old.context, old.ring)).toEqual({ outcome: 'unknown_root', kid: 2 });
    const disguised = moved.slice();
    disguised[2] = 1;
    expect(unwrapSecret(disguised, old.context, old.ring).outcome).toBe('damaged');
  });

  it('is not exchanged when the row is damaged or its root is missing', () => {
    const random = seededRandom('rotation');
    const damaged = old.row.slice();
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    expect(rewrapSecret(damaged, old.context, both, random)).toBeNull();
    expect(rewrapSecret(old.row, old.context, createKeyRing([next]), random)).toBeNull();
  });

  it('names a root that is not in the ring', () => {
    expect(unwrapSecret(old.row, old.context, createKeyRing([next]))).toEqual({
      outcome: 'unknown_root',
      kid: 1,
    });
  });

  it('does not open under another root with the same key id', () => {
    const impostor = createKeyRing([{ kid: 1, key: next.key }]);
    expect(unwrapSecret(old.row, old.context, impostor).outcome).toBe('damaged');
  });

  it('refuses every other version', () => {
    for (let version = 0; version < 256; version += 1) {
      const row = old.row.slice();
      row[0] = version;
      const expected = version === 1 ? 'unwrapped' : 'damaged';
      expect(unwrapSecret(row, old.context, old.ring).outcome).toBe(expected);
    }
  });

  it('refuses a row cut off at any length, and one with bytes behind it', () => {
    for (const sample of [old, sealedSample({ hasPassphrase: true })]) {
      for (let length = 0; length < sample.row.length; length += 1) {
        expect(unwrapSecret(sample.row.slice(0, length), sample.context, sample.ring).outcome).toBe(
          'damaged',
        );
      }
      const longer = new Uint8Array(sample.row.length + 1);
      longer.set(sample.row);
      expect(unwrapSecret(longer, sample.context, sample.ring).outcome).toBe('damaged');
    }
  });

  it('calls a row damaged whose seal is right but whose fields are not', () => {
    const outerSalt = new Uint8Array(32).fill(5);
    const keys = deriveOuterKeys(old.root.key, old.root.kid, outerSalt);
    for (const inner of [
      new Uint8Array(0),
      new Uint8Array(31),
      new FieldWriter(40).raw(outerSalt).u32(9).bytes,
    ]) {
      const sealed = seal(keys, inner, secretAad(old.context));
      const row = new FieldWriter(35 + sealed.length).u8(1).u16(1).raw(outerSalt).raw(sealed).bytes;
      expect(unwrapSecret(row, old.context, old.ring).outcome).toBe('damaged');
    }
  });
});

/** Proves that a row opens only with root, link and passphrase together, and only in its own place. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import {
  openVerifier,
  type SealedSample,
  sampleEpoch,
  sampleLimit,
  sealedSample,
  sealedUnderTheRoot,
  underTheRoot,
  unwrapped,
} from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { FieldWriter, hex, utf8 } from './bytes.ts';
import { hashProof } from './derive.ts';
import {
  expiryLimitOf,
  open,
  openCreatorKey,
  openProofs,
  proveKeys,
  rewrapSecret,
  secretAads,
  unwrapSecret,
} from './envelope.ts';
import { createKeyRing, type KeyRing } from './keyring.ts';
import type { RandomBytes } from './random.ts';
import type { SecretContext } from './row.ts';

const keysOf = (ring: KeyRing, random: RandomBytes) => ({ ring, epochKey: sampleEpoch.key, random });

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
    expect([1, 100, 252].map(sizeOf)).toEqual([436, 436, 436]);
    expect([253, 508].map(sizeOf)).toEqual([692, 692]);
    expect([1_000, 10_000].map(sizeOf)).toEqual([1_204, 10_420]);
    expect(sealedSample({ hasPassphrase: true }).row).toHaveLength(436 + 76);
  });

  it('is another row each time, though the same in all but the random salts', () => {
    const one = sealedSample();
    const random = seededRandom('another');
    const again = rewrapSecret(one.row, one.context, keysOf(one.ring, random), {});
    expect(again === null ? '' : hex(again)).not.toBe(hex(one.row));
  });

  it('cannot be read as another’s: rows exchanged between records are damaged', () => {
    const [one, two] = [sealedSample({ seed: 'one' }), sealedSample({ seed: 'two' })];
    const ring = createKeyRing([one.root]);
    const moved = unwrapSecret(one.row, two.context, ring, sampleEpoch.key);
    expect(moved.outcome).toBe('damaged');
  });

  const changes: ReadonlyArray<[string, Partial<SecretContext>]> = [
    ['secret id', { secretId: new Uint8Array(16) }],
    ['time of creation', { createdAt: 1_790_000_001 }],
    ['expiry, put off by a second', { expiresAt: 1_790_604_801 }],
    ['expiry, put off by 2^32 seconds', { expiresAt: 1_790_604_800 + 2 ** 32 }],
    ['passphrase flag', { hasPassphrase: true }],
    ['end-to-end flag', { sealed: true }],
    ['mark that asks for a code', { verify: true }],
    ['owner, another', { owner: 8 }],
    ['owner, none', { owner: null }],
    ['share domain, another', { shareDomain: 'secrets.example.net' }],
    ['share domain, none', { shareDomain: '' }],
  ];
  it.each(changes)('is damaged when its record’s %s is changed', (_name, change) => {
    const sample = sealedSample({ owner: 7, shareDomain: 'secrets.example.org' });
    expect(
      unwrapSecret(sample.row, { ...sample.context, ...change }, sample.ring, sampleEpoch.key).outcome,
    ).toBe('damaged');
    expect(unwrapSecret(sample.row, sample.context, sample.ring, sampleEpoch.key).outcome).toBe('unwrapped');
  });

  it('tells "no owner" from "owner 0", and every context from every other', () => {
    const base = sealedSample().context;
    const aadOf = (context: SecretContext) => hex(secretAads(context, sampleLimit, 1, 1).outer);
    expect(aadOf({ ...base, owner: 0 })).not.toBe(aadOf(base));
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), fc.string(), fc.string(), (a, b, domainA, domainB) => {
        const one = aadOf({ ...base, createdAt: a, shareDomain: domainA });
        const two = aadOf({ ...base, createdAt: b, shareDomain: domainB });
        expect(one === two).toBe(a === b && hex(utf8(domainA)) === hex(utf8(domainB)));
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

describe('the proofs’ hashes of an end-to-end secret', () => {
  for (const hasPassphrase of [false, true]) {
    const sample = sealedSample({ sealed: true, hasPassphrase });

    it(`are there for whoever has the link, and for nobody else (passphrase: ${hasPassphrase})`, () => {
      const secret = unwrapped(sample);
      const hashes = openProofs(secret, sample.secretKey);
      const { linkProof, proof } = sample.proofs ?? {};
      expect(hashes?.linkHash).toEqual(hashProof(linkProof ?? utf8('')));
      expect(hashes?.proofHash).toEqual(hashProof(proof ?? utf8('')));
      expect(openProofs(secret, sealedSample({ seed: 'two' }).secretKey)).toBeNull();
      expect(openProofs(secret, sample.metadataKey)).toBeNull();
    });

    it(`are no verifier, and no passphrase is part of the keys (passphrase: ${hasPassphrase})`, () => {
      const secret = unwrapped(sample);
      expect(openVerifier(secret, sample.secretKey)).toBeNull();
      expect(opened(sample)).toBe(hex(sample.value));
      expect(proveKeys(secret, sample.secretKey, new Uint8Array(32))).toBeNull();
    });
  }

  it('are not there in a plain secret, with or without a passphrase', () => {
    for (const hasPassphrase of [false, true]) {
      const sample = sealedSample({ hasPassphrase });
      expect(openProofs(unwrapped(sample), sample.secretKey)).toBeNull();
    }
  });

  it('leave the row as long whether or not there is a passphrase, and the flag makes it another row', () => {
    const [open, guarded] = [
      sealedSample({ sealed: true }),
      sealedSample({ sealed: true, hasPassphrase: true }),
    ];
    // The hashes and their tag are added, and the padding is the client's own.
    expect(open.row).toHaveLength(292);
    expect(guarded.row).toHaveLength(292);
    for (const { row, context, ring } of [open, guarded])
      expect(unwrapSecret(row, { ...context, sealed: false }, ring, sampleEpoch.key).outcome).toBe('damaged');
  });
});

describe('the creator’s part', () => {
  it('is the link for the holder of the metadata key, and nothing for anyone else', () => {
    const sample = sealedSample();
    const secret = unwrapped(sample);
    expect(openCreatorKey(secret, sample.metadataKey)).toBe(sample.secretKey);
    for (let at = 0; at < sample.metadataKey.length; at += 1) {
      const letter = sample.metadataKey[at] === 'a' ? 'b' : 'a';
      const wrong = sample.metadataKey.slice(0, at) + letter + sample.metadataKey.slice(at + 1);
      expect(openCreatorKey(secret, wrong)).toBeNull();
    }
    expect(openCreatorKey(secret, sample.secretKey)).toBeNull();
  });

  it('is no other link, whatever someone with the root writes there', () => {
    const sample = sealedSample();
    const inner = underTheRoot(sample.row, sample.context, sample.root);
    if (inner === null) throw new Error('not opened');
    for (let at = 32; at < 63; at += 1) {
      const changed = new Uint8Array(inner);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const row = sealedUnderTheRoot(changed, sample.row, sample.context, sample.root);
      expect(openCreatorKey(unwrapped(sample, row), sample.metadataKey)).toBeNull();
    }
  });

  it('covers the same link differently in every row', () => {
    const maskedIn = (seed: string) => hex(unwrapped(sealedSample({ seed })).creator?.maskedKey ?? utf8(''));
    const [one, two] = [maskedIn('one'), maskedIn('two')];
    expect(one).not.toBe(two);
    expect(one).not.toBe(hex(utf8(sealedSample({ seed: 'one' }).secretKey)));
  });

  it('holds the recipient’s box as it was given, or none', () => {
    const addressBox = seededRandom('address')(112);
    const secret = unwrapped(sealedSample({ addressBox }));
    expect(hex(secret.creator?.addressBox ?? utf8(''))).toBe(hex(addressBox));
    expect(unwrapped(sealedSample()).creator?.addressBox).toBeNull();
  });
});

describe('the expiry', () => {
  const sample = sealedSample({ hasPassphrase: true, owner: 7 });
  const { createdAt, expiresAt } = sample.context;
  const rewrapped = (to: number) =>
    rewrapSecret(sample.row, sample.context, keysOf(sample.ring, seededRandom(`expiry ${to}`)), {
      expiry: { expiresAt: to, epoch: sampleEpoch },
    });

  it.each([createdAt + 1, expiresAt - 60, expiresAt + 60, sampleLimit])(
    'can be set to %d without the link, up to the limit that the row names',
    (to) => {
      const row = rewrapped(to);
      if (row === null) throw new Error('not rewrapped');
      expect(row).toHaveLength(sample.row.length);
      expect(expiryLimitOf(row)).toBe(sampleLimit);
      const moved = { ...sample, context: { ...sample.context, expiresAt: to } };
      expect(opened(moved, row)).toBe(hex(sample.value));
      expect(openCreatorKey(unwrapped(moved, row), sample.metadataKey)).toBe(sample.secretKey);
      expect(openVerifier(unwrapped(moved, row), sample.secretKey)).toBe(
        sample.passphrase?.verifierHash ?? '',
      );
    },
  );

  it('belongs to its own row: neither row opens under the other’s expiry (P8)', () => {
    const row = rewrapped(expiresAt + 60);
    if (row === null) throw new Error('not rewrapped');
    expect(unwrapSecret(row, sample.context, sample.ring, sampleEpoch.key).outcome).toBe('damaged');
    const later = { ...sample.context, expiresAt: expiresAt + 60 };
    expect(unwrapSecret(sample.row, later, sample.ring, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('leaves every byte under the outer layer as it was: nothing is opened or sealed anew (P9)', () => {
    const row = rewrapped(expiresAt + 60);
    const later = { ...sample.context, expiresAt: expiresAt + 60 };
    const before = underTheRoot(sample.row, sample.context, sample.root);
    const after = row === null ? null : underTheRoot(row, later, sample.root);
    expect(hex(after ?? utf8('refused'))).toBe(hex(before ?? utf8('not opened')));
  });

  it('is never set beyond the limit, and a row that says so is damaged, also with the root (P8)', () => {
    expect(rewrapped(sampleLimit + 1)).toBeNull();
    const beyond = { ...sample.context, expiresAt: sampleLimit + 1 };
    const inner = underTheRoot(sample.row, sample.context, sample.root);
    if (inner === null) throw new Error('not opened');
    const forged = sealedUnderTheRoot(inner, sample.row, beyond, sample.root);
    expect(underTheRoot(forged, beyond, sample.root)).not.toBeNull();
    expect(unwrapSecret(forged, beyond, sample.ring, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('has a limit that is sealed in: a row that names another does not open, also with the root (P8)', () => {
    const inner = underTheRoot(sample.row, sample.context, sample.root);
    if (inner === null) throw new Error('not opened');
    const row = sample.row.slice();
    row.set(new FieldWriter(8).u64(sampleLimit + 86_400).bytes, 3);
    expect(unwrapSecret(row, sample.context, sample.ring, sampleEpoch.key).outcome).toBe('damaged');
    const forged = sealedUnderTheRoot(inner, row, sample.context, sample.root);
    expect(expiryLimitOf(forged)).toBe(sampleLimit + 86_400);
    const secret = unwrapped(sample, forged);
    const keys = proveKeys(secret, sample.secretKey, sample.passphrase?.key ?? null);
    if (keys === null) throw new Error('not proven');
    expect(() => open(secret, keys)).toThrow(RangeError);
  });
});

describe('the outer layer', () => {
  const old = sealedSample({ kid: 1 });
  const next = { kid: 2, key: seededRandom('next root')(32) };
  const both = createKeyRing([old.root, next]);

  it('can be exchanged for a new root without the link, and the secret still opens (P12)', () => {
    const moved = rewrapSecret(old.row, old.context, keysOf(both, seededRandom('rotation')), { root: next });
    if (moved === null) throw new Error('not rewrapped');
    expect(hex(moved.subarray(0, 3))).toBe('040002');
    expect(moved).toHaveLength(old.row.length);
    expect(opened(old, moved, both)).toBe(hex(old.value));
    expect(opened(old, moved, createKeyRing([next]))).toBe(hex(old.value));
  });

  it('opens no more under the old root alone', () => {
    const moved = rewrapSecret(old.row, old.context, keysOf(both, seededRandom('rotation')), { root: next });
    if (moved === null) throw new Error('not rewrapped');
    expect(unwrapSecret(moved, old.context, old.ring, sampleEpoch.key)).toEqual({
      outcome: 'unknown_root',
      kid: 2,
    });
    const disguised = moved.slice();
    disguised[2] = 1;
    expect(unwrapSecret(disguised, old.context, old.ring, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('is not exchanged when the row is damaged or its root is missing', () => {
    const random = seededRandom('rotation');
    const damaged = old.row.slice();
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    expect(rewrapSecret(damaged, old.context, keysOf(both, random), { root: next })).toBeNull();
    expect(
      rewrapSecret(old.row, old.context, keysOf(createKeyRing([next]), random), { root: next }),
    ).toBeNull();
  });

  it('names a root that is not in the ring', () => {
    expect(unwrapSecret(old.row, old.context, createKeyRing([next]), sampleEpoch.key)).toEqual({
      outcome: 'unknown_root',
      kid: 1,
    });
  });

  it('does not open under another root with the same key id', () => {
    const impostor = createKeyRing([{ kid: 1, key: next.key }]);
    expect(unwrapSecret(old.row, old.context, impostor, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('refuses every other version', () => {
    for (let version = 0; version < 256; version += 1) {
      const row = old.row.slice();
      row[0] = version;
      const expected = version === 4 ? 'unwrapped' : 'damaged';
      expect(unwrapSecret(row, old.context, old.ring, sampleEpoch.key).outcome).toBe(expected);
    }
  });

  it('refuses a row cut off at any length, and one with bytes behind it', () => {
    for (const sample of [old, sealedSample({ hasPassphrase: true })]) {
      for (let length = 0; length < sample.row.length; length += 1) {
        expect(
          unwrapSecret(sample.row.slice(0, length), sample.context, sample.ring, sampleEpoch.key).outcome,
        ).toBe('damaged');
      }
      const longer = new Uint8Array(sample.row.length + 1);
      longer.set(sample.row);
      expect(unwrapSecret(longer, sample.context, sample.ring, sampleEpoch.key).outcome).toBe('damaged');
    }
  });

  it('calls a row damaged whose seal is right but whose fields are not', () => {
    const head = new Uint8Array(32 + 31);
    for (const inner of [
      new Uint8Array(0),
      new Uint8Array(31),
      head.subarray(0, 62),
      new FieldWriter(head.length + 5).raw(head).u32(9).bytes,
      new FieldWriter(head.length + 9).raw(head).u32(0).u32(9).bytes,
    ]) {
      const row = sealedUnderTheRoot(inner, old.row, old.context, old.root);
      expect(unwrapSecret(row, old.context, old.ring, sampleEpoch.key).outcome).toBe('damaged');
    }
  });
});

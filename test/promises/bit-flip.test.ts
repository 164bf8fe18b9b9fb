/**
 * One flipped bit anywhere in what the store holds is noticed before anything is opened, claimed or computed.
 *
 * Flips every bit of a row, of a row with a passphrase, of an end-to-end row and of each box. The seeded defect is a cipher that accepts a
 * four-byte tag.
 */
import { describe, expect, it } from 'bun:test';
import { createDecipheriv } from 'node:crypto';
import { anonymous } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { type BoxInput, openBox, sealBox } from '../../src/crypto/box.ts';
import { FieldReader, hex, utf8 } from '../../src/crypto/bytes.ts';
import { deriveEpochOuterKeys } from '../../src/crypto/derive.ts';
import { secretAads, unwrapSecret } from '../../src/crypto/envelope.ts';
import { createKeyRing } from '../../src/crypto/keyring.ts';
import { unwrapCreatorBox, unwrapVersion1 } from '../../src/crypto/version-1.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { type SealedSample, sampleEpoch, sealedSample } from '../support/sealed-sample.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createBench, guess } from '../support/service-bench.ts';
import * as reference from '../vectors/reference.ts';

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = bytes.slice();
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (0x80 >> (bit & 7));
  return copy;
}

/** The positions of the bits whose flip goes unnoticed. */
function acceptedFlips(bytes: Uint8Array, opens: (bytes: Uint8Array) => boolean): number[] {
  if (!opens(bytes)) throw new Error('the unchanged bytes do not open');
  const accepted: number[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += 1) if (opens(flipped(bytes, bit))) accepted.push(bit);
  return accepted;
}

const unwraps = (sample: SealedSample) => (row: Uint8Array) =>
  unwrapSecret(row, sample.context, sample.ring, sampleEpoch.key).outcome === 'unwrapped';

/** The defect: the outer layer is opened with only the first four bytes of its tag. */
const unwrapsWithShortTag = (sample: SealedSample) => (row: Uint8Array) => {
  const kid = (row[1] ?? 0) * 256 + (row[2] ?? 0);
  if (row[0] !== 4 || kid !== sample.root.kid) return false;
  const limit = new FieldReader(row.subarray(3)).u64();
  const keys = deriveEpochOuterKeys(sample.root.key, sampleEpoch.key, row.subarray(13, 45));
  const end = row.length - 16;
  const decipher = createDecipheriv('aes-256-gcm', keys.key, keys.nonce, { authTagLength: 4 });
  decipher
    .setAAD(secretAads(sample.context, limit, kid, new FieldReader(row.subarray(11)).u16()).outer)
    .setAuthTag(row.subarray(end, end + 4));
  decipher.update(row.subarray(45, end));
  try {
    decipher.final();
    return true;
  } catch {
    return false;
  }
};

describe('a changed bit', () => {
  const plain = sealedSample();
  const guarded = sealedSample({ hasPassphrase: true, owner: 7, shareDomain: 'secrets.example.org' });

  it('P3 P9: is refused at each of the 3,488 places of a row', () => {
    expect(plain.row.length * 8).toBe(3_488);
    expect(acceptedFlips(plain.row, unwraps(plain))).toEqual([]);
  });

  it('P3 P9: is refused at each of the 4,096 places of a row with a passphrase', () => {
    expect(guarded.row.length * 8).toBe(4_096);
    expect(acceptedFlips(guarded.row, unwraps(guarded))).toEqual([]);
  });

  it('P3 P9: is refused at each of the 2,336 places of an end-to-end row', () => {
    for (const hasPassphrase of [false, true]) {
      const sealed = sealedSample({ sealed: true, hasPassphrase });
      expect(sealed.row.length * 8).toBe(2_336);
      expect(acceptedFlips(sealed.row, unwraps(sealed))).toEqual([]);
    }
  });

  it('P3 P9: is refused at each of the 3,160 places of a row of version 1', () => {
    const { secretKey, context, root, value } = plain;
    const rest = {
      r: Buffer.alloc(32, 1),
      r2: Buffer.alloc(32, 2),
      root: Buffer.from(root.key),
      kid: root.kid,
    };
    const row = reference.version1.sealRow({
      ...rest,
      secretKey,
      value: Buffer.from(value),
      passphrase: null,
      context,
    });
    expect(row.length * 8).toBe(3_160);
    const unwrapsOld = (bytes: Uint8Array) =>
      unwrapVersion1(bytes, context, plain.ring).outcome === 'unwrapped';
    expect(acceptedFlips(new Uint8Array(row), unwrapsOld)).toEqual([]);
    expect(acceptedFlips(new Uint8Array(row), unwraps(plain))).toEqual([]);
  });

  it('P3: in the key id is reported as a missing root, or as damage if that root exists', () => {
    const other = { kid: 3, key: seededRandom('other root')(32) };
    const ring = createKeyRing([plain.root, other]);
    for (let bit = 8; bit < 24; bit += 1) {
      const row = flipped(plain.row, bit);
      const kid = (row[1] ?? 0) * 256 + (row[2] ?? 0);
      const expected = kid === 3 ? { outcome: 'damaged' } : { outcome: 'unknown_root', kid };
      expect(unwrapSecret(row, plain.context, ring, sampleEpoch.key)).toEqual(expected as never);
    }
  });

  it('is noticed where a four-byte tag would let 96 of them pass (self-test)', () => {
    expect(acceptedFlips(plain.row, unwrapsWithShortTag(plain))).toHaveLength(96);
  });

  it('P3: in the record’s own fields is refused at each place', () => {
    const { context, ring, row } = guarded;
    const changed = [
      ...Array.from({ length: 128 }, (_, bit) => ({ ...context, secretId: flipped(context.secretId, bit) })),
      ...Array.from({ length: 53 }, (_, bit) => ({ ...context, createdAt: bitOf(context.createdAt, bit) })),
      ...Array.from({ length: 53 }, (_, bit) => ({ ...context, expiresAt: bitOf(context.expiresAt, bit) })),
      ...Array.from({ length: 53 }, (_, bit) => ({ ...context, owner: bitOf(context.owner ?? 0, bit) })),
      { ...context, hasPassphrase: false },
      { ...context, sealed: true },
      { ...context, verify: true },
    ];
    expect(changed).toHaveLength(290);
    expect(
      changed.filter((each) => unwrapSecret(row, each, ring, sampleEpoch.key).outcome === 'unwrapped'),
    ).toEqual([]);
  });
});

describe('a changed bit in the store', () => {
  const kinds = [
    { kind: 'a', places: 3_488, sealed: null },
    { kind: 'an end-to-end', places: 4_288, sealed: clientSecret() },
  ];
  it.each(kinds)(
    'P3: loses $kind secret at no place: reported at each place, claimed at none, readable afterwards',
    async ({ places, sealed }) => {
      const state = { bit: 0, claims: 0 };
      const bench = createBench({
        wrap: (store) => ({
          ...store,
          async findSecret(id) {
            const found = await store.findSecret(id);
            if (found === null || state.bit < 0) return found;
            return { ...found, sealedSecret: flipped(found.sealedSecret, state.bit) };
          },
          claim(secret) {
            state.claims += 1;
            return store.claim(secret, clientStays);
          },
        }),
      });
      const { secretKey } = await bench.share(sealed === null ? 'v' : '', {
        sealed: sealed?.input() ?? null,
      });
      expect((bench.records[0]?.sealedSecret.length ?? 0) * 8).toBe(places);
      const input = { ...guess(secretKey), proofs: sealed?.proofs ?? null };
      const codes: Record<string, number> = {};
      for (state.bit = 0; state.bit < places; state.bit += 1) {
        const told = await bench.service.reveal(input, anonymous).catch((fault: unknown) => fault);
        const code = told instanceof ServiceError ? told.code : String(told);
        codes[code] = (codes[code] ?? 0) + 1;
      }
      // The 16 bits of the key id name roots that another server may have.
      expect(codes).toEqual({ damaged: places - 16, unavailable: 16 });
      expect(state.claims).toBe(0);
      state.bit = -1;
      expect(await bench.service.reveal(input, anonymous)).toMatchObject({ outcome: 'revealed' });
      expect(state.claims).toBe(1);
    },
  );
});

/** `value` with one of its 53 bits changed. */
function bitOf(value: number, bit: number): number {
  return Number(BigInt(value) ^ (1n << BigInt(bit)));
}

describe('a changed bit in a box', () => {
  const random = seededRandom('boxes');
  const root = { kid: 1, key: random(32) };
  const ring = createKeyRing([root]);
  const receipt = { keyMaterial: utf8('k'.repeat(31)), binding: random(16) };
  const kinds: readonly BoxInput[] = [
    { ...receipt, label: 'creator' },
    { ...receipt, label: 'details' },
    { label: 'recent', keyMaterial: random(32), binding: receipt.binding },
    { ...receipt, label: 'note' },
    { label: 'address', keyMaterial: utf8('k'.repeat(62)), binding: receipt.binding },
    { label: 'accountDataKey', keyMaterial: random(32), binding: new Uint8Array(0) },
  ];

  it.each(kinds)('P9: is refused at every place of a box for $label', (at) => {
    const box = sealBox({ ...at, content: random(32), random });
    expect(acceptedFlips(box, (bytes) => openBox(bytes, at) !== null)).toEqual([]);
  });

  it('P9: is refused at every place of what version 1 kept for the creator, wrapped', () => {
    const box = random(112);
    const wrapped = new Uint8Array(
      reference.version1.wrapCreatorBox(
        Buffer.from(box),
        Buffer.from(receipt.binding),
        { kid: root.kid, key: Buffer.from(root.key) },
        Buffer.from(random(32)),
      ),
    );
    const unwrapped = (bytes: Uint8Array) => unwrapCreatorBox(bytes, receipt.binding, ring);
    expect(acceptedFlips(wrapped, (bytes) => unwrapped(bytes) !== null)).toEqual([]);
    expect(hex(unwrapped(wrapped) ?? new Uint8Array(0))).toBe(hex(box));
  });
});

/** The address that codes are mailed to, sealed in a row, and a code's tag: what opens them, and the frozen vectors. */
import { describe, expect, it } from 'bun:test';
import {
  openVerifier,
  rewrapped,
  type SampleOptions,
  sampleEpoch,
  sealedSample,
  sealedUnderTheRoot,
  underTheRoot,
  unwrapped,
} from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import vectors from '../../test/vectors/codes.json';
import * as reference from '../../test/vectors/reference.ts';
import { hex, utf8 } from './bytes.ts';
import { deriveCodeTag, deriveSecretId } from './derive.ts';
import {
  open,
  openCodeAddress,
  openCreatorKey,
  openProofs,
  proveKeys,
  sealSecret,
  unwrapSecret,
} from './envelope.ts';
import { createKeyRing } from './keyring.ts';

const address = 'ann@example.org';
const longest = `${'a'.repeat(64)}@${'b'.repeat(251)}.org`;

const kinds: readonly [string, SampleOptions][] = [
  ['a plain secret', { codeAddress: address }],
  [
    'a plain secret with passphrase and note',
    { codeAddress: longest, hasPassphrase: true, note: utf8('Hi') },
  ],
  ['an end-to-end secret', { codeAddress: address, sealed: true }],
];

describe('the address for codes', () => {
  it.each(kinds)('of %s opens with the link, and with no other key (P9, P11)', (_name, options) => {
    const sample = sealedSample(options);
    const secret = unwrapped(sample);
    expect(openCodeAddress(secret, sample.secretKey)).toEqual(utf8(options.codeAddress ?? ''));
    expect(openCodeAddress(secret, sealedSample({ seed: 'two' }).secretKey)).toBeNull();
    expect(openCodeAddress(secret, sample.metadataKey)).toBeNull();
    const shown = Buffer.from(underTheRoot(sample.row, sample.context, sample.root) ?? []);
    expect(shown.includes(options.codeAddress ?? '')).toBe(false);
  });

  it.each(kinds)('of %s takes nothing from what is beside it', (_name, options) => {
    const sample = sealedSample(options);
    const secret = unwrapped(sample);
    const keys = proveKeys(secret, sample.secretKey, sample.passphrase?.key ?? null);
    expect(keys && open(secret, keys)).toEqual(sample.value);
    expect(openVerifier(secret, sample.secretKey)).toBe(sample.passphrase?.verifierHash ?? null);
    expect(openProofs(secret, sample.secretKey) !== null).toBe(options.sealed === true);
    expect(openCreatorKey(secret, sample.metadataKey)).toBe(sample.secretKey);
  });

  it.each(kinds)('of %s is carried over to another root and another expiry (P12)', (_name, options) => {
    const sample = sealedSample(options);
    const carried = rewrapped(sample);
    expect(carried.row).toHaveLength(sample.row.length);
    const secret = unwrapped(carried);
    expect(openCodeAddress(secret, sample.secretKey)).toEqual(utf8(options.codeAddress ?? ''));
  });

  it('has one length in the row, however long it is, and none where there is none (P11)', () => {
    const sizeOf = (options: SampleOptions) => sealedSample(options).row.length;
    for (const beside of [{}, { hasPassphrase: true }, { sealed: true }])
      for (const codeAddress of ['a@b.de', longest])
        expect(sizeOf({ ...beside, codeAddress })).toBe(sizeOf(beside) + 384 + 16);
    expect(longest).toHaveLength(320);
    const plain = sealedSample();
    expect(openCodeAddress(unwrapped(plain), plain.secretKey)).toBeNull();
  });

  it.each(kinds)(
    'of %s: with its mark turned off the row is damaged, and opens nothing with a root either (P9)',
    (_name, options) => {
      const sample = sealedSample(options);
      const off = { ...sample.context, verify: false };
      expect(unwrapSecret(sample.row, off, sample.ring, sampleEpoch.key)).toEqual({ outcome: 'damaged' });
      const inner = Buffer.from(underTheRoot(sample.row, sample.context, sample.root) ?? []);
      const at = 32 + 31 + 4 + 4 + unwrapped(sample).sealedVerifier.length;
      const without = Buffer.concat([inner.subarray(0, at), inner.subarray(at + 384 + 16)]);
      const forged = sealedUnderTheRoot(without, sample.row, off, sample.root);
      const secret = unwrapped({ ...sample, context: off }, forged);
      const keys = proveKeys(secret, sample.secretKey, sample.passphrase?.key ?? null);
      expect(() => keys && open(secret, keys)).toThrow(RangeError);
      expect(openProofs(secret, sample.secretKey)).toBeNull();
      expect(openCodeAddress(secret, sample.secretKey)).toBeNull();
    },
  );

  it('is not sealed without its mark, nor the mark without it', () => {
    const sample = sealedSample({ codeAddress: address });
    const seal = (verify: boolean, codeAddress: Uint8Array | null) => () =>
      sealSecret({
        ...{ value: sample.value, secretKey: sample.secretKey, metadataKey: sample.metadataKey },
        ...{ addressBox: null, salt: new Uint8Array(32), passphrase: null, proofs: null, note: null },
        ...{ codeAddress, context: { ...sample.context, verify }, expiryLimit: sample.context.expiresAt },
        ...{ root: sample.root, epoch: sampleEpoch, random: seededRandom('seal') },
      });
    expect(seal(true, null)).toThrow(RangeError);
    expect(seal(false, utf8(address))).toThrow(RangeError);
    expect(seal(true, new Uint8Array(381))).toThrow(RangeError);
    expect(seal(true, new Uint8Array(380))).not.toThrow();
  });
});

describe('the vectors of codes', () => {
  it('the tag of a code is the frozen one, and another for another link, nonce or code', () => {
    const tags = vectors.tags.map(({ secret_key, nonce, code, tag }) => {
      expect(hex(deriveCodeTag(secret_key, bytesOf(nonce), code))).toBe(tag);
      expect(reference.codeTagOf(secret_key, bytesOf(nonce), code).toString('hex')).toBe(tag);
      return tag;
    });
    expect(new Set(tags).size).toBe(tags.length);
  });

  it.each(vectors.rows)(
    '$name: product and reference seal the frozen row, and the product opens it',
    (vector) => {
      const root = { kid: vector.kid, key: bytesOf(vector.root) };
      const epoch = { epoch: vector.epoch, key: bytesOf(vector.epoch_key) };
      const hashes = vector.proof_hashes === null ? null : bytesOf(vector.proof_hashes);
      const context = {
        secretId: deriveSecretId(vector.secret_key),
        createdAt: vector.created_at,
        expiresAt: vector.expires_at,
        hasPassphrase: false,
        sealed: hashes !== null,
        verify: true,
        owner: vector.owner,
        shareDomain: '',
      };
      const given = {
        secretKey: vector.secret_key,
        metadataKey: vector.metadata_key,
        value: bytesOf(vector.value),
      };
      const row = sealSecret({
        ...given,
        ...{ addressBox: null, salt: bytesOf(vector.r), passphrase: null, note: null, context, root, epoch },
        proofs: hashes && { linkHash: hashes.subarray(0, 32), proofHash: hashes.subarray(32) },
        codeAddress: utf8(vector.address),
        expiryLimit: vector.expiry_limit,
        random: fixedRandom(vector.r2),
      });
      expect(hex(row)).toBe(vector.row);
      const again = reference.sealRow({
        ...given,
        ...{ passphrase: null, r: bytesOf(vector.r), r2: bytesOf(vector.r2), root: root.key, kid: root.kid },
        ...{
          context,
          addressBox: Buffer.alloc(0),
          limit: vector.expiry_limit,
          codeAddress: vector.address,
          epoch,
        },
        ...(hashes && { proofHashes: hashes }),
      });
      expect(again.toString('hex')).toBe(vector.row);
      const opened = unwrapSecret(row, context, createKeyRing([root]), epoch.key);
      if (opened.outcome !== 'unwrapped') throw new Error(opened.outcome);
      expect(openCodeAddress(opened.secret, vector.secret_key)).toEqual(utf8(vector.address));
    },
  );
});

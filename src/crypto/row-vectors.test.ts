/** The vectors of a secret's row: see `vectors.test.ts`. */
import { describe, expect, it } from 'bun:test';
import { hash } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import { openVerifier } from '../../test/support/sealed-sample.ts';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import boxes from '../../test/vectors/boxes.json';
import * as reference from '../../test/vectors/reference.ts';
import rows1 from '../../test/vectors/secret-row-1.json';
import rows from '../../test/vectors/secret-row-2.json';
import { sealBox } from './box.ts';
import { hex, utf8 } from './bytes.ts';
import * as derive from './derive.ts';
import {
  expiryLimitOf,
  open,
  openCreatorKey,
  proveKeys,
  rewrapSecret,
  sealSecret,
  secretAads,
  unwrapSecret,
} from './envelope.ts';
import { createKeyRing, type KeyRing } from './keyring.ts';
import type { SecretContext, UnwrappedSecret } from './row.ts';

interface VectorInput {
  readonly secret_key: string;
  readonly passphrase_utf8_hex: string | null;
  readonly created_at: number;
  readonly expires_at: number;
  readonly owner: number | null;
  readonly share_domain: string;
}

/** What a row's vector is sealed with and for. */
function placeOf(input: VectorInput) {
  const passphrase = input.passphrase_utf8_hex === null ? null : bytesOf(input.passphrase_utf8_hex);
  const context = {
    createdAt: input.created_at,
    expiresAt: input.expires_at,
    hasPassphrase: passphrase !== null,
    sealed: false,
    verify: false,
    owner: input.owner,
    shareDomain: input.share_domain,
  };
  const text = passphrase === null ? null : passphrase.toString('utf8');
  return { context, passphrase, text, secretId: derive.deriveSecretId(input.secret_key) };
}

function passphraseParts(secretKey: string, salt: Uint8Array, passphraseKey: Uint8Array | null) {
  if (passphraseKey === null) return { pass_salt: null, argon2id: null, verifier_input: null };
  return {
    pass_salt: hex(derive.derivePassphraseSalt(secretKey, salt)),
    argon2id: hex(passphraseKey),
    verifier_input: derive.derivePassphraseVerifierInput(passphraseKey, salt),
  };
}

function unwrappedOf(row: string, context: SecretContext, kid: number, root: string): UnwrappedSecret {
  const ring = createKeyRing([{ kid, key: bytesOf(root) }]);
  const unwrapped = unwrapSecret(bytesOf(row), context, ring, null);
  if (unwrapped.outcome !== 'unwrapped') throw new Error(unwrapped.outcome);
  return unwrapped.secret;
}

function openedValue(secret: UnwrappedSecret, secretKey: string, argon2id: string | null): string {
  const keys = proveKeys(secret, secretKey, argon2id === null ? null : bytesOf(argon2id));
  if (keys === null) throw new Error('not proven');
  return hex(open(secret, keys));
}

describe('the vectors of the secret row', () => {
  const samples = rows.cases.map((vector) => ({ ...vector, ...placeOf(vector.input) }));

  it.each(samples)('$name: every derivation is the frozen one', ({ input, derived, context, secretId }) => {
    const salt = bytesOf(input.r);
    const passphraseKey = derived.argon2id === null ? null : bytesOf(derived.argon2id);
    const inner = derive.deriveInnerKeys(input.secret_key, passphraseKey, salt);
    const verifier = derive.deriveVerifierKeys(input.secret_key, salt);
    const outer = derive.deriveOuterKeys(bytesOf(input.root), bytesOf(input.r2));
    const aads = secretAads({ ...context, secretId }, input.expiry_limit, input.kid);
    expect(hex(inner.nonce)).toBe('00'.repeat(12));
    expect({
      sid: hex(secretId),
      mid: hex(derive.deriveReceiptId(input.metadata_key)),
      record_aad: hex(new Uint8Array(aads.record)),
      outer_aad: hex(aads.outer),
      ...passphraseParts(input.secret_key, salt, passphraseKey),
      inner_key: hex(inner.key),
      commitment: hex(inner.commitment),
      verifier_key: hex(verifier.key),
      verifier_nonce: hex(verifier.nonce),
      outer_key: hex(outer.key),
      outer_nonce: hex(outer.nonce),
      creator_mask: hex(derive.deriveCreatorMask(input.metadata_key, salt)),
      address_box: input.address === null ? '' : derived.address_box,
    }).toEqual(derived);
  });

  it.each(samples)(
    '$name: the product seals the frozen row',
    ({ input, derived, context, secretId, row }) => {
      const passphrase =
        derived.argon2id === null
          ? null
          : { key: bytesOf(derived.argon2id), verifierHash: input.verifier_hash ?? '' };
      const at = {
        label: 'address',
        keyMaterial: utf8(input.metadata_key + input.secret_key),
        binding: bytesOf(derived.mid),
      } as const;
      const { address, address_salt: addressSalt } = input;
      const sealed = sealSecret({
        value: bytesOf(input.value_utf8_hex),
        secretKey: input.secret_key,
        metadataKey: input.metadata_key,
        addressBox:
          address === null
            ? null
            : sealBox({ ...at, content: utf8(address), random: fixedRandom(addressSalt ?? '') }),
        salt: bytesOf(input.r),
        passphrase,
        proofs: null,
        note: null,
        codeAddress: null,
        context: { ...context, secretId },
        expiryLimit: input.expiry_limit,
        root: { kid: input.kid, key: bytesOf(input.root) },
        epoch: null,
        random: fixedRandom(input.r2),
      });
      expect(hex(sealed)).toBe(row);
    },
  );

  it.each(samples)(
    '$name: the product opens the frozen row',
    ({ input, derived, context, secretId, row }) => {
      const secret = unwrappedOf(row, { ...context, secretId }, input.kid, input.root);
      expect(openVerifier(secret, input.secret_key)).toBe(input.verifier_hash);
      expect(openedValue(secret, input.secret_key, derived.argon2id)).toBe(input.value_utf8_hex);
      expect(openCreatorKey(secret, input.metadata_key)).toBe(input.secret_key);
      expect(hex(secret.creator?.addressBox ?? new Uint8Array())).toBe(derived.address_box);
      expect(expiryLimitOf(bytesOf(row))).toBe(input.expiry_limit);
    },
  );

  it.each(samples)(
    '$name: the reference seals and opens the same row',
    ({ input, context, text, ...rest }) => {
      const root = bytesOf(input.root);
      const sealed = reference.sealRow({
        secretKey: input.secret_key,
        metadataKey: input.metadata_key,
        addressBox: bytesOf(rest.derived.address_box),
        limit: input.expiry_limit,
        value: bytesOf(input.value_utf8_hex),
        passphrase: text === null ? null : { text, verifierHash: input.verifier_hash ?? '' },
        r: bytesOf(input.r),
        r2: bytesOf(input.r2),
        root,
        kid: input.kid,
        context,
      });
      expect(hex(sealed)).toBe(rest.row);
      const keys = { root, secretKey: input.secret_key, metadataKey: input.metadata_key, passphrase: text };
      const opened = reference.openRow(bytesOf(rest.row), { ...keys, context });
      expect(hex(opened.value)).toBe(input.value_utf8_hex);
      expect(opened.verifierHash).toBe(input.verifier_hash);
      expect(opened.secretKey).toBe(input.secret_key);
      expect(hex(opened.addressBox)).toBe(rest.derived.address_box);
    },
  );

  it('the product’s argon2id gives the frozen key, and bcrypt the frozen hash (P15)', async () => {
    const protectedRows = samples.filter(({ passphrase }) => passphrase !== null);
    expect(protectedRows.length).toBeGreaterThan(0);
    for (const { input, derived, passphrase } of protectedRows) {
      const key = await hashRaw(passphrase ?? '', {
        salt: bytesOf(derived.pass_salt ?? ''),
        memoryCost: 19 * 1024,
        timeCost: 2,
        parallelism: 1,
        outputLen: 32,
        algorithm: 2,
      });
      expect(hex(key)).toBe(derived.argon2id ?? '');
      const verifierInput = derived.verifier_input ?? '';
      expect(verifierInput).toHaveLength(44);
      expect(await Bun.password.verify(verifierInput, input.verifier_hash ?? '', 'bcrypt')).toBe(true);
    }
  });

  it('a derivation with salt and label exchanged does not give the frozen keys', () => {
    for (const { input, derived } of samples) {
      const key = Buffer.from(input.secret_key);
      const label = Buffer.concat([Buffer.from('mayfly/2/inner'), Buffer.alloc(2)]);
      const message = Buffer.concat([Buffer.of(0, 0, 0, 1), key, bytesOf(input.r), label]);
      expect(hash('sha512', message).slice(64)).not.toBe(derived.commitment);
    }
  });
});

describe('the vectors of version 1 of the secret row, which is only read', () => {
  const samples = rows1.cases.map((vector) => ({ ...vector, ...placeOf(vector.input) }));

  it.each(samples)('$name: every derivation is the frozen one', ({ input, derived, context, secretId }) => {
    const salt = bytesOf(input.r);
    const passphraseKey = derived.argon2id === null ? null : bytesOf(derived.argon2id);
    const inner = derive.version1.deriveInnerKeys(input.secret_key, passphraseKey, salt);
    const verifier = derive.version1.deriveVerifierKeys(input.secret_key, salt);
    const outer = derive.version1.deriveOuterKeys(bytesOf(input.root), input.kid, bytesOf(input.r2));
    expect({
      sid: hex(secretId),
      aad: hex(reference.version1.aadOf(Buffer.from(secretId), context)),
      ...passphraseParts(input.secret_key, salt, passphraseKey),
      inner_key: hex(inner.key),
      inner_nonce: hex(inner.nonce),
      commitment: hex(inner.commitment),
      verifier_key: hex(verifier.key),
      verifier_nonce: hex(verifier.nonce),
      outer_key: hex(outer.key),
      outer_nonce: hex(outer.nonce),
    }).toEqual(derived);
  });

  it.each(samples)(
    '$name: the product opens the frozen row, and its lifetime cannot be changed',
    ({ input, derived, context, secretId, row }) => {
      const secret = unwrappedOf(row, { ...context, secretId }, input.kid, input.root);
      expect(openVerifier(secret, input.secret_key)).toBe(input.verifier_hash);
      expect(openedValue(secret, input.secret_key, derived.argon2id)).toBe(input.value_utf8_hex);
      expect(openCreatorKey(secret, boxes.input.metadata_key)).toBeNull();
      expect(expiryLimitOf(bytesOf(row))).toBeNull();
      const ring = createKeyRing([{ kid: input.kid, key: bytesOf(input.root) }]);
      const keys = { ring, epochKey: null, random: fixedRandom() };
      const anew = rewrapSecret(bytesOf(row), { ...context, secretId }, keys, {});
      expect(anew).toBeNull();
    },
  );

  it.each(samples)(
    '$name: cut short it is damaged, under a root that is not there it names that',
    (sample) => {
      const { input, context, secretId, row } = sample;
      const [bytes, place] = [bytesOf(row), { ...context, secretId }];
      const rings = [input.kid, input.kid + 1].map((kid) =>
        createKeyRing([{ kid, key: bytesOf(input.root) }]),
      );
      const [ring, another] = rings as [KeyRing, KeyRing];
      for (let length = 1; length < bytes.length; length += 1)
        expect(unwrapSecret(bytes.subarray(0, length), place, ring, null)).toEqual({ outcome: 'damaged' });
      const unknown = { outcome: 'unknown_root', kid: input.kid } as const;
      expect(unwrapSecret(bytes, place, another, null)).toEqual(unknown);
    },
  );

  it.each(samples)('$name: the reference seals and opens the same row', ({ input, context, text, row }) => {
    const root = bytesOf(input.root);
    const sealed = reference.version1.sealRow({
      secretKey: input.secret_key,
      value: bytesOf(input.value_utf8_hex),
      passphrase: text === null ? null : { text, verifierHash: input.verifier_hash ?? '' },
      r: bytesOf(input.r),
      r2: bytesOf(input.r2),
      root,
      kid: input.kid,
      context,
    });
    expect(hex(sealed)).toBe(row);
    const keys = { root, secretKey: input.secret_key, passphrase: text, context };
    const opened = reference.version1.openRow(bytesOf(row), keys);
    expect(hex(opened.value)).toBe(input.value_utf8_hex);
    expect(opened.verifierHash).toBe(input.verifier_hash);
  });
});

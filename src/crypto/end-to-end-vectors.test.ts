/** The vectors of an end-to-end secret's row: the product and the reference against the frozen bytes. See `vectors.test.ts`. */
import { describe, expect, it } from 'bun:test';
import { openVerifier } from '../../test/support/sealed-sample.ts';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import * as reference from '../../test/vectors/reference.ts';
import rows from '../../test/vectors/secret-row-2-end-to-end.json';
import { hex } from './bytes.ts';
import * as derive from './derive.ts';
import { open, openProofs, proveKeys, sealSecret, secretAads, unwrapSecret } from './envelope.ts';
import { createKeyRing } from './keyring.ts';

const samples = rows.cases.map((vector) => {
  const { input } = vector;
  const context = {
    secretId: derive.deriveSecretId(input.secret_key),
    createdAt: input.created_at,
    expiresAt: input.expires_at,
    hasPassphrase: input.has_passphrase,
    sealed: true,
    verify: false,
    owner: input.owner,
    shareDomain: input.share_domain,
  };
  return { ...vector, context, root: { kid: input.kid, key: bytesOf(input.root) } };
});

function unwrappedOf({ row, context, root }: (typeof samples)[number]) {
  const unwrapped = unwrapSecret(bytesOf(row), context, createKeyRing([root]), null);
  if (unwrapped.outcome !== 'unwrapped') throw new Error(unwrapped.outcome);
  return unwrapped.secret;
}

describe('the vectors of an end-to-end secret’s row', () => {
  it.each(samples)('$name: every derivation is the frozen one', ({ input, derived, context }) => {
    const salt = bytesOf(input.r);
    const aads = secretAads(context, input.expiry_limit, input.kid);
    const inner = derive.deriveInnerKeys(input.secret_key, null, salt);
    const proofs = derive.deriveProofKeys(input.secret_key, salt);
    expect({
      sid: hex(context.secretId),
      record_aad: hex(new Uint8Array(aads.record)),
      outer_aad: hex(aads.outer),
      link_hash: hex(derive.hashProof(bytesOf(input.link_proof))),
      proof_hash: hex(derive.hashProof(bytesOf(input.proof))),
      inner_key: hex(inner.key),
      commitment: hex(inner.commitment),
      proofs_key: hex(proofs.key),
      proofs_nonce: hex(proofs.nonce),
    }).toEqual(derived);
  });

  it.each(samples)('$name: the product seals the frozen row', ({ input, derived, context, root, row }) => {
    const sealed = sealSecret({
      value: bytesOf(input.ciphertext),
      secretKey: input.secret_key,
      metadataKey: input.metadata_key,
      addressBox: null,
      salt: bytesOf(input.r),
      passphrase: null,
      proofs: { linkHash: bytesOf(derived.link_hash), proofHash: bytesOf(derived.proof_hash) },
      note: null,
      codeAddress: null,
      context,
      expiryLimit: input.expiry_limit,
      root,
      epoch: null,
      random: fixedRandom(input.r2),
    });
    expect(hex(sealed)).toBe(row);
  });

  it.each(samples)('$name: the product opens the frozen row', (sample) => {
    const { input, derived } = sample;
    const secret = unwrappedOf(sample);
    const keys = proveKeys(secret, input.secret_key, null);
    if (keys === null) throw new Error('not proven');
    expect(hex(open(secret, keys))).toBe(input.ciphertext);
    const hashes = openProofs(secret, input.secret_key);
    expect(hex(hashes?.linkHash ?? new Uint8Array())).toBe(derived.link_hash);
    expect(hex(hashes?.proofHash ?? new Uint8Array())).toBe(derived.proof_hash);
    expect(openVerifier(secret, input.secret_key)).toBeNull();
    expect(openProofs(secret, input.metadata_key)).toBeNull();
  });

  it.each(samples)(
    '$name: the reference seals and opens the same row',
    ({ input, derived, context, row }) => {
      const proofHashes = Buffer.from(derived.link_hash + derived.proof_hash, 'hex');
      const root = bytesOf(input.root);
      const keys = { secretKey: input.secret_key, metadataKey: input.metadata_key, root, context };
      const given = { ...keys, kid: input.kid, r: bytesOf(input.r), r2: bytesOf(input.r2), proofHashes };
      const value = bytesOf(input.ciphertext);
      const whole = {
        ...given,
        value,
        limit: input.expiry_limit,
        addressBox: Buffer.alloc(0),
        passphrase: null,
      };
      expect(hex(reference.sealRow(whole))).toBe(row);
      const opened = reference.openRow(bytesOf(row), { ...keys, passphrase: null });
      expect(hex(opened.value)).toBe(input.ciphertext);
      expect(hex(opened.proofHashes)).toBe(hex(proofHashes));
    },
  );

  it('a row without the flag has other bytes under both layers, and does not open with it', () => {
    for (const sample of samples) {
      const plain = { ...sample.context, sealed: false };
      const ring = createKeyRing([sample.root]);
      expect(unwrapSecret(bytesOf(sample.row), plain, ring, null)).toEqual({ outcome: 'damaged' });
    }
  });
});

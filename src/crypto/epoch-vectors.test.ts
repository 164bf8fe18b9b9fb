/** The vectors of version 4 of the secret's row: those of version 2, under the key of an epoch too. See `vectors.test.ts`. */
import { describe, expect, it } from 'bun:test';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import * as reference from '../../test/vectors/reference.ts';
import rows from '../../test/vectors/secret-row-2.json';
import sealedRows from '../../test/vectors/secret-row-2-end-to-end.json';
import epochs from '../../test/vectors/secret-row-4.json';
import { hex } from './bytes.ts';
import { deriveEpochOuterKeys, deriveSecretId } from './derive.ts';
import {
  epochIn,
  expiryLimitOf,
  open,
  openNote,
  proveKeys,
  sealSecret,
  secretAads,
  unwrapSecret,
} from './envelope.ts';
import { createKeyRing } from './keyring.ts';

const plain = rows.cases.map(({ name, input, derived }) => ({
  ...{ of: 'secret-row-2.json', name, input, value: bytesOf(input.value_utf8_hex), proofs: null },
  hasPassphrase: input.passphrase_utf8_hex !== null,
  passphrase:
    derived.argon2id === null
      ? null
      : { key: bytesOf(derived.argon2id), verifierHash: input.verifier_hash ?? '' },
  passphraseText:
    input.passphrase_utf8_hex === null ? null : bytesOf(input.passphrase_utf8_hex).toString('utf8'),
  addressBox: bytesOf(derived.address_box),
}));
const sealed = sealedRows.cases.map(({ name, input, derived }) => ({
  ...{ of: 'secret-row-2-end-to-end.json', name, input, value: bytesOf(input.ciphertext) },
  proofs: { linkHash: bytesOf(derived.link_hash), proofHash: bytesOf(derived.proof_hash) },
  hasPassphrase: input.has_passphrase,
  ...{ passphrase: null, passphraseText: null, addressBox: bytesOf('') },
}));

const samples = epochs.cases.map((vector) => {
  const of = [...plain, ...sealed].find((each) => each.of === vector.of && each.name === vector.name);
  if (of === undefined) throw new Error(`${vector.of} has no ${vector.name}`);
  const { input } = of;
  const context = {
    secretId: deriveSecretId(input.secret_key),
    createdAt: input.created_at,
    expiresAt: input.expires_at,
    hasPassphrase: of.hasPassphrase,
    sealed: of.proofs !== null,
    verify: false,
    owner: input.owner,
    shareDomain: input.share_domain,
  };
  const root = { kid: input.kid, key: bytesOf(input.root) };
  const { note } = vector as { readonly note?: string };
  return {
    ...of,
    ...vector,
    note: note === undefined ? null : bytesOf(note),
    context,
    root,
    epoch: { epoch: vector.epoch, key: bytesOf(vector.epoch_key) },
  };
});

describe('the vectors of a row under an epoch', () => {
  it('have rows with and without passphrase, one of a client, and the last epoch', () => {
    expect(samples.filter(({ note }) => note !== null)).toHaveLength(3);
    expect(samples.length).toBeGreaterThan(rows.cases.length);
    expect(samples.map(({ epoch }) => epoch.epoch)).toContain(65_535);
  });

  it.each(samples)('$of, $name: every derivation is the frozen one', (vector) => {
    const { input, context, root, epoch, derived } = vector;
    const outer = deriveEpochOuterKeys(root.key, epoch.key, bytesOf(input.r2));
    const aad = secretAads(context, input.expiry_limit, root.kid, epoch.epoch).outer;
    expect({ outer_aad: hex(aad), outer_key: hex(outer.key), outer_nonce: hex(outer.nonce) }).toEqual(
      derived,
    );
  });

  it.each(samples)('$of, $name: the product seals and opens the frozen row', (vector) => {
    const { input, context, root, epoch, passphrase, proofs, value, addressBox, note } = vector;
    const row = sealSecret({
      ...{ value, secretKey: input.secret_key, metadataKey: input.metadata_key, passphrase, proofs },
      ...{ context, expiryLimit: input.expiry_limit, root, epoch, salt: bytesOf(input.r) },
      addressBox: addressBox.length === 0 ? null : addressBox,
      note,
      codeAddress: null,
      random: fixedRandom(input.r2),
    });
    expect(hex(row)).toBe(vector.row);
    expect(expiryLimitOf(row)).toBe(input.expiry_limit);
    expect(epochIn(row)).toBe(epoch.epoch);
    const unwrapped = unwrapSecret(row, context, createKeyRing([root]), epoch.key);
    if (unwrapped.outcome !== 'unwrapped') throw new Error(unwrapped.outcome);
    const keys = proveKeys(unwrapped.secret, input.secret_key, passphrase?.key ?? null);
    if (keys === null) throw new Error('not proven');
    expect(hex(open(unwrapped.secret, keys))).toBe(hex(value));
    const opened = openNote(unwrapped.secret, input.secret_key, context.sealed);
    expect(opened && hex(opened)).toBe(note && hex(note));
  });

  it.each(samples)('$of, $name: the reference seals and opens the same row', (vector) => {
    const { input, context, root, epoch, passphrase, passphraseText, proofs, value, addressBox, note } =
      vector;
    const given = {
      secretKey: input.secret_key,
      metadataKey: input.metadata_key,
      context,
      root: root.key,
      epoch,
    };
    const row = reference.sealRow({
      ...{ ...given, value, addressBox, kid: root.kid, limit: input.expiry_limit },
      passphrase:
        passphraseText === null
          ? null
          : { text: passphraseText, verifierHash: passphrase?.verifierHash ?? '' },
      ...(proofs !== null && { proofHashes: Buffer.concat([proofs.linkHash, proofs.proofHash]) }),
      ...{ r: bytesOf(input.r), r2: bytesOf(input.r2), note: note ?? Buffer.alloc(0) },
    });
    expect(hex(row)).toBe(vector.row);
    const opened = reference.openRow(bytesOf(vector.row), { ...given, passphrase: passphraseText });
    expect(hex(opened.value)).toBe(hex(value));
    expect(hex(opened.note)).toBe(note === null ? '' : hex(note));
  });
});

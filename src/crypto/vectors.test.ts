/**
 * The vectors: stored data is byte for byte what the published primitives and the documented format say.
 *
 * Compares three sources: the files in `test/vectors/` (frozen: changing one means a new format version), the product,
 * and the independent implementation in `test/vectors/reference.ts`.
 */
import { describe, expect, it } from 'bun:test';
import { argon2Sync, hkdfSync } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import boxes from '../../test/vectors/boxes.json';
import published from '../../test/vectors/published.json';
import * as reference from '../../test/vectors/reference.ts';
import rows from '../../test/vectors/secret-row.json';
import { seal, unseal } from './aead.ts';
import { type BoxInput, openBox, sealBox, unwrapBox, wrapBox } from './box.ts';
import { hex, utf8 } from './bytes.ts';
import * as derive from './derive.ts';
import { open, openVerifier, proveKeys, sealSecret, secretAad, unwrapSecret } from './envelope.ts';
import { createKeyRing, rootCheck } from './keyring.ts';
import type { RandomBytes } from './random.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'hex');

/** Returns the vector's random inputs in the order in which they are drawn. */
function fixedRandom(...draws: string[]): RandomBytes {
  return (length) => {
    const next = bytesOf(draws.shift() ?? '');
    if (next.length !== length) throw new Error(`${length} bytes drawn, the vector has ${next.length}`);
    return next;
  };
}

describe('the published vectors', () => {
  it.each(published.hkdf_sha256.cases)(
    'RFC 5869 $name is what the runtime and the reference give',
    (vector) => {
      const { ikm, salt, info, length, okm } = vector;
      expect(hex(reference.hkdfSha256(bytesOf(ikm), bytesOf(salt), bytesOf(info), length))).toBe(okm);
      const runtime = hkdfSync('sha256', bytesOf(ikm), bytesOf(salt), bytesOf(info), length);
      expect(hex(new Uint8Array(runtime))).toBe(okm);
    },
  );

  it.each(published.aes_256_gcm.cases)('GCM test case $name seals and opens as published', (vector) => {
    const keys = { key: bytesOf(vector.key), nonce: bytesOf(vector.nonce) };
    const sealed = seal(keys, bytesOf(vector.plaintext), bytesOf(vector.aad));
    expect(hex(sealed)).toBe(vector.ciphertext + vector.tag);
    expect(hex(unseal(keys, sealed, bytesOf(vector.aad)) ?? utf8('refused'))).toBe(vector.plaintext);
  });

  it.each(published.argon2id.cases)('argon2id $name is as published', async (vector) => {
    const message = bytesOf(vector.message);
    const options = { memory: vector.memory_kib, passes: vector.passes, parallelism: vector.parallelism };
    const tag = argon2Sync('argon2id', {
      ...options,
      message,
      nonce: bytesOf(vector.nonce),
      secret: bytesOf(vector.secret),
      associatedData: bytesOf(vector.associated_data),
      tagLength: 32,
    });
    expect(hex(tag)).toBe(vector.tag);
    // The library that the product uses takes no associated data, so it cannot compute the RFC's own vector.
    if (vector.associated_data !== '') return;
    const raw = await hashRaw(message, {
      salt: bytesOf(vector.nonce),
      memoryCost: vector.memory_kib,
      timeCost: vector.passes,
      parallelism: vector.parallelism,
      outputLen: 32,
      algorithm: 2,
    });
    expect(hex(raw)).toBe(vector.tag);
  });

  it.each(published.bcrypt.cases)('bcrypt knows $password under $hash', async ({ password, hash }) => {
    expect(await Bun.password.verify(password, hash, 'bcrypt')).toBe(true);
    expect(await Bun.password.verify(`${password}x`, hash, 'bcrypt')).toBe(false);
  });
});

describe('the vectors of the secret row', () => {
  const samples = rows.cases.map((vector) => ({ ...vector, ...decoded(vector) }));

  function decoded(vector: (typeof rows.cases)[number]) {
    const { input } = vector;
    const passphrase = input.passphrase_utf8_hex === null ? null : bytesOf(input.passphrase_utf8_hex);
    const context = {
      createdAt: input.created_at,
      expiresAt: input.expires_at,
      hasPassphrase: passphrase !== null,
      owner: input.owner,
      shareDomain: input.share_domain,
    };
    return { context, passphrase, secretId: derive.deriveSecretId(input.secret_key) };
  }

  it.each(samples)('$name: every derivation is the frozen one', ({ input, derived, context, secretId }) => {
    const salt = bytesOf(input.r);
    const passphraseKey = derived.argon2id === null ? null : bytesOf(derived.argon2id);
    const inner = derive.deriveInnerKeys(input.secret_key, passphraseKey, salt);
    const verifier = derive.deriveVerifierKeys(input.secret_key, salt);
    const outer = derive.deriveOuterKeys(bytesOf(input.root), input.kid, bytesOf(input.r2));
    const passphraseParts =
      passphraseKey === null
        ? { pass_salt: null, argon2id: null, verifier_input: null }
        : {
            pass_salt: hex(derive.derivePassphraseSalt(input.secret_key, salt)),
            argon2id: hex(passphraseKey),
            verifier_input: derive.derivePassphraseVerifierInput(passphraseKey, salt),
          };
    expect({
      sid: hex(secretId),
      aad: hex(secretAad({ ...context, secretId })),
      ...passphraseParts,
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
    '$name: the product seals the frozen row',
    ({ input, derived, context, secretId, row }) => {
      const passphrase =
        derived.argon2id === null
          ? null
          : { key: bytesOf(derived.argon2id), verifierHash: input.verifier_hash ?? '' };
      const sealed = sealSecret({
        value: bytesOf(input.value_utf8_hex),
        secretKey: input.secret_key,
        salt: bytesOf(input.r),
        passphrase,
        context: { ...context, secretId },
        root: { kid: input.kid, key: bytesOf(input.root) },
        random: fixedRandom(input.r2),
      });
      expect(hex(sealed)).toBe(row);
    },
  );

  it.each(samples)(
    '$name: the product opens the frozen row',
    ({ input, derived, context, secretId, row }) => {
      const ring = createKeyRing([{ kid: input.kid, key: bytesOf(input.root) }]);
      const unwrapped = unwrapSecret(bytesOf(row), { ...context, secretId }, ring);
      if (unwrapped.outcome !== 'unwrapped') throw new Error(unwrapped.outcome);
      expect(openVerifier(unwrapped.secret, input.secret_key)).toBe(input.verifier_hash);
      const passphraseKey = derived.argon2id === null ? null : bytesOf(derived.argon2id);
      const keys = proveKeys(unwrapped.secret, input.secret_key, passphraseKey);
      if (keys === null) throw new Error('not proven');
      expect(hex(open(unwrapped.secret, keys))).toBe(input.value_utf8_hex);
    },
  );

  it.each(samples)(
    '$name: the reference seals and opens the same row',
    ({ input, context, passphrase, row }) => {
      const text = passphrase === null ? null : passphrase.toString('utf8');
      const root = bytesOf(input.root);
      const sealed = reference.sealRow({
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
      const opened = reference.openRow(bytesOf(row), {
        root,
        secretKey: input.secret_key,
        passphrase: text,
        context,
      });
      expect(hex(opened.value)).toBe(input.value_utf8_hex);
      expect(opened.verifierHash).toBe(input.verifier_hash);
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
      const exchanged = reference.hkdfSha256(key, Buffer.from('mayfly/1/inner'), bytesOf(input.r), 76);
      expect(hex(exchanged.subarray(44))).not.toBe(derived.commitment);
    }
  });
});

describe('the vectors of the boxes', () => {
  const { input, derived } = boxes;
  const receiptId = derive.deriveReceiptId(input.metadata_key);
  const root = { kid: input.kid, key: bytesOf(input.root) };
  const metadataKey = utf8(input.metadata_key);
  const dataKey = bytesOf(input.account_data_key);
  const token = bytesOf(input.api_token);
  const kinds: ReadonlyArray<{ name: string; box: string; salt: string; content: Uint8Array; at: BoxInput }> =
    [
      {
        name: 'creator',
        box: boxes.boxes.creator_inner,
        salt: input.creator_salt,
        content: utf8(input.secret_key),
        at: { label: 'creator', keyMaterial: metadataKey, binding: receiptId },
      },
      {
        name: 'details',
        box: boxes.boxes.details,
        salt: input.details_salt,
        content: utf8(input.recipient_obfuscated),
        at: { label: 'details', keyMaterial: metadataKey, binding: receiptId },
      },
      {
        name: 'recent',
        box: boxes.boxes.recent,
        salt: input.recent_salt,
        content: bytesOf(derived.recent_content),
        at: { label: 'recent', keyMaterial: dataKey, binding: receiptId },
      },
      {
        name: 'note',
        box: boxes.boxes.note,
        salt: input.note_salt,
        content: bytesOf(derived.note_content),
        at: { label: 'note', keyMaterial: metadataKey, binding: receiptId },
      },
      {
        name: 'address',
        box: boxes.boxes.address,
        salt: input.address_salt,
        content: utf8(input.recipient),
        at: {
          label: 'address',
          keyMaterial: utf8(input.metadata_key + input.secret_key),
          binding: receiptId,
        },
      },
      {
        name: 'cursor',
        box: boxes.boxes.cursor,
        salt: input.cursor_salt,
        content: utf8(String(input.cursor_position)),
        at: { label: 'cursor', keyMaterial: dataKey, binding: utf8(String(input.account_id)) },
      },
      {
        name: 'memo',
        box: boxes.boxes.memo,
        salt: input.memo_salt,
        content: utf8(input.memo),
        at: { label: 'memo', keyMaterial: metadataKey, binding: receiptId },
      },
      {
        name: 'long memo',
        box: boxes.boxes.long_memo,
        salt: input.long_memo_salt,
        content: utf8(input.long_memo),
        at: { label: 'memo', keyMaterial: metadataKey, binding: receiptId },
      },
      {
        name: 'account data key',
        box: boxes.boxes.account_data_key,
        salt: input.adk_salt,
        content: dataKey,
        at: { label: 'accountDataKey', keyMaterial: token, binding: new Uint8Array(0) },
      },
    ];

  it('ids, token hash, root check and client token are the frozen ones', () => {
    const secretId = derive.deriveSecretId(input.secret_key);
    expect({
      sid: hex(secretId),
      mid: hex(receiptId),
      recent_content: hex(
        reference.recentContentOf(input.metadata_key, input.secret_key, input.recipient_obfuscated),
      ),
      note_content: hex(reference.noteContentOf(input.recipient_obfuscated, input.reply)),
      token_hash: hex(derive.hashToken(token)),
      shortkey_mask: hex(derive.shortkeyMask(input.metadata_key)),
      shortkey_kept: hex(reference.shortkeyKeptOf(input.metadata_key, input.secret_key)),
      root_check: hex(rootCheck(root)),
      client_token: hex(derive.deriveClientToken(root.key, secretId, input.client_prefix)),
    }).toEqual(derived);
    expect(hex(reference.receiptIdOf(input.metadata_key))).toBe(derived.mid);
    expect(hex(reference.tokenHashOf(token))).toBe(derived.token_hash);
    expect(hex(reference.addressKeyOf(input.metadata_key, input.secret_key))).toBe(
      hex(utf8(input.metadata_key + input.secret_key)),
    );
    expect(hex(reference.rootCheckOf(bytesOf(input.root)))).toBe(derived.root_check);
    expect(
      hex(reference.clientTokenOf(bytesOf(input.root), Buffer.from(secretId), input.client_prefix)),
    ).toBe(derived.client_token);
  });

  it.each(kinds)('$name: sealed and opened as frozen, by the product and by the reference', (kind) => {
    const { box, salt, content, at } = kind;
    expect(hex(sealBox({ ...at, content, random: fixedRandom(salt) }))).toBe(box);
    expect(hex(openBox(bytesOf(box), at) ?? utf8('refused'))).toBe(hex(content));
    const label = at.label === 'accountDataKey' ? 'adk' : at.label;
    const again = reference.sealBox(
      label,
      Buffer.from(at.keyMaterial),
      Buffer.from(at.binding),
      Buffer.from(content),
      bytesOf(salt),
    );
    expect(hex(again)).toBe(box);
  });

  it('the creator’s box is wrapped as frozen', () => {
    const at = { label: 'creator', binding: receiptId } as const;
    const wrapped = wrapBox(
      bytesOf(boxes.boxes.creator_inner),
      at,
      root,
      fixedRandom(input.creator_outer_salt),
    );
    expect(hex(wrapped)).toBe(boxes.boxes.creator);
    expect(hex(unwrapBox(wrapped, at, createKeyRing([root])) ?? utf8('refused'))).toBe(
      boxes.boxes.creator_inner,
    );
    const again = reference.wrapBox(
      bytesOf(boxes.boxes.creator_inner),
      'creator',
      Buffer.from(receiptId),
      { kid: root.kid, key: bytesOf(input.root) },
      bytesOf(input.creator_outer_salt),
    );
    expect(hex(again)).toBe(boxes.boxes.creator);
  });
});

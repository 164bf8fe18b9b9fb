/**
 * The vectors: stored data is byte for byte what the published primitives and the documented format say.
 *
 * Compares three sources: the files in `test/vectors/` (frozen: changing one means a new format version), the product,
 * and the independent implementation in `test/vectors/reference.ts`.
 */
import { describe, expect, it } from 'bun:test';
import { argon2Sync, hkdfSync } from 'node:crypto';
import { hashRaw } from '@node-rs/argon2';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import boxes from '../../test/vectors/boxes.json';
import published from '../../test/vectors/published.json';
import * as reference from '../../test/vectors/reference.ts';
import { seal, unseal } from './aead.ts';
import { type BoxInput, openBox, sealBox } from './box.ts';
import { hex, utf8 } from './bytes.ts';
import * as derive from './derive.ts';
import { createKeyRing, rootCheck } from './keyring.ts';
import { unwrapCreatorBox } from './version-1.ts';

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
        name: 'answer',
        box: boxes.boxes.answer,
        salt: input.answer_salt,
        content: bytesOf(derived.answer_content),
        at: { label: 'answer', keyMaterial: utf8(input.request_key), binding: bytesOf(derived.answer_id) },
      },
      {
        name: 'account data key',
        box: boxes.boxes.account_data_key,
        salt: input.adk_salt,
        content: dataKey,
        at: { label: 'accountDataKey', keyMaterial: token, binding: new Uint8Array(0) },
      },
    ];

  const answer = {
    secretKey: input.secret_key,
    receiptId: Buffer.from(bytesOf(derived.mid)),
    wrapped: Buffer.from(bytesOf(input.answer_wrapped)),
    linkHash: Buffer.from(bytesOf(input.answer_link_hash)),
    createdAt: input.answer_time,
    sizeBytes: input.answer_size,
  };

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
      request_id: hex(derive.deriveRequestId(input.request_key)),
      answer_id: hex(derive.deriveAnswerId(input.request_key, bytesOf(input.answer_link_hash))),
      answer_content: hex(reference.answerContentOf(answer)),
      client_token: hex(derive.deriveClientToken(root.key, secretId, input.client_prefix)),
    }).toEqual(derived);
    expect(hex(reference.receiptIdOf(input.metadata_key))).toBe(derived.mid);
    expect(hex(reference.requestIdOf(input.request_key))).toBe(derived.request_id);
    expect(hex(reference.answerIdOf(input.request_key, answer.linkHash))).toBe(derived.answer_id);
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

  it('the box that version 1 kept for the creator is unwrapped as frozen', () => {
    const wrapped = reference.version1.wrapCreatorBox(
      bytesOf(boxes.boxes.creator_inner),
      Buffer.from(receiptId),
      root,
      bytesOf(input.creator_outer_salt),
    );
    expect(hex(wrapped)).toBe(boxes.boxes.creator);
    expect(hex(unwrapCreatorBox(wrapped, receiptId, createKeyRing([root])) ?? utf8('refused'))).toBe(
      boxes.boxes.creator_inner,
    );
  });
});

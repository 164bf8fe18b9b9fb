/**
 * Vectors of what is stored for passwords, sessions and tickets.
 *
 * Compares three sources, as in `vectors.test.ts`: the frozen file, the product, and the independent implementation in
 * `test/vectors/reference.ts`.
 */
import { describe, expect, it } from 'bun:test';
import { hashRaw } from '@node-rs/argon2';
import vector from '../../test/vectors/accounts.json';
import * as reference from '../../test/vectors/reference.ts';
import { openBox, sealBox } from './box.ts';
import { hex, utf8 } from './bytes.ts';
import {
  deriveFormToken,
  deriveLimitKey,
  deriveMailboxKey,
  derivePasswordVerifier,
  hashToken,
} from './derive.ts';

const { input, derived, boxes } = vector;
const bytesOf = (text: string): Buffer => Buffer.from(text, 'hex');
const [session, ticket] = [bytesOf(input.session_token), bytesOf(input.ticket)];
const [stretched, salt] = [bytesOf(derived.argon2id), bytesOf(input.password_salt)];
const noBinding = new Uint8Array(0);

describe('the vectors of accounts', () => {
  it('verifier, hashes, form token and the keys of counts are the frozen ones, by the product and by the reference', () => {
    const { argon2id: _stretched, ...frozen } = derived;
    expect({
      password_verifier: hex(derivePasswordVerifier(stretched, salt)),
      session_hash: hex(hashToken(session, 'session')),
      ticket_hash: hex(hashToken(ticket, 'ticket')),
      form_token: hex(deriveFormToken(session)),
      mailbox_key: hex(deriveMailboxKey(bytesOf(input.root))),
      limit_key: hex(deriveLimitKey(bytesOf(input.root))),
    }).toEqual(frozen);
    expect({
      password_verifier: hex(reference.passwordVerifierOf(stretched, salt)),
      session_hash: hex(reference.sessionHashOf(session)),
      ticket_hash: hex(reference.ticketHashOf(ticket)),
      form_token: hex(reference.formTokenOf(session)),
      mailbox_key: hex(reference.mailboxKeyOf(bytesOf(input.root))),
      limit_key: hex(reference.limitKeyOf(bytesOf(input.root))),
    }).toEqual(frozen);
  });

  it('the product’s argon2id stretches the password to the frozen bytes (P15)', async () => {
    const raw = await hashRaw(bytesOf(input.password_utf8_hex), {
      salt,
      memoryCost: 19 * 1024,
      timeCost: 2,
      parallelism: 1,
      outputLen: 32,
      algorithm: 2,
    });
    expect(hex(raw)).toBe(derived.argon2id);
    const text = bytesOf(input.password_utf8_hex).toString('utf8');
    expect(hex(reference.passphraseKeyOf(text, salt))).toBe(derived.argon2id);
  });

  it.each([
    ['a password', stretched, input.password_adk_salt, boxes.under_password],
    ['a session', session, input.session_adk_salt, boxes.under_session],
  ] as const)('the data key is wrapped under %s as frozen', (_name, keyMaterial, boxSalt, box) => {
    const at = { label: 'accountDataKey', keyMaterial, binding: noBinding } as const;
    const content = bytesOf(input.account_data_key);
    expect(hex(sealBox({ ...at, content, random: () => bytesOf(boxSalt) }))).toBe(box);
    expect(hex(openBox(bytesOf(box), at) ?? utf8('refused'))).toBe(input.account_data_key);
    const again = reference.sealBox('adk', keyMaterial, Buffer.of(), content, bytesOf(boxSalt));
    expect(hex(again)).toBe(box);
  });

  it('a token, a session and a ticket of the same bytes have nothing in common in the store (P13)', () => {
    const hashes = (['token', 'session', 'ticket'] as const).map((kind) => hex(hashToken(session, kind)));
    expect(new Set(hashes).size).toBe(3);
  });

  it('self-test: another prefix, or salt and label exchanged, does not give the frozen bytes', () => {
    expect(hex(hashToken(session, 'ticket'))).not.toBe(derived.session_hash);
    const exchanged = reference.hkdfSha256(stretched, Buffer.from('mayfly/1/password-verify'), salt, 32);
    expect(hex(exchanged)).not.toBe(derived.password_verifier);
  });
});

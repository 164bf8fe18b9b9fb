/** Proves that no two uses of a key collide: every derivation differs from every other under the same inputs. */
import { describe, expect, it } from 'bun:test';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { hex } from './bytes.ts';
import * as derive from './derive.ts';

const random = seededRandom('derive');
const [salt, key] = [random(32), random(32)];
const link = '0123456789abcdefghijklmnopqrstu';
const sealHex = (keys: derive.SealKeys): string => hex(keys.key) + hex(keys.nonce);

describe('derivations', () => {
  it('give different bytes for every label, so that no key serves two purposes', () => {
    const linkBytes = Buffer.from(link);
    const all = [
      hex(derive.deriveSecretId(link)),
      hex(derive.deriveReceiptId(link)),
      hex(derive.derivePassphraseSalt(link, salt)),
      sealHex(derive.deriveInnerKeys(link, null, salt)),
      hex(derive.deriveInnerKeys(link, null, salt).commitment),
      sealHex(derive.deriveVerifierKeys(link, salt)),
      sealHex(derive.deriveProofKeys(link, salt)),
      sealHex(derive.deriveVerifyKeys(link, salt)),
      hex(derive.deriveLookTag(linkBytes, salt)),
      hex(derive.deriveCodeTag(link, salt, '')),
      ...(['creator', 'details', 'recent', 'note', 'address', 'cursor', 'accountDataKey'] as const).map(
        (label) => sealHex(derive.deriveBoxKeys(label, linkBytes, salt)),
      ),
      hex(derive.deriveCreatorMask(link, salt)),
      sealHex(derive.deriveOuterKeys(linkBytes, salt)),
      sealHex(derive.version1.deriveInnerKeys(link, null, salt)),
      hex(derive.version1.deriveInnerKeys(link, null, salt).commitment),
      sealHex(derive.version1.deriveVerifierKeys(link, salt)),
      sealHex(derive.version1.deriveOuterKeys(linkBytes, 1, salt)),
      hex(derive.deriveClientToken(linkBytes, salt, '')),
      hex(derive.deriveMailboxKey(linkBytes)),
      hex(derive.deriveLimitKey(linkBytes)),
      hex(derive.derivePasswordVerifier(linkBytes, salt)),
      hex(derive.deriveFormToken(linkBytes)),
      hex(derive.hashToken(linkBytes)),
      hex(derive.hashToken(linkBytes, 'session')),
      hex(derive.hashToken(linkBytes, 'ticket')),
      hex(derive.rootCheck(linkBytes)),
    ].map((text) => text.slice(0, 32));
    expect(new Set(all).size).toBe(all.length);
  });

  it('give 32-byte keys, 12-byte nonces, and a commitment that is neither', () => {
    const inner = derive.deriveInnerKeys(link, key, salt);
    expect([inner.key.length, inner.nonce.length, inner.commitment.length]).toEqual([32, 12, 32]);
    expect(hex(inner.commitment)).not.toContain(hex(inner.key).slice(0, 24));
  });

  it('of one step depend on every bit of the key material, the label and the salt', () => {
    const flip = (bytes: Uint8Array, bit: number) =>
      bytes.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    const outputs = new Set([sealHex(derive.deriveOuterKeys(key, salt))]);
    for (let bit = 0; bit < 256; bit += 1) {
      outputs.add(sealHex(derive.deriveOuterKeys(flip(key, bit), salt)));
      outputs.add(sealHex(derive.deriveOuterKeys(key, flip(salt, bit))));
    }
    expect(outputs.size).toBe(513);
  });

  it('give a passphrase’s bytes and a salt’s bytes places of their own', () => {
    const [one, two] = [key.slice(), salt.slice()];
    const moved = derive.deriveInnerKeys(link, two, one);
    expect(hex(derive.deriveInnerKeys(link, one, two).key)).not.toBe(hex(moved.key));
    expect(hex(derive.deriveInnerKeys(link, null, two).key)).not.toBe(
      hex(derive.deriveInnerKeys(link, new Uint8Array(0), one).key),
    );
  });

  it('of version 1 bind the outer layer to both bytes of the key id', () => {
    const kids = [1, 2, 256, 257, 512, 65_535];
    const keys = kids.map((kid) => sealHex(derive.version1.deriveOuterKeys(key, kid, salt)));
    expect(new Set(keys).size).toBe(kids.length);
  });

  it('count clients per secret and per root: one client’s tokens cannot be joined across secrets', () => {
    const token = (root: Uint8Array, id: Uint8Array, prefix: string) =>
      hex(derive.deriveClientToken(root, id, prefix));
    const tokens = [
      token(key, salt, '192.0.2.0/24'),
      token(key, salt, '198.51.100.0/24'),
      token(key, key, '192.0.2.0/24'),
      token(salt, salt, '192.0.2.0/24'),
    ];
    expect(new Set(tokens).size).toBe(4);
    expect(tokens.every((each) => each.length === 32)).toBe(true);
  });

  it('give a password 32 bytes that depend on its salt too, and a form 16 bytes that differ by session', () => {
    const verifiers = [derive.derivePasswordVerifier(key, salt), derive.derivePasswordVerifier(key, key)];
    expect(verifiers.map(({ length }) => length)).toEqual([32, 32]);
    expect(new Set(verifiers.map(hex)).size).toBe(2);
    const forms = [key, salt].map(derive.deriveFormToken);
    expect(forms.map(({ length }) => length)).toEqual([16, 16]);
    expect(new Set(forms.map(hex)).size).toBe(2);
  });

  it('give bcrypt 44 ASCII characters, below its 72-byte cut and without a NUL (P15)', () => {
    for (let draw = 0; draw < 200; draw += 1) {
      expect(derive.derivePassphraseVerifierInput(random(32), random(32))).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    }
  });
});

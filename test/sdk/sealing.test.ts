/** What the sealing module takes, what it returns, and what it refuses to open. */

import { describe, expect, it } from 'bun:test';
import { MayflyError } from '../../sdk/error.ts';
import { safeFileName } from '../../sdk/file-name.ts';
import { type Content, open, prove, seal, sealedBytesOf } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { fromBase64Url, toBase64Url } from '../../src/protocol/base64url.ts';
import { isFragment } from '../../src/protocol/link.ts';

const text = (value: string): Content => ({ kind: 'text', text: value });
const sealPlain = (content: Content) => seal({ content, passphrase: null, stretch });

async function opened(content: Content, passphrase: string | null = null): Promise<Content> {
  const { sealed, fragment } = await seal({ content, passphrase, stretch });
  return open(sealed.ciphertext, (await prove(fragment, passphrase, stretch)).key);
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error instanceof MayflyError ? error.code : `no MayflyError: ${error}`),
  );
}

describe('sealing', () => {
  for (const value of ['hunter2', '', 'ü🦋\u0000\uFEFF', '\uFEFFmarked', 'x'.repeat(100_000)])
    it(`returns a text of ${value.length} characters as it was`, async () => {
      expect(await opened(text(value))).toEqual(text(value));
    });

  it('returns a file as it was, with and without a passphrase', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => index * 7);
    const file: Content = { kind: 'file', name: 'käse 🧀.pdf', type: 'application/pdf', bytes };
    expect(await opened(file)).toEqual(file);
    expect(await opened(file, 'thyme')).toEqual(file);
    const nothing: Content = { kind: 'file', name: 'a', type: '', bytes: new Uint8Array() };
    expect(await opened(nothing)).toEqual(nothing);
  });

  it('draws another fragment each time, and nothing on the wire is the same twice', async () => {
    const [one, other] = [await sealPlain(text('same')), await sealPlain(text('same'))];
    const fields = [one, other].flatMap(({ sealed, fragment }) => [
      fragment,
      sealed.ciphertext,
      sealed.link_hash,
      sealed.proof_hash,
    ]);
    expect(new Set(fields).size).toBe(8);
    expect([isFragment(one.fragment), isFragment(other.fragment)]).toEqual([true, true]);
  });

  it('sends hashes of what a reader proves, and says whether a passphrase is needed', async () => {
    const hashOf = async (proof: string) => {
      const bytes = fromBase64Url(proof) ?? new Uint8Array();
      return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
    };
    for (const passphrase of [null, 'thyme']) {
      const { sealed, fragment } = await seal({ content: text('x'), passphrase, stretch });
      const { linkProof, proof } = await prove(fragment, passphrase, stretch);
      expect([await hashOf(linkProof), await hashOf(proof)]).toEqual([sealed.link_hash, sealed.proof_hash]);
      expect([sealed.v, sealed.passphrase]).toEqual([1, passphrase !== null]);
      expect(Object.keys(sealed)).toEqual(['v', 'ciphertext', 'link_hash', 'proof_hash', 'passphrase']);
    }
  });

  it('proves the link without the passphrase, and nothing else without it', async () => {
    const { sealed, fragment } = await seal({ content: text('x'), passphrase: 'thyme', stretch });
    const [right, wrong, none] = await Promise.all([
      prove(fragment, 'thyme', stretch),
      prove(fragment, 'Thyme', stretch),
      prove(fragment, null, stretch),
    ]);
    expect([wrong.linkProof, none.linkProof]).toEqual([right.linkProof, right.linkProof]);
    expect(new Set([right.proof, wrong.proof, none.proof]).size).toBe(3);
    for (const { key } of [wrong, none])
      expect(await codeOf(open(sealed.ciphertext, key))).toBe('unreadable');
  });

  it('takes a passphrase as its bytes, 1 to 1,024 of them, well-formed', async () => {
    const sealWith = (passphrase: string) =>
      seal({ content: text('x'), passphrase, stretch: async () => new Uint8Array(32) });
    for (const passphrase of ['', 'x'.repeat(1_025), `${'ü'.repeat(512)}x`, '\ud800', 'a\udc00'])
      expect(await codeOf(sealWith(passphrase))).toBe('invalid_field');
    for (const passphrase of ['x', ' ', 'x'.repeat(1_024), 'ü'.repeat(512)])
      expect(await codeOf(sealWith(passphrase))).toBe('none');
    const { fragment } = await sealPlain(text('x'));
    const [composed, decomposed] = await Promise.all([
      prove(fragment, '\u00fc', stretch),
      prove(fragment, 'u\u0308', stretch),
    ]);
    expect(composed.proof).not.toBe(decomposed.proof);
    expect(await codeOf(prove(fragment, '', stretch))).toBe('invalid_field');
  });

  it('refuses a text that is not well-formed instead of changing it', async () => {
    expect(await codeOf(sealPlain(text('half \ud83e pair')))).toBe('invalid_field');
  });

  it('hides the length: a step has at least 256 bytes, and at most a sixteenth of the content', async () => {
    const lengthOf = async (length: number) => {
      const { sealed } = await sealPlain(text('x'.repeat(length)));
      return (fromBase64Url(sealed.ciphertext)?.length ?? 0) - 16;
    };
    // Four bytes of length and one of the kind are part of what is padded.
    const lengths = [0, 251, 252, 4_091, 4_092, 8_187, 8_188, 65_531, 65_532];
    expect(await Promise.all(lengths.map(lengthOf))).toEqual([
      256, 256, 512, 4_096, 4_352, 8_192, 8_704, 65_536, 69_632,
    ]);
  });

  it('counts the bytes of a text, and name, type and bytes of a file', () => {
    expect(sealedBytesOf(text('aü🦋'))).toBe(7);
    const bytes = new Uint8Array(10);
    expect(sealedBytesOf({ kind: 'file', name: 'C:\\x\\ü.txt', type: 'text/plain', bytes })).toBe(26);
    for (const type of ['no type', `text/${'x'.repeat(251)}`])
      expect(sealedBytesOf({ kind: 'file', name: 'a', type, bytes })).toBe(11);
    expect(sealedBytesOf({ kind: 'file', name: 'a', type: `text/${'x'.repeat(250)}`, bytes })).toBe(266);
  });
});

describe('a fragment', () => {
  it('has 22 characters, and one form', () => {
    for (const last of 'AQgw') expect(isFragment(`_-3${'x'.repeat(18)}${last}`)).toBe(true);
    for (const wrong of ['', 'A'.repeat(21), 'A'.repeat(23), `${'A'.repeat(21)}B`, `${'A'.repeat(20)}+A`])
      expect(isFragment(wrong)).toBe(false);
    for (const wrong of [`${'A'.repeat(22)}\n`, ` ${'A'.repeat(21)}`, `${'A'.repeat(20)}==`, 'Ä'.repeat(22)])
      expect(isFragment(wrong)).toBe(false);
  });

  it('is needed whole to prove anything', async () => {
    for (const wrong of ['', 'A'.repeat(21), `${'A'.repeat(21)}B`])
      expect(await codeOf(prove(wrong, null, stretch))).toBe('invalid_key');
  });
});

describe('base64url', () => {
  it('has one text for each bytes, and everything else is none', () => {
    for (let length = 0; length < 70; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, at) => at * 83 + length);
      const text = toBase64Url(bytes);
      expect([text, fromBase64Url(text)] as unknown).toEqual([
        Buffer.from(bytes).toString('base64url'),
        bytes,
      ]);
    }
    for (const wrong of [
      'A',
      'AAAAA',
      'AB',
      'AAB',
      'AA==',
      'A+',
      'A/',
      '!!!!',
      'AA\n',
      ' AA',
      'é',
      'AAA\u0000',
    ])
      expect([wrong, fromBase64Url(wrong)]).toEqual([wrong, null]);
  });
});

describe('the name of a file', () => {
  const long = 'ü'.repeat(200);
  const names: readonly (readonly [string, string])[] = [
    ['report.pdf', 'report.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['C:\\Users\\jo\\key.pem', 'key.pem'],
    ['a/b\\c', 'c'],
    ['folder/', 'file'],
    ['..', 'file'],
    ['.\u0000.', 'file'],
    ['', 'file'],
    [' . ', 'file'],
    ['.env', '.env'],
    ['evil\u202egpj.exe', 'evilgpj.exe'],
    ['a\u200e\u200f\u061c\u2066\u2069b', 'ab'],
    ['a\n\r\u001b[31m\u007f\u0085b', 'a[31mb'],
    ['a\u2028\u2029b', 'ab'],
    ['a\ud800b', 'ab'],
    [long, 'ü'.repeat(127)],
  ];
  it('is the last segment of a path, safe to show, and never leads out of a folder', async () => {
    for (const [given, kept] of names) {
      expect([given, safeFileName(given)]).toEqual([given, kept]);
      const file: Content = { kind: 'file', name: given, type: '', bytes: new Uint8Array(1) };
      expect(await opened(file)).toEqual({ ...file, name: kept });
    }
  });
});

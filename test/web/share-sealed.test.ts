/** The share form as the script sends it once it has sealed what was typed, and the receipt of that, without a browser. */
import { describe, expect, it } from 'bun:test';
import { type Content, seal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { formTokenIn, postForm, visit, wordsOf } from './visit.ts';
import { words } from './words.ts';

async function sealedFields(content: Content, passphrase: string | null = null) {
  const { sealed } = await seal({ content, passphrase, stretch });
  return {
    'by-script': '1',
    'sealed-version': '1',
    'sealed-ciphertext': sealed.ciphertext,
    'sealed-link': sealed.link_hash,
    'sealed-proof': sealed.proof_hash,
    'sealed-passphrase': sealed.passphrase ? '1' : '',
  };
}

const text: Content = { kind: 'text', text: 'sealed elsewhere' };
const file = (bytes: number): Content => {
  return { kind: 'file', name: 'a.bin', type: '', bytes: new Uint8Array(bytes) };
};

/** Follows to the receipt as the browser does that has just created it. */
async function receiptOf(app: TestApp, created: { headers: Headers }) {
  const cookie = created.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return visit(app, created.headers.get('location') ?? '', { headers: { cookie } });
}

describe('a form that was sealed in the browser', () => {
  it('is answered 201 with half the link, and its receipt has no link and no button that shows it', async () => {
    const app = createTestApp();
    const created = await postForm(app, '/share', await sealedFields(text, 'p'));
    expect(created.status).toBe(201);
    expect(created.html).toMatch(/>https:\/\/[^<#]+\/secret\/\w+<\/p>$/);
    const first = await receiptOf(app, created);
    expect(first.html).toContain('id="whole-link" hidden=""');
    expect(first.html).toContain(words('receipt.passphraseReminder'));
    const path = created.headers.get('location') ?? '';
    for (const { html } of [first, await visit(app, path), await postForm(app, path)]) {
      expect(html).not.toContain('/secret/');
      expect(html).not.toContain(words('receipt.show'));
      expect(html).toContain(words('receipt.linkGone'));
      expect(html).not.toContain(words('receipt.sendFirst'));
    }
  });

  const wrong: readonly [what: string, fields: Record<string, string>, status: number][] = [
    ['a value beside it', { secret: 'plain' }, 400],
    ['a passphrase beside it', { passphrase: 'plain' }, 400],
    ['another version', { 'sealed-version': '2' }, 400],
    ['a ciphertext that is cut off', { 'sealed-ciphertext': 'AAAA' }, 400],
    ['what is not base64url', { 'sealed-ciphertext': 'A+/=' }, 400],
    ['half a hash', { 'sealed-link': 'AAAA' }, 400],
  ];
  for (const [what, fields, status] of wrong) {
    it(`is refused with ${what}, and nothing is stored`, async () => {
      const app = createTestApp();
      const refused = await postForm(app, '/share', { ...(await sealedFields(text)), ...fields });
      expect(refused.status).toBe(status);
      expect(app.events).toEqual([]);
    });
  }

  it('holds a file of 100,000 bytes for everybody, and of a megabyte for an account', async () => {
    const app = createTestApp();
    const { cookie } = await signUpAs(app, 'alice@example.org');
    const token = formTokenIn((await visit(app, '/', { headers: { cookie } })).html) ?? '';
    const largest = await sealedFields(file(999_995));
    const own = { ...largest, 'form-token': token };
    expect((await postForm(app, '/share', own, { cookie })).status).toBe(201);
    expect((await postForm(app, '/share', await sealedFields(file(99_995)))).status).toBe(201);
    expect((await postForm(app, '/share', await sealedFields(file(200_000)))).status).toBe(413);
  });

  it('needs the form token of the session, as any form does', async () => {
    const app = createTestApp();
    const { cookie } = await signUpAs(app, 'alice@example.org');
    const refused = await postForm(app, '/share', await sealedFields(text), { cookie });
    expect(refused.status).toBe(403);
    expect(app.events.filter(({ event }) => event === 'concealed')).toEqual([]);
  });
});

describe('the share page without scripts', () => {
  const shown = async (endToEnd: NonNullable<TestAppOptions['endToEnd']>) =>
    visit(createTestApp({ endToEnd }), '/');

  it('says that the server encrypts, unless nothing else is offered', async () => {
    for (const endToEnd of ['default', 'offered'] as const)
      expect(wordsOf((await shown(endToEnd)).html)).toContain(words('share.encryptedByServer'));
    expect(wordsOf((await shown('off')).html)).not.toContain(words('share.encryptedByServer'));
  });

  it('allows one worker and one policy for it where it seals, and neither elsewhere', async () => {
    const policyOf = ({ headers }: { headers: Headers }) => headers.get('content-security-policy') ?? '';
    expect(policyOf(await shown('default'))).toContain("worker-src 'self'");
    expect(policyOf(await shown('default'))).toContain('trusted-types mayfly-worker');
    for (const plain of [await shown('off'), await visit(createTestApp(), '/about')]) {
      expect(policyOf(plain)).not.toContain('worker-src');
      expect(policyOf(plain)).toContain("trusted-types 'none'");
    }
  });

  it('the worker alone may compile WebAssembly, and nothing else: it can load and send nothing', async () => {
    const app = createTestApp();
    const { html } = await visit(app, '/');
    const [, worker = ''] = /data-worker="([^"]+)"/.exec(html) ?? [];
    const policy = (await visit(app, worker)).headers.get('content-security-policy') ?? '';
    expect(policy.split('; ').slice(0, 2)).toEqual(["default-src 'none'", "script-src 'wasm-unsafe-eval'"]);
    const scripts = [...html.matchAll(/<script[^>]* src="([^"]+)"/g)].map(([, address = '']) => address);
    for (const address of ['/', ...scripts])
      expect((await visit(app, address)).headers.get('content-security-policy')).not.toContain('wasm');
  });
});

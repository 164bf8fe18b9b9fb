/** End-to-end secrets without a browser: what their page holds, and what its script is answered. */
import { describe, expect, it } from 'bun:test';
import { type Proofs, prove } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createScanner } from './scanner.ts';
import { makeSealed, type SealedLink } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { postForm, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

const look = 'AAAAAAAAAAAAAAAAAAAAAA';

type Fields = Readonly<Record<string, string>>;

async function proofsOf({ fragment }: Pick<SealedLink, 'fragment'>, passphrase: string | null = null) {
  return fieldsOf(await prove(fragment, passphrase, stretch));
}

const fieldsOf = ({ linkProof, proof }: Proofs): Fields => ({ 'link-proof': linkProof, proof, look });

/** As the page's script asks. */
async function ask(app: TestApp, path: string, fields: Fields, headers: Fields = {}) {
  const { status, html } = await postForm(app, `${path}/open`, fields, headers);
  return { status, answer: JSON.parse(html) as Record<string, unknown> };
}

describe('the page of an end-to-end secret', () => {
  it('has no form that could be sent but the choice of language, and no field with a name', async () => {
    const app = createTestApp();
    const { path } = await makeSealed(app, 'canary', 'right');
    const { html } = await visit(app, path);
    const main = /<main.*<\/main>/s.exec(html)?.[0] ?? '';
    expect(main).not.toContain('<form');
    expect(main).not.toMatch(/ name="/);
    expect(main).toContain(words('secret.sealedBadge'));
    expect(main).toContain('href="/security#end-to-end"');
    expect((await visit(app, '/security')).html).toContain('<li id="end-to-end">');
  });

  it('says without scripts what to do, and what is asked for is hidden until they have taken over', async () => {
    const app = createTestApp();
    const { html } = await visit(app, (await makeSealed(app, 'canary')).path);
    expect(html).toContain(words('secret.needsScripts'));
    expect(html).toContain('<code>mayfly reveal LINK</code>');
    expect(html).toMatch(/<div class="sheet opening" id="sealed" hidden/);
  });

  it('may start its worker and show pictures of its own, and nothing more than any page', async () => {
    const app = createTestApp();
    const policyAt = async (path: string) =>
      (await visit(app, path)).headers.get('content-security-policy') ?? '';
    const [sealed, plain] = [
      await policyAt((await makeSealed(app, 'canary')).path),
      await policyAt((await makeWaiting(app)).secretPath),
    ].map((policy) => policy.split('; '));
    expect(sealed?.filter((rule) => !plain?.includes(rule))).toEqual([
      "img-src 'self' blob:",
      "worker-src 'self'",
      'trusted-types mayfly-worker',
    ]);
  });

  it('is consumed by no scanner that sends every form (P4)', async () => {
    const app = createTestApp();
    const scanner = createScanner(app, 'a guess');
    for (let at = 0; at < 20; at += 1) {
      const link = await makeSealed(app, 'canary');
      await scanner.scan(link.path);
      expect((await postForm(app, link.path, { passphrase: 'x' })).status).toBe(422);
      expect((await ask(app, link.path, await proofsOf(link))).status).toBe(200);
    }
  });
});

describe('the script of an end-to-end secret', () => {
  it('gets the ciphertext for its proofs, again under the same nonce, and nothing after Done', async () => {
    const app = createTestApp();
    const link = await makeSealed(app, 'canary');
    const fields = await proofsOf(link);
    const first = await ask(app, link.path, fields);
    expect([first.status, Object.keys(first.answer)]).toEqual([200, ['v', 'ciphertext']]);
    expect(await ask(app, link.path, fields)).toEqual(first);
    expect((await ask(app, link.path, { ...fields, look: `${'B'.repeat(21)}A` })).status).toBe(404);
    expect((await postForm(app, `${link.path}/done`, { look })).status).toBe(303);
    const { status, answer } = await ask(app, link.path, fields);
    expect([status, answer.at]).toEqual([404, 'gone']);
  });

  it('is refused without whole proofs and a nonce, and a wrong link is no attempt', async () => {
    const app = createTestApp();
    const link = await makeSealed(app, 'canary', 'right');
    const fields = await proofsOf(link, 'right');
    const wrongLink = { ...fields, 'link-proof': 'A'.repeat(43) };
    const broken = ['link-proof', 'proof', 'look'].map((name) => ({ ...fields, [name]: '' }));
    for (const sent of [...broken, ...Array(10).fill(wrongLink), {}]) {
      const { status, answer } = await ask(app, link.path, sent);
      expect([status, answer.at, answer.say]).toEqual([422, 'page', words('secret.incompleteLink')]);
    }
    expect((await ask(app, link.path, { ...fields, proof: 'A'.repeat(43) })).answer.say).toMatch(
      saying('secret.passphraseWrong', { count: 4 }),
    );
    expect((await ask(app, link.path, fields)).status).toBe(200);
  });

  it('is told of tries as the form of a plain secret is, and the right passphrase still opens (P14)', async () => {
    const app = createTestApp();
    const link = await makeSealed(app, 'canary', 'right');
    const fields = await proofsOf(link, 'right');
    const wrong = { ...fields, proof: 'A'.repeat(43) };
    for (let count = 4; count > 0; count -= 1) {
      const { answer } = await ask(app, link.path, wrong);
      expect([answer.at, answer.say]).toEqual([
        'passphrase',
        words('secret.passphraseWrong', { count, wait: '10 minutes' }),
      ]);
    }
    const last = words('secret.passphraseWrongLast', { wait: '10 minutes' });
    expect((await ask(app, link.path, wrong)).answer.say).toBe(last);
    const locked = await ask(app, link.path, fields);
    expect([locked.status, locked.answer.at]).toEqual([429, 'page']);
    app.clock.advance(600);
    expect((await ask(app, link.path, fields)).status).toBe(200);
  });

  it('opens no plain secret: it is refused and keeps waiting', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app);
    const { status, answer } = await ask(app, secretPath, await proofsOf({ fragment: look }));
    expect([status, answer.say]).toEqual([422, words('secret.notSealed')]);
    expect((await visit(app, secretPath)).status).toBe(200);
  });

  it('is answered in words when a request is refused around it, and given the token of a new session', async () => {
    const rule = { limit: 3_600, windowSeconds: 3_600, burst: 1 };
    const slow = createTestApp({
      rateLimits: { ...builtInRateLimits, manage: { anonymous: rule, account: rule } },
    });
    const limited = await makeSealed(slow, 'canary');
    await visit(slow, limited.path);
    expect((await ask(slow, limited.path, {})).answer.say).toBe(words('secret.rate', { wait: '1 second' }));

    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'omar@example.org');
    const stale = await ask(app, (await makeSealed(app, 'canary')).path, {}, { cookie });
    expect([stale.status, stale.answer.formToken]).toEqual([403, signedIn.formToken]);

    const down = createTestApp({
      wrapStore: (store: MemoryStore) =>
        withMethod(store, 'claim', () => Promise.reject(new ServiceError('unavailable', 'down'))),
    });
    const link = await makeSealed(down, 'canary');
    const failed = await ask(down, link.path, await proofsOf(link));
    expect([failed.status, failed.answer.say]).toEqual([
      503,
      words('secret.unavailable', { wait: '2 seconds' }),
    ]);
  });

  it('is the same page for every key where the opened page reloads to (P17)', async () => {
    const app = createTestApp();
    const { path } = await makeSealed(app, 'canary');
    const plain = async (at: string) => (await visit(app, `${at}/again`)).html.replaceAll(at, '/secret/KEY');
    expect(await plain(path)).toBe(await plain(`/secret/${'0'.repeat(31)}`));
  });
});

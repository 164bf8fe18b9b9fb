/** A recipient may burn what they could open: with the same passphrase and the same tick, and nothing is shown. */
import { describe, expect, it } from 'bun:test';
import { prove } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createScanner } from './scanner.ts';
import { makeSealed, type SealedLink } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, textIn, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

type Fields = Readonly<Record<string, string>>;

const ticked = { burn: 'now' } as const;

const burnForm = (app: TestApp, path: string, fields: Fields = ticked, headers: Fields = {}) =>
  postForm(app, `${path}/burn`, fields, headers);

async function stateOf(app: TestApp, metadataKey: string) {
  const found = await app.service.findReceipt({ metadataKey, authority: 'holder' }, { kind: 'anonymous' });
  return found.outcome === 'found' ? [found.receipt.state, found.receipt.burnedBy] : [found.outcome];
}

async function proofsOf({ fragment }: Pick<SealedLink, 'fragment'>, passphrase: string | null = null) {
  const { linkProof, proof } = await prove(fragment, passphrase, stretch);
  return { 'link-proof': linkProof, proof };
}

describe('a recipient who does not want a secret', () => {
  it('is led from its page to a question, and burns it with a tick: nobody can open it, and the sender sees it', async () => {
    const app = createTestApp();
    const { secretPath, metadataKey } = await makeWaiting(app);
    const { html } = await visit(app, secretPath);
    expect(/<a id="burn-unread" href="([^"]*)"/.exec(html)?.[1]).toBe(`${secretPath}/burn`);
    const asked = await visit(app, `${secretPath}/burn`);
    expect([asked.status, asked.html.includes(words('recipientBurn.lead'))]).toEqual([200, true]);
    expect(await stateOf(app, metadataKey)).toEqual(['new', null]);
    const burned = await burnForm(app, secretPath);
    expect([burned.status, burned.html.includes(words('recipientBurn.doneLead'))]).toEqual([200, true]);
    expect(burned.html).not.toContain('canary');
    expect(await stateOf(app, metadataKey)).toEqual(['burned', 'recipient']);
    expect((await postForm(app, secretPath)).status).toBe(404);
  });

  it('needs its passphrase, and a wrong one is an attempt as for opening (P14, P16)', async () => {
    const app = createTestApp();
    const { secretPath, metadataKey } = await makeWaiting(app, { passphrase: 'right' });
    const missing = await burnForm(app, secretPath);
    expect([missing.status, missing.html.includes(words('secret.passphraseMissing'))]).toEqual([422, true]);
    const wrong = await burnForm(app, secretPath, { ...ticked, passphrase: 'wrong' });
    expect([wrong.status, wrong.html.includes('value="wrong"')]).toEqual([422, false]);
    expect(wrong.html).toMatch(saying('secret.passphraseWrong', { count: 4 }));
    expect((await postForm(app, secretPath, { passphrase: 'wrong' })).html).toMatch(
      saying('secret.passphraseWrong', { count: 3 }),
    );
    expect(await stateOf(app, metadataKey)).toEqual(['new', null]);
    expect((await burnForm(app, secretPath, { ...ticked, passphrase: 'right' })).status).toBe(200);
    expect(await stateOf(app, metadataKey)).toEqual(['burned', 'recipient']);
  });

  it('is told when to come back once the tries are used up, and the secret is kept', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    for (let guess = 0; guess < 5; guess += 1)
      await burnForm(app, secretPath, { ...ticked, passphrase: 'x' });
    const locked = await burnForm(app, secretPath, { ...ticked, passphrase: 'right' });
    expect([locked.status, locked.headers.get('retry-after')]).toEqual([429, '600']);
    expect(locked.html).toContain(words('secret.exhausted', { wait: '10 minutes' }));
    expect((await visit(app, secretPath)).status).toBe(200);
  });

  it('has to tick the box: a form without it burns nothing and counts no try (P4)', async () => {
    const app = createTestApp();
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    for (const fields of [{}, { burn: 'yes' }, { open: 'now', passphrase: 'wrong' }]) {
      const refused = await burnForm(app, secretPath, fields);
      expect(refused.status).toBe(422);
      expect(/id="burn-wrong">([^<]*)/.exec(refused.html)?.[1]).toBe(words('recipientBurn.sureMissing'));
    }
    const box = /<input id="burn"[^>]*>/.exec((await visit(app, `${secretPath}/burn`)).html)?.[0] ?? '';
    expect([box.includes('required'), box.includes('checked')]).toEqual([true, false]);
    const first = await postForm(app, secretPath, { passphrase: 'wrong' });
    expect(first.html).toMatch(saying('secret.passphraseWrong', { count: 4 }));
  });

  it('finds what is gone as everybody does, whether asking or burning (P17)', async () => {
    const app = createTestApp();
    const opened = await makeWaiting(app);
    await postForm(app, opened.secretPath);
    const burned = await makeWaiting(app);
    await burnForm(app, burned.secretPath);
    const paths = [opened.secretPath, burned.secretPath, `/secret/${'0'.repeat(31)}`];
    const faces = new Set<string>();
    for (const path of paths) {
      const answers = [await visit(app, path), await visit(app, `${path}/burn`), await burnForm(app, path)];
      for (const { status, html } of answers) faces.add(`${status} ${/<main.*<\/main>/s.exec(html)?.[0]}`);
    }
    expect([...faces].map((face) => face.slice(0, 3))).toEqual(['404']);
  });

  it('is asked again with the token of another session, and may not be a form of another site', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'omar@example.org');
    const { secretPath, metadataKey } = await makeWaiting(app);
    const stale = await burnForm(app, secretPath, ticked, { cookie });
    expect([stale.status, stale.html.includes(signedIn.formToken)]).toEqual([403, true]);
    const foreign = await burnForm(app, secretPath, ticked, { 'sec-fetch-site': 'cross-site' });
    expect([foreign.status, await stateOf(app, metadataKey)]).toEqual([403, ['new', null]]);
    await burnForm(app, secretPath, { ...ticked, 'form-token': signedIn.formToken }, { cookie });
    expect(await stateOf(app, metadataKey)).toEqual(['burned', 'recipient']);
  });

  it('is over the rate limit answered in words, as a page or for the script, and nothing is looked up (P21)', async () => {
    const rule = { limit: 3_600, windowSeconds: 3_600, burst: 1 };
    const app = createTestApp({
      rateLimits: { ...builtInRateLimits, manage: { anonymous: rule, account: rule } },
    });
    const { secretPath, metadataKey } = await makeWaiting(app);
    await visit(app, secretPath);
    const page = await burnForm(app, secretPath);
    expect([page.status, page.html.includes(words('secret.rate', { wait: '1 second' }))]).toEqual([
      429,
      true,
    ]);
    const script = await burnForm(app, secretPath, { 'link-proof': 'x', proof: 'x' });
    expect(JSON.parse(script.html)).toMatchObject({
      at: 'page',
      say: words('secret.rate', { wait: '1 second' }),
    });
    expect(await stateOf(app, metadataKey)).toEqual(['new', null]);
  });
});

describe('a recipient of an end-to-end secret', () => {
  it('burns it with the proofs of link and passphrase, and with nothing less (P14, P16)', async () => {
    const app = createTestApp();
    const link = await makeSealed(app, 'canary', 'right');
    const proofs = await proofsOf(link, 'right');
    const sayAt = async (fields: Fields) => {
      const { status, html } = await burnForm(app, link.path, fields);
      return [status, JSON.parse(html).at] as const;
    };
    expect(await sayAt({ ...proofs, 'link-proof': 'A'.repeat(43) })).toEqual([422, 'page']);
    expect(await sayAt({ ...proofs, 'link-proof': '' })).toEqual([422, 'page']);
    expect(await sayAt({ ...proofs, proof: 'A'.repeat(43) })).toEqual([422, 'passphrase']);
    expect((await burnForm(app, link.path, { ...ticked, passphrase: 'right' })).status).toBe(422);
    expect(await stateOf(app, link.metadataKey)).toEqual(['new', null]);
    const burned = await burnForm(app, link.path, proofs);
    expect([burned.status, JSON.parse(burned.html)]).toEqual([200, { burned: true }]);
    expect(await stateOf(app, link.metadataKey)).toEqual(['burned', 'recipient']);
    expect(await sayAt(proofs)).toEqual([404, 'gone']);
  });

  it('has no form to send by mistake, and without scripts no link to one', async () => {
    const app = createTestApp();
    const { path } = await makeSealed(app, 'canary', 'right');
    const main = /<main.*<\/main>/s.exec((await visit(app, `${path}/burn`)).html)?.[0] ?? '';
    expect([main.includes('<form'), main.includes(' name="')]).toEqual([false, false]);
    expect(main).toContain(words('secret.needsScripts'));
    expect((await visit(app, path)).html).toContain('<p class="aside" hidden="">');
  });

  it('loses none of them to a scanner that sends every form (P4)', async () => {
    const app = createTestApp();
    const scanner = createScanner(app, 'a guess');
    for (let at = 0; at < 20; at += 1) {
      const link = await makeSealed(app, 'canary');
      await scanner.scan(link.path);
      await scanner.scan(`${link.path}/burn`);
      expect((await burnForm(app, link.path, await proofsOf(link))).status).toBe(200);
    }
  });
});

describe('self-test', () => {
  it('the form of the burn page, with its tick, burns: so a scanner that ticked it would be caught', async () => {
    const app = createTestApp();
    const sends: Pick<TestApp, 'fetch'> = {
      fetch: (path, init = {}) =>
        app.fetch(path, typeof init.body === 'string' ? { ...init, body: `${init.body}&burn=now` } : init),
    };
    const { secretPath, metadataKey } = await makeWaiting(app);
    await createScanner(sends, null).scan(secretPath);
    expect(await stateOf(app, metadataKey)).toEqual(['burned', 'recipient']);
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBeNull();
  });
});

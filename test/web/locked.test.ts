/** A lock by wrong passphrases on the receipt, the button that lifts it, and what the one who is refused is told (P14). */
import { describe, expect, it } from 'bun:test';
import { prove } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { translate } from '../../src/locale/translate.ts';
import { createTestApp } from '../support/app.ts';
import { lockLife, lockWindow } from '../support/lockout.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { formTokenIn, postForm, visit, wordsOf } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

const receiptOf = ({ metadataKey }: { readonly metadataKey: string }) => `/receipt/${metadataKey}`;

async function createDesk(app = createTestApp()) {
  const made = await makeWaiting(app, { passphrase: 'right', ttlSeconds: 604_800 });
  const receiptPath = receiptOf(made);
  const page = async () => wordsOf((await visit(app, receiptPath)).html);
  const open = () => postForm(app, made.secretPath, { passphrase: 'right' });
  return { app, ...made, receiptPath, page, open };
}

describe('the receipt of a locked secret', () => {
  it('says after how many, and until when', async () => {
    const { app, secretKey, page } = await createDesk();
    expect(await page()).not.toMatch(saying('receipt.lockedUntil'));
    await lockWindow(app, secretKey);
    const html = await page();
    expect(html).toMatch(saying('receipt.lockedUntil', { limit: 20 }));
    expect(html).toContain(words('receipt.lockedHelp'));
    app.clock.advance(600);
    expect(await page()).not.toMatch(saying('receipt.lockedUntil'));
  });

  it('says after 100 that it is for good, unless the creator allows more', async () => {
    const { app, secretKey, page } = await createDesk();
    await lockLife(app, secretKey);
    expect(await page()).toContain(words('receipt.lockedForGood', { limit: 100 }));
  });

  it('lifts it by a form, without scripts, and the right passphrase opens', async () => {
    const { app, secretKey, receiptPath, page, open } = await createDesk();
    await lockLife(app, secretKey);
    expect((await open()).status).toBe(429);
    const { html } = await visit(app, receiptPath);
    expect(html).toContain(`action="${receiptPath}/allow-more"`);
    expect(html).toContain(words('receipt.allowMore', { limit: 100 }));
    const { status, headers } = await postForm(app, `${receiptPath}/allow-more`);
    expect([status, headers.get('location')]).toEqual([303, receiptPath]);
    expect(await page()).not.toContain(words('receipt.lockedHelp'));
    expect((await open()).status).toBe(200);
  });

  it('leads back to the receipt whatever has become of the secret, and from an address that was typed', async () => {
    const { app, receiptPath, open } = await createDesk();
    await open();
    const answers = [
      await postForm(app, `${receiptPath}/allow-more`),
      await visit(app, `${receiptPath}/allow-more`),
    ];
    for (const { status, headers } of answers)
      expect([status, headers.get('location')]).toEqual([303, receiptPath]);
    expect((await visit(app, receiptPath)).html).toContain(words('receipt.receivedTitle'));
  });

  it('is nobody’s but its account’s, and a form of another site lifts nothing (P16)', async () => {
    const app = createTestApp();
    const [jo, al] = [await signUpAs(app, 'jo@example.org'), await signUpAs(app, 'al@example.org')];
    const made = await makeWaiting(app, { passphrase: 'right', caller: jo.signedIn.caller });
    await lockLife(app, made.secretKey);
    const path = `${receiptOf(made)}/allow-more`;
    const page = async () => (await visit(app, receiptOf(made), { headers: { cookie: jo.cookie } })).html;
    const lift = async (cookie: string) => {
      const { html } = await visit(app, '/', { headers: { cookie } });
      return postForm(app, path, { 'form-token': formTokenIn(html) ?? '' }, { cookie });
    };
    expect((await postForm(app, path)).status).toBe(404);
    expect((await lift(al.cookie)).status).toBe(404);
    const fromElsewhere = { cookie: jo.cookie, 'sec-fetch-site': 'cross-site' };
    expect((await postForm(app, path, {}, fromElsewhere)).status).toBe(403);
    expect(await page()).toContain(words('receipt.lockedHelp'));
    expect((await lift(jo.cookie)).status).toBe(303);
    expect(await page()).not.toContain(words('receipt.lockedHelp'));
  });
});

describe('the reader of a locked secret', () => {
  it('is told in every language when to come back, or whom to ask', async () => {
    for (const locale of supportedLocales) {
      const { app, secretKey, secretPath } = await createDesk();
      const open = async () => {
        const headers = { 'accept-language': locale };
        const { status, html } = await postForm(app, secretPath, { passphrase: 'right' }, headers);
        return [status, wordsOf(html)] as const;
      };
      await lockWindow(app, secretKey);
      const [early, window] = await open();
      expect([early, window.includes(translate(locale, 'secret.exhaustedAdvice'))]).toEqual([429, true]);
      await lockLife(app, secretKey);
      await lockLife(app, secretKey);
      const [late, life] = await open();
      expect([late, life.includes(translate(locale, 'secret.locked'))]).toEqual([429, true]);
      expect(life).not.toContain(translate(locale, 'secret.exhaustedAdvice'));
    }
  });

  it('hears it with the last wrong passphrase', async () => {
    const { app, secretKey, secretPath } = await createDesk();
    for (let n = 0; n < 4; n += 1) {
      await lockWindow(app, secretKey);
      app.clock.advance(600);
    }
    for (let n = 0; n < 4; n += 1)
      for (let each = 0; each < 5; each += 1) {
        const { html } = await postForm(app, secretPath, { passphrase: 'wrong' });
        const isLast = n === 3 && each === 4;
        expect([n, each, html.includes(words('secret.locked'))]).toEqual([n, each, isLast]);
        if (each === 4) app.clock.advance(600);
      }
  });

  it('is told the same of an end-to-end secret', async () => {
    const app = createTestApp();
    const { path, fragment } = await makeSealed(app, 'canary', 'right');
    const secretKey = path.slice('/secret/'.length);
    const { linkProof } = await prove(fragment, 'right', stretch);
    const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));
    const wrong = { linkProof: bytes(linkProof), proof: new Uint8Array(32) };
    const said = async () => {
      const { proof } = await prove(fragment, 'right', stretch);
      const fields = { 'link-proof': linkProof, proof, look: 'A'.repeat(22) };
      const { status, html } = await postForm(app, `${path}/open`, fields);
      return [status, (JSON.parse(html) as { say?: string }).say];
    };
    await lockWindow(app, secretKey, wrong);
    const early = `${words('secret.exhausted', { wait: '10 minutes' })} ${words('secret.exhaustedAdvice')}`;
    expect(await said()).toEqual([429, early]);
    app.clock.advance(600);
    await lockLife(app, secretKey, wrong);
    expect(await said()).toEqual([429, words('secret.locked')]);
  });
});

/** The recipient's pages when a request is refused: nothing is opened, nothing is counted, and the link still works. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { clientStays } from '../stores/conformance/check.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { postForm, textIn, visit } from './visit.ts';
import { makeWaiting } from './waiting.ts';
import { saying, words } from './words.ts';

describe('what is in the way', () => {
  it('a form of another session is asked again, with nothing opened and nothing counted', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'omar@example.org');
    const { secretPath } = await makeWaiting(app, { passphrase: 'right' });
    for (const token of ['', 'f'.repeat(32)]) {
      const stale = await postForm(app, secretPath, { 'form-token': token, passphrase: 'wrong' }, { cookie });
      expect([stale.status, stale.html.includes('type="password"')]).toEqual([403, true]);
      expect(stale.html).toMatch(saying('secret.stale'));
      expect(stale.html).toContain(signedIn.formToken);
    }
    const current = { 'form-token': signedIn.formToken, passphrase: 'wrong' };
    expect((await postForm(app, secretPath, current, { cookie })).html).toMatch(
      saying('secret.passphraseWrong', { count: 4 }),
    );
  });

  it('a form of a session that has ended is asked again', async () => {
    const app = createTestApp();
    const { signedIn } = await signUpAs(app, 'omar@example.org');
    const { secretPath } = await makeWaiting(app);
    const stale = await postForm(app, secretPath, { 'form-token': signedIn.formToken });
    expect([stale.status, stale.html.includes('name="form-token"')]).toEqual([403, false]);
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBe('canary');
  });

  it('over the rate limit neither page is served, nothing is looked up, and both lead back to the link (P21)', async () => {
    const rule = { limit: 3_600, windowSeconds: 3_600, burst: 1 };
    const rateLimits = { ...builtInRateLimits, manage: { anonymous: rule, account: rule } };
    let lookups = 0;
    const wrapStore = (store: MemoryStore) =>
      withMethod(store, 'findSecret', (id) => {
        lookups += 1;
        return store.findSecret(id);
      });
    const app = createTestApp({ rateLimits, wrapStore });
    const { secretPath } = await makeWaiting(app);
    await visit(app, secretPath);
    const before = lookups;
    for (const refused of [await visit(app, secretPath), await postForm(app, secretPath)]) {
      expect([refused.status, refused.headers.get('retry-after'), lookups]).toEqual([429, '1', before]);
      expect(refused.html).toContain(words('secret.rate', { wait: '1 second' }));
      expect(refused.html).toContain(`<a href="${secretPath}">${words('secret.back')}</a>`);
    }
  });

  it('a store that does not confirm is answered with 503, the form stays and nothing is consumed (P2)', async () => {
    let isDown = true;
    const wrapStore = (store: MemoryStore) =>
      withMethod(store, 'claim', (secret) =>
        isDown ? Promise.reject(new ServiceError('unavailable', 'down')) : store.claim(secret, clientStays),
      );
    const app = createTestApp({ wrapStore });
    const { secretPath } = await makeWaiting(app);
    const refused = await postForm(app, secretPath);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    expect(refused.html).toContain(words('secret.unavailable', { wait: '2 seconds' }));
    expect(refused.html).toContain(words('secret.submit'));
    expect(refused.html).not.toContain('canary');
    isDown = false;
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBe('canary');
  });

  it('a store that cannot even look is answered with 503 and the way back', async () => {
    let isDown = false;
    const wrapStore = (store: MemoryStore) =>
      withMethod(store, 'findSecret', (id) =>
        isDown ? Promise.reject(new ServiceError('unavailable', 'down')) : store.findSecret(id),
      );
    const app = createTestApp({ wrapStore });
    const { secretPath } = await makeWaiting(app);
    isDown = true;
    for (const refused of [await visit(app, secretPath), await postForm(app, secretPath)]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
      expect(refused.html).toContain(words('secret.back'));
    }
    isDown = false;
    expect(textIn((await postForm(app, secretPath)).html, 'value')).toBe('canary');
  });

  it('something that breaks is answered with 500, a number and no detail', async () => {
    const app = createTestApp({
      wrapStore: (store) => withMethod(store, 'findSecret', () => Promise.reject(new Error('detail-canary'))),
    });
    const broken = await visit(app, `/secret/${'a'.repeat(31)}`);
    expect(broken.status).toBe(500);
    expect(broken.html).not.toContain('detail-canary');
    expect(broken.html).toContain(broken.headers.get('x-request-id') ?? 'none');
    expect(app.faults).toHaveLength(1);
  });
});

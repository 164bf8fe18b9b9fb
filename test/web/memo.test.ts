/** The creator's label of a secret, on the pages: set, shown, changed, removed, and never shown to anyone else. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/core/errors.ts';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { postForm, share, textIn, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const label = 'VPN <key> for "Al" & Bo';
const escaped = 'VPN &lt;key&gt; for &quot;Al&quot; &amp; Bo';

describe('the label on a receipt', () => {
  it('can be added, changed and removed, and the way back leads to the receipt', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    const kept = async () => valueIn((await visit(app, receiptPath)).html, 'memo');
    expect(await kept()).toBe('');
    for (const text of [label, 'another', '']) {
      const { status, headers } = await postForm(app, `${receiptPath}/memo`, { memo: text });
      expect([status, headers.get('location')]).toEqual([303, `${receiptPath}#label`]);
      expect(await kept()).toBe(text);
    }
  });

  it('is shown as text, and nowhere but there', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    await postForm(app, `${receiptPath}/memo`, { memo: label });
    expect((await visit(app, receiptPath)).html).toContain(`<bdi>${escaped}</bdi>`);
    for (const path of [secretPath, `${receiptPath}/state`, `${receiptPath}/burn`])
      expect((await visit(app, path)).html).not.toContain('VPN');
    expect((await postForm(app, secretPath)).html).not.toContain('VPN');
  });

  it('outlives the reading and the burning of its secret', async () => {
    const app = createTestApp();
    for (const end of ['read', 'burn']) {
      const { receiptPath, secretPath } = await share(app, { secret: 'x' });
      await postForm(app, `${receiptPath}/memo`, { memo: 'kept' });
      await postForm(app, end === 'read' ? secretPath : `${receiptPath}/burn`);
      expect((await visit(app, receiptPath)).html).toContain('<bdi>kept</bdi>');
      await postForm(app, `${receiptPath}/memo`, { memo: 'changed' });
      expect((await visit(app, receiptPath)).html).toContain('<bdi>changed</bdi>');
    }
  });

  it('comes back as it was typed when it is too long, and the one before stays', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    await postForm(app, `${receiptPath}/memo`, { memo: 'before' });
    const typed = 'x'.repeat(501);
    const { status, html } = await postForm(app, `${receiptPath}/memo`, { memo: typed });
    expect([status, valueIn(html, 'memo')]).toEqual([422, typed]);
    expect(html).toContain(words('memo.tooLong', { max: 500 }));
    expect((await visit(app, receiptPath)).html).toContain('<bdi>before</bdi>');
  });

  it('comes back as it was typed when it cannot be kept just now', async () => {
    const failing = () => Promise.reject(new ServiceError('unavailable', 'a seeded fault'));
    const app = createTestApp({ wrapStore: (store) => withMethod(store, 'setMemo', failing) });
    const { receiptPath } = await share(app, { secret: 'x' });
    const { status, html } = await postForm(app, `${receiptPath}/memo`, { memo: 'typed' });
    expect([status, valueIn(html, 'memo')]).toEqual([503, 'typed']);
  });

  it('leads nowhere for a key that opens nothing, and changes nothing by a GET', async () => {
    const app = createTestApp();
    expect((await postForm(app, `/receipt/${'z'.repeat(31)}/memo`, { memo: 'x' })).status).toBe(404);
    const { receiptPath } = await share(app, { secret: 'x' });
    const looked = await visit(app, `${receiptPath}/memo?memo=x`);
    expect([looked.status, looked.headers.get('location')]).toEqual([303, receiptPath]);
    expect(valueIn((await visit(app, receiptPath)).html, 'memo')).toBe('');
  });
});

describe('the label on the share form', () => {
  it('is kept with the secret, for whoever shares', async () => {
    const app = createTestApp();
    expect(valueIn((await visit(app, '/')).html, 'memo')).toBe('');
    const { receiptPath } = await share(app, { secret: 'x', memo: label });
    expect((await visit(app, receiptPath)).html).toContain(`<bdi>${escaped}</bdi>`);
  });

  it('comes back with everything else, whatever the form is refused for', async () => {
    const app = createTestApp();
    for (const fields of [{ passphrase: 'p'.repeat(1_025) }, { secret: '' }]) {
      const { html } = await postForm(app, '/share', { secret: 'x', ttl: '3600', memo: label, ...fields });
      expect(valueIn(html, 'memo')).toBe(label);
      expect(html).toContain(`<bdi class="chosen">${escaped}</bdi>`);
    }
    const drawn = await postForm(app, '/suggest', {
      secret: 'x',
      memo: label,
      'suggest-style': 'words',
      'suggest-words': '4',
    });
    expect([drawn.status, valueIn(drawn.html, 'memo')]).toEqual([200, label]);
  });

  it('is named as the field that is wrong when it is too long', async () => {
    const app = createTestApp();
    const typed = 'x'.repeat(501);
    const { status, html } = await postForm(app, '/share', { secret: 'kept', ttl: '3600', memo: typed });
    expect([status, valueIn(html, 'memo'), textIn(html, 'secret')]).toEqual([422, typed, 'kept']);
    expect(html).toContain(`id="memo-wrong">${words('memo.tooLong', { max: 500 })}`);
    expect(html).toMatch(saying('share.refused'));
  });
});

describe('the label in the list of recent secrets', () => {
  it('stands with its secret, also once that was read', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'alice@example.com');
    const headers = { cookie };
    const page = async () => (await visit(app, '/recent', { headers })).html;
    const post = (path: string, fields: Readonly<Record<string, string>> = {}) =>
      postForm(app, path, { 'form-token': signedIn.formToken, ...fields }, headers);
    const receiptPath = (await post('/share', { secret: 'x', ttl: '604800' })).headers.get('location') ?? '';
    expect(await page()).not.toContain('row-label');
    await post(`${receiptPath}/memo`, { memo: label });
    const link = textIn((await post(receiptPath)).html, 'link') ?? '';
    for (const step of ['waiting', 'read']) {
      if (step === 'read') await postForm(app, new URL(link).pathname);
      const html = await page();
      expect([step, html.includes(escaped)]).toEqual([step, true]);
    }
  });
});

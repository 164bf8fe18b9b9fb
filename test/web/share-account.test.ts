/** Sharing when somebody is logged in: the plan, the mail, the domain, and a session that ends in between. */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/domain/errors.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { createTestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { withMethod } from './store-method.ts';
import { chosenIn, postForm, textIn, valueIn, visit } from './visit.ts';

/** The last one offered, so that it is another than the page's as soon as there is one. */
const language = supportedLocales.at(-1) ?? 'en';
const odd = 'a "quoted" <b>line</b> & more\n\n\tünï😀';

describe('sharing with an account', () => {
  const value = 'v'.repeat(9_000);

  it('has the plan of the account: its size and its lifetimes', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const { html } = await visit(app, '/', { headers: { cookie } });
    expect(html).toContain('At most 10,000 bytes');
    expect(html).toContain('<option value="1209600"');
    const token = { 'form-token': signedIn.formToken };
    const made = await postForm(app, '/share', { ...token, secret: value, ttl: '1209600' }, { cookie });
    expect(made.status).toBe(303);
    const listed = await app.service.recent({ limit: 10 }, signedIn.caller);
    expect(listed.outcome === 'listed' && listed.receipts.length).toBe(1);
  });

  it('sends the mail in the chosen language, and the form does not show the field to anybody else', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/')).html).not.toContain('id="recipient"');
    const fields = { 'form-token': signedIn.formToken, secret: 'x', 'mail-language': language };
    const made = await postForm(app, '/share', { ...fields, recipient: 'joanna@example.org' }, { cookie });
    await app.service.settled();
    expect(made.status).toBe(303);
    expect(app.mails.map(({ to, locale }) => [to.expose(), locale])).toEqual([
      ['joanna@example.org', language],
    ]);
  });

  it('marks an address that no mail can be sent to', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const fields = { 'form-token': signedIn.formToken, secret: 'x', recipient: 'joanna at example' };
    const refused = await postForm(app, '/share', fields, { cookie });
    expect([refused.status, valueIn(refused.html, 'recipient')]).toEqual([422, 'joanna at example']);
    expect(refused.html).toContain('id="recipient-wrong"');
    expect(app.mails).toEqual([]);
  });

  it('offers its share domains and no others', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    expect((await visit(app, '/', { headers: { cookie } })).html).not.toContain('id="share-domain"');
    await app.store.addShareDomain(signedIn.caller.account.id, 'secrets.ann.example');
    const { html } = await visit(app, '/', { headers: { cookie } });
    expect(html).toContain('<option value="secrets.ann.example">');
    const fields = { 'form-token': signedIn.formToken, secret: 'x' };
    const made = await postForm(
      app,
      '/share',
      { ...fields, 'share-domain': 'secrets.ann.example' },
      { cookie },
    );
    const shown = await visit(app, made.headers.get('location') ?? '', {
      headers: { cookie: `${cookie}; just-created=1` },
    });
    expect(textIn(shown.html, 'link')).toStartWith('https://secrets.ann.example/secret/');
    const refused = await postForm(app, '/share', { ...fields, 'share-domain': 'other.example' }, { cookie });
    expect([refused.status, chosenIn(refused.html, 'share-domain')]).toEqual([422, 'other.example']);
    expect(refused.html).toContain('id="share-domain-wrong"');
  });

  for (const path of ['/share', '/suggest']) {
    it(`loses nothing at ${path} when the session ended while somebody typed, and works on the second press`, async () => {
      const app = createTestApp();
      const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
      const typed = { secret: odd, passphrase: 'p', recipient: 'joanna@example.org', ttl: '1209600' };
      await app.accounts.logOut(signedIn);
      const stale = await postForm(app, path, { 'form-token': signedIn.formToken, ...typed }, { cookie });
      expect(stale.status).toBe(403);
      expect(stale.html).toContain('You logged in or out after this form was shown.');
      const kept = [
        textIn(stale.html, 'secret'),
        valueIn(stale.html, 'passphrase'),
        valueIn(stale.html, 'recipient'),
        valueIn(stale.html, 'ttl-amount'),
      ];
      expect(kept).toEqual([odd, 'p', 'joanna@example.org', '14']);
      expect(app.events.filter(({ event }) => event === 'concealed')).toEqual([]);
      const again = await postForm(app, '/share', { secret: odd, passphrase: 'p' }, { cookie });
      expect(again.status).toBe(303);
    });
  }

  it('keeps the form of a session also when the store cannot list its domains', async () => {
    const app = createTestApp({
      wrapStore: (store) =>
        withMethod(store, 'listShareDomains', () => Promise.reject(new ServiceError('unavailable', 'down'))),
    });
    const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
    const fields = { 'form-token': signedIn.formToken, secret: '', passphrase: 'kept' };
    const refused = await postForm(app, '/share', fields, { cookie });
    expect([refused.status, valueIn(refused.html, 'passphrase')]).toEqual([400, 'kept']);
  });
});

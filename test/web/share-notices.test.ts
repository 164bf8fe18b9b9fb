/** Which mails someone gets about a secret: the account's setting, and a different one for a single secret. */

import { describe, expect, it } from 'bun:test';
import { type NoticeKind, noticeKinds } from '../../src/protocol/vocabulary.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { type AccountVisitor, address, openAccountVisitor, signUp } from './account-visitor.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, share, textIn, type Visit, valueIn, visit, wordsOf } from './visit.ts';
import { words } from './words.ts';

/** The form's checkboxes, as a browser sends them. */
function boxes(...kinds: readonly NoticeKind[]): Record<string, string> {
  return Object.fromEntries([['notify', 'chosen'], ...kinds.map((kind) => [`notify-${kind}`, 'yes'])]);
}

/** The checkboxes that a page shows ticked; `null`: it has none. */
function tickedIn({ html }: Pick<Visit, 'html'>): NoticeKind[] | null {
  if (!html.includes('name="notify"')) return null;
  return noticeKinds.filter((kind) => new RegExp(`<input id="notify-${kind}"[^>]* checked=""`).test(html));
}

async function choose(visitor: AccountVisitor, ...kinds: readonly NoticeKind[]): Promise<Visit> {
  await visitor.get('/account');
  return visitor.post('/account/notices', boxes(...kinds));
}

async function shareBy(
  visitor: AccountVisitor,
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  await visitor.get('/');
  const made = await visitor.post('/share', { secret: 'x', ...fields });
  expect(made.status).toBe(303);
  return made.headers.get('location') ?? '';
}

async function notifyOf(app: TestApp, receiptPath: string): Promise<readonly NoticeKind[] | null> {
  const input = { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' } as const;
  const found = await app.service.findReceipt(input, { kind: 'anonymous' });
  return found.outcome === 'found' ? found.receipt.notify : null;
}

describe('the account’s choice of mails', () => {
  it('is none at first, and the page says where they go and what they never hold', async () => {
    const visitor = await signUp(createTestApp());
    const account = await visitor.get('/account');
    expect(tickedIn(account)).toEqual([]);
    expect(account.html).toContain(words('notices.hintTo', { address }));
  });

  it('is kept, said to be, and shown again', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    for (const kinds of [['read', 'expiring'], ['burned'], []] as const) {
      const saved = await choose(visitor, ...kinds);
      expect([saved.status, saved.headers.get('location')]).toEqual([303, '/account?done=notices']);
      expect(await app.store.findAccount(address)).toMatchObject({ notify: kinds });
      const shown = await visitor.get('/account?done=notices');
      expect(tickedIn(shown)).toEqual([...kinds]);
      expect(shown.html).toContain(words('notices.saved'));
    }
  });

  it('is left as it is by a form without the boxes, which is told nothing', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await choose(visitor, 'read');
    await visitor.get('/account');
    const { headers } = await visitor.post('/account/notices', { 'notify-burned': 'yes' });
    expect(headers.get('location')).toBe('/account');
    expect(await app.store.findAccount(address)).toMatchObject({ notify: ['read'] });
  });

  it('comes back as it was ticked when it is refused, and changes nothing', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await choose(visitor, 'read');
    await visitor.get('/account');
    const stale = { ...boxes('burned', 'expiring'), 'form-token': 'f'.repeat(32) };
    const refused = await visitor.post('/account/notices', stale);
    expect([refused.status, tickedIn(refused)]).toEqual([403, ['burned', 'expiring']]);
    expect(refused.html).toContain('role="alert"');
    expect(await app.store.findAccount(address)).toMatchObject({ notify: ['read'] });
  });
});

describe('the choice for one secret', () => {
  it('starts with the account’s own choice, and needs a log-in', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    expect(tickedIn(await visitor.get('/'))).toEqual([]);
    await choose(visitor, 'read', 'expiring');
    expect(tickedIn(await visitor.get('/'))).toEqual(['read', 'expiring']);
    expect(tickedIn(await visit(app, '/'))).toBeNull();
  });

  it('counts, whether boxes were ticked or unticked', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await choose(visitor, 'read', 'expiring');
    for (const kinds of [['burned'], ['read', 'burned', 'expiring'], []] as const) {
      const receipt = await shareBy(visitor, boxes(...kinds));
      expect(await notifyOf(app, receipt)).toEqual(kinds);
    }
    expect(await notifyOf(app, await shareBy(visitor))).toEqual(['read', 'expiring']);
  });

  it('leads to the mail that was asked for, and to no other', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const receipt = await shareBy(visitor, boxes('read'));
    const shown = await visitor.post(receipt);
    const burned = await shareBy(visitor, boxes('read'));
    await visitor.get(`${burned}/burn`);
    await visitor.post(`${burned}/burn`);
    await postForm(app, new URL(textIn(shown.html, 'link') ?? '').pathname);
    await app.service.settled();
    const told = app.accountMails.filter(({ kind }) => kind.startsWith('secret_'));
    expect(told.map(({ kind, to }) => [kind, to.expose()])).toEqual([['secret_read', address]]);
  });

  it('is shown on the receipt while the secret waits; also that there is none', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    const chosen = await shareBy(visitor, boxes('read', 'expiring'));
    const told = [words('notices.read'), words('notices.expiring')];
    const listed = ({ html }: Visit) =>
      [...html.matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text ?? '');
    expect(listed(await visitor.get(chosen))).toEqual(told);
    const none = await shareBy(visitor, boxes());
    expect((await visitor.get(none)).html).toContain(`<dt>${words('receipt.notices')}</dt>`);
    const anonymous = await share(app, { secret: 'x' });
    expect((await visit(app, anonymous.receiptPath)).html).not.toContain(`<dt>${words('receipt.notices')}`);
  });

  it('is not lost when the form is refused, nor when the session has ended, and needs an account', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    await visitor.get('/');
    const ticked = boxes('burned', 'expiring');
    const refused = await visitor.post('/share', { secret: '', ...ticked });
    expect([refused.status, tickedIn(refused)]).toEqual([400, ['burned', 'expiring']]);
    const anonymous = await postForm(app, '/share', { secret: 'kept', passphrase: 'p', ...ticked });
    expect([anonymous.status, tickedIn(anonymous)]).toEqual([403, ['burned', 'expiring']]);
    expect([textIn(anonymous.html, 'secret'), valueIn(anonymous.html, 'passphrase')]).toEqual(['kept', 'p']);
    expect(anonymous.html).toContain('id="notify-wrong"');
    expect(anonymous.html).toContain(`id="notify-wrong">${words('share.notifyNeedsAccount')}`);
    const unticked = await postForm(app, '/share', { secret: 'kept', ...boxes() });
    expect(unticked.status).toBe(303);
  });

  it('is said in its summary where something is ticked, so that nobody is mailed by surprise', async () => {
    const visitor = await signUp(createTestApp());
    const summary = async () =>
      /id="option-notify"[^>]*><summary>(.*?)<\/summary>/s.exec((await visitor.get('/')).html)?.[1] ?? '';
    expect(wordsOf(await summary()).trim()).toBe(words('share.notices'));
    await choose(visitor, 'read');
    expect(wordsOf(await summary())).toBe(`${words('share.notices')} ✓`);
  });
});

describe('the account’s name for recipients', () => {
  const name = 'IT Helpdesk';
  const visitorOf = async (app: TestApp) =>
    openAccountVisitor(app, { cookie: (await signUpAs(app, address)).cookie });
  const save = async (visitor: AccountVisitor, senderName: string) => {
    await visitor.get('/account');
    return visitor.post('/account/notices', { ...boxes('read'), 'sender-name': senderName });
  };

  it('is kept, shown again and removed, where the operator makes the accounts', async () => {
    const app = createTestApp({ signUpIsOpen: false });
    const visitor = await visitorOf(app);
    for (const typed of [name, ` ${name} `, '']) {
      expect((await save(visitor, typed)).headers.get('location')).toBe('/account?done=notices');
      const senderName = typed === '' ? null : name;
      expect(await app.store.findAccount(address)).toMatchObject({ senderName, notify: ['read'] });
      expect(valueIn((await visitor.get('/account')).html, 'sender-name')).toBe(senderName ?? '');
    }
  });

  it('comes back as it was typed when it is refused, and nothing is saved', async () => {
    const app = createTestApp({ signUpIsOpen: false });
    const visitor = await visitorOf(app);
    await save(visitor, name);
    await visitor.get('/account');
    const typed = { ...boxes('burned'), 'sender-name': 'see example.com' };
    const refused = await visitor.post('/account/notices', typed);
    expect([refused.status, valueIn(refused.html, 'sender-name')]).toEqual([422, 'see example.com']);
    expect(tickedIn(refused)).toEqual(['burned']);
    expect(refused.html).toContain('id="sender-name-wrong"');
    expect(await app.store.findAccount(address)).toMatchObject({ senderName: name, notify: ['read'] });
  });

  it('is for those alone who have the plan for it, where anyone can sign up', async () => {
    const app = createTestApp();
    const visitor = await signUp(app);
    expect((await visitor.get('/account')).html).not.toContain('sender-name');
    await save(visitor, name);
    const account = await app.store.findAccount(address);
    expect(account?.senderName).toBeNull();
    if (account !== null) await app.store.setPlan(account.id, 'identity');
    expect((await visitor.get('/account')).html).toContain('id="sender-name"');
    await save(visitor, name);
    expect((await app.store.findAccount(address))?.senderName).toBe(name);
  });
});

/** The creator's pages: every state, and that looking changes none. */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/domain/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { postForm, share, textIn, visit } from './visit.ts';

async function stateOf(app: TestApp, receiptPath: string): Promise<string> {
  const input = { metadataKey: receiptPath.slice('/receipt/'.length), authority: 'holder' } as const;
  const found = await app.service.findReceipt(input, { kind: 'anonymous' });
  return found.outcome === 'found' ? found.receipt.state : found.outcome;
}

describe('the receipt page', () => {
  it('changes nothing when it is looked at, prefetched or asked for its headers (P4)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    for (const init of [
      {},
      { method: 'HEAD' },
      { method: 'OPTIONS' },
      { headers: { purpose: 'prefetch' } },
    ]) {
      await visit(app, receiptPath, init);
      await visit(app, `${receiptPath}/burn`, init);
    }
    expect(await stateOf(app, receiptPath)).toBe('new');
    expect((await postForm(app, secretPath)).status).toBe(200);
  });

  it('shows the link again only when its creator presses for it, and notes that', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    const key = secretPath.slice('/secret/'.length);
    expect((await visit(app, receiptPath)).html).not.toContain(key);
    const pressed = await postForm(app, receiptPath);
    expect(textIn(pressed.html, 'link')).toBe(`https://mayfly.example${secretPath}`);
    expect(await stateOf(app, receiptPath)).toBe('viewed');
    expect((await visit(app, receiptPath)).html).toContain('Link shown to you');
  });

  it('builds the link from the configuration, never from the request (P20)', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    const headers = {
      host: 'evil.example',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
    };
    const pressed = await postForm(app, receiptPath, {}, headers);
    expect(textIn(pressed.html, 'link')).toStartWith('https://mayfly.example/secret/');
    expect(pressed.html).not.toContain('evil.example');
  });

  const titles = {
    received: 'It was opened',
    burned: 'It was burned',
    expired: 'It expired unread',
  } as const;
  const endings: Readonly<
    Record<keyof typeof titles, (app: TestApp, paths: { secretPath: string; receiptPath: string }) => unknown>
  > = {
    received: (app, { secretPath }) => postForm(app, secretPath),
    burned: (app, { receiptPath }) => postForm(app, `${receiptPath}/burn`),
    expired: (app) => app.clock.advance(604_800),
  };
  for (const state of ['received', 'burned', 'expired'] as const) {
    it(`tells the truth once the secret is ${state}: no link, no button, not even for the fresh cookie (P6)`, async () => {
      const app = createTestApp();
      const paths = await share(app, { secret: 'x' });
      await endings[state](app, paths);
      for (const answer of [
        await visit(app, paths.receiptPath),
        await visit(app, paths.receiptPath, { headers: { cookie: 'just-created=1' } }),
        await postForm(app, paths.receiptPath),
      ]) {
        expect([answer.status, answer.html.includes(`<h1>${titles[state]}</h1>`)]).toEqual([200, true]);
        expect(answer.html).not.toContain('<form');
        expect(answer.html).not.toContain('/secret/');
      }
    });
  }

  it('shows the obfuscated recipient and what became of the mail, never the address', async () => {
    const app = createTestApp();
    const owner = await app.account('ann@example.com');
    const caller = await app.service.authenticate(owner.username, owner.token);
    if (caller === null) throw new Error('the account is not known');
    const made = await app.service.conceal(
      { value: new Sensitive('x'), recipient: new Sensitive('joanna@example.org') },
      caller,
    );
    await app.service.settled();
    const { html } = await visit(
      app,
      made.outcome === 'created' ? `/receipt/${made.receipt.metadataKey}` : '',
    );
    expect(html).toContain('jo*****@e*****.org');
    expect(html).toContain('The mail server took it');
    expect(html).not.toContain('joanna');
  });

  it('answers 404 for a key that is unknown, misspelled or a secret’s (P13)', async () => {
    const app = createTestApp();
    const { secretPath } = await share(app, { secret: 'x' });
    for (const key of ['0'.repeat(31), 'x', '%00', secretPath.slice('/secret/'.length)]) {
      expect((await visit(app, `/receipt/${key}`)).status).toBe(404);
      expect((await postForm(app, `/receipt/${key}`)).status).toBe(404);
      expect((await visit(app, `/receipt/${key}/burn`)).status).toBe(404);
      expect((await postForm(app, `/receipt/${key}/burn`)).status).toBe(404);
    }
    expect((await postForm(app, secretPath)).status).toBe(200);
  });

  it('is also found at its older address', async () => {
    const { status, headers } = await visit(createTestApp(), `/private/${'a'.repeat(31)}`);
    expect([status, headers.get('location')]).toEqual([308, `/receipt/${'a'.repeat(31)}`]);
  });

  it('redirects to no other site, whatever the key', async () => {
    for (const key of ['%2f%2fevil.example', '%5c%5cevil.example', '%0d%0aset-cookie:x', '@evil.example']) {
      const { headers } = await visit(createTestApp(), `/private/${key}`);
      expect(headers.get('location') ?? '/receipt/').toStartWith('/receipt/');
      expect(headers.get('set-cookie')).toBeNull();
    }
  });
});

describe('burning', () => {
  it('asks first and happens by POST, then the link is dead and the receipt says so (P7)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    expect((await visit(app, `${receiptPath}/burn`)).html).toContain('Yes, burn it');
    const burned = await postForm(app, `${receiptPath}/burn`);
    expect([burned.status, burned.headers.get('location')]).toEqual([303, receiptPath]);
    expect((await postForm(app, secretPath)).status).toBe(404);
    expect(await stateOf(app, receiptPath)).toBe('burned');
  });

  it('of a secret that was opened is not reported as burned (P7)', async () => {
    const app = createTestApp();
    const { receiptPath, secretPath } = await share(app, { secret: 'x' });
    await postForm(app, secretPath);
    expect((await visit(app, `${receiptPath}/burn`)).headers.get('location')).toBe(receiptPath);
    expect((await postForm(app, `${receiptPath}/burn`)).headers.get('location')).toBe(receiptPath);
    expect(await stateOf(app, receiptPath)).toBe('received');
  });
});

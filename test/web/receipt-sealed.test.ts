/** The creator's page of an end-to-end secret, of which the server does not have the whole link. */
import { describe, expect, it } from 'bun:test';
import { anonymous, type Caller } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, textIn, visit } from './visit.ts';
import { words } from './words.ts';

async function receiptOf(app: TestApp, caller: Caller = anonymous): Promise<string> {
  const sealed = clientSecret({ hasPassphrase: true }).input();
  const made = await app.service.conceal({ ...noOptions, value: new Sensitive(''), sealed }, caller);
  if (made.outcome !== 'created') throw new Error(made.outcome);
  return `/receipt/${made.receipt.metadataKey}`;
}

describe('the receipt of an end-to-end secret', () => {
  it('never shows half a link as if it were one, nor a code of it', async () => {
    const app = createTestApp();
    const path = await receiptOf(app);
    for (const { status, html } of [await visit(app, path), await postForm(app, path)]) {
      expect(status).toBe(200);
      expect(textIn(html, 'link') ?? '').toBe('');
      // What its script fills in after a reload is empty, and hidden.
      expect(html).toMatch(
        /<div id="whole-link" hidden="">.*<path fill="#000" shape-rendering="crispEdges"><\/path>/s,
      );
      expect(html).not.toContain('/secret/');
    }
  });

  it('offers no mail, and refuses one', async () => {
    const app = createTestApp();
    const { signedIn, cookie } = await signUpAs(app, 'ann@example.com');
    const path = await receiptOf(app, signedIn.caller);
    const { html } = await visit(app, path, { headers: { cookie } });
    expect(html).not.toContain('name="recipient"');
    const headers = { cookie };
    const form = { recipient: 'joe@example.org', 'form-token': signedIn.formToken };
    const answer = await postForm(app, `${path}/send-again`, form, headers);
    await app.service.settled();
    expect([answer.status, app.mails.length]).toEqual([422, 0]);
  });

  it('burns it without a passphrase', async () => {
    const app = createTestApp();
    const path = await receiptOf(app);
    await postForm(app, `${path}/burn`);
    expect((await visit(app, path)).html).toContain(words('receipt.burnedTitle'));
  });
});

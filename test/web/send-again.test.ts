/** Sending the recipient's mail again from the receipt: every outcome is said, and the limit holds. */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/domain/sensitive.ts';
import { builtInRateLimits } from '../../src/http/rate-limit.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { createTestApp, type TestApp, type TestAppOptions } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, share, visit } from './visit.ts';

interface Mailed {
  readonly app: TestApp;
  readonly receiptPath: string;
  readonly secretPath: string;
  readonly headers: { readonly cookie: string };
  readonly token: { readonly 'form-token': string };
}

async function mail(options: TestAppOptions = {}): Promise<Mailed> {
  const app = createTestApp(options);
  const { cookie, signedIn } = await signUpAs(app, 'ann@example.com');
  const input = { value: new Sensitive('x'), recipient: new Sensitive('joanna@example.org') };
  const made = await app.service.conceal(input, signedIn.caller);
  if (made.outcome !== 'created') throw new Error(`nothing was made: ${made.outcome}`);
  await app.service.settled();
  return {
    app,
    receiptPath: `/receipt/${made.receipt.metadataKey}`,
    secretPath: `/secret/${made.receipt.secretKey}`,
    headers: { cookie },
    token: { 'form-token': signedIn.formToken },
  };
}

const press = ({ app, receiptPath, token, headers }: Mailed) =>
  postForm(app, `${receiptPath}/send-again`, token, headers);

describe('sending the mail again', () => {
  it('sends the same link to the same address and says what became of it', async () => {
    const mailed = await mail();
    const answer = await press(mailed);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      `${mailed.receiptPath}?mail=again`,
    ]);
    await mailed.app.service.settled();
    const [first, second] = mailed.app.mails;
    expect(mailed.app.mails).toHaveLength(2);
    expect(second?.to.expose()).toBe('joanna@example.org');
    expect(second?.link.expose()).toBe(first?.link.expose());
    const { html } = await visit(mailed.app, `${mailed.receiptPath}?mail=again`, { headers: mailed.headers });
    expect(html).toContain('The mail was sent again, and the mail server took it.');
    expect(html).not.toContain('joanna');
  });

  it('sends it in the language that is chosen for it', async () => {
    const { app, receiptPath, token, headers } = await mail();
    const language = supportedLocales.at(-1) ?? 'en';
    await postForm(app, `${receiptPath}/send-again`, { ...token, 'mail-language': language }, headers);
    await app.service.settled();
    expect(app.mails.map(({ locale }) => locale).at(-1)).toBe(language);
  });

  it('works for whoever holds the link of the receipt, without an account', async () => {
    const mailed = await mail();
    const { status } = await postForm(mailed.app, `${mailed.receiptPath}/send-again`);
    await mailed.app.service.settled();
    expect([status, mailed.app.mails.length]).toEqual([303, 2]);
  });

  it('says that a mail is being sent already, and sends no second one', async () => {
    const mailed = await mail({
      wrapService: (service) => ({
        ...service,
        resend: async (input, caller) => {
          const found = await service.findReceipt(input, caller);
          return found.outcome === 'found' ? { ...found, outcome: 'in_flight' } : found;
        },
      }),
    });
    const answer = await press(mailed);
    expect([answer.status, mailed.app.mails.length]).toEqual([409, 1]);
    expect(answer.html).toContain('The mail is being sent just now. It was not sent a second time.');
  });

  it('says that there is nothing to send once the secret is gone', async () => {
    const mailed = await mail();
    await postForm(mailed.app, mailed.secretPath);
    const answer = await press(mailed);
    expect([answer.status, mailed.app.mails.length]).toEqual([409, 1]);
    expect(answer.html).toContain('There is nothing to send');
  });

  it('says that there is nothing to send where nobody was to be mailed', async () => {
    const app = createTestApp();
    const { receiptPath } = await share(app, { secret: 'x' });
    expect((await visit(app, receiptPath)).html).not.toContain('/send-again');
    const { status, html } = await postForm(app, `${receiptPath}/send-again`);
    expect([status, html.includes('There is nothing to send'), app.mails]).toEqual([409, true, []]);
  });

  it('is bounded by the limit on mails, says when to try again, and shows the receipt all the same', async () => {
    const rule = { limit: 1, windowSeconds: 3_600, burst: 1 };
    const rateLimits = { ...builtInRateLimits, mail: { anonymous: rule, account: rule } };
    const mailed = await mail({ rateLimits });
    expect((await press(mailed)).status).toBe(303);
    await mailed.app.service.settled();
    const refused = await press(mailed);
    await mailed.app.service.settled();
    expect([refused.status, mailed.app.mails.length]).toEqual([429, 2]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(refused.html).toContain('Too many mails were sent just now. Nothing was sent. Try again in');
    expect(refused.html).toContain('Not opened yet');
  });

  it('happens by POST alone, and an address that claims it says no more than is true (P4)', async () => {
    const mailed = await mail();
    const { status, headers } = await visit(mailed.app, `${mailed.receiptPath}/send-again`);
    expect([status, headers.get('location')]).toEqual([303, mailed.receiptPath]);
    const { receiptPath } = await share(mailed.app, { secret: 'x' });
    const { html } = await visit(mailed.app, `${receiptPath}?mail=again`);
    expect(html).not.toContain('sent again');
    expect(mailed.app.mails).toHaveLength(1);
  });
});

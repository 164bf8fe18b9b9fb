/** Sending the mail from the receipt, again or to another address: every outcome is shown, and nothing typed is lost. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { type Mailed, mailSecret, otherRecipient, press, recipient } from './mailed.ts';
import { chosenIn, postForm, share, type Visit, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const language = supportedLocales.at(-1) ?? 'en';
const elsewhere = { recipient: otherRecipient, 'mail-language': language };

const sentTo = ({ server }: Mailed) => server.mails.map(({ to }) => to.expose());

/** The values given back in the form. */
const typedIn = ({ html }: Visit) => ({
  recipient: valueIn(html, 'recipient'),
  'mail-language': chosenIn(html, 'mail-language'),
});

describe('sending the mail again', () => {
  it('sends the same link to the same address and says what became of it', async () => {
    const mailed = await mailSecret();
    const answer = await press(mailed);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `${mailed.receiptPath}#mail`]);
    await mailed.app.service.settled();
    expect(sentTo(mailed)).toEqual([recipient, recipient]);
    const links = mailed.server.mails.map(({ link }) => link.expose());
    expect(new Set(links).size).toBe(1);
    const { html } = await visit(mailed.app, `${mailed.receiptPath}`, { headers: mailed.headers });
    expect(html).toContain(words('receipt.mailAccepted'));
    expect(html).not.toContain('joanna');
  });

  it('sends it in the language that is chosen for it', async () => {
    const mailed = await mailSecret();
    await press(mailed, { 'mail-language': language });
    await mailed.app.service.settled();
    expect(mailed.server.mails.map(({ locale }) => locale).at(-1)).toBe(language);
  });

  it('happens by POST alone (P4)', async () => {
    const mailed = await mailSecret();
    const { status, headers } = await visit(mailed.app, `${mailed.receiptPath}/send-again`);
    expect([status, headers.get('location')]).toEqual([303, mailed.receiptPath]);
    expect(sentTo(mailed)).toEqual([recipient]);
  });
});

describe('sending it to another address', () => {
  it('sends the same link there, shows that address obfuscated, and from then on again means there', async () => {
    const mailed = await mailSecret();
    const answer = await press(mailed, elsewhere);
    const location = answer.headers.get('location') ?? '';
    expect([answer.status, location]).toEqual([303, `${mailed.receiptPath}#mail`]);
    await mailed.app.service.settled();
    expect(sentTo(mailed)).toEqual([recipient, otherRecipient]);
    const links = mailed.server.mails.map(({ link }) => link.expose());
    expect(new Set(links).size).toBe(1);
    expect(mailed.server.mails.at(-1)?.locale).toBe(language);
    const { html } = await visit(mailed.app, mailed.receiptPath, { headers: mailed.headers });
    expect(html).toContain('ca*****@e*****.net');
    expect(html).not.toContain('carla');
    await press(mailed);
    await mailed.app.service.settled();
    expect(sentTo(mailed)).toEqual([recipient, otherRecipient, otherRecipient]);
  });

  it('is a first mail where nobody was mailed before', async () => {
    const mailed = await mailSecret({ to: null });
    expect((await press(mailed, elsewhere)).status).toBe(303);
    await mailed.app.service.settled();
    expect(sentTo(mailed)).toEqual([otherRecipient]);
    expect(mailed.server.mails[0]?.link.expose()).toEndWith(mailed.secretPath);
  });

  it('asks for an address where none is known and none was given', async () => {
    const mailed = await mailSecret({ to: null });
    const answer = await press(mailed);
    expect([answer.status, sentTo(mailed)]).toEqual([422, []]);
    expect(answer.html).toContain(`id="recipient-wrong">${words('receipt.mailNobody')}`);
  });

  it('marks an address that no mail can be sent to, and keeps it in its field', async () => {
    for (const wrong of ['joanna at example', 'a@b', `"><b>x`, 'one@example.org, two@example.org']) {
      const mailed = await mailSecret();
      const answer = await press(mailed, { ...elsewhere, recipient: wrong });
      expect([answer.status, sentTo(mailed)]).toEqual([422, [recipient]]);
      expect(typedIn(answer)).toEqual({ ...elsewhere, recipient: wrong });
      expect(answer.html).toContain('id="recipient-wrong"');
      expect(answer.html).toContain('<details class="chip" open="">');
    }
  });

  it('is refused to whoever only holds the key of an anonymous receipt, who is told to log in and loses nothing', async () => {
    const { app, server } = await mailSecret({ to: null });
    const { receiptPath } = await share(app, { secret: 'x' });
    const answer = await postForm(app, `${receiptPath}/send-again`, elsewhere);
    await app.service.settled();
    expect([answer.status, server.mails]).toEqual([403, []]);
    expect(answer.html).toContain(words('receipt.mailNeedsAccount'));
    expect(answer.html).toContain('href="/log-in"');
    expect(typedIn(answer)).toEqual(elsewhere);
  });
});

describe('a mail that is not sent', () => {
  it('because one is under way already says so, loses nothing and sends no second one', async () => {
    const mailed = await mailSecret({ says: 'nothing' });
    const answer = await press(mailed, elsewhere);
    expect([answer.status, sentTo(mailed)]).toEqual([409, [recipient]]);
    expect(answer.html).toContain(words('receipt.mailInFlight'));
    expect(typedIn(answer)).toEqual(elsewhere);
    await mailed.server.answer({ state: 'not_sent', reply: null });
  });

  it('because the secret is gone says so, whatever was typed', async () => {
    for (const fields of [{}, elsewhere, { recipient: 'no address' }]) {
      const mailed = await mailSecret();
      await postForm(mailed.app, mailed.secretPath);
      const answer = await press(mailed, fields);
      expect([answer.status, sentTo(mailed)]).toEqual([409, [recipient]]);
      expect(answer.html).toMatch(saying('receipt.mailNothing'));
    }
  });

  it('because nobody was to be mailed says so to whoever only holds the receipt’s key', async () => {
    const { app, server } = await mailSecret({ to: null });
    const { receiptPath } = await share(app, { secret: 'x' });
    expect((await visit(app, receiptPath)).html).not.toContain('/send-again');
    const { status, html } = await postForm(app, `${receiptPath}/send-again`);
    expect([status, html.includes(words('receipt.mailNothing')), server.mails]).toEqual([409, true, []]);
  });

  it('because too many were sent says when to try again, and loses nothing', async () => {
    const rule = { limit: 2, windowSeconds: 3_600, burst: 2 };
    const rateLimits = { ...builtInRateLimits, mail: { anonymous: rule, account: rule } };
    const mailed = await mailSecret({ rateLimits });
    expect((await press(mailed)).status).toBe(303);
    await mailed.app.service.settled();
    const answer = await press(mailed, elsewhere);
    await mailed.app.service.settled();
    expect([answer.status, sentTo(mailed)]).toEqual([429, [recipient, recipient]]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answer.html).toMatch(saying('receipt.mailTooMany'));
    expect(answer.html).toContain(words('receipt.newTitle'));
    expect(typedIn(answer)).toEqual(elsewhere);
  });

  it('because there were too many requests says when to try again, and loses nothing', async () => {
    const rule = { limit: 1, windowSeconds: 3_600, burst: 1 };
    const rateLimits = { ...builtInRateLimits, manage: { anonymous: rule, account: rule } };
    const mailed = await mailSecret({ rateLimits });
    expect((await press(mailed)).status).toBe(303);
    await mailed.app.service.settled();
    const answer = await press(mailed, elsewhere);
    expect([answer.status, sentTo(mailed)]).toEqual([429, [recipient, recipient]]);
    expect(answer.html).toMatch(saying('error.rate'));
    expect(typedIn(answer)).toEqual(elsewhere);
  });

  it('because the session ended meanwhile says so, and shows nothing of the receipt', async () => {
    const mailed = await mailSecret();
    await mailed.app.accounts.logOut(mailed.signedIn);
    const answer = await press(mailed, elsewhere);
    expect([answer.status, sentTo(mailed)]).toEqual([403, [recipient]]);
    expect(answer.html).toMatch(saying('error.stale'));
    expect(answer.html).toContain('href="/log-in"');
    expect(answer.html).not.toContain('jo*****@e*****.org');
  });

  it('because it cannot be noted says when to try again, and loses nothing', async () => {
    const down = async () => Promise.reject(new ServiceError('unavailable', 'down'));
    let isDown = false;
    const mailed = await mailSecret({
      wrapStore: (store) => ({
        ...store,
        queueDelivery: (...given) => (isDown ? down() : store.queueDelivery(...given)),
        setDelivery: (...given) => (isDown ? down() : store.setDelivery(...given)),
      }),
    });
    isDown = true;
    const answer = await press(mailed, elsewhere);
    await mailed.app.service.settled();
    expect([answer.status, sentTo(mailed)]).toEqual([503, [recipient]]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(typedIn(answer)).toEqual(elsewhere);
  });
});

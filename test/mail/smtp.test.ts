/** Handing mail over to a server that accepts, hesitates or refuses, and what the sender is told. */
import { describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import type { Handover } from '../../src/core/mailer.ts';
import { linksOf, openPostOffice, sampleAccountMails, sampleMail, type Treatment } from './post-office.ts';
import { mailerFor } from './smtp-mailer.ts';

const temporary = { at: 'recipient', reply: 451 } as const;
const link = sampleMail().link.expose();
const key = link.slice(link.lastIndexOf('/') + 1);

describe('a mail server that takes the mail', () => {
  it('gets one message for one recipient, and the receipt says accepted with its reply', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    const { state, reply } = await post.mailer.sendSecretLink(sampleMail(), post.onRetry);
    expect(state).toBe('accepted');
    expect(reply).toMatch(/^250 /);
    expect(office.arrived.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: 'noreply@mail.example.com', to: ['jo@example.org'] },
    ]);
    expect(post.steps).toEqual([]);
  });

  it('gets undeliverable mail returned to another address where one is set', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office, { returnPath: 'bounces@example.com' });
    await post.mailer.sendSecretLink(sampleMail());
    expect(office.arrived[0]?.from).toBe('bounces@example.com');
    const parsed = await PostalMime.parse(office.arrived[0]?.raw ?? '');
    expect(parsed.from?.address).toBe('noreply@mail.example.com');
    expect(office.arrived[0]?.raw).not.toContain('bounces@');
  });

  it('is used over at most three connections, however many mails come at once', async () => {
    const three = Promise.withResolvers<void>();
    let held = 0;
    await using office = await openPostOffice([], {
      onRcptTo: (_address, _session, done) => {
        held += 1;
        if (held === 3) three.resolve();
        void three.promise.then(() => done());
      },
    });
    using post = mailerFor(office);
    const names = Array.from({ length: 20 }, (_, index) => `person${index}@example.org`);
    const results = await Promise.all(names.map((to) => post.mailer.sendSecretLink(sampleMail({ to }))));
    expect(new Set(results.map(({ state }) => state))).toEqual(new Set(['accepted'] as const));
    expect(office.arrived.map(({ to }) => to.join()).sort()).toEqual(names.sort());
    expect(office.connections()).toEqual({ all: 3, most: 3 });
  });

  it('self-test: a fourth connection is counted', async () => {
    await using office = await openPostOffice();
    using one = mailerFor(office);
    using two = mailerFor(office);
    const mails = [one, one, one, two].map(({ mailer }) => mailer.sendSecretLink(sampleMail()));
    await Promise.all(mails);
    expect(office.connections().all).toBeGreaterThan(3);
  });
});

describe('mail about an account', () => {
  it('arrives whole: every link in the text and the HTML, and no other', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    for (const mail of sampleAccountMails()) {
      expect((await post.mailer.sendAccountMail(mail)).state).toBe('accepted');
      const { text = '', html = '' } = await PostalMime.parse(office.arrived.at(-1)?.raw ?? '');
      for (const part of [text, html])
        expect(new Set(part.match(/https?:\/\/[^"<\s]+/g))).toEqual(new Set(linksOf(mail)));
    }
  });

  it('is tried again, given up and bounded like any other', async () => {
    const [mail] = sampleAccountMails();
    if (mail === undefined) throw new Error('there is no sample');
    await using office = await openPostOffice([temporary, 'accept', { at: 'recipient', reply: 550 }]);
    using post = mailerFor(office, { retryDelaysMs: [1], maxPending: 1 });
    expect((await post.mailer.sendAccountMail(mail)).state).toBe('accepted');
    expect(post.pausesMs()).toEqual([1]);
    expect((await post.mailer.sendAccountMail(mail)).state).toBe('refused');
    const both = [post.mailer.sendAccountMail(mail), post.mailer.sendSecretLink(sampleMail())];
    expect((await Promise.all(both)).map(({ state }) => state)).toEqual(['accepted', 'not_sent']);
  });
});

describe('a mail server that refuses for now', () => {
  it('is asked again after 5 s, 1, 5 and 15 minutes, each pause told with the reply before it begins', async () => {
    await using office = await openPostOffice([temporary, temporary, temporary, temporary]);
    using post = mailerFor(office);
    const { state } = await post.mailer.sendSecretLink(sampleMail(), post.onRetry);
    expect(state).toBe('accepted');
    expect(post.steps).toEqual([
      ['told', 40, '451 Told to'],
      ['paused', 5_000],
      ['told', 95, '451 Told to'],
      ['paused', 60_000],
      ['told', 335, '451 Told to'],
      ['paused', 300_000],
      ['told', 935, '451 Told to'],
      ['paused', 900_000],
    ]);
  });

  it('recognises the mail when it comes again: greylisting sees the same Message-ID and the same bytes', async () => {
    await using office = await openPostOffice([
      { at: 'message', reply: 451, saying: '4.7.1 Greylisted' },
      { at: 'message', reply: 450 },
    ]);
    using post = mailerFor(office);
    expect((await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).state).toBe('accepted');
    expect([office.attempts(), office.arrived.length]).toEqual([3, 1]);
    const ids = office.offered.map(
      (raw) => /^Message-ID: <[0-9a-f]{32}@mail\.example\.com>\r$/m.exec(raw)?.[0],
    );
    expect(ids).toEqual([expect.any(String), ids[0], ids[0]]);
    expect(post.steps[0]).toEqual(['told', 40, '451 4.7.1 Greylisted']);
    expect(post.faults.map(({ replyCode, willRetry }) => [replyCode, willRetry])).toEqual([
      [451, true],
      [450, true],
    ]);
  });

  it('is given up after the last attempt, with what it said last', async () => {
    const last = { at: 'recipient', reply: 452, saying: '4.2.2 Mailbox full' } as const;
    await using office = await openPostOffice([temporary, temporary, last]);
    using post = mailerFor(office, { retryDelaysMs: [1, 2] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toEqual({
      state: 'given_up',
      reply: '452 4.2.2 Mailbox full',
    });
    expect([office.attempts(), post.pausesMs(), office.arrived.length]).toEqual([3, [1, 2], 0]);
    expect(post.faults.at(-1)?.willRetry).toBe(false);
  });

  it('is believed when it then refuses for good', async () => {
    await using office = await openPostOffice([temporary, { at: 'recipient', reply: 550 }]);
    using post = mailerFor(office);
    expect(await post.mailer.sendSecretLink(sampleMail())).toEqual({
      state: 'refused',
      reply: '550 Told to',
    });
    expect(post.pausesMs()).toEqual([5_000]);
  });
});

describe('a mail server that refuses for good', () => {
  const refusals: readonly [string, Treatment & object][] = [
    ['the sender', { at: 'sender', reply: 553 }],
    ['the recipient', { at: 'recipient', reply: 550 }],
    ['the message', { at: 'message', reply: 554 }],
  ];
  for (const [what, treatment] of refusals) {
    it(`is not asked again when it refuses ${what}, and the receipt says refused with its reply`, async () => {
      await using office = await openPostOffice([treatment]);
      using post = mailerFor(office);
      const reply = 'reply' in treatment ? `${treatment.reply} Told to` : '';
      expect(await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).toEqual({
        state: 'refused',
        reply,
      });
      expect([office.attempts(), post.steps, office.arrived.length]).toEqual([1, [], 0]);
    });
  }

  const logIns: readonly [string, string, number][] = [
    ['refuses the log-in', 'EAUTH', 535],
    ['wants a log-in', 'EENVELOPE', 530],
  ];
  for (const [what, code, replyCode] of logIns) {
    it(`does not make it the recipient’s when it ${what}: not sent, and the operator is told`, async () => {
      await using office = await openPostOffice([{ at: 'sender', reply: 530 }], {
        allowInsecureAuth: true,
        onAuth: (_auth, _session, done) =>
          done(Object.assign(new Error('No, user'), { responseCode: replyCode })),
      });
      const url = code === 'EAUTH' ? office.url.replace('//', '//user:wrong@') : office.url;
      using post = mailerFor({ url });
      expect(await post.mailer.sendSecretLink(sampleMail())).toEqual({ state: 'not_sent', reply: null });
      expect(post.faults).toEqual([{ code, replyCode, willRetry: false }]);
      expect(post.steps).toEqual([]);
    });
  }
});

describe('what a mail server says', () => {
  const said = `5.7.1 <jo@example.org>: ${link} looks bad, key ${key.toUpperCase()}, for JO@example.org`;
  const hidden = '5.7.1 <…>: … looks bad, key …, for …';

  it('is shown without the link, its key and the recipient’s address', async () => {
    await using office = await openPostOffice([
      { at: 'message', reply: 451, saying: said },
      { at: 'recipient', reply: 550, saying: said },
    ]);
    using post = mailerFor(office);
    const ended: Handover = await post.mailer.sendSecretLink(sampleMail(), post.onRetry);
    expect(post.steps[0]).toEqual(['told', 40, `451 ${hidden}`]);
    expect(ended).toEqual({ state: 'refused', reply: `550 ${hidden}` });
  });

  it('is shown without an address that it writes in another alphabet', async () => {
    const to = 'jo@bücher.example';
    const saying = `No jo@bücher.example, no jo@xn--bcher-kva.example here`;
    await using office = await openPostOffice([{ at: 'recipient', reply: 550, saying }]);
    using post = mailerFor(office);
    expect((await post.mailer.sendSecretLink(sampleMail({ to }))).reply).toBe('550 No …, no … here');
  });
});

describe('the mailer itself', () => {
  it('holds a bounded number of mails in memory; more are not sent', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office, { maxPending: 2 });
    const results = await Promise.all([1, 2, 3].map(() => post.mailer.sendSecretLink(sampleMail())));
    expect(results.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'not_sent']);
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
  });

  it('ends what waits for another attempt when it is closed', async () => {
    await using office = await openPostOffice([temporary]);
    const waiting = Promise.withResolvers<void>();
    using post = mailerFor(office, {
      sleep: (_milliseconds, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          waiting.resolve();
        }),
    });
    const result = post.mailer.sendSecretLink(sampleMail());
    await waiting.promise;
    post.mailer.close();
    expect(await result).toEqual({ state: 'not_sent', reply: null });
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('not_sent');
  });

  it('ends an attempt that is under way when it is closed', async () => {
    const reached = Promise.withResolvers<void>();
    await using office = await openPostOffice([], { onRcptTo: () => reached.resolve() });
    using post = mailerFor(office);
    const result = post.mailer.sendSecretLink(sampleMail(), post.onRetry);
    await reached.promise;
    post.mailer.close();
    expect(await result).toEqual({ state: 'not_sent', reply: null });
    expect(post.steps).toEqual([]);
  });

  it('does not hold up its caller: the call returns before anything is connected (T28)', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    await post.mailer.prepare();
    const order: string[] = [];
    const result = post.mailer.sendSecretLink(sampleMail()).then(() => order.push('handed over'));
    order.push(`returned with ${office.connections().all} connections`);
    await result;
    expect(order).toEqual(['returned with 0 connections', 'handed over']);
  });

  it('never rejects, whatever is in the mail', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    const odd = { ...sampleMail(), expiresAt: Number.NaN, locale: '\u0000' };
    expect((await post.mailer.sendSecretLink(odd)).state).toBe('not_sent');
    const noUrl = {
      ...sampleMail(),
      kind: 'password_changed',
      tokens: 'keep',
      forgottenUrl: 'nowhere',
    } as const;
    expect((await post.mailer.sendAccountMail(noUrl)).state).toBe('not_sent');
  });
});

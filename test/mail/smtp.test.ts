/** The hand-over of mail to a server that accepts, hesitates, refuses, breaks off or says nothing. */
import { describe, expect, it } from 'bun:test';
import { createServer } from 'node:net';
import PostalMime from 'postal-mime';
import { createSmtpMailer, type MailFault, type SmtpMailerOptions } from '../../src/mail/smtp.ts';
import { linksOf, openPostOffice, type PostOffice, sampleAccountMails, sampleMail } from './post-office.ts';

const temporary = { at: 'recipient', reply: 451 } as const;

function mailerFor(office: Pick<PostOffice, 'url'>, options: Partial<SmtpMailerOptions> = {}) {
  const slept: number[] = [];
  const faults: MailFault[] = [];
  const mailer = createSmtpMailer({
    url: office.url,
    from: 'Mayfly <noreply@mail.example.com>',
    sleep: async (milliseconds) => {
      slept.push(milliseconds);
    },
    onFault: (fault) => faults.push(fault),
    ...options,
  });
  return { mailer, slept, faults, [Symbol.dispose]: () => mailer.close() };
}

describe('a mail server that takes the mail', () => {
  it('gets one message for one recipient, and the receipt says accepted', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
    expect(office.arrived.map(({ from, to }) => ({ from, to }))).toEqual([
      { from: 'noreply@mail.example.com', to: ['jo@example.org'] },
    ]);
    expect(post.slept).toEqual([]);
  });

  it('is used for many mails at once, each to its own recipient only', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    const names = Array.from({ length: 40 }, (_, index) => `person${index}@example.org`);
    const results = await Promise.all(names.map((to) => post.mailer.sendSecretLink(sampleMail({ to }))));
    expect(new Set(results)).toEqual(new Set(['accepted'] as const));
    expect(office.arrived.map(({ to }) => to.join()).sort()).toEqual(names.sort());
  });
});

describe('mail about an account', () => {
  it('arrives whole: every link in the text and the HTML, and no other', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    for (const mail of sampleAccountMails()) {
      expect(await post.mailer.sendAccountMail(mail)).toBe('accepted');
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
    expect(await post.mailer.sendAccountMail(mail)).toBe('accepted');
    expect(post.slept).toEqual([1]);
    expect(await post.mailer.sendAccountMail(mail)).toBe('refused');
    const both = [post.mailer.sendAccountMail(mail), post.mailer.sendSecretLink(sampleMail())];
    expect(await Promise.all(both)).toEqual(['accepted', 'not_sent']);
  });
});

describe('a mail server that refuses for now', () => {
  it('is asked again after a pause, with the same Message-ID', async () => {
    await using office = await openPostOffice([temporary, { at: 'message', reply: 450 }]);
    using post = mailerFor(office, { retryDelaysMs: [2_000, 20_000] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
    expect(post.slept).toEqual([2_000, 20_000]);
    expect(office.attempts()).toBe(3);
    expect(office.arrived).toHaveLength(1);
    const ids = office.offered.map(
      (raw) => /^Message-ID: <[0-9a-f]{32}@mail\.example\.com>\r$/m.exec(raw)?.[0],
    );
    expect(ids).toEqual([expect.any(String), ids[0]]);
    expect(post.faults.map(({ replyCode, willRetry }) => [replyCode, willRetry])).toEqual([
      [451, true],
      [450, true],
    ]);
  });

  it('is given up after the last attempt, and the receipt says not sent', async () => {
    await using office = await openPostOffice([temporary, temporary, temporary]);
    using post = mailerFor(office, { retryDelaysMs: [1, 2] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    expect([office.attempts(), post.slept, office.arrived.length]).toEqual([3, [1, 2], 0]);
  });
});

describe('a mail server that refuses for good', () => {
  for (const at of ['recipient', 'message'] as const) {
    it(`is not asked again when it refuses the ${at}, and the receipt says refused`, async () => {
      await using office = await openPostOffice([{ at, reply: 550 }]);
      using post = mailerFor(office);
      expect(await post.mailer.sendSecretLink(sampleMail())).toBe('refused');
      expect([office.attempts(), post.slept, office.arrived.length]).toEqual([1, [], 0]);
    });
  }

  it('does not make a refusal of its log-in the recipient’s: not sent, and the operator is told', async () => {
    await using office = await openPostOffice([], {
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(Object.assign(new Error('No'), { responseCode: 535 })),
    });
    using post = mailerFor({ url: office.url.replace('//', '//user:wrong@') });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    expect(post.faults).toEqual([{ code: 'EAUTH', replyCode: 535, willRetry: false }]);
  });
});

describe('a mail server in trouble', () => {
  for (const at of ['recipient', 'message'] as const) {
    it(`that breaks off at the ${at} is tried again on a new connection`, async () => {
      await using office = await openPostOffice([{ at, does: 'drop' }]);
      using post = mailerFor(office);
      expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
      expect([office.attempts(), office.arrived.length, post.slept.length]).toEqual([2, 1, 1]);
    });
  }

  it('that stalls is left at the end of the attempt’s time and tried again', async () => {
    await using office = await openPostOffice([{ at: 'message', does: 'stall' }]);
    using post = mailerFor(office, { attemptTimeoutMs: 300 });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
    expect(post.slept).toHaveLength(1);
  });

  it('that trickles its greeting for ever is left as well', async () => {
    const timers = new Set<Timer>();
    const trickler = createServer((socket) => {
      socket.on('error', () => {});
      timers.add(setInterval(() => socket.write('220-please hold\r\n'), 20));
    });
    await new Promise<void>((resolve) => trickler.listen(0, '127.0.0.1', resolve));
    const { port } = trickler.address() as { port: number };
    using post = mailerFor({ url: `smtp://127.0.0.1:${port}` }, { attemptTimeoutMs: 300, retryDelaysMs: [] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    for (const timer of timers) clearInterval(timer);
    trickler.close();
  });

  it('that is down is tried a bounded number of times', async () => {
    const office = await openPostOffice();
    await office[Symbol.asyncDispose]();
    using post = mailerFor(office, { retryDelaysMs: [1, 1] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    expect(post.slept).toEqual([1, 1]);
  });
});

describe('the mailer itself', () => {
  it('holds a bounded number of mails in memory; more are not sent', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office, { maxPending: 2 });
    const results = await Promise.all([1, 2, 3].map(() => post.mailer.sendSecretLink(sampleMail())));
    expect(results).toEqual(['accepted', 'accepted', 'not_sent']);
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
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
    expect(await result).toBe('not_sent');
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
  });

  it('does not hold up its caller: the call returns before anything is connected (T28)', async () => {
    await using office = await openPostOffice([{ at: 'message', does: 'stall' }]);
    using post = mailerFor(office, { attemptTimeoutMs: 300, retryDelaysMs: [] });
    await post.mailer.prepare();
    const started = performance.now();
    const result = post.mailer.sendSecretLink(sampleMail());
    expect(performance.now() - started).toBeLessThan(50);
    expect(await result).toBe('not_sent');
  });

  it('never rejects, whatever is in the mail', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office);
    const odd = { ...sampleMail(), expiresAt: Number.NaN, locale: '\u0000' };
    expect(await post.mailer.sendSecretLink(odd)).toBe('not_sent');
    const noUrl = { ...sampleMail(), kind: 'password_changed', forgottenUrl: 'nowhere' } as const;
    expect(await post.mailer.sendAccountMail(noUrl)).toBe('not_sent');
  });
});

describe('encryption on the way', () => {
  it('is demanded where it was asked for: a stripped STARTTLS gets no mail', async () => {
    await using office = await openPostOffice([], { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
    using post = mailerFor({ url: `${office.url}?tls=required` });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    expect([office.attempts(), office.arrived.length]).toEqual([0, 0]);
  });

  it('is not given to a server with a certificate nobody vouches for', async () => {
    await using office = await openPostOffice();
    using post = mailerFor({ url: `${office.url}?tls=required` }, { retryDelaysMs: [] });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('not_sent');
    expect(office.attempts()).toBe(0);
  });

  it('tooth check: the same stripped server gets the mail when encryption is not demanded', async () => {
    await using office = await openPostOffice([], { hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });
    using post = mailerFor({ url: `${office.url}?tls=never` });
    expect(await post.mailer.sendSecretLink(sampleMail())).toBe('accepted');
  });
});

/** Probing the mail server: what is found, and the sentence that says what to do. */
import { describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import { Sensitive } from '../../src/core/sensitive.ts';
import { type MailProbeOptions, probeMail } from '../../src/mail/probe.ts';
import { smtpServerOf } from '../support/settings.ts';
import { certificate } from './certificate.ts';
import { openPostOffice, type PostOffice, type Treatment } from './post-office.ts';
import { type Conduct, openStubbornServer } from './stubborn-server.ts';

const recipient = new Sensitive('jo@example.org');

const options = {
  from: 'Mayfly <noreply@mail.example.com>',
  recipient: null,
  site: 'secrets.example.com',
  locale: 'en',
};

function probe(url: string, changes: Partial<MailProbeOptions> = {}) {
  return probeMail({ ...options, server: smtpServerOf(url), trustedAuthority: certificate.cert, ...changes });
}

function withLogIn(url: string): string {
  return url.replace('//', '//user:canary@');
}

function portOf(office: PostOffice): string {
  return new URL(office.url).port;
}

describe('a healthy mail server', () => {
  it('is reported as such, with its encryption, and nothing is sent', async () => {
    await using office = await openPostOffice([], certificate);
    const { server, testMail } = await probe(`${office.url}?tls=required`);
    const words = `127.0.0.1 answers on port ${portOf(office)}, encrypted (STARTTLS)`;
    expect([server, testMail]).toEqual([{ outcome: 'well', words }, null]);
    expect(office.attempts()).toBe(0);
  });

  it('is reported to accept the log-in only if it did', async () => {
    await using taking = await openPostOffice([], {
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(null, { user: 'user' }),
    });
    expect((await probe(withLogIn(taking.url))).server.words).toEndWith(
      'not encrypted, and accepts the log-in',
    );
    await using open = await openPostOffice([], { disabledCommands: ['AUTH'] });
    expect((await probe(withLogIn(open.url))).server.words).toEndWith(
      'offers no log-in, so the one in MAYFLY_SMTP_URL is unused',
    );
  });

  it('takes one test mail where one is asked for, without a link, and its reply is told', async () => {
    await using office = await openPostOffice([], { ...certificate, secure: true });
    const { testMail } = await probe(office.url.replace('smtp:', 'smtps:'), { recipient });
    expect(testMail?.outcome).toBe('well');
    expect(testMail?.words).toMatch(/^accepted by the server, which said: 250 /);
    expect(office.arrived.map(({ to }) => to)).toEqual([['jo@example.org']]);
    const { subject, text, html } = await PostalMime.parse(office.arrived[0]?.raw ?? '');
    expect(subject).toBe('Email from secrets.example.com works');
    expect(text).toContain('The people who run secrets.example.com');
    expect(html).not.toContain('href');
  });
});

describe('a mail server that is not reached', () => {
  it('by its name, or at its port', async () => {
    const unknown = (await probe('smtp://no-such-host.invalid', { recipient })).server;
    expect(unknown).toMatchObject({ outcome: 'failed' });
    expect(unknown.words).toContain('No host is named no-such-host.invalid');
    const office = await openPostOffice();
    await office[Symbol.asyncDispose]();
    const { server, testMail } = await probe(office.url, { recipient });
    expect(server.words).toContain(`127.0.0.1 does not answer on port ${portOf(office)}`);
    expect(testMail).toBeNull();
  });

  const conducts: readonly [string, Conduct, string][] = [
    [
      'falls silent',
      { at: 'greeting', does: 'stall' },
      'does not respond: if that port encrypts from the first byte, use smtps://',
    ],
    ['falls silent later', { at: 'EHLO', does: 'stall' }, 'does not respond'],
    ['breaks off', { at: 'greeting', does: 'drop' }, 'closes the connection'],
    [
      'turns strangers away',
      { at: 'greeting', says: '554 Not you' },
      'ask its operator to allow it. It said: 554 Not you',
    ],
    ['is a web server', { at: 'greeting', says: 'HTTP/1.1 400 Bad Request' }, 'is not a mail server'],
    ['is busy', { at: 'greeting', says: '421 Busy' }, 'asks to come back later'],
    [
      'refuses the log-in',
      { at: 'AUTH', says: '535 No canary' },
      'refuses the log-in: check user and password in MAYFLY_SMTP_URL',
    ],
    ['cannot check the log-in', { at: 'AUTH', says: '454 Not now' }, 'cannot check the log-in now'],
  ];
  for (const [what, conduct, words] of conducts) {
    it(`because it ${what}`, async () => {
      await using stubborn = await openStubbornServer([conduct]);
      const { server } = await probe(withLogIn(stubborn.url), { attemptTimeoutMs: 400 });
      expect(server.words).toContain(words);
      expect(server.words).not.toContain('canary');
      expect(server.outcome).toBe(/ It said: 4\d\d /.test(server.words) ? 'later' : 'failed');
    });
  }
});

describe('encryption that fails', () => {
  it('because it is not offered', async () => {
    await using stubborn = await openStubbornServer();
    expect((await probe(`${stubborn.url}?tls=required`)).server.words).toContain(
      'offers no encryption (STARTTLS): use smtps:// with port 465',
    );
  });

  it('because nobody vouches for the certificate, or it is for another name', async () => {
    await using office = await openPostOffice([], certificate);
    const url = `${office.url}?tls=required`;
    expect((await probeMail({ ...options, server: smtpServerOf(url) })).server.words).toContain(
      'NODE_EXTRA_CA_CERTS',
    );
    expect((await probe(url.replace('127.0.0.1', 'localhost'))).server.words).toContain(
      'The certificate of localhost is for another name',
    );
  });

  it('because the port is for the other kind', async () => {
    await using plain = await openPostOffice();
    expect((await probe(plain.url.replace('smtp:', 'smtps:'))).server.words).toContain(
      'does not encrypt from the first byte: use smtp://',
    );
    await using implicit = await openPostOffice([], { ...certificate, secure: true });
    const { server } = await probe(`${implicit.url}?tls=required`, { attemptTimeoutMs: 400 });
    expect(server.words).toContain('use smtps://');
  });
});

describe('a test mail', () => {
  const refusals: readonly [string, Treatment & object, string, 'failed' | 'later'][] = [
    ['the sender', { at: 'sender', reply: 553 }, 'refuses the sender: set MAYFLY_MAIL_FROM', 'failed'],
    ['mail without a log-in', { at: 'sender', reply: 530 }, 'requires a log-in', 'failed'],
    [
      'the recipient',
      { at: 'recipient', reply: 550, saying: '<jo@example.org> unknown' },
      'refuses the recipient',
      'failed',
    ],
    [
      'the greeting, as Postfix does it',
      { at: 'recipient', reply: 504, saying: '<x>: Helo command rejected: need fully-qualified hostname' },
      'set MAYFLY_MAIL_HELO',
      'failed',
    ],
    [
      'the greeting, as Google does it',
      { at: 'sender', reply: 421, saying: '4.7.0 Try again later, closing connection. (EHLO)' },
      'set MAYFLY_MAIL_HELO',
      'later',
    ],
    ['the message', { at: 'message', reply: 554 }, 'refuses the message', 'failed'],
    ['strangers for now', { at: 'recipient', reply: 451 }, 'greylisting', 'later'],
  ];
  for (const [what, treatment, words, outcome] of refusals) {
    it(`to a server that refuses ${what} is told with the reply, without the address`, async () => {
      await using office = await openPostOffice([treatment]);
      const { server, testMail } = await probe(office.url, { recipient });
      expect([server.outcome, testMail?.outcome]).toEqual(['well', outcome]);
      expect(testMail?.words).toContain(words);
      expect(testMail?.words).toMatch(/ It said: [45]\d\d /);
      expect(testMail?.words).not.toContain('jo@example.org');
      expect(office.attempts()).toBe(1);
    });
  }

  it('to what is no address is not sent', async () => {
    await using office = await openPostOffice();
    const { testMail } = await probe(office.url, { recipient: new Sensitive('jo@x.org\r\nBcc: e@x.org') });
    expect(testMail).toEqual({ outcome: 'failed', words: 'The recipient must be one address: name@host.' });
    expect(office.attempts()).toBe(0);
  });

  it('to a server that falls silent in the middle ends', async () => {
    await using office = await openPostOffice([{ at: 'message', does: 'stall' }]);
    const { testMail } = await probe(office.url, { recipient, attemptTimeoutMs: 400 });
    expect([testMail?.outcome, testMail?.words]).toEqual([
      'failed',
      expect.stringContaining('does not respond'),
    ]);
  });
});

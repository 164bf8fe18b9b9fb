/** Encryption on the way to the mail server: where it is required, and what happens when someone strips it. */
import { describe, expect, it } from 'bun:test';
import { certificate } from './certificate.ts';
import { openPostOffice, sampleMail } from './post-office.ts';
import { mailerFor } from './smtp-mailer.ts';
import { openStubbornServer } from './stubborn-server.ts';

const trusting = { trustedAuthority: certificate.cert };
const notSent = { state: 'not_sent', reply: null } as const;

function secured(url: string): string {
  return url.replace('smtp:', 'smtps:');
}

describe('encryption on the way', () => {
  it('is used from the first byte with smtps', async () => {
    await using office = await openPostOffice([], { ...certificate, secure: true });
    using post = mailerFor({ url: secured(office.url) }, trusting);
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect(office.arrived.map(({ isEncrypted }) => isEncrypted)).toEqual([true]);
  });

  for (const tls of ['required', 'opportunistic']) {
    it(`is used with STARTTLS where it is offered and ${tls}`, async () => {
      await using office = await openPostOffice([], certificate);
      using post = mailerFor({ url: `${office.url}?tls=${tls}` }, trusting);
      expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
      expect(office.arrived.map(({ isEncrypted }) => isEncrypted)).toEqual([true]);
    });
  }

  it('covers the log-in', async () => {
    const logIns: boolean[] = [];
    await using office = await openPostOffice([], {
      ...certificate,
      onAuth: (_auth, session, done) => {
        logIns.push(session.secure);
        done(null, { user: 'user' });
      },
    });
    const url = `${office.url.replace('//', '//user:pass@')}?tls=required`;
    using post = mailerFor({ url }, trusting);
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect(logIns).toEqual([true]);
  });

  it('is demanded where it was asked for: a stripped STARTTLS gets no mail and not a byte of it, once and for all', async () => {
    await using server = await openStubbornServer();
    const url = `${server.url.replace('//', '//user:pass@')}?tls=required`;
    using post = mailerFor({ url });
    expect(await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).toEqual(notSent);
    expect(server.heard).toEqual([expect.stringMatching(/^EHLO [^\r\n]+\r\nSTARTTLS\r\n$/)]);
    expect([server.taken, post.steps]).toEqual([[], []]);
    expect(post.faults).toEqual([{ code: 'ETLS', replyCode: 502, willRetry: false }]);
  });

  it('is gone without where it was only hoped for: a stripped STARTTLS gets the mail in plain', async () => {
    await using server = await openStubbornServer();
    using post = mailerFor({ url: `${server.url}?tls=opportunistic` });
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect(server.taken).toHaveLength(1);
  });

  it('is gone without where it was only hoped for and refused when taken up, but the log-in is then kept back', async () => {
    await using server = await openStubbornServer([
      { at: 'EHLO', says: '250-mail.example.com\r\n250-AUTH PLAIN\r\n250 STARTTLS' },
    ]);
    const url = `${server.url.replace('//', '//user:pass@')}?tls=opportunistic`;
    using post = mailerFor({ url });
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect(server.heard.join()).not.toContain('AUTH');
  });

  it('self-test: where it is never wanted, mail and log-in go in plain, and an offer is left alone', async () => {
    await using server = await openStubbornServer([
      { at: 'EHLO', says: '250-mail.example.com\r\n250-AUTH PLAIN\r\n250 STARTTLS' },
    ]);
    using post = mailerFor({ url: server.url.replace('//', '//user:pass@') });
    expect((await post.mailer.sendSecretLink(sampleMail())).state).toBe('accepted');
    expect(server.heard.join()).toContain('AUTH PLAIN');
    expect(server.heard.join()).not.toContain('STARTTLS');
  });

  const strangers: readonly [string, (url: string) => string, boolean][] = [
    ['smtps', secured, true],
    ['STARTTLS', (url) => `${url}?tls=required`, false],
  ];
  for (const [what, urlOf, secure] of strangers) {
    it(`is not given to a server with a certificate nobody vouches for, over ${what}; trying again does not help`, async () => {
      await using office = await openPostOffice([], { ...certificate, secure });
      using post = mailerFor({ url: urlOf(office.url) });
      expect(await post.mailer.sendSecretLink(sampleMail(), post.onRetry)).toEqual(notSent);
      expect([office.attempts(), post.steps]).toEqual([0, []]);
      expect(post.faults).toEqual([{ code: 'ETLS', replyCode: null, willRetry: false }]);
    });

    it(`is not given to a server with a certificate for another name, over ${what}`, async () => {
      await using office = await openPostOffice([], { ...certificate, secure });
      using post = mailerFor({ url: urlOf(office.url.replace('127.0.0.1', 'localhost')) }, trusting);
      expect(await post.mailer.sendSecretLink(sampleMail())).toEqual(notSent);
      expect(office.attempts()).toBe(0);
    });
  }

  it('that breaks off in the middle of the handshake is a broken line: tried again', async () => {
    await using server = await openStubbornServer([
      { at: 'EHLO', does: 'drop' },
      { at: 'STARTTLS', does: 'drop' },
      { at: 'STARTTLS', says: '454 4.7.0 TLS not available at present' },
    ]);
    using post = mailerFor({ url: `${server.url}?tls=required` });
    expect(await post.mailer.sendSecretLink(sampleMail())).toEqual(notSent);
    expect(post.faults.map(({ willRetry }) => willRetry)).toEqual([true, true, true, false]);
    expect(server.taken).toEqual([]);
  });
});

/** Mail signed for its domain (DKIM), verified from the bytes that arrived. */
import { describe, expect, it, spyOn } from 'bun:test';
import crypto, { createPublicKey, generateKeyPairSync } from 'node:crypto';
import PostalMime from 'postal-mime';
import type { AccountMailer } from '../../src/core/mailer.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { verifyDkim } from './dkim-verifier.ts';
import { messageHeaders, replyHeader, signatureHeader } from './headers.ts';
import { openPostOffice, sampleAccountMails, sampleMail } from './post-office.ts';
import { mailerFor } from './smtp-mailer.ts';

const pem = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});
const publicKey = createPublicKey(pem);
const dkim = { domain: 'example.com', selector: 'mayfly', privateKey: new Sensitive(String(pem)) };

/** The accepted mails, byte for byte: mails are ASCII on the wire. */
async function signedMails(): Promise<string[]> {
  await using office = await openPostOffice();
  using post = mailerFor(office, { dkim });
  await post.mailer.sendSecretLink(sampleMail());
  await post.mailer.sendSecretLink(sampleMail({ from: `${'ü'.repeat(90)}@example.com` }));
  for (const mail of sampleAccountMails()) await post.mailer.sendAccountMail(mail);
  return office.arrived.map(({ raw }) => raw);
}

/** How many signatures were made, and how many mails arrived. */
async function workOf(send: (mailer: ReturnType<typeof mailerFor>['mailer']) => Promise<unknown>) {
  await using office = await openPostOffice();
  using post = mailerFor(office, { dkim });
  await post.mailer.prepare();
  const signing = spyOn(crypto, 'createSign');
  try {
    await send(post.mailer);
    return { signatures: signing.mock.calls.length, arrived: office.arrived.length };
  } finally {
    signing.mockRestore();
  }
}

describe('a mail that is written and not sent', () => {
  it('costs the signature that it would have had, and sending it costs no other (P17)', async () => {
    const [mail] = sampleAccountMails();
    if (mail === undefined) throw new Error('there is no sample');
    expect(await workOf((mailer) => mailer.writeAccountMail(mail))).toEqual({ signatures: 1, arrived: 0 });
    const both = async (mailer: Pick<AccountMailer, 'writeAccountMail'>) =>
      (await mailer.writeAccountMail(mail)).send();
    expect(await workOf(both)).toEqual({ signatures: 1, arrived: 1 });
  });

  it('is written in full before it is sent: what arrives is those bytes', async () => {
    await using office = await openPostOffice([{ at: 'message', reply: 451 }]);
    using post = mailerFor(office, { dkim });
    for (const mail of sampleAccountMails()) {
      const written = await post.mailer.writeAccountMail(mail);
      expect((await written.send()).state).toBe('accepted');
    }
    const [first, second] = office.offered;
    expect(office.offered).toHaveLength(sampleAccountMails().length + 1);
    expect(first).toBe(second ?? '');
    for (const raw of office.arrived)
      expect(verifyDkim(raw.raw, publicKey)).toMatchObject({ bodyIsSigned: true, headersAreSigned: true });
  });

  it('is not sent when its recipient is no address, and says so then', async () => {
    await using office = await openPostOffice();
    using post = mailerFor(office, { dkim });
    const [mail] = sampleAccountMails({ to: 'a@b.org\r\nBcc: c@d.org' });
    if (mail === undefined) throw new Error('there is no sample');
    const written = await post.mailer.writeAccountMail(mail);
    expect(await written.send()).toEqual({ state: 'not_sent', reply: null });
  });
});

describe('a signed mail', () => {
  it('is verified with the public key of its domain, of every kind', async () => {
    const raws = await signedMails();
    expect(raws).toHaveLength(2 + sampleAccountMails().length);
    for (const raw of raws) {
      const { tags, ...verdict } = verifyDkim(raw, publicKey);
      expect(verdict).toEqual({ bodyIsSigned: true, headersAreSigned: true });
      expect([tags?.get('a'), tags?.get('c'), tags?.get('d'), tags?.get('s')]).toEqual([
        'rsa-sha256',
        'relaxed/relaxed',
        'example.com',
        'mayfly',
      ]);
    }
  });

  it('signs who sent it, to whom, about what and when, and has the signature as its one more header', async () => {
    const [raw = ''] = await signedMails();
    const signed = verifyDkim(raw, publicKey).tags?.get('h')?.split(':') ?? [];
    expect(signed).toEqual(
      expect.arrayContaining(['from', 'reply-to', 'to', 'subject', 'date', 'message-id']),
    );
    const { headers } = await PostalMime.parse(raw);
    expect(headers.map((header) => header.key).sort()).toEqual(
      [...messageHeaders, replyHeader, signatureHeader].sort(),
    );
  });

  it('self-test: another subject, another body, another key and no signature are found', async () => {
    const [raw = ''] = await signedMails();
    const other = generateKeyPairSync('rsa', { modulusLength: 2_048 }).publicKey;
    const subject = verifyDkim(raw.replace(/^Subject: /m, 'Subject: Re '), publicKey);
    expect([subject.bodyIsSigned, subject.headersAreSigned]).toEqual([true, false]);
    const body = verifyDkim(`${raw}more\r\n`, publicKey);
    expect([body.bodyIsSigned, body.headersAreSigned]).toEqual([false, true]);
    expect(verifyDkim(raw, other).headersAreSigned).toBe(false);
    expect(verifyDkim(raw.replace(/^DKIM-Signature/, 'X-Signature'), publicKey).tags).toBeNull();
  });

  it('keeps its Message-ID and date when it is handed over again, so that its signature stays the same', async () => {
    await using office = await openPostOffice([{ at: 'message', reply: 451 }]);
    using post = mailerFor(office, { dkim });
    await post.mailer.sendSecretLink(sampleMail());
    const [first = '', second = ''] = office.offered.map((raw) => verifyDkim(raw, publicKey).tags?.get('h'));
    expect([first, office.offered.length]).toEqual([second, 2]);
    for (const raw of office.offered) expect(verifyDkim(raw, publicKey).headersAreSigned).toBe(true);
  });
});

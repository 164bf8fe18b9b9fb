/**
 * Hostile addresses against the mailer and a real SMTP server (P26).
 *
 * Each case ends in exactly one of two ways: refused before anything is sent, or one message with one recipient and
 * exactly the headers of `compose.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import { messageHeaders } from '../../src/mail/compose.ts';
import { createSmtpMailer, type SmtpMailer } from '../../src/mail/smtp.ts';
import {
  type Arrived,
  openPostOffice,
  type PostOffice,
  sampleAccountMails,
  sampleMail,
} from './post-office.ts';

const evil = 'evil@example.net';

/** Recipients that are no single plain address. */
const refusedRecipients: readonly string[] = [
  '',
  ' ',
  '@',
  'jo',
  'jo@',
  '@example.org',
  'jo@example',
  'jo@@example.org',
  'jo@example.org\r\nBcc: evil@example.net',
  'jo@example.org\nBcc: evil@example.net',
  'jo@example.org\rBcc: evil@example.net',
  'jo\r\n@example.org',
  'jo@example.org\u0000',
  'jo\u0000@example.org',
  'jo@example.org\u000b',
  'jo@example.org\u0085',
  'jo@example.org\u2028Bcc: evil@example.net',
  'jo@example.org,evil@example.net',
  'jo@example.org;evil@example.net',
  'jo@example.org evil@example.net',
  'jo@example.org%0d%0aBcc:evil@example.net',
  'Jo <jo@example.org>',
  '<jo@example.org>',
  'jo@example.org>',
  'jo@example.org> NOTIFY=SUCCESS',
  'jo@example.org>\r\nRCPT TO:<evil@example.net',
  '"jo"@example.org',
  '"jo@example.org,evil@example.net"@example.org',
  'jo"@example.org',
  'friends: jo@example.org, evil@example.net;',
  'friends:;',
  'jo(evil@example.net)@example.org',
  'jo@example.org (comment)',
  '@evil.example.net:jo@example.org',
  '=?utf-8?q?jo?=@example.org\r\n',
  '=?utf-8?q?jo=40example.org=2C?= <evil@example.net>',
  'jo\\@example.org',
  'jo@[127.0.0.1]',
  'jo@127.0.0.1',
  'jo@0x7f.1',
  'jo@example..org',
  'jo@.example.org',
  'jo@-example.org',
  '.jo@example.org',
  'jo.@example.org',
  'j..o@example.org',
  ' jo@example.org',
  'jo@example.org ',
  'jo\u202e@example.org',
  'jo\u200b@example.org',
  'jo\ud800@example.org',
  'jo@exam\u2024ple.org,evil@example.net',
  'jo@example.org/evil',
  'jo@example.org?bcc=evil@example.net',
  `${'a'.repeat(65)}@example.org`,
  `jo@${'a'.repeat(64)}.org`,
  `jo@${'a.'.repeat(130)}org`,
  'x'.repeat(1_000_000),
  `${'@'.repeat(100_000)}`,
];

/** Recipients that look odd and are one address: what the envelope must hold. */
const takenRecipients: Readonly<Record<string, string>> = {
  'jo@example.org': 'jo@example.org',
  "o'neil+tag=x@example.org": "o'neil+tag=x@example.org",
  '-oQ/tmp@example.org': '-oQ/tmp@example.org',
  'a|b`c{d}@example.org': 'a|b`c{d}@example.org',
  '$id@example.org': '$id@example.org',
  'Jo@EXAMPLE.org': 'Jo@example.org',
  'jo@bücher.example': 'jo@xn--bcher-kva.example',
  'jörg@example.org': 'jörg@example.org',
  '=?utf-8?q?jo?=@example.org': '=?utf-8?q?jo?=@example.org',
  [`${'a'.repeat(64)}@example.org`]: `${'a'.repeat(64)}@example.org`,
};

/** Senders' names: never an address of the message, always inside one line of the subject. */
const senders: readonly string[] = [
  'ann@example.com\r\nBcc: evil@example.net',
  'ann@example.com\nTo: evil@example.net\n\nhello',
  'ann@example.com\r\n\r\n<html>body</html>',
  'ann@example.com\r\n.\r\nMAIL FROM:<evil@example.net>',
  'ann\u0000@example.com',
  'ann@example.com\u2028X-Evil: 1',
  'ann@example.com\u0085X-Evil: 1',
  '=?utf-8?q?=0D=0ABcc:_evil@example.net?=',
  '=?utf-8?b?DQpCY2M6IGV2aWxAZXhhbXBsZS5uZXQ=?=',
  '"ann, evil@example.net" <evil@example.net>',
  'friends: evil@example.net;',
  '<script>alert(1)</script>',
  '\u202eevil@example.net\u202c',
  'x'.repeat(100_000),
  'ü'.repeat(5_000),
  '😀'.repeat(400),
  '\ud800\udfff\ud800',
  '',
];

/** What is wrong with the message as it arrived. */
async function flawsOf(arrived: Arrived, to: string): Promise<string[]> {
  const parsed = await PostalMime.parse(arrived.raw);
  const names = parsed.headers.map((header) => header.key).sort();
  const flaws: string[] = [];
  if (arrived.to.join('|') !== to) flaws.push(`envelope to ${arrived.to.join('|')}`);
  if (arrived.from !== 'noreply@mail.example.com') flaws.push(`envelope from ${arrived.from}`);
  if (names.join() !== [...messageHeaders].sort().join()) flaws.push(`headers ${names.join()}`);
  if (parsed.to?.length !== 1 || parsed.to[0]?.address !== to) flaws.push(`to ${JSON.stringify(parsed.to)}`);
  if (parsed.from?.address !== 'noreply@mail.example.com') flaws.push(`from ${JSON.stringify(parsed.from)}`);
  if (parsed.cc !== undefined || parsed.bcc !== undefined || parsed.replyTo !== undefined)
    flaws.push('another address');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(parsed.subject ?? '')) flaws.push('subject of several lines');
  if (!/^<[0-9a-f]{32}@mail\.example\.com>$/.test(parsed.messageId ?? ''))
    flaws.push(`id ${parsed.messageId}`);
  if (parsed.attachments.length > 0) flaws.push('attachments');
  const header = arrived.raw.slice(0, arrived.raw.indexOf('\r\n\r\n'));
  if (header.split('\r\n').some((line) => line.length > 998 || line.includes('\n')))
    flaws.push('malformed header lines');
  return flaws;
}

describe('hostile addresses', () => {
  let office: PostOffice;
  let mailer: SmtpMailer;
  beforeAll(async () => {
    office = await openPostOffice();
    mailer = createSmtpMailer({
      url: office.url,
      from: 'Mayfly <noreply@mail.example.com>',
      retryDelaysMs: [],
    });
  });
  afterAll(async () => {
    mailer.close();
    await office[Symbol.asyncDispose]();
  });

  it('a recipient that is not exactly one plain address is refused before anything is sent (P26, T28)', async () => {
    const before = office.attempts();
    for (const to of refusedRecipients) {
      expect({ to: to.slice(0, 80), result: await mailer.sendSecretLink(sampleMail({ to })) }).toEqual({
        to: to.slice(0, 80),
        result: 'not_sent',
      });
    }
    expect(office.attempts()).toBe(before);
  });

  for (const [to, expected] of Object.entries(takenRecipients)) {
    it(`${to.slice(0, 40)} is one recipient of one message with exactly the usual headers (P26, T28)`, async () => {
      const before = office.arrived.length;
      expect(await mailer.sendSecretLink(sampleMail({ to }))).toBe('accepted');
      expect(office.arrived).toHaveLength(before + 1);
      expect(await flawsOf(office.arrived[before] as Arrived, expected)).toEqual([]);
    });
  }

  for (const [index, from] of senders.entries()) {
    it(`the sender ${index} (${JSON.stringify(from.slice(0, 30))}) cannot add a header or a recipient (P26, T28)`, async () => {
      const before = office.arrived.length;
      expect(await mailer.sendSecretLink(sampleMail({ from }))).toBe('accepted');
      expect(office.arrived).toHaveLength(before + 1);
      expect(await flawsOf(office.arrived[before] as Arrived, 'jo@example.org')).toEqual([]);
    });
  }

  it('an account’s address that is not exactly one plain address gets no mail of any kind (P26, T28)', async () => {
    const before = office.attempts();
    for (const to of refusedRecipients) {
      const results = await Promise.all(sampleAccountMails({ to }).map(mailer.sendAccountMail));
      expect({ to: to.slice(0, 80), results }).toEqual({
        to: to.slice(0, 80),
        results: results.map(() => 'not_sent' as const),
      });
    }
    expect(office.attempts()).toBe(before);
  });

  for (const [index, sample] of sampleAccountMails().entries()) {
    it(`a mail of the kind ${sample.kind} has one recipient and exactly the usual headers (P26, T28)`, async () => {
      for (const [to, expected] of Object.entries(takenRecipients)) {
        const before = office.arrived.length;
        const mail = sampleAccountMails({ to })[index] ?? sample;
        expect(await mailer.sendAccountMail(mail)).toBe('accepted');
        expect(office.arrived).toHaveLength(before + 1);
        expect(await flawsOf(office.arrived[before] as Arrived, expected)).toEqual([]);
      }
    });
  }

  it('tooth check: an added Bcc, a second recipient and a folded-in header are flaws', async () => {
    await mailer.sendSecretLink(sampleMail());
    const good = office.arrived.at(-1) as Arrived;
    const seeded = { ...good, to: [...good.to, evil], raw: `Bcc: ${evil}\r\n${good.raw}` };
    expect(await flawsOf(good, 'jo@example.org')).toEqual([]);
    expect((await flawsOf(seeded, 'jo@example.org')).length).toBeGreaterThanOrEqual(3);
  });

  it('a sender setting that is not one mailbox is refused when the mailer is made', () => {
    const settings = [
      '',
      'x',
      'a@b.org, c@d.org',
      'A <a@b.org> <c@d.org>',
      'A\r\nBcc: x@y.org <a@b.org>',
      'A\u0000 <a@b.org>',
    ];
    for (const from of settings) {
      expect(() => createSmtpMailer({ url: office.url, from })).toThrow(RangeError);
    }
  });
});

/**
 * Hostile texts against the mailer and a real SMTP server (P26).
 *
 * Each case ends in exactly one of two ways: refused before anything is sent, or one message with one recipient, with
 * exactly the headers of `compose.ts` and the parts of a harmless mail, and the text only in its own place.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import PostalMime, { addressParser } from 'postal-mime';
import { isDeliverable, parseRecipient } from '../../src/core/mail/recipients.ts';
import type { AccountMail } from '../../src/core/mailer.ts';
import { createSmtpMailer, type SmtpMailer } from '../../src/mail/smtp.ts';
import { smtpServerOf } from '../support/settings.ts';
import { messageHeaders, replyHeader } from './headers.ts';
import {
  brandNames,
  colours,
  evil,
  hosts,
  links,
  locales,
  refusedRecipients,
  replies,
  senders,
  takenRecipients,
  typedRecipients,
} from './injections.ts';
import {
  type Arrived,
  openPostOffice,
  type PostOffice,
  type SampleChanges,
  sampleAccountMails,
  sampleMail,
} from './post-office.ts';
import { openStubbornServer } from './stubborn-server.ts';

const notSent = { state: 'not_sent', reply: null } as const;

interface Parts {
  readonly subject: string;
  readonly lines: readonly string[];
  /** The HTML elements with the names of their attributes, and the styles. */
  readonly shape: readonly string[];
}

async function partsOf({ raw }: Arrived): Promise<Parts> {
  const { subject = '', text = '', html = '' } = await PostalMime.parse(raw);
  const tags = html.match(/<[^>]*>/g) ?? [];
  const shape = tags.map((tag) => tag.replace(/ (?!style)([a-z]+)="[^"]*"/g, ' $1'));
  return { subject, lines: text.trimEnd().split('\n'), shape };
}

/** What is wrong with the message as it arrived. @param from the sender that replies go to; `null` in a mail about an account */
async function flawsOf(arrived: Arrived, to: string, from: string | null = null): Promise<string[]> {
  const replyTo = from !== null && isDeliverable(from) ? from : null;
  const headers = replyTo === null ? messageHeaders : [...messageHeaders, replyHeader];
  const parsed = await PostalMime.parse(arrived.raw);
  const names = parsed.headers.map((header) => header.key).sort();
  const flaws: string[] = [];
  if (arrived.to.join('|') !== to) flaws.push(`envelope to ${arrived.to.join('|')}`);
  if (arrived.from !== 'noreply@mail.example.com') flaws.push(`envelope from ${arrived.from}`);
  if (names.join() !== [...headers].sort().join()) flaws.push(`headers ${names.join()}`);
  if (parsed.to?.length !== 1 || parsed.to[0]?.address !== to) flaws.push(`to ${JSON.stringify(parsed.to)}`);
  if (parsed.from?.address !== 'noreply@mail.example.com') flaws.push(`from ${JSON.stringify(parsed.from)}`);
  const name = parsed.from?.name ?? '';
  if (name === '' || name.includes('=?') || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(name))
    flaws.push(`from name ${name}`);
  const sender = parsed.headers.find(({ key }) => key === 'from')?.value ?? '';
  if (addressParser(sender).length !== 1) flaws.push(`senders ${sender}`);
  if (parsed.cc !== undefined || parsed.bcc !== undefined) flaws.push('another address');
  if (parsed.replyTo?.map(({ name, address }) => name + address).join('|') !== (replyTo ?? undefined))
    flaws.push(`replies to ${JSON.stringify(parsed.replyTo)}`);
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(parsed.subject ?? '')) flaws.push('subject of several lines');
  if (!/^<[0-9a-f]{32}@mail\.example\.com>$/.test(parsed.messageId ?? ''))
    flaws.push(`id ${parsed.messageId}`);
  if (parsed.attachments.length > 0) flaws.push('attachments');
  const header = arrived.raw.slice(0, arrived.raw.indexOf('\r\n\r\n'));
  if (header.split('\r\n').some((line) => line.length > 998 || line.includes('\n')))
    flaws.push('malformed header lines');
  return flaws;
}

describe('hostile texts', () => {
  let office: PostOffice;
  let mailer: SmtpMailer;
  let harmless: Parts;
  /** Nobody can be replied to, and with a name. */
  let unanswered: Parts;
  let named: Parts;
  const harmlessLike = ({ from, senderName }: SampleChanges) => {
    if (senderName !== undefined) return named;
    return from === undefined || isDeliverable(from) ? harmless : unanswered;
  };
  beforeAll(async () => {
    office = await openPostOffice();
    mailer = createSmtpMailer({
      server: smtpServerOf(office.url),
      from: 'Mayfly <noreply@mail.example.com>',
      retryDelaysMs: [],
    });
    for (const changes of [{}, { from: 'ann' }, { senderName: 'IT Helpdesk' }])
      await mailer.sendSecretLink(sampleMail(changes));
    [harmless, unanswered, named] = (await Promise.all(office.arrived.map(partsOf))) as [Parts, Parts, Parts];
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
        result: notSent,
      });
    }
    expect(office.attempts()).toBe(before);
  });

  for (const [to, expected] of Object.entries(takenRecipients)) {
    it(`${to.slice(0, 40)} is one recipient of one message with exactly the usual headers (P26, T28)`, async () => {
      const before = office.arrived.length;
      expect((await mailer.sendSecretLink(sampleMail({ to }))).state).toBe('accepted');
      expect(office.arrived).toHaveLength(before + 1);
      expect(await flawsOf(office.arrived[before] as Arrived, expected, 'ann@example.com')).toEqual([]);
    });
  }

  it('a recipient that the service takes is the one of the envelope, to the letter (P26, T28)', async () => {
    const taken = new Map(
      [...refusedRecipients, ...Object.keys(takenRecipients), ...typedRecipients].map((text) => [
        text,
        parseRecipient(text),
      ]),
    );
    for (const [text, to] of taken) {
      if (to === null) continue;
      const before = office.arrived.length;
      expect((await mailer.sendSecretLink(sampleMail({ to }))).state).toBe('accepted');
      expect([text, office.arrived.length]).toEqual([text, before + 1]);
      expect([
        text,
        ...(await flawsOf(
          office.arrived[before] as Arrived,
          to.replace(/@.*/, (host) => host.toLowerCase()),
          'ann@example.com',
        )),
      ]).toEqual([text]);
    }
    // Only those with surrounding spaces; the mailer itself refuses the others.
    expect(refusedRecipients.filter((text) => parseRecipient(text) !== null)).toEqual([
      ' jo@example.org',
      'jo@example.org ',
    ]);
    expect(typedRecipients.map((text) => [text, taken.get(text) !== null])).toEqual(
      typedRecipients.map((text) => [text, true]),
    );
  });

  /** Sends a mail that must arrive without a flaw and with the parts of a harmless one. */
  async function sendHarmlessly(changes: SampleChanges): Promise<Parts> {
    const before = office.arrived.length;
    expect((await mailer.sendSecretLink(sampleMail(changes))).state).toBe('accepted');
    expect(office.arrived).toHaveLength(before + 1);
    const arrived = office.arrived[before] as Arrived;
    expect(await flawsOf(arrived, 'jo@example.org', changes.from ?? 'ann@example.com')).toEqual([]);
    const parts = await partsOf(arrived);
    const like = harmlessLike(changes);
    expect(parts.shape).toEqual(like.shape);
    expect(parts.lines).toHaveLength(like.lines.length);
    return parts;
  }

  const places: readonly [string, readonly string[], (text: string) => SampleChanges, readonly string[]][] = [
    ['sender', senders, (from) => ({ from }), ['subject', 'text']],
    // The core takes none of these; a store that has been written to by somebody else might hold them.
    ['sender’s name', [...senders, ...brandNames], (senderName) => ({ senderName }), ['subject', 'text']],
    ['brand name', brandNames, (name) => ({ brand: { name } }), ['text']],
    ['host', hosts, (host) => ({ brand: { host } }), ['text']],
    ['colour', colours, (colour) => ({ brand: { colour } }), []],
    ['link', links, (link) => ({ link }), ['text']],
    ['language', locales, (locale) => ({ locale }), []],
  ];
  for (const [place, texts, changesFor, stands] of places) {
    for (const [index, text] of texts.entries()) {
      it(`the ${place} ${index} (${JSON.stringify(text.slice(0, 30))}) stays in its place (P26, T28)`, async () => {
        const parts = await sendHarmlessly(changesFor(text));
        if (!stands.includes('subject')) expect(parts.subject).toBe(harmless.subject);
        if (!stands.includes('text')) expect(parts).toEqual(harmless);
      });
    }
  }

  it('of a sender that can be replied to are one address of the Reply-To, to the letter (P26, T28)', async () => {
    for (const from of Object.values(takenRecipients).filter(isDeliverable))
      expect((await sendHarmlessly({ from })).subject).toBe(`${from} sent you a secret`);
  });

  it('of a brand stay in their place in mails about an account’s secrets too (P26, T28)', async () => {
    const noticesWith = (brand: SampleChanges['brand'] = {}) =>
      sampleAccountMails({ brand }).filter((mail) => 'brand' in mail);
    const send = async (mail: AccountMail) => {
      const before = office.arrived.length;
      expect((await mailer.sendAccountMail(mail)).state).toBe('accepted');
      expect(office.arrived).toHaveLength(before + 1);
      const arrived = office.arrived[before] as Arrived;
      expect(await flawsOf(arrived, 'jo@example.org')).toEqual([]);
      return partsOf(arrived);
    };
    for (const [index, plain] of noticesWith().entries()) {
      const { subject, shape, lines } = await send(plain);
      const hostile = [...brandNames.map((name) => ({ name })), ...colours.map((colour) => ({ colour }))];
      for (const brand of hostile) {
        const parts = await send(noticesWith(brand)[index] ?? plain);
        expect([parts.subject, parts.shape, parts.lines.length]).toEqual([subject, shape, lines.length]);
      }
    }
  });

  it('are tried in at least 30 cases, of each place at least five', () => {
    const corpora = [refusedRecipients, replies, ...places.map(([, texts]) => texts)];
    for (const corpus of corpora) expect(corpus.length).toBeGreaterThanOrEqual(5);
    expect(corpora.flat().length).toBeGreaterThanOrEqual(130);
  });

  for (const [index, reply] of replies.entries()) {
    it(`the reply ${index} (${JSON.stringify(reply.slice(0, 30))}) is one printable line without the link (P26)`, async () => {
      await using server = await openStubbornServer([{ at: 'message', says: reply }]);
      const own = createSmtpMailer({ server: smtpServerOf(server.url), from: 'noreply@mail.example.com' });
      const ended = await own.sendSecretLink(sampleMail());
      own.close();
      expect(ended.state).toBe('refused');
      expect(ended.reply).toMatch(/^550 [^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,296}$/u);
      expect(ended.reply).not.toMatch(/0123456|jo@example/);
    });
  }

  it('an account’s address that is not exactly one plain address gets no mail of any kind (P26, T28)', async () => {
    const before = office.attempts();
    for (const to of refusedRecipients) {
      const results = await Promise.all(sampleAccountMails({ to }).map(mailer.sendAccountMail));
      expect({ to: to.slice(0, 80), results }).toEqual({
        to: to.slice(0, 80),
        results: results.map(() => notSent),
      });
    }
    expect(office.attempts()).toBe(before);
  });

  for (const [index, sample] of sampleAccountMails().entries()) {
    it(`a mail of the kind ${sample.kind} has one recipient and exactly the usual headers (P26, T28)`, async () => {
      for (const [to, expected] of Object.entries(takenRecipients)) {
        const before = office.arrived.length;
        const mail = sampleAccountMails({ to })[index] ?? sample;
        expect((await mailer.sendAccountMail(mail)).state).toBe('accepted');
        expect(office.arrived).toHaveLength(before + 1);
        expect(await flawsOf(office.arrived[before] as Arrived, expected)).toEqual([]);
      }
    });
  }

  it('self-test: an added Bcc, a second recipient and a folded-in header are flaws', async () => {
    await mailer.sendSecretLink(sampleMail());
    const good = office.arrived.at(-1) as Arrived;
    const seeded = { ...good, to: [...good.to, evil], raw: `Bcc: ${evil}\r\n${good.raw}` };
    expect(await flawsOf(good, 'jo@example.org', 'ann@example.com')).toEqual([]);
    expect((await flawsOf(seeded, 'jo@example.org', 'ann@example.com')).length).toBeGreaterThanOrEqual(3);
    const { shape, lines } = await partsOf({ ...good, raw: good.raw.replace('</p>', '<b></b></p>') });
    expect([shape, lines.length]).not.toEqual([harmless.shape, harmless.lines.length]);
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
      expect(() => createSmtpMailer({ server: smtpServerOf(office.url), from })).toThrow(RangeError);
    }
  });
});

/** Addresses as they are pasted: every door drops what is invisible at their ends, and names what is invisible inside. */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/core/sensitive.ts';
import { toMailbox, toReturnPath } from '../../src/mail/mailbox.ts';
import { probeMail } from '../../src/mail/probe.ts';
import { runStep } from '../cli/transcript.ts';
import { createTestApp } from '../support/app.ts';
import { smtpServerOf } from '../support/settings.ts';
import { password, signUp } from '../web/account-visitor.ts';
import { mailSecret, press } from '../web/mailed.ts';
import { sendForm, wordsOf } from '../web/visit.ts';
import { openStubbornServer } from './stubborn-server.ts';

const clean = 'jo@example.org';
/** What copying from a page, a chat or a spreadsheet leaves at the ends. */
const edges: Readonly<Record<string, readonly [string, string]>> = {
  'a zero-width space': ['', '\u200b'],
  'a byte order mark': ['\ufeff', ''],
  'a soft hyphen and a word joiner': ['\u2060', '\u00ad'],
  'marks of direction': ['\u202a', '\u202c'],
  isolates: ['\u2068', '\u2069\u200f'],
  'a variation selector and a filler': ['\u3164', '\ufe0f'],
  'a tag beyond 16 bits': ['', '\u{e0020}'],
  'blanks between them': [' \u200b\u00a0', '\u3000\u200d '],
};
/** Inside an address it may not be dropped: it could be another address. */
const inside = 'jo@exam\u200bple.org';

interface Answer {
  /** The address that it was taken as; `null` when it was refused. */
  readonly taken: string | null;
  readonly said: string;
}

type Door = (typed: string) => Promise<Answer>;

const json = { 'content-type': 'application/json' };

async function byApi(path: string, body: (typed: string) => object, typed: string): Promise<Answer> {
  const app = createTestApp();
  const { authorization } = await app.account('ann@example.com');
  const init = { method: 'POST', headers: { ...json, authorization }, body: JSON.stringify(body(typed)) };
  const said = await (await app.fetch(path, init)).text();
  await app.service.settled();
  return { taken: app.mails[0]?.to.expose() ?? null, said };
}

async function byDeliver(typed: string): Promise<Answer> {
  const app = createTestApp();
  const { authorization } = await app.account('ann@example.com');
  const init = (body: object) => ({
    method: 'POST',
    headers: { ...json, authorization },
    body: JSON.stringify(body),
  });
  const made = await (await app.fetch('/api/v2/secret/conceal', init({ secret: { secret: 'v' } }))).json();
  const key = made.record.metadata.key;
  const said = await (await app.fetch(`/api/v2/receipt/${key}/deliver`, init({ recipient: typed }))).text();
  await app.service.settled();
  return { taken: app.mails[0]?.to.expose() ?? null, said };
}

async function bySharePage(typed: string): Promise<Answer> {
  const app = createTestApp();
  const visitor = await signUp(app, 'ann@example.com');
  await visitor.get('/');
  const { html } = await visitor.post('/share', { secret: 'v', recipient: typed });
  await app.service.settled();
  return { taken: app.mails[0]?.to.expose() ?? null, said: wordsOf(html) };
}

/** The name of the account that the page or its mail is for. */
async function byMailedLink(page: string, typed: string): Promise<Answer> {
  const app = createTestApp();
  if (page === '/forgotten') await app.account(clean);
  const { html } = await sendForm(app, page, { email: typed });
  await app.accounts.settled();
  return { taken: app.accountMails[0]?.to.expose() ?? null, said: wordsOf(html) };
}

async function byLogIn(typed: string): Promise<Answer> {
  const app = createTestApp();
  await signUp(app, clean);
  const { status, html } = await sendForm(app, '/log-in', { email: typed, password });
  return { taken: status === 303 ? clean : null, said: wordsOf(html) };
}

async function byReceiptPage(typed: string): Promise<Answer> {
  const mailed = await mailSecret();
  const { html } = await press(mailed, { recipient: typed });
  await mailed.app.service.settled();
  return { taken: mailed.server.mails[1]?.to.expose() ?? null, said: wordsOf(html) };
}

/** In an installation that has the account. */
async function byCommand(line: string, typed: string, proof = /jo@example\.org/): Promise<Answer> {
  const step = { heading: 'success', line: line.replace('EMAIL', `"${typed}"`), answers: [], recorded: '' };
  const said = await runStep(step);
  return { taken: proof.test(said) ? clean : null, said };
}

async function bySetting(read: (typed: string) => string, typed: string): Promise<Answer> {
  try {
    return { taken: read(typed), said: '' };
  } catch (error) {
    return { taken: null, said: String(error) };
  }
}

async function byProbe(typed: string): Promise<Answer> {
  await using office = await openStubbornServer();
  const recipient = new Sensitive(typed);
  const site = 'secrets.example.com';
  const options = {
    server: smtpServerOf(office.url),
    from: 'safe@example.com',
    recipient,
    site,
    locale: 'en',
  };
  const { testMail } = await probeMail(options);
  return { taken: /^RCPT TO:<(.*)>/m.exec(office.heard.join(''))?.[1] ?? null, said: testMail?.words ?? '' };
}

/** A program sends credentials of the API, so those stay strict. */
const doors: Readonly<Record<string, Door>> = {
  'share in v1': (typed) => byApi('/api/v1/share', (recipient) => ({ secret: 'v', recipient }), typed),
  'generate in v1': (typed) => byApi('/api/v1/generate', (recipient) => ({ recipient }), typed),
  'conceal in v2': (typed) =>
    byApi('/api/v2/secret/conceal', (recipient) => ({ secret: { secret: 'v', recipient } }), typed),
  'generate in v2': (typed) =>
    byApi('/api/v2/secret/generate', (recipient) => ({ secret: { recipient } }), typed),
  'deliver in v2': byDeliver,
  'the share page': bySharePage,
  'the receipt page': byReceiptPage,
  'sign-up': (typed) => byMailedLink('/sign-up', typed),
  'a forgotten password': (typed) => byMailedLink('/forgotten', typed),
  'log-in': byLogIn,
  'account create': (typed) => byCommand('mayfly account create EMAIL', typed, /exists already/),
  'account create --link': (typed) =>
    byCommand('mayfly account create EMAIL --link', typed, /exists already/),
  'account plan': (typed) => byCommand('mayfly account plan EMAIL identity', typed),
  'account token create': (typed) => byCommand('mayfly account token create EMAIL --json', typed),
  login: (typed) =>
    byCommand('mayfly login EMAIL --token-file token.txt --server http://localhost:3000', typed),
  MAYFLY_MAIL_FROM: (typed) => bySetting((text) => toMailbox(text).address, typed),
  'MAYFLY_MAIL_FROM with a name': (typed) => bySetting((text) => toMailbox(`Safe <${text}>`).address, typed),
  MAYFLY_MAIL_RETURN_PATH: (typed) => bySetting(toReturnPath, typed),
  'doctor --mail-to': byProbe,
};

describe('an address that was pasted', () => {
  for (const [door, enter] of Object.entries(doors)) {
    it(`is taken by ${door} without what is invisible at its ends`, async () => {
      for (const [name, [before, after]] of Object.entries(edges)) {
        const { taken } = await enter(before + clean + after);
        expect([name, taken]).toEqual([name, clean]);
      }
    });

    it(`is refused by ${door} with an invisible character inside, which is named`, async () => {
      const { taken, said } = await enter(inside);
      expect([taken, said]).toEqual([null, expect.stringContaining('U+200B')]);
    });
  }
});

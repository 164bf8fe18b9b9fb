/** One value for several people without scripts: a link each, wrong lines, what fails on the way, and the page with the links. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { ServiceError } from '../../src/core/errors.ts';
import type { NewRecord } from '../../src/core/secret.ts';
import { supportedLocales } from '../../src/locale/catalogues.ts';
import { linesOf, tableAddress } from '../../src/web/client/several-text.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { signUpAs } from './signed-in.ts';
import { hiddenIn, postForm, textIn, type Visit, visit, wordsOf } from './visit.ts';
import { words } from './words.ts';

const value = 'canary-of-a-value';
const namesOf = (count: number) => Array.from({ length: count }, (_, at) => `Person ${at + 1}`);

const send = (app: TestApp, people: string, more: Readonly<Record<string, string>> = {}) =>
  postForm(app, '/share', { secret: value, people, ...more });

const cookiesOf = ({ headers }: Visit) =>
  headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');

/** The page that the form leads to, as the creator's browser shows it. */
async function follow(app: TestApp, sent: Visit): Promise<Visit & { readonly path: string }> {
  const path = sent.headers.get('location') ?? '';
  return { path, ...(await visit(app, path, { headers: { cookie: cookiesOf(sent) } })) };
}

const linksIn = (html: string): (readonly [name: string, link: string])[] =>
  (textIn(html, 'all') ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(/: (?=http)/) as [string, string]);

const openedBy = async (app: TestApp, link: string) =>
  textIn((await postForm(app, new URL(link).pathname)).html, 'value');

const problemOf = ({ html }: Visit) =>
  wordsOf(/<p class="wrong" id="people-wrong">([\s\S]*?)<\/p>/.exec(html)?.[1] ?? '');

describe('one value for several people', () => {
  it('gives each a link that opens once and opens nothing else', async () => {
    const app = createTestApp();
    const sent = await send(app, 'Ana\nBen\n\nCem', { memo: 'Wi-Fi' });
    expect(sent.status).toBe(303);
    const { html, status, path } = await follow(app, sent);
    const links = linksIn(html);
    expect([status, links.map(([name]) => name)]).toEqual([
      200,
      ['Ana · Wi-Fi', 'Ben · Wi-Fi', 'Cem · Wi-Fi'],
    ]);
    expect(new Set(links.map(([, link]) => link)).size).toBe(3);
    const [, ben = ''] = links[1] ?? [];
    expect([await openedBy(app, ben), await openedBy(app, ben)]).toEqual([value, null]);
    const later = await visit(app, path);
    expect(later.html).toContain(`<h1>${words('several.opened', { count: 3, opened: 1 })}</h1>`);
    for (const [, link] of [links[0], links[2]].map((each) => each ?? ['', '']))
      expect(await openedBy(app, link)).toBe(value);
  });

  it('shows the links once, and each again on its receipt', async () => {
    const app = createTestApp();
    const { html, path, headers } = await follow(app, await send(app, 'Ana\nBen'));
    expect(linksIn(html)).toHaveLength(2);
    expect(headers.getSetCookie().join()).toContain(`just-created=; Path=${path}; Max-Age=0`);
    const again = await visit(app, path);
    expect([linksIn(again.html), again.html.includes('/secret/')]).toEqual([[], false]);
    expect(again.html).toContain(words('several.again'));
    const receipts = [...again.html.matchAll(/href="(\/receipt\/[0-9a-z]{31})"/g)].map(
      ([, receipt = '']) => receipt,
    );
    const shown = await Promise.all(
      receipts.map(async (receipt) => textIn((await postForm(app, receipt)).html, 'link')),
    );
    expect(shown).toEqual(linksIn(html).map(([, link]) => link));
  });

  it('takes 1 to 20 people, and refuses more with everything typed', async () => {
    const app = createTestApp();
    for (const count of [1, 2, 20])
      expect(linksIn((await follow(app, await send(app, namesOf(count).join('\n')))).html)).toHaveLength(
        count,
      );
    const list = namesOf(21).join('\n');
    const refused = await send(app, list);
    expect([refused.status, problemOf(refused)]).toEqual([422, words('several.tooMany', { max: 20 })]);
    expect([textIn(refused.html, 'people'), textIn(refused.html, 'secret')]).toEqual([list, value]);
    expect(app.events.filter(({ event }) => event === 'concealed')).toHaveLength(23);
  });

  it('says every wrong line by its number, and then creates nothing', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'robin@example.com');
    const list =
      'Ana,ana@example.org\nBen\n\nANA,Ana@Example.org\nCem,cem@nowhere\nDee,dee\u200b@example.org';
    const token = { 'form-token': signedIn.formToken, 'mails-each': 'yes' };
    const refused = await postForm(app, '/share', { ...token, secret: value, people: list }, { cookie });
    const line = (at: number, message: string) => words('several.line', { line: at, message });
    expect(problemOf(refused).split('\n')).toEqual([
      line(2, words('share.recipientWrong')),
      words('several.twice', { line: 4, other: 1 }),
      line(5, words('share.recipientWrong')),
      expect.stringContaining(words('share.addressUnseen', { character: 'U+200B' })),
    ]);
    const long = await send(app, `Ana\n${'x'.repeat(501)}`);
    expect(problemOf(long)).toBe(line(2, words('memo.tooLong', { max: 500 })));
    expect((await send(app, 'Ana\nBen', { recipient: 'ana@example.org' })).status).toBe(422);
    expect([app.events.filter(({ event }) => event === 'concealed'), app.mails]).toEqual([[], []]);
  });

  it('mails each their own link, and labels the receipts for the list of recent secrets', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'robin@example.com');
    const people = 'Name;E-Mail\nAna;ana@example.org\nBen;ben@example.org';
    const form = { 'form-token': signedIn.formToken, 'mails-each': 'yes', secret: value, people };
    const { html } = await follow(app, await postForm(app, '/share', form, { cookie }));
    expect(html).not.toContain(value);
    await app.service.settled();
    const sent = app.mails.map(({ to, link }) => [to.expose(), link.expose()]);
    expect(new Set(sent.map(([, link]) => link)).size).toBe(2);
    expect(sent.map(([to]) => to).sort()).toEqual(['ana@example.org', 'ben@example.org']);
    const recent = await visit(app, '/recent', { headers: { cookie } });
    for (const name of ['Ana', 'Ben']) expect(recent.html).toContain(`>${name}</a>`);
  });

  it('mails nothing for somebody without an account', async () => {
    const app = createTestApp();
    expect((await visit(app, '/')).html).not.toContain('id="mails-each"');
    const refused = await send(app, 'Ana,ana@example.org', { 'mails-each': 'yes' });
    expect([refused.status, app.mails]).toEqual([422, []]);
    expect(problemOf(refused)).toContain(words('share.recipientNeedsAccount'));
  });

  it('P18 puts no name, address or value into an address, a redirect, a cookie or the log', async () => {
    const app = createTestApp();
    const canaries = ['canary-of-a-name', 'canary@example.org', value];
    const sent = await send(app, `${canaries[0]},${canaries[1]}\nBen`);
    const page = await follow(app, sent);
    const told = JSON.stringify([[...sent.headers], [...page.headers], page.path, app.events, app.answers]);
    expect(canaries.filter((canary) => told.includes(canary))).toEqual([]);
    expect(page.path).toMatch(/^\/receipt\/several\/[0-9a-z]{31}\.[0-9a-z]{31}$/);
  });
});

describe('what fails on the way', () => {
  /** Sends what the refused form now holds. */
  const sendAgain = (app: TestApp, { html }: Visit) =>
    send(app, textIn(html, 'people') ?? '', { created: hiddenIn(html, 'created') ?? '' });

  async function expectRest(app: TestApp, refused: Visit, status: number): Promise<void> {
    expect([refused.status, textIn(refused.html, 'people')]).toEqual([status, 'Ben\nCem']);
    expect(refused.html).toContain(words('several.rest'));
    const soFar = /<a id="show-so-far" href="([^"]+)">/.exec(refused.html)?.[1] ?? '';
    const shown = await visit(app, soFar, { headers: { cookie: cookiesOf(refused) } });
    expect(linksIn(shown.html).map(([name]) => name)).toEqual(['Ana']);
    const { html } = await follow(app, await sendAgain(app, refused));
    expect(linksIn(html).map(([name]) => name)).toEqual(['Ana', 'Ben', 'Cem']);
    expect(app.events.filter(({ event }) => event === 'concealed')).toHaveLength(3);
  }

  it('leaves the links before it and the rest of the list: nothing is created twice', async () => {
    let puts = 0;
    const put = async (record: NewRecord, store: TestApp['store']) => {
      puts += 1;
      if (puts === 2) throw new ServiceError('unavailable', 'the store is away');
      return store.put(record);
    };
    const app = createTestApp({
      wrapStore: (store) => ({ ...store, put: (record) => put(record, store) }),
    });
    await expectRest(app, await send(app, 'Ana\nBen\nCem'), 503);
  });

  it('counts each link against the limit of creations', async () => {
    const rule = { limit: 3_600, windowSeconds: 3_600, burst: 1 };
    const rateLimits = { ...builtInRateLimits, create: { anonymous: rule, account: rule } };
    const app = createTestApp({ rateLimits });
    const refused = await send(app, 'Ana\nBen\nCem');
    expect([refused.status, textIn(refused.html, 'people')]).toEqual([429, 'Ben\nCem']);
    expect(app.events.filter(({ event }) => event === 'concealed')).toHaveLength(1);
  });

  it('is an email too many: the address is named where the list stopped', async () => {
    const one = { limit: 1, windowSeconds: 3_600, burst: 1 };
    const rateLimits = { ...builtInRateLimits, mail: { anonymous: one, account: one } };
    const app = createTestApp({ rateLimits });
    const { cookie, signedIn } = await signUpAs(app, 'robin@example.com');
    const form = { 'form-token': signedIn.formToken, 'mails-each': 'yes', secret: value };
    const people = 'Ana,ana@example.org\nBen,ben@example.org';
    const refused = await postForm(app, '/share', { ...form, people }, { cookie });
    expect([refused.status, textIn(refused.html, 'people')]).toEqual([429, 'Ben,ben@example.org']);
    expect(problemOf(refused)).not.toBe('');
  });

  it('shows an account’s receipts to nobody else, and nothing for unknown keys (P16)', async () => {
    const app = createTestApp();
    const { cookie, signedIn } = await signUpAs(app, 'robin@example.com');
    const form = { 'form-token': signedIn.formToken, secret: value, people: 'Ana\nBen' };
    const sent = await postForm(app, '/share', form, { cookie });
    const path = sent.headers.get('location') ?? '';
    const [stranger, unknown] = [
      await visit(app, path),
      await visit(app, `/receipt/several/${'0'.repeat(31)}.x`),
    ];
    expect([stranger.status, unknown.status]).toEqual([404, 404]);
    expect(stranger.html.replaceAll(path, '')).toBe(
      unknown.html.replaceAll(`/receipt/several/${'0'.repeat(31)}.x`, ''),
    );
  });
});

describe('the saved table', () => {
  const table = (name: string, locale = 'en') =>
    decodeURIComponent(
      tableAddress(['Name', 'Email', 'Link'], [{ name, link: 'https://x/secret/1' }], locale),
    );

  it('has a column for the name, the address and the link, and a byte order mark', () => {
    expect(table('Ana "A" Silva <ana@example.org>')).toBe(
      'data:text/csv;charset=utf-8,\ufeff"Name","Email","Link"\r\n"Ana ""A"" Silva","ana@example.org","https://x/secret/1"\r\n',
    );
    expect(linesOf([{ name: 'Ana', link: 'https://x/secret/1' }])).toBe('Ana: https://x/secret/1');
  });

  it('P26 holds no formula', () => {
    for (const start of ['=', '+', '-', '@', ' =', '\u200b=', '＝'])
      expect(table(`${start}HYPERLINK("x")`)).toContain(`"'${start}HYPERLINK`);
  });

  it('separates columns as the spreadsheets of the language do', () => {
    const separators = supportedLocales.map((locale) => [
      locale,
      /"Name"(.)/.exec(table('Ana', locale))?.[1],
    ]);
    expect(Object.fromEntries(separators)).toMatchObject({
      en: ',',
      ja: ',',
      de: ';',
      fr: ';',
      'pt-BR': ';',
    });
  });
});

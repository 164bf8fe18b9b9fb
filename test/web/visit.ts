/** A visitor without scripts: posts forms and reads pages, through the handler and without a socket. */
import type { TestApp } from '../support/app.ts';

export interface Visit {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

export async function visit(app: Pick<TestApp, 'fetch'>, path: string, init?: RequestInit): Promise<Visit> {
  const response = await app.fetch(path, init);
  return { status: response.status, headers: response.headers, html: await response.text() };
}

/** The box of a link's form, as somebody who wants to open it ticks it. */
export const tickedBox = { open: 'now' } as const;

/** Encodes as a browser does: line breaks as CR LF. */
export function postForm(
  app: Pick<TestApp, 'fetch'>,
  path: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Visit> {
  const ticked: Readonly<Record<string, string>> = /^\/secret\/[^/?]+(?:\?|$)/.test(path) ? tickedBox : {};
  const typed = Object.entries({ ...ticked, ...fields }).map(([name, text]) => [
    name,
    text.replace(/\r\n|\r|\n/g, '\r\n'),
  ]);
  const body = new URLSearchParams(typed).toString();
  const contentType = { 'content-type': 'application/x-www-form-urlencoded' };
  return visit(app, path, { method: 'POST', body, headers: { ...contentType, ...headers } });
}

/** Visits the page of a form and then sends it with its token and cookies, as someone does who comes to log in. */
export async function sendForm(
  app: Pick<TestApp, 'fetch'>,
  path: string,
  fields: Readonly<Record<string, string>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Visit> {
  const shown = await visit(app, path, { headers });
  const set = shown.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  const cookie = [...(headers.cookie === undefined ? [] : [headers.cookie]), ...set].join('; ');
  const token = { 'form-token': formTokenIn(shown.html) ?? '' };
  return postForm(app, path, { ...token, ...fields }, { ...headers, cookie });
}

/** The token that the forms of a page carry. */
export function formTokenIn(html: string): string | null {
  return /name="form-token" value="([0-9a-f]{32})"/.exec(html)?.[1] ?? null;
}

/** The text of a page or a part of it, without its elements. */
export function wordsOf(html: string): string {
  return html.replace(/<[^>]*>/g, '');
}

/** The text of a `<textarea>`, as a browser would hold it. */
export function textIn(html: string, id: string): string | null {
  const found = new RegExp(`<textarea id="${id}"[^>]*>([^<]*)</textarea>`).exec(html)?.[1];
  return found === undefined ? null : unescapeText(found.replace(/^\n/, ''));
}

/** The value of an `<input>`. */
export function valueIn(html: string, id: string): string | null {
  const found = new RegExp(`<input id="${id}"[^>]* value="([^"]*)"`).exec(html)?.[1];
  return found === undefined ? null : unescapeText(found);
}

/** The value of the hidden `<input>` with this name. */
export function hiddenIn(html: string, name: string): string | null {
  const found = new RegExp(`<input type="hidden" name="${name}" value="([^"]*)"`).exec(html)?.[1];
  return found === undefined ? null : unescapeText(found);
}

/** The selected value of a `<select>`. */
export function chosenIn(html: string, id: string): string | null {
  const options = new RegExp(`<select id="${id}"[^>]*>(.*?)</select>`, 's').exec(html)?.[1] ?? '';
  const found = /<option value="([^"]*)"[^>]* selected=""/.exec(options)?.[1];
  return found === undefined ? null : unescapeText(found);
}

/** The value of the chosen radio button with this name. */
export function checkedIn(html: string, name: string): string | null {
  return (
    new RegExp(`<input type="radio"[^>]* name="${name}" value="([^"]*)" checked=""`).exec(html)?.[1] ?? null
  );
}

export function unescapeText(text: string): string {
  const marks: Readonly<Record<string, string>> = {
    ...{ lt: '<', gt: '>', quot: '"', amp: '&' },
    ...{ '#39': "'", '#x27': "'" },
  };
  return text.replace(/&(lt|gt|quot|#39|#x27|amp);/g, (_entity, name: string) => marks[name] ?? '');
}

export interface Shared {
  readonly receiptPath: string;
  readonly cookie: string;
  /** The path of the link to share. */
  readonly secretPath: string;
}

/** Shares through the form and follows the redirect with the cookie, as the creator's browser does. */
export async function share(app: TestApp, fields: Readonly<Record<string, string>>): Promise<Shared> {
  const created = await postForm(app, '/share', { passphrase: '', ttl: '604800', ...fields });
  const receiptPath = created.headers.get('location') ?? '';
  const cookie = (created.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const receipt = await visit(app, receiptPath, { headers: { cookie } });
  const link = textIn(receipt.html, 'link') ?? '';
  return { receiptPath, cookie, secretPath: link === '' ? '' : new URL(link).pathname };
}

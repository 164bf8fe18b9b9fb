/**
 * A browser without scripts, through the handler and without a socket: keeps cookies and sends the forms of the current
 * page, each with the session's form token.
 */
import type { TestApp } from '../support/app.ts';
import { formTokenIn, postForm, sendForm, textIn, type Visit, visit } from './visit.ts';

export const password = 'violet otter 71 lamp';
export const newPassword = 'nine quiet kettles ~';
export const address = 'alice@example.com';

export interface AccountVisitor {
  get(path: string): Promise<Visit>;
  /** Sends the form token of the page visited last, unless `fields` has its own. */
  post(
    path: string,
    fields?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Visit>;
  /** The `Cookie` header, as the browser sends it. */
  cookie(): string;
  /** Every `Set-Cookie` so far. */
  readonly setCookies: readonly string[];
  /** Every `Location` so far. */
  readonly locations: readonly string[];
}

export function openAccountVisitor(
  app: Pick<TestApp, 'fetch'>,
  extra: Readonly<Record<string, string>> = {},
): AccountVisitor {
  const cookies = new Map<string, string>();
  const setCookies: string[] = [];
  const locations: string[] = [];
  let formToken: string | null = null;
  const headers = () => ({ ...extra, ...(cookies.size === 0 ? {} : { cookie: header() }) });
  const header = () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const keep = (seen: Visit): Visit => {
    for (const line of seen.headers.getSetCookie()) {
      setCookies.push(line);
      const [pair = ''] = line.split(';');
      const name = pair.slice(0, pair.indexOf('='));
      if (/Max-Age=0/.test(line)) cookies.delete(name);
      else cookies.set(name, pair.slice(pair.indexOf('=') + 1));
    }
    const location = seen.headers.get('location');
    if (location !== null) locations.push(location);
    if (seen.html !== '') formToken = formTokenIn(seen.html);
    return seen;
  };
  return {
    get: async (path) => keep(await visit(app, path, { headers: headers() })),
    post: async (path, fields = {}, more = {}) => {
      const token = formToken === null ? {} : { 'form-token': formToken };
      return keep(await postForm(app, path, { ...token, ...fields }, { ...headers(), ...more }));
    },
    cookie: header,
    setCookies,
    locations,
  };
}

/** The ticket in the newest mail of this kind. */
export function mailedTicket(app: TestApp, kind: 'sign_up' | 'reset'): string {
  const mail = app.accountMails.findLast((each) => each.kind === kind);
  if (mail === undefined || !('link' in mail)) throw new Error(`no mail of the kind ${kind}`);
  return new URL(mail.link.expose()).pathname.split('/').at(-1) ?? '';
}

/** Signs up and logs in; ends on the account page. */
export async function signUp(app: TestApp, email: string = address): Promise<AccountVisitor> {
  const visitor = openAccountVisitor(app);
  await visitor.get('/sign-up');
  await visitor.post('/sign-up', { email });
  await app.accounts.settled();
  const path = `/sign-up/${mailedTicket(app, 'sign_up')}`;
  await visitor.get(path);
  const made = await visitor.post(path, { password });
  if (made.status !== 303) throw new Error(`the sign-up was answered with ${made.status}`);
  await visitor.get('/account');
  return visitor;
}

/** Logs in from another browser. */
export async function logIn(
  app: TestApp,
  secret = password,
  email: string = address,
): Promise<AccountVisitor> {
  const visitor = openAccountVisitor(app);
  await visitor.get('/log-in');
  await visitor.post('/log-in', { email, password: secret });
  await visitor.get('/account');
  return visitor;
}

/** The form fields of a token with all scopes, and the password it requires. */
export const wholeToken = {
  name: 'Backup',
  'scope-create': 'yes',
  'scope-manage': 'yes',
  'scope-read-recent': 'yes',
  password,
};

/** Creates an API token and returns it. */
export async function createToken(
  visitor: AccountVisitor,
  fields: Readonly<Record<string, string>> = {},
): Promise<string> {
  await visitor.get('/account/tokens');
  const made = await visitor.post('/account/tokens', { ...wholeToken, expiry: '', date: '', ...fields });
  return textIn(made.html, 'token') ?? '';
}

/** The fields that the page marks as wrong. */
export function wrongFields(html: string): string[] {
  return [...html.matchAll(/id="([a-z-]+)-wrong"/g)].map(([, name]) => name ?? '');
}

/** Requests a password reset; returns the path of the mailed link. */
export async function askForReset(app: TestApp, email = address): Promise<string> {
  app.clock.advance(3_600);
  const asked = await sendForm(app, '/forgotten', { email });
  if (asked.status !== 303) throw new Error(`the request was answered with ${asked.status}`);
  await app.accounts.settled();
  return `/reset/${mailedTicket(app, 'reset')}`;
}

/** Everything an answer shows, except what differs with every answer and every browser. */
export function faceOf({ status, headers, html }: Visit): unknown {
  const face = html.replaceAll(/(?<=name="form-token" value=")[0-9a-f]{32}(?=")/g, '…');
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return { status, headers: kept, html: face };
}

/**
 * The examples of the API page: the first one of each operation works unchanged.
 *
 * A shell parses the commands taken from the page itself, and what curl would send goes to a test app.
 */
import { describe, expect, it } from 'bun:test';
import { describedApi } from '../../scripts/generate-openapi.ts';
import { curlExamples } from '../../src/api/openapi/calls.ts';
import { createReference, type Entry, sectionsOf } from '../../src/api/reference/page.tsx';
import { createTestApp, type TestApp } from '../support/app.ts';
import { sampleSecretKey } from './example-story.ts';

const { surfaces, info } = describedApi();
const { baseUrl } = info;
const entries = sectionsOf(surfaces).flatMap((section) => section.entries);

function examplesOf({ path, operation }: Entry): readonly string[] {
  return curlExamples(operation, baseUrl + path);
}

/** The arguments that a shell passes to curl. */
function argumentsOf(command: string): readonly string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
  return Bun.spawnSync(['sh', '-c', script]).stdout.toString().split('\0').slice(0, -1);
}

interface Sent {
  readonly url: string;
  readonly init: RequestInit & { readonly headers: Record<string, string> };
  readonly user: string | null;
}

/** What curl sends for these arguments, as far as the examples use them (curl's manual, `--data` and `--request`). */
function sentBy(command: string): Sent {
  const [url = '', ...options] = argumentsOf(command);
  const headers: Record<string, string> = {};
  const data: string[] = [];
  let method: string | null = null;
  let user: string | null = null;
  for (let at = 0; at < options.length; at += 2) {
    const [option, value = ''] = options.slice(at, at + 2);
    if (option === '--header') headers[value.split(': ')[0] ?? ''] = value.split(': ')[1] ?? '';
    else if (option === '--data') data.push(value);
    else if (option === '--data-urlencode') {
      const [name, ...rest] = value.split('=');
      data.push(`${name}=${encodeURIComponent(rest.join('='))}`);
      headers['Content-Type'] ??= 'application/x-www-form-urlencoded';
    } else if (option === '--request') method = value;
    else if (option === '--user') user = value;
    else if (option === '--data-binary') data.push(value);
    else throw new Error(`curl is given ${option}`);
  }
  const body = data.length > 0 ? { body: data.join('&') } : {};
  return { url, user, init: { method: method ?? (data.length > 0 ? 'POST' : 'GET'), headers, ...body } };
}

const isForAnyone = ({ operation }: Entry) => operation.access !== 'account';

/** @param verify where codes go, if anywhere; only accounts may ask for them */
async function concealedIn(app: TestApp, verify: string) {
  const { authorization } = await app.account();
  const headers = { 'content-type': 'application/json', ...(verify !== '' && { authorization }) };
  const init = { method: 'POST', body: JSON.stringify({ secret: 'x', verify }), headers };
  const { key } = (await (await app.fetch('/api/v2/secret/conceal', init)).json()).record.secret;
  return { key, secretKey: key };
}

/** A request with an answer, both by their examples. */
async function answeredIn(app: TestApp) {
  const send = async (id: string, key = '') => {
    const { url, init } = sentBy(examplesOf(entryOf(id))[0] ?? '');
    return (await (await app.fetch(url.slice(baseUrl.length).replace(/<\w+>/, key), init)).json()).record;
  };
  const { key } = await send('v2.request');
  return { key, secretKey: (await send('v2.requestAnswer', key)).secret_key };
}

describe('the first example', () => {
  const open = entries.filter(isForAnyone).filter(({ operation }) => operation.name !== 'v2.openapi');
  for (const entry of open) {
    it(`of ${entry.operation.name} works when it is pasted${entry.path.includes('{') ? ', with the key in its place' : ''}`, async () => {
      const app = createTestApp({ requests: 'anyone' });
      const isOnRequest = entry.path.includes('/request/');
      const verify = entry.operation.name === 'v2.mailCode' ? 'al@example.org' : '';
      const { key, secretKey } = isOnRequest ? await answeredIn(app) : await concealedIn(app, verify);
      const { url, init, user } = sentBy((examplesOf(entry)[0] ?? '').replace(sampleSecretKey, secretKey));
      expect(user).toBeNull();
      expect(url).toStartWith(baseUrl);
      const path = url.slice(baseUrl.length).replace(/<\w+>/, key);
      const response = await app.fetch(path, init);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    });
  }

  it('is there for more than fifteen operations that need no account', () => {
    expect(open.length).toBeGreaterThan(15);
  });

  it('has nothing that can be left out', () => {
    const first = (id: string) => sentBy(examplesOf(entryOf(id))[0] ?? '').init.body ?? null;
    expect(JSON.parse(String(first('v2.conceal')))).toEqual({ secret: { secret: expect.any(String) } });
    expect(first('v2.generate')).toBeNull();
    expect(first('v2.reveal')).toBeNull();
    expect(String(first('v1.conceal'))).toMatch(/^secret=[^&]+$/);
    expect(first('v1.generate')).toBeNull();
  });

  it('of an operation for accounts says who calls', () => {
    for (const entry of entries.filter((one) => !isForAnyone(one)))
      expect([entry.operation.name, sentBy(examplesOf(entry)[0] ?? '').user]).toEqual([
        entry.operation.name,
        '<username>:<api token>',
      ]);
  });
});

function entryOf(id: string): Entry {
  const entry = entries.find((one) => one.operation.name === id);
  if (entry === undefined) throw new Error(`there is no ${id}`);
  return entry;
}

describe('the second example', () => {
  it('shows with an account what the first leaves out, where there is something', () => {
    for (const id of ['v2.conceal', 'v2.generate', 'v2.deliver']) {
      const [, second, ...more] = examplesOf(entryOf(id));
      expect(more).toEqual([]);
      expect(sentBy(second ?? '').user).toBe('<username>:<api token>');
      expect(sentBy(second ?? '').init.body).toContain('recipient');
    }
    for (const id of ['v2.status', 'v2.inspect', 'v2.recent'])
      expect([id, examplesOf(entryOf(id)).length]).toEqual([id, 1]);
    const guests = examplesOf(entryOf('v2.guest.conceal')).map(sentBy);
    expect(guests.map(({ user }) => user)).toEqual([null, null]);
    expect(guests[1]?.init.body).toContain('"ttl"');
    expect(guests[1]?.init.body).not.toContain('recipient');
  });

  it('works with the account of its caller', async () => {
    for (const id of ['v2.conceal', 'v2.generate']) {
      const app = createTestApp();
      const { authorization } = await app.account();
      const { url, init } = sentBy(examplesOf(entryOf(id))[1] ?? '');
      const headers = { ...init.headers, authorization };
      const response = await app.fetch(url.slice(baseUrl.length), { ...init, headers });
      expect([id, response.status, await response.text()]).toEqual([id, 200, expect.any(String)]);
    }
  });
});

it('the page shows every example, the smallest first', () => {
  const markup = createReference(surfaces, info)();
  const shown = Array.from(markup.matchAll(/<pre><code>(curl .*?)<\/code><\/pre>/gs), ([, text = '']) =>
    text
      .replaceAll('&#39;', "'")
      .replaceAll('&quot;', '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>')
      .replaceAll('&amp;', '&'),
  );
  expect(shown).toEqual(entries.flatMap(examplesOf));
});

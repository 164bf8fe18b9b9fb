/** Mail without a language, or with one that is not offered, uses the installation's default language. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import PostalMime from 'postal-mime';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { openPostOffice, type PostOffice } from './post-office.ts';

const german = 'jo@example.org hat Ihnen ein Geheimnis geschickt';
const french = 'jo@example.org vous a envoyé un secret';

let office: PostOffice;
let server: StartedServer;
let authorization = '';
beforeAll(async () => {
  office = await openPostOffice();
  const env = { MAYFLY_SMTP_URL: office.url, MAYFLY_DEFAULT_LOCALE: 'de', MAYFLY_LOCALES: 'de,fr,en' };
  server = await startServer({ env });
  authorization = (await createAccount(server.dataDir, 'jo@example.org')).basic;
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await office[Symbol.asyncDispose]();
});

async function call(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  const headers = { ...init.headers, authorization };
  const response = await fetch(`http://127.0.0.1:${server.port}/api${path}`, { ...init, headers });
  const answer = JSON.parse(await response.text());
  expect(response.status).toBe(200);
  return answer;
}

function post(path: string, body: URLSearchParams | object) {
  if (body instanceof URLSearchParams) return call(path, { method: 'POST', body });
  const headers = { 'content-type': 'application/json' };
  return call(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Tens of seconds: a busy machine mails slowly. */
const maxAsks = 100_000;

/** The subject of the mail about this secret, once the mail server has accepted it. */
async function subjectOf(metadataKey: string): Promise<string> {
  for (let asks = 0; asks < maxAsks; asks += 1) {
    const { record } = await call(`/v2/private/${metadataKey}`);
    if (record.delivery.state === 'accepted') break;
  }
  return (await PostalMime.parse(office.arrived.at(-1)?.raw ?? '')).subject ?? '';
}

const recipient = 'alan@example.org';
const form = new URLSearchParams({ secret: 'x', recipient });

describe('the language of a mail to a recipient', () => {
  it('is the default one through API v1, which knows no language', async () => {
    for (const operation of ['share', 'generate'])
      expect(await subjectOf((await post(`/v1/${operation}`, form)).metadata_key)).toBe(german);
  });

  it('is the one named through API v2, and the default one where none or no offered one is named', async () => {
    for (const [locale, subject] of [
      [{}, german],
      [{ locale: 'fr' }, french],
      [{ locale: 'fr-CA' }, french],
      [{ locale: 'es' }, german],
      [{ locale: 'tlh' }, german],
    ] as const) {
      const secret = { secret: 'x', recipient, ...locale };
      const { record } = await post('/v2/secret/conceal', { secret });
      expect([locale, await subjectOf(record.metadata.key)]).toEqual([locale, subject]);
    }
  });

  it('is the same when the mail is sent again', async () => {
    const { metadata_key: key } = await post('/v1/share', form);
    expect(await subjectOf(key)).toBe(german);
    for (const [body, subject] of [
      [{}, german],
      [{ locale: 'es' }, german],
      [{ locale: 'fr' }, french],
    ] as const) {
      await post(`/v2/private/${key}/deliver`, body);
      expect([body, await subjectOf(key)]).toEqual([body, subject]);
    }
  });

  it('is that of the account in a mail about its secret, and the default one where it has chosen none', async () => {
    const secret = { secret: 'x', notify: ['read'] };
    const { record } = await post('/v2/secret/conceal', { secret });
    const before = office.arrived.length;
    await post(`/v2/secret/${record.secret.key}/reveal`, {});
    for (let asks = 0; asks < maxAsks && office.arrived.length === before; asks += 1)
      await fetch(`http://127.0.0.1:${server.port}/healthz`);
    const { html } = await PostalMime.parse(office.arrived.at(-1)?.raw ?? '');
    expect(html).toContain('lang="de"');
  });
});

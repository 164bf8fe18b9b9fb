/**
 * Each shipped proxy in front of a server whose base URL has a path: the same table for all, with the change that its file explains.
 *
 * Whoever types the address, follows a link or sends a form gets there, the path arrives as it was sent, and nothing outside it is Mayfly's.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDir, type StartedServer, startServer } from '../support/started-server.ts';
import { belowVault as caddyBelow, startCaddy } from './caddy.ts';
import { apache, haproxy, nginx } from './proxies.ts';
import {
  answerBy,
  changed,
  type Front,
  openBadServer,
  type Request,
  readShipped,
  type ShippedProxy,
  site,
} from './proxy.ts';

setDefaultTimeout(60_000);

type StartFront = (address: string) => Promise<Front>;

const before =
  ({ start, belowVault: changes }: ShippedProxy): StartFront =>
  (address) =>
    start({ servers: [address], changes });

const fronts: Readonly<Record<string, StartFront>> = {
  nginx: before(nginx),
  Apache: before(apache),
  HAProxy: before(haproxy),
  async Caddy(address) {
    const folder = await makeDataDir();
    const caddyfile = join(folder, 'Caddyfile');
    await writeFile(caddyfile, changed(await readShipped('Caddyfile'), caddyBelow));
    const upstreamPort = Number(address.split(':')[1]);
    const started = await startCaddy({ site, upstreamPort, internalPort: upstreamPort, caddyfile });
    await rm(folder, { recursive: true });
    return started;
  },
};

let mayfly: StartedServer;
beforeAll(async () => {
  const env = { MAYFLY_BASE_URL: `https://${site}/vault`, MAYFLY_TRUSTED_PROXIES: '127.0.0.1' };
  mayfly = await startServer({ env, readyPath: '/vault/healthz' });
});
afterAll(() => mayfly?.[Symbol.asyncDispose]());

describe.each(Object.entries(fronts))('a base URL with a path behind %s', (_name, start) => {
  let front: Front;
  beforeAll(async () => {
    front = await start(`127.0.0.1:${mayfly.port}`);
  });
  afterAll(() => front?.[Symbol.asyncDispose]());

  async function ask(request: Request, at: Front = front) {
    const answer = await answerBy(at, request);
    const field = (name: string) => new RegExp(`^${name}: (.*?)\\r?$`, 'm').exec(answer.head)?.[1] ?? '';
    return { ...answer, field };
  }

  test('the address that people type leads to the start page, whose links and files are below the path', async () => {
    const typed = await ask({ path: '/vault' });
    expect([typed.status, typed.field('location')]).toEqual([308, '/vault/']);
    const page = await ask({ path: '/vault/' });
    expect([page.status, page.field('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const targets = [...page.body.matchAll(/ (?:href|src|action)="([^"#][^"]*)"/g)].map(([, to = '']) => to);
    expect(targets.length).toBeGreaterThan(5);
    expect(targets.filter((to) => !to.startsWith('/vault/'))).toEqual([]);
    for (const path of targets.filter((to) => to.startsWith('/vault/assets/')))
      expect([path, (await ask({ path })).status]).toEqual([path, 200]);
  });

  test('a form shares, its receipt shows a link below the path, and the link opens once', async () => {
    const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
    const created = await ask({ path: '/vault/share', body: form({ secret: 'below the path' }) });
    const receipt = created.field('location');
    expect([created.status, receipt]).toEqual([
      303,
      expect.stringMatching(/^\/vault\/receipt\/[0-9a-z]{31}$/),
    ]);
    expect(created.field('set-cookie')).toContain(`path=${receipt}`);
    const cookie = created.field('set-cookie').split(';')[0] ?? '';
    const shown = await ask({ path: receipt, headers: { Cookie: cookie } });
    const [, path = ''] = new RegExp(`https://${site}(/vault/secret/[0-9a-z]{31})`).exec(shown.body) ?? [];
    expect((await ask({ path })).status).toBe(200);
    const opened = await ask({ path, body: form({ open: 'now' }) });
    expect([opened.status, opened.body]).toEqual([200, expect.stringContaining('below the path')]);
    expect((await ask({ path, body: form({ open: 'now' }) })).status).toBe(404);
  });

  test('both versions of the API answer below the path, and nothing of Mayfly outside it', async () => {
    for (const path of [
      '/vault/api/v1/status',
      '/vault/api/v2/status',
      '/vault/healthz',
      '/vault/robots.txt',
    ])
      expect([path, (await ask({ path })).status]).toEqual([path, 200]);
    const made = await ask({ path: '/vault/api/v1/share', body: 'secret=x' });
    expect(JSON.parse(made.body)).toMatchObject({ secret_key: expect.any(String) });
    for (const path of ['/', '/vaultx', '/healthz', '/api/v2/status'])
      expect([path, (await ask({ path })).field('x-request-id')]).toEqual([path, '']);
  });

  test('the path and the query arrive as they were sent', async () => {
    await using server = await openBadServer();
    await using other = await start(server.address);
    const sent = [
      '/vault/secret/key%23fragment',
      '/vault/secret/key%2523fragment?x=%2F&y=a+b',
      '/vault/a%2Fb%20c;d=e/%E2%9C%93',
      '/vault/secret/key.',
    ];
    for (const path of sent) await ask({ path }, other);
    expect(server.heads.map((head) => head.split(' ')[1] ?? '')).toEqual(sent);
  });
});

/** Why a server was not reached, as the commands for people say it: in words, and without the key that was asked for. */
import { afterAll, beforeAll, expect, it } from 'bun:test';
import { join } from 'node:path';
import { certificate } from '../mail/certificate.ts';
import { repositoryRoot } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

const key = 'ab12'.repeat(7).padEnd(31, 'c');
const certificatePath = join(repositoryRoot, 'test/mail/certificate.pem');
const untrusted =
  'its certificate is not trusted (for a private CA, set NODE_EXTRA_CA_CERTS to the CA’s file)';

let server: Bun.Server<undefined>;
let ownAuthority = '';
beforeAll(() => {
  server = Bun.serve({ port: 0, tls: certificate, fetch: () => new Response('{}', { status: 404 }) });
  ownAuthority = `https://127.0.0.1:${server.port}`;
});
afterAll(() => server.stop(true));

const cases: readonly (readonly [string, () => string, string])[] = [
  ['of one’s own authority', () => ownAuthority, untrusted],
  ['where nothing listens', () => 'http://127.0.0.1:1', 'connection refused'],
  ['that has no name', () => 'http://no-such-name.invalid', 'no such host'],
];

for (const [what, address, words] of cases) {
  it(`a server ${what}: the reason follows in words, and the key does not (P18)`, async () => {
    const sentence = `${address()} could not be reached: ${words}.\n`;
    expect(await mayfly(['status', key, '--server', address()])).toEqual({ code: 1, out: '', err: sentence });
    const json = await mayfly(['status', key, '--server', address(), '--json']);
    expect(json.out).not.toContain(key);
  });
}

it('a login says the same', async () => {
  const words = ['login', 'jo@example.org', '--server', ownAuthority, '--token-file', '-'];
  const { code, err } = await mayfly(words, {}, 'a'.repeat(64));
  expect([code, err]).toEqual([1, `${ownAuthority} could not be reached: ${untrusted}.\n`]);
});

it('a server whose certificate is for another name is told so, once its authority is trusted', async () => {
  const other = ownAuthority.replace('127.0.0.1', 'localhost');
  const trusting = { NODE_EXTRA_CA_CERTS: certificatePath };
  expect((await mayfly(['status', key, '--server', other], trusting)).err).toBe(
    `${other} could not be reached: its certificate is for another name.\n`,
  );
  expect((await mayfly(['status', key, '--server', ownAuthority], trusting)).err).not.toContain(
    'could not be reached',
  );
});

/** The commands for people, as processes, against a started server. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { mayfly } from './command-run.ts';

let server: StartedServer;
let folder = '';
let anonymous: Record<string, string> = {};
let account: Record<string, string> = {};
beforeAll(async () => {
  server = await startServer();
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
  anonymous = { MAYFLY_SERVER: `http://127.0.0.1:${server.port}` };
  account = { ...anonymous, MAYFLY_USERNAME: username, MAYFLY_TOKEN: token };
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

describe('sharing and reading with the command', () => {
  const value = ' pässword\nwith two lines\n';

  /** With what opens it, of the server that the command was given. */
  const fullLink = /^http:\/\/127\.0\.0\.1:\d+\/secret\/[0-9a-z]{31}#[\w-]{22}\n$/;

  it('share prints the link; reveal prints the value byte for byte, once (P1)', async () => {
    const shared = await mayfly(['share', '--exact', '--ttl', '1h'], anonymous, value);
    expect(shared.code).toBe(0);
    expect(shared.out).toMatch(fullLink);
    const link = shared.out.trim();
    expect((await mayfly(['status', link], anonymous)).out).toBe(
      'Not opened yet · end-to-end encrypted · expires in 1 hour\n',
    );
    expect(await mayfly(['reveal', link], anonymous)).toEqual({ code: 0, out: value, err: '' });
    const again = await mayfly(['reveal', link, '--json'], anonymous);
    expect([again.code, again.out]).toEqual([1, '{"error":"unknown_secret"}\n']);
    const status = await mayfly(['status', link, '--json'], anonymous);
    expect([status.code, status.out]).toEqual([1, '{"waiting":false}\n']);
  });

  it('share says on standard error when the lifetime is another than asked', async () => {
    const shared = await mayfly(['share', '--ttl', '30d'], anonymous, 'open sesame');
    expect([shared.code, shared.err.split('\n')[0]]).toEqual([
      0,
      'Expires in 7 days: the server does not allow 30 days.',
    ]);
    expect(shared.out).toMatch(fullLink);
  });

  it('what echo or a shell gives arrives without the line break at its end', async () => {
    const link = (await mayfly(['share'], anonymous, 'open sesame\n')).out.trim();
    expect((await mayfly(['reveal', link], anonymous)).out).toBe('open sesame');
  });

  it('reveal takes the link from standard input, or a bare key', async () => {
    const { out } = await mayfly(['share', '--plain', '--json'], anonymous, 'by key');
    const { secret_key: key } = JSON.parse(out);
    expect((await mayfly(['reveal', '-'], anonymous, `${key}\n`)).out).toBe('by key');
  });

  it('a passphrase comes from a file or a setting; a wrong one is refused and consumes nothing (P14)', async () => {
    const file = join(folder, 'passphrase');
    await writeFile(file, 'correct horse\n');
    const link = (await mayfly(['share', '--exact', '--passphrase-file', file], anonymous, value)).out.trim();
    expect((await mayfly(['status', link], anonymous)).out).toContain('with a passphrase');
    for (const [env, words] of [
      [anonymous, 'Missing passphrase: use --passphrase-file or MAYFLY_PASSPHRASE.'],
      [{ ...anonymous, MAYFLY_PASSPHRASE: 'wrong' }, 'The passphrase is missing or wrong.'],
    ] as const) {
      const refused = await mayfly(['reveal', link], env);
      expect([refused.code, refused.out]).toEqual([1, '']);
      expect(refused.err).toBe(`${words} The secret was not opened.\n`);
    }
    expect((await mayfly(['reveal', link], { ...anonymous, MAYFLY_PASSPHRASE: 'correct horse' })).out).toBe(
      value,
    );
  });

  it('generate prints the value and its link', async () => {
    const { code, out } = await mayfly(
      ['generate', '--length', '20', '--charset', 'lower,digits'],
      anonymous,
    );
    const [generated = '', link = ''] = out.trim().split('\n');
    expect(code).toBe(0);
    expect(generated).toMatch(/^[a-z0-9]{20}$/);
    expect((await mayfly(['reveal', link], anonymous)).out).toBe(generated);
  });

  it('burn and recent need an account, and do what they say', async () => {
    const { metadata_key: key, link } = JSON.parse(
      (await mayfly(['share', '--json'], account, 'to burn')).out,
    );
    expect((await mayfly(['burn', key], anonymous)).err).toContain('Unknown key');
    expect((await mayfly(['memo', key], anonymous)).err).toContain('This needs an account');
    const recent = JSON.parse((await mayfly(['recent', '--json'], account)).out);
    expect(recent[0]).toMatchObject({ metadata_key: key, state: 'new' });
    expect((await mayfly(['burn', key], account)).err).toBe('Burned. The link no longer works.\n');
    expect((await mayfly(['burn', key, '--json'], account)).out).toBe('{"error":"already_gone"}\n');
    expect((await mayfly(['reveal', link], anonymous)).code).toBe(1);
    expect((await mayfly(['recent'], account)).out).toContain(`${key}\tburned\t`);
  });

  it('the receipt that share prints is watched and burned without an account', async () => {
    const shared = await mayfly(['share'], anonymous, 'to watch');
    const receipt = /http:\S+\/receipt\/\S+/.exec(shared.err)?.[0] ?? '';
    expect((await fetch(receipt)).status).toBe(200);
    expect(await mayfly(['status', receipt], anonymous)).toEqual({
      code: 0,
      out: 'Not opened yet\n',
      err: '',
    });
    expect((await mayfly(['burn', receipt], anonymous)).code).toBe(0);
    expect((await mayfly(['status', receipt], anonymous)).out).toBe('Burned\n');
    expect((await mayfly(['reveal', shared.out.trim()], anonymous)).code).toBe(1);
  });

  it('burn needs no account with the link, and the receipt says that the recipient did it', async () => {
    const { metadata_key: key, link } = JSON.parse(
      (await mayfly(['share', '--json'], account, 'not wanted')).out,
    );
    const burned = await mayfly(['burn', '--json', link], anonymous);
    expect(JSON.parse(burned.out)).toEqual({ secret_key: expect.any(String), state: 'burned' });
    expect((await mayfly(['burn', link], anonymous)).err).toContain('There is no such secret');
    const status = await mayfly(['status', key], account);
    expect([status.code, status.out]).toEqual([1, 'Burned by the recipient\n']);
    expect((await mayfly(['recent'], account)).out).toContain(`${key}\tburned\t`);
  });

  it('share says who is told and mailed; status tells what became of the mail; deliver sends it elsewhere', async () => {
    const options = ['--plain', '--recipient', 'alan@example.org', '--notify', 'read,expiring', '--json'];
    const shared = await mayfly(['share', ...options], account, 'to mail');
    const { metadata_key: key, secret_key: secretKey } = JSON.parse(shared.out);
    const status = JSON.parse((await mayfly(['status', key, '--json'], account)).out);
    expect(status).toMatchObject({
      waiting: true,
      state: 'new',
      recipient: 'al*****@e*****.org',
      delivery: { state: expect.stringMatching(/^(queued|accepted)$/), reply: null },
      notify: ['read', 'expiring'],
    });
    const sent = await mayfly(['deliver', key, 'grace@example.com'], account);
    expect([sent.code, sent.out]).toEqual([0, '']);
    const lines = (await mayfly(['status', key], account)).out.split('\n');
    expect(lines[0]).toBe('Not opened yet · expires in 7 days');
    expect(lines[1]).toMatch(
      /^Email to gr\*{5}@e\*{5}\.com (is being sent|was accepted by the mail server), 20/,
    );
    // Without its account, a metadata key shows nothing, and a secret key shows only that the secret is waiting.
    const stranger = await mayfly(['status', '--json', key], anonymous);
    expect([stranger.code, stranger.out]).toEqual([1, '{"error":"unknown_secret"}\n']);
    expect((await mayfly(['status', secretKey], account)).out).toStartWith('Not opened yet');
    expect((await mayfly(['deliver', key], anonymous)).err).toContain('This needs an account');
  });

  it('a memo is kept at creation, shown by status and recent, and changed or removed by memo', async () => {
    const shared = await mayfly(['share', '--memo', 'VPN for Al', '--json'], account, 'x');
    const { metadata_key: key, link } = JSON.parse(shared.out);
    const linesOf = async (...args: string[]) => (await mayfly(args, account)).out.trimEnd().split('\n');
    expect((await linesOf('status', key)).slice(1)).toEqual(['Memo: VPN for Al']);
    expect((await linesOf('recent', '--limit', '1'))[0]).toMatch(
      new RegExp(`^${key}\twaiting\t[^\t]+\t\tVPN for Al$`),
    );
    expect(await mayfly(['memo', key], account)).toEqual({ code: 0, out: 'VPN for Al\n', err: '' });
    await mayfly(['reveal', link], anonymous);
    const changed = await mayfly(['memo', key, 'VPN, second try'], account);
    expect(changed).toEqual({ code: 0, out: '', err: 'Memo saved. Only you see it.\n' });
    expect(JSON.parse((await mayfly(['memo', key, '--json'], account)).out)).toMatchObject({
      metadata_key: key,
      state: 'received',
      memo: 'VPN, second try',
    });
    expect(JSON.parse((await mayfly(['recent', '--json'], account)).out)[0].memo).toBe('VPN, second try');
    expect((await mayfly(['memo', key, ''], account)).err).toBe('Memo removed.\n');
    expect(await mayfly(['memo', key], account)).toEqual({ code: 0, out: '', err: 'No memo.\n' });
    expect((await linesOf('status', key)).slice(1)).toEqual([]);
    expect((await mayfly(['memo', key, 'x'], anonymous)).err).toContain('This needs an account');
    const drawn = await mayfly(['generate', '--memo', 'drawn', '--json'], account);
    expect((await mayfly(['memo', JSON.parse(drawn.out).metadata_key], account)).out).toBe('drawn\n');
    const long = await mayfly(['generate', '--memo', 'x'.repeat(501)], account);
    expect([long.code, long.out]).toEqual([1, '']);
    expect(long.err).toContain('500 characters');
  });

  it('ttl says how long a secret may still wait, and gives it another time from now on', async () => {
    const shared = await mayfly(['share', '--ttl', '1h', '--json'], account, 'x');
    const { metadata_key: key, link } = JSON.parse(shared.out);
    const shown = await mayfly(['ttl', key], account);
    expect([shown.code, shown.err]).toEqual([0, '']);
    expect(shown.out).toMatch(/^(1 hour|59 minutes( \d+ seconds?)?)\n$/);
    expect(await mayfly(['ttl', key, '3d'], account)).toEqual({
      code: 0,
      out: '',
      err: 'It now expires in 3 days.\n',
    });
    expect((await mayfly(['ttl', key], account)).out).toMatch(/^(3 days|2 days 23 hours)\n$/);
    const less = await mayfly(['ttl', '-', '30d', '--json'], account, `${key}\n`);
    expect(less.err).toMatch(
      /^Expires in (14 days|13 days 23 hours): the server does not allow 30 days\.\n$/,
    );
    const { adjusted, secret_ttl: left } = JSON.parse(less.out);
    expect(adjusted.ttl.asked).toBe(2_592_000);
    // A second may pass between the two.
    expect([left, left + 1]).toContain(adjusted.ttl.granted);
    expect((await mayfly(['ttl', key, '1h'], anonymous)).err).toContain('This needs an account');
    await mayfly(['reveal', link], anonymous);
    expect(await mayfly(['ttl', key, '1h'], account)).toEqual({
      code: 1,
      out: '',
      err: 'The secret was read, burned or has expired.\n',
    });
    expect((await mayfly(['ttl', key, '1h', '--json'], account)).out).toBe('{"error":"already_gone"}\n');
    const gone = await mayfly(['ttl', key], account);
    expect(gone).toEqual({ code: 1, out: '', err: 'The secret is gone: opened.\n' });
    const json = await mayfly(['ttl', key, '--json'], account);
    expect([json.code, JSON.parse(json.out)]).toEqual([
      1,
      expect.objectContaining({ metadata_key: key, state: 'received', secret_ttl: null }),
    ]);
  });

  it('a server that is not there is told in a sentence', async () => {
    const { code, err } = await mayfly(['generate', '--server', 'http://127.0.0.1:1'], {});
    expect([code, err]).toEqual([1, 'http://127.0.0.1:1 could not be reached: connection refused.\n']);
  });
});

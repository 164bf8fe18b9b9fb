/** The whole command against a mail server: `mayfly doctor`, and how a start reacts to wrong mail settings. */
import { describe, expect, it } from 'bun:test';
import { generateKeyPairSync } from 'node:crypto';
import PostalMime from 'postal-mime';
import { mayfly } from '../cli/command-run.ts';
import { makeDataDir } from '../support/started-server.ts';
import { verifyDkim } from './dkim-verifier.ts';
import { openPostOffice } from './post-office.ts';

const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const signing = {
  MAYFLY_DKIM_DOMAIN: 'example.com',
  MAYFLY_DKIM_SELECTOR: 'mayfly',
  MAYFLY_DKIM_KEY: String(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
};

interface Finding {
  readonly what: string;
  readonly verdict: string;
  readonly words: string;
}

describe('mayfly doctor', () => {
  it('sends a test mail where it is told to, from the sender, signed, and tells the reply', async () => {
    await using office = await openPostOffice();
    const { code, out } = await mayfly(['doctor', '--mail-to', 'jo@example.org', '--json'], {
      ...signing,
      MAYFLY_DATA_DIR: await makeDataDir(),
      MAYFLY_BASE_URL: 'https://secrets.example.com',
      MAYFLY_SMTP_URL: office.url,
      MAYFLY_MAIL_FROM: 'Safe <noreply@example.com>',
      MAYFLY_MAIL_RETURN_PATH: 'bounces@example.com',
      // No server answers there, so the published key is unknown.
      MAYFLY_DNS_SERVERS: '127.0.0.1:9',
    });
    const findings: Finding[] = JSON.parse(out);
    const verdictOf = (name: string) => findings.find(({ what }) => what === name)?.verdict;
    expect([verdictOf('mail'), verdictOf('test mail'), verdictOf('signature'), code]).toEqual([
      'ok',
      'ok',
      'advice',
      0,
    ]);
    expect(findings.find(({ what }) => what === 'test mail')?.words).toContain('which said: 250 ');
    expect(office.arrived.map(({ from, to }) => [from, ...to])).toEqual([
      ['bounces@example.com', 'jo@example.org'],
    ]);
    const raw = office.arrived[0]?.raw ?? '';
    expect((await PostalMime.parse(raw)).from).toEqual({ name: 'Safe', address: 'noreply@example.com' });
    expect(verifyDkim(raw, pair.publicKey)).toMatchObject({ bodyIsSigned: true, headersAreSigned: true });
  });

  it('connects and sends nothing where it is not told to', async () => {
    await using office = await openPostOffice();
    const { out } = await mayfly(['doctor'], {
      MAYFLY_DATA_DIR: await makeDataDir(),
      MAYFLY_SMTP_URL: office.url,
      MAYFLY_MAIL_FROM: 'mayfly@example.com',
    });
    expect(out).toMatch(/ok +mail +127\.0\.0\.1 answers on port/);
    expect([office.connections().all, office.attempts()]).toEqual([1, 0]);
  });

  const wrong: readonly [Record<string, string>, string][] = [
    [{ MAYFLY_DKIM_KEY: 'canary' }, 'MAYFLY_DKIM_DOMAIN, MAYFLY_DKIM_SELECTOR, MAYFLY_DKIM_KEY: '],
    [{ MAYFLY_SMTP_URL: 'smtp://:canary@mail.example.com' }, 'MAYFLY_SMTP_URL: '],
    [{ MAYFLY_MAIL_FROM: 'a..b@example.com' }, 'MAYFLY_MAIL_FROM: '],
    [{ MAYFLY_MAIL_RETURN_PATH: 'a..b@example.com' }, 'MAYFLY_MAIL_RETURN_PATH: '],
  ];
  for (const [change, words] of wrong) {
    it(`names ${Object.keys(change)[0]} where that is wrong, as the start does`, async () => {
      const env = {
        ...signing,
        MAYFLY_DATA_DIR: await makeDataDir(),
        MAYFLY_SMTP_URL: 'smtp://127.0.0.1:1',
        MAYFLY_DNS_SERVERS: '127.0.0.1:9',
        ...change,
      };
      const doctor = await mayfly(['doctor'], env);
      expect(doctor.out).toContain(`FAULT   mail`);
      expect(doctor.out).toContain(words);
      const start = await mayfly(['serve'], env);
      expect([start.code, start.err]).toEqual([2, expect.stringContaining(`does not start. ${words}`)]);
      for (const run of [doctor, start]) expect(run.out + run.err).not.toContain('canary');
    });
  }
});

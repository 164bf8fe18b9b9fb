/** The doctor's findings: which are faults, and which only advice. */
import { describe, expect, it } from 'bun:test';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Environment, readConfig, type Settings } from '../config/read.ts';
import type { ClockReport } from '../core/ports/clock.ts';
import type { RootStore } from '../core/ports/roots.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { DnsAnswer } from '../core/share-domains/check.ts';
import { type DoctorDeps, examine, type MailAnswer } from './doctor.ts';

function read(env: Environment): Settings {
  const reading = readConfig({ MAYFLY_DATA_DIR: './no-such-folder', ...env });
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  return reading.settings;
}

const recipient = new Sensitive('jo@example.org');
const server = { MAYFLY_SMTP_URL: 'smtp://127.0.0.1', MAYFLY_MAIL_FROM: 'mayfly@example.org' };
const well: MailAnswer = { outcome: 'well', words: 'it answers' };

/** Only the findings on mail, as "what: verdict". */
async function findingsOn(
  env: Environment,
  answers: { server?: MailAnswer; testMail?: MailAnswer | null; dns?: DnsAnswer } = {},
  to: Sensitive<string> | null = null,
) {
  const asked: (Sensitive<string> | null)[] = [];
  const deps: DoctorDeps = {
    openStore: async () => ({ outcome: 'refused', problem: 'not looked at here' }),
    probeMail: async (_server, whom) => {
      asked.push(whom);
      return { server: answers.server ?? well, testMail: answers.testMail ?? null };
    },
    resolver: { txt: async () => answers.dns ?? { outcome: 'none' } },
    hashOnce: async () => {},
  };
  const all = await examine(read(env), deps, to);
  const found = all.filter(({ what }) => ['mail', 'test mail', 'signature'].includes(what));
  return { found, verdicts: found.map(({ what, verdict }) => `${what}: ${verdict}`), asked };
}

const agreed: ClockReport = { verdict: 'agreed', storeTime: 0, wall: 0, aheadSeconds: 0 };

/** One finding about a store that opens and uses `usedBytes`. */
async function findingOn(
  wanted: string,
  {
    usedBytes = 0,
    clock = agreed,
    hashOnce = async () => {},
    roots = {},
  }: {
    usedBytes?: number;
    clock?: ClockReport;
    hashOnce?: DoctorDeps['hashOnce'];
    roots?: Partial<RootStore>;
  },
  env: Environment = {},
) {
  const store = {
    findRootCheck: async () => null,
    addRootCheck: async (_kid: number, check: Uint8Array) => check,
    rootKidsInUse: async () => [],
    findFirstOpenRoot: async () => 0,
    mayMakeRoots: async () => true,
    hasAccounts: async () => true,
    ...roots,
    usedBytes: async () => usedBytes,
    clock: () => clock,
  };
  const deps: DoctorDeps = {
    openStore: async () => ({ outcome: 'open', store, server: null, close: async () => {} }),
    probeMail: async () => ({ server: well, testMail: null }),
    resolver: { txt: async () => ({ outcome: 'none' }) },
    hashOnce,
  };
  const found = await examine(read({ MAYFLY_DATA_DIR: '.', ...env }), deps, null);
  return found.find(({ what }) => what === wanted);
}

describe('what the doctor says of passphrases', () => {
  it('say that without a mail server no secret can ask for a code, where others use the server', async () => {
    const words = async (env: Environment) => (await findingsOn(env)).found[0]?.words;
    const site = { MAYFLY_BASE_URL: 'https://secrets.example.com' };
    for (const env of [site, { HOST: '0.0.0.0' }])
      expect(await words(env)).toEndWith('to send mail; until then no secret can ask for a code');
    for (const env of [{}, { ...site, MAYFLY_VERIFY: 'off' }])
      expect(await words(env)).toEndWith('to send mail');
  });

  it('is well when one can be hashed, else a fault with what to do', async () => {
    expect((await findingOn('passphrases', {}))?.verdict).toBe('ok');
    const cannot = await findingOn('passphrases', {
      hashOnce: () => Promise.reject(new Error('failed to map segment from shared object')),
    });
    expect(cannot?.verdict).toBe('fault');
    expect(cannot?.words).toEndWith('set TMPDIR to a folder that allows it');
  });
});

describe('what the doctor says of the keys (P12)', () => {
  it('is whether the file can be read, and whether a server could serve with it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
    const path = join(folder, 'keys.json');
    const on = async (roots: Partial<RootStore>) => {
      const env = { MAYFLY_ROOT_KEYS_FILE: path };
      const [keys, store] = [
        await findingOn('keys', { roots }, env),
        await findingOn('store', { roots }, env),
      ];
      return [`${keys?.verdict} ${keys?.words}`, `${store?.verdict} ${store?.words}`];
    };
    const key = Buffer.alloc(32, 9).toString('base64url');
    await writeFile(path, JSON.stringify({ version: 1, roots: [{ kid: 1, key }] }), { mode: 0o600 });
    const well = [`ok ${path}, 1 root. Keep a copy`, 'ok opens with safe settings and matches the keys'];
    expect(await on({})).toEqual(well.map((words) => expect.stringContaining(words)));
    const rotated = { findFirstOpenRoot: async () => 2 };
    expect((await on(rotated))[1]).toStartWith(`fault The key file ${path} is an old copy`);
    await writeFile(path, '{');
    const served = { rootKidsInUse: async () => [1] };
    expect(await on(served)).toEqual([
      expect.stringContaining(`fault The key file ${path} is damaged`),
      'ok opens with safe settings',
    ]);
    await rm(folder, { recursive: true });
  });

  it('is one fault when the key file of a store in use is missing', async () => {
    const env = { MAYFLY_ROOT_KEYS_FILE: './no-such-file.json' };
    const served = { roots: { rootKidsInUse: async () => [1] } };
    expect(await findingOn('keys', served, env)).toEqual({
      what: 'keys',
      verdict: 'fault',
      words:
        'The key file ./no-such-file.json is missing. Restore it from your backup, or the secrets stored so far cannot be opened.',
    });
    expect(await findingOn('store', served, env)).toEqual({
      what: 'store',
      verdict: 'ok',
      words: 'opens with safe settings',
    });
    expect(await findingOn('keys', {}, env)).toEqual({
      what: 'keys',
      verdict: 'ok',
      words: './no-such-file.json will be created at the first start',
    });
  });
});

describe('what the doctor says of the clock (P8)', () => {
  it('is well when it agrees, advice after a restart, and a fault with what to do when it is in dispute', async () => {
    const on = (changes: Partial<ClockReport>) => findingOn('clock', { clock: { ...agreed, ...changes } });
    expect((await on({}))?.verdict).toBe('ok');
    const restarted = await on({ verdict: 'unproven', aheadSeconds: 28_800 });
    expect(restarted?.verdict).toBe('advice');
    expect(restarted?.words).toContain('8 hours ahead');
    for (const [aheadSeconds, words] of [
      [30 * 86_400, '30 days ahead of the time'],
      [-3_600, '1 hour behind the time'],
    ] as const) {
      const disputed = await on({ verdict: 'disputed', aheadSeconds });
      expect(disputed?.verdict).toBe('fault');
      expect(disputed?.words).toContain(words);
      expect(disputed?.words).toEndWith('run mayfly store set-time');
    }
  });
});

describe('what the doctor says of the store’s limit (P21)', () => {
  const onLimit = (usedBytes: number, MAYFLY_MAX_STORAGE: string) =>
    findingOn('storage', { usedBytes }, { MAYFLY_MAX_STORAGE });

  it('is how much of it is used; advice from 80 % on, a fault where secrets are refused', async () => {
    const verdicts: unknown[] = [];
    for (const mebibytes of [0, 79, 80, 99, 100, 130]) {
      verdicts.push((await onLimit(mebibytes * 2 ** 20, '100MiB'))?.verdict);
    }
    expect(verdicts).toEqual(['ok', 'ok', 'advice', 'advice', 'fault', 'fault']);
    const { words } = (await onLimit(80 * 2 ** 20, '100MiB')) ?? {};
    expect(words).toStartWith(
      '83.8 MB of 104.8 MB in use (MAYFLY_MAX_STORAGE): new secrets will be refused soon',
    );
  });

  it('is in the unit that fits', async () => {
    const [used, limit] = [400_000, '1MB'];
    expect((await onLimit(used, limit))?.words).toBe('400 kB of 1 MB in use (MAYFLY_MAX_STORAGE)');
    expect((await onLimit(1_000_000, limit))?.words).toStartWith('1 MB of 1 MB in use');
    expect((await onLimit(12 * 2 ** 20, '4MiB'))?.words).toStartWith('12.5 MB of 4.1 MB in use');
  });

  it('is what is used where there is no limit', async () => {
    expect(await onLimit(3 * 2 ** 20, 'none')).toEqual({
      what: 'storage',
      verdict: 'ok',
      words: '3.1 MB in use; MAYFLY_MAX_STORAGE sets no limit except the disk',
    });
  });
});

describe('what the doctor says of mail', () => {
  it('without a mail server: advice, and that a test mail cannot be sent', async () => {
    const alone = await findingsOn({});
    expect([alone.verdicts, alone.asked]).toEqual([['mail: advice'], []]);
    const { verdicts, asked } = await findingsOn({}, {}, recipient);
    expect([verdicts, asked]).toEqual([['mail: advice', 'test mail: fault'], []]);
  });

  it('with one: what it answered, and who the sender is', async () => {
    const { found, asked } = await findingsOn(server);
    expect(found).toEqual([
      { what: 'mail', verdict: 'ok', words: 'it answers; the sender is mayfly@example.org' },
    ]);
    expect(asked).toEqual([null]);
    const failed = { outcome: 'failed', words: 'no' } as const;
    expect((await findingsOn(server, { server: failed })).found).toEqual([
      { what: 'mail', verdict: 'fault', words: 'no' },
    ]);
  });

  it('without a sender address: advice to set one', async () => {
    const { MAYFLY_MAIL_FROM: _, ...unnamed } = server;
    expect((await findingsOn(unnamed)).found).toEqual([
      {
        what: 'mail',
        verdict: 'advice',
        words: 'it answers; the sender is mayfly@mayfly.invalid, which does not exist: set MAYFLY_MAIL_FROM',
      },
    ]);
  });

  it('with a test mail: taken, to be tried later, refused', async () => {
    for (const [outcome, verdict] of [
      ['well', 'ok'],
      ['later', 'advice'],
      ['failed', 'fault'],
    ] as const) {
      const testMail = { outcome, words: 'so' };
      const { verdicts, asked } = await findingsOn(server, { testMail }, recipient);
      expect(verdicts).toEqual(['mail: ok', `test mail: ${verdict}`]);
      expect(asked).toEqual([recipient]);
    }
  });
});

describe('what the doctor says of the signature', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const signing = {
    ...server,
    MAYFLY_DKIM_DOMAIN: 'example.com',
    MAYFLY_DKIM_SELECTOR: 'mayfly',
    MAYFLY_DKIM_KEY: pem,
  };
  const spki = createPublicKey(pem).export({ type: 'spki', format: 'der' }).toString('base64');
  const pkcs1 = createPublicKey(pem).export({ type: 'pkcs1', format: 'der' }).toString('base64');
  const other = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey;
  const otherKey = other.export({ type: 'spki', format: 'der' }).toString('base64');

  const answers: readonly [string, DnsAnswer, string][] = [
    ['fits', { outcome: 'found', values: [`v=DKIM1; k=rsa; p=${spki}`] }, 'ok'],
    [
      'fits in blanks',
      { outcome: 'found', values: ['other', `p = ${spki.slice(0, 9)} ${spki.slice(9)} ;t=s`] },
      'ok',
    ],
    ['fits bare', { outcome: 'found', values: [`v=DKIM1;p=${pkcs1}`] }, 'ok'],
    ['is another', { outcome: 'found', values: [`v=DKIM1; p=${otherKey}`] }, 'fault'],
    ['is revoked', { outcome: 'found', values: ['v=DKIM1; p='] }, 'fault'],
    ['is none', { outcome: 'found', values: ['hello'] }, 'fault'],
    ['is missing', { outcome: 'none' }, 'fault'],
    ['is not to be had', { outcome: 'failed' }, 'advice'],
  ];
  for (const [what, dns, verdict] of answers) {
    it(`whose public key in the DNS ${what}: ${verdict}, with the record that belongs there`, async () => {
      const { verdicts, found } = await findingsOn(signing, { dns });
      expect(verdicts).toEqual(['mail: ok', `signature: ${verdict}`]);
      const words = found[1]?.words ?? '';
      expect(words).toContain('mayfly._domainkey.example.com');
      if (verdict === 'fault') expect(words).toEndWith(`publish v=DKIM1; k=rsa; p=${spki}`);
      expect(words).not.toContain(pem.split('\n')[1] ?? pem);
    });
  }

  it('where mail is not signed, or the key cannot sign: nothing', async () => {
    expect((await findingsOn(server)).verdicts).toEqual(['mail: ok']);
    expect((await findingsOn({ ...signing, MAYFLY_DKIM_KEY: 'none' })).verdicts).toEqual(['mail: ok']);
  });
});

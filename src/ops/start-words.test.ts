/** What the start message says about who can reach the server, and what the doctor says about the same settings. */
import { describe, expect, it } from 'bun:test';
import { type Environment, readConfig, type Settings } from '../config/read.ts';
import { type DoctorDeps, examine } from './doctor.ts';
import { renderStartWords, type StoreServer } from './start-words.ts';

function read(env: Environment): Settings {
  const reading = readConfig({ MAYFLY_DATA_DIR: './no-such-folder', ...env });
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  return reading.settings;
}

/** The line of the start message that begins with `name`; `''` when there is none. */
function lineOf(name: string, env: Environment, isStorageFull = false): string {
  const clock = { verdict: 'agreed', storeTime: 0, wall: 0, aheadSeconds: 0 } as const;
  const facts = {
    version: '1.2.3',
    hasNewKeys: false,
    isSecondServer: false,
    server: null,
    clock,
    isStorageFull,
  };
  const lines = renderStartWords(read(env), facts).split('\n');
  return lines.find((line) => line.startsWith(`  ${name} `))?.slice(2 + 9) ?? '';
}

async function findingOn(what: string, env: Environment) {
  const deps: DoctorDeps = {
    openStore: async () => ({ outcome: 'no_store', problem: 'None here.' }),
    probeMail: async () => ({ server: { outcome: 'well', words: 'it answers' }, testMail: null }),
    resolver: { txt: async () => ({ outcome: 'none' }) },
    hashOnce: async () => {},
  };
  return (await examine(read(env), deps, null)).find((finding) => finding.what === what);
}

const signUpCases: readonly (readonly [string, Environment, string])[] = [
  ['on this machine alone', {}, 'open to everyone on this machine; MAYFLY_SIGNUP=closed closes it'],
  [
    'where others can connect',
    { HOST: '0.0.0.0' },
    'closed, because others can connect (HOST is 0.0.0.0); MAYFLY_SIGNUP=open opens it',
  ],
  [
    'where others are led to',
    { MAYFLY_BASE_URL: 'https://secrets.example.com' },
    'closed, because MAYFLY_BASE_URL is not localhost; MAYFLY_SIGNUP=open opens it',
  ],
  [
    'opened by its setting',
    { HOST: '0.0.0.0', MAYFLY_SIGNUP: 'open' },
    'open to everyone who can connect, as MAYFLY_SIGNUP says',
  ],
  ['closed by its setting', { MAYFLY_SIGNUP: 'closed' }, 'closed, as MAYFLY_SIGNUP says'],
  [
    'of a region',
    { MAYFLY_REGION: 'us', MAYFLY_REGIONS: 'us=https://us.example.com' },
    'closed, because the address of MAYFLY_REGION is not localhost; MAYFLY_SIGNUP=open opens it',
  ],
];

const server: StoreServer = {
  shown: 'postgres://mayfly@db.example.org:5432/mayfly',
  durability: 'synchronous',
  unsafe: [],
  isEncrypted: true,
  isLocal: false,
};

describe('the database server', () => {
  const env = { MAYFLY_STORE: 'postgres://mayfly:hunter2@db.example.org/mayfly' };
  const clock = { verdict: 'agreed', storeTime: 0, wall: 0, aheadSeconds: 0 } as const;
  const facts = { version: '1.2.3', hasNewKeys: true, isSecondServer: false, clock, isStorageFull: true };
  const said = (found: Partial<StoreServer>, more = {}) =>
    renderStartWords(read({ ...env, ...more }), { ...facts, server: { ...server, ...found } });

  it('is named at the start without its password, with what its durability rests on', () => {
    const words = said({});
    expect(words).toContain('  store    PostgreSQL at postgres://mayfly@db.example.org:5432/mayfly\n');
    expect(words).toContain('  keeps    synchronous: a commit counts once a standby has it\n');
    expect(words).toContain('created just now: copy it to every other node before it starts');
    expect(words).toContain('make room on the disk of the PostgreSQL server');
    expect(words).not.toMatch(/hunter2|PLAIN|UNSAFE/);
    expect(said({ durability: 'single' })).toContain('  keeps    single: one server has every commit');
    expect(said({ durability: 'engine' })).toContain('  keeps    engine: as you declare');
  });

  it('is said to have room for so many secrets, unless it has no limit', () => {
    const room = (MAYFLY_MAX_STORAGE: string) => /^ {2}room .*$/m.exec(said({}, { MAYFLY_MAX_STORAGE }))?.[0];
    expect(room('')).toBe(
      '  room     for about 10,000,000 short secrets, then new ones are refused; MAYFLY_MAX_STORAGE sets it',
    );
    expect(room('200GB')).toContain('for about 190,000,000 short secrets');
    expect(room('none')).toBeUndefined();
  });

  it('P25: that is not safe is pointed out at each start', () => {
    expect(said({ unsafe: ['fsync is off.'] })).toContain('  UNSAFE   fsync is off.\n');
    expect(said({ isEncrypted: false })).toContain('  PLAIN    the connection is not encrypted');
    expect(said({ isEncrypted: false, isLocal: true })).not.toContain('PLAIN');
  });
});

describe('sign-up', () => {
  it.each(signUpCases)(
    '%s: the start and the doctor say whether it is open, and why',
    async (_, env, words) => {
      expect(lineOf('sign-up', env)).toBe(words);
      expect(await findingOn('sign-up', env)).toEqual({ what: 'sign-up', verdict: 'ok', words });
    },
  );
});

const unreachable =
  'point to http://localhost:3000, which is only this machine, but others can connect (HOST is 0.0.0.0): set MAYFLY_BASE_URL to the address that they use';

describe('links', () => {
  it('that others cannot open are pointed out by the start and by the doctor', async () => {
    expect(lineOf('LINKS', { HOST: '0.0.0.0' })).toBe(unreachable);
    expect(await findingOn('address', { HOST: '0.0.0.0' })).toEqual({
      what: 'address',
      verdict: 'advice',
      words: `links ${unreachable}`,
    });
  });

  it('are not mentioned where they open, or where the operator says that they do', async () => {
    for (const env of [
      {},
      { HOST: '::1' },
      { HOST: '0.0.0.0', MAYFLY_BASE_URL: 'https://secrets.example.com' },
      { HOST: '0.0.0.0', MAYFLY_BASE_URL: 'http://localhost:8080' },
    ])
      expect(lineOf('LINKS', env)).toBe('');
    const forwarded = { HOST: '0.0.0.0', MAYFLY_BASE_URL: 'http://localhost:8080' };
    expect(await findingOn('address', forwarded)).toMatchObject({ verdict: 'ok' });
  });
});

describe('mail that is kept', () => {
  it('is said to be unsigned where a signature is set up', async () => {
    const dkim = { MAYFLY_DKIM_DOMAIN: 'example.org', MAYFLY_DKIM_SELECTOR: 'mayfly', MAYFLY_DKIM_KEY: 'x' };
    expect(lineOf('DKIM', dkim)).toBe(
      'nothing is signed: MAYFLY_DKIM_DOMAIN is set, but mail is saved instead of sent. Set MAYFLY_SMTP_URL too',
    );
    expect(await findingOn('signature', dkim)).toMatchObject({ verdict: 'advice' });
    expect(lineOf('DKIM', { ...dkim, MAYFLY_SMTP_URL: 'smtp://127.0.0.1' })).toBe('');
    expect(lineOf('DKIM', {})).toBe('');
  });
});

describe('a store without room', () => {
  it('P23: is pointed out by the start, with what to do, and only then', () => {
    const refusal = 'too little room: new secrets are refused, others open as usual';
    const disk = 'make room on the disk of ./no-such-folder';
    expect(lineOf('STORAGE', {}, true)).toBe(
      `${refusal}; ${disk}, or raise MAYFLY_MAX_STORAGE: mayfly doctor says which`,
    );
    expect(lineOf('STORAGE', { MAYFLY_MAX_STORAGE: 'none' }, true)).toBe(`${refusal}; ${disk}`);
    expect(lineOf('STORAGE', {})).toBe('');
  });
});

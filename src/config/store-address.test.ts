import { describe, expect, it } from 'bun:test';
import { readConfig } from './read.ts';

const pem = '-----BEGIN CERTIFICATE-----\n';
const files: Readonly<Record<string, string>> = { '/ca': pem, '/cert': pem, '/key': pem, '/text': 'letters' };

function readFile(path: string): string {
  const text = files[path];
  if (text === undefined) throw new Error('ENOENT');
  return text;
}

function storeOf(url: string, env: Readonly<Record<string, string>> = {}) {
  const reading = readConfig({ MAYFLY_STORE: url, ...env }, readFile);
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  const { store } = reading.settings;
  if (store === 'sqlite') throw new Error('it is the embedded store');
  const shown = reading.effective.find(({ env: name }) => name === 'MAYFLY_STORE')?.value;
  return { ...store, url: store.url.expose(), listed: shown };
}

const tlsOf = (url: string, env: Readonly<Record<string, string>> = {}) => storeOf(url, env).tls;

function refusalOf(url: string, env: Readonly<Record<string, string>> = {}): string {
  const reading = readConfig({ MAYFLY_STORE: url, ...env }, readFile);
  if (reading.outcome !== 'refused') throw new Error('it was taken');
  const said = reading.refusals.join('\n');
  expect(said).not.toContain('canary');
  return said;
}

describe('the address of a PostgreSQL server', () => {
  it('is shown without its password, also in the settings in effect (P18)', () => {
    const { url, shown, listed } = storeOf('postgresql://may%40fly:can%2Fary@db.example.org/mayfly');
    expect(url).toBe('postgres://may%40fly:can%2Fary@db.example.org:5432/mayfly');
    expect([shown, listed]).toEqual(Array(2).fill('postgres://may%40fly@db.example.org:5432/mayfly'));
  });

  it('may come from a file', () => {
    const reading = readConfig({ MAYFLY_STORE_FILE: '/url' }, () => 'postgres://u:p@db.example.org/x\n');
    expect(reading).toMatchObject({ outcome: 'read', settings: { store: { isLocal: false } } });
  });

  it('may be a socket’s folder, in each of its spellings', () => {
    for (const url of [
      'postgres:///mayfly?host=/run/postgresql',
      'postgres://u@/mayfly?host=/run/postgresql',
      'postgres://%2Frun%2Fpostgresql/mayfly',
    ]) {
      const store = storeOf(url);
      expect(store).toMatchObject({ isLocal: true, tls: null });
      expect(store.url).toMatch(/^postgres:\/\/(u@)?\/mayfly\?host=\/run\/postgresql$/);
    }
  });

  it('demands TLS with a proven name of every server but this machine, unless it says otherwise', () => {
    const verified = { isVerified: true, ca: null, cert: null, key: null };
    for (const host of ['db.example.org', '10.0.0.1', 'localhost.example.org', '[2001:db8::1]'])
      expect(tlsOf(`postgres://${host}/x`)).toEqual(verified);
    for (const host of ['localhost', '127.0.0.1', '[::1]']) {
      expect(tlsOf(`postgres://${host}/x`)).toBeNull();
      expect(tlsOf(`postgres://${host}/x?sslmode=verify-full`)).toEqual(verified);
    }
    // libpq's `require` believes anyone who answers.
    for (const mode of ['require', 'verify-ca'])
      expect(tlsOf(`postgres://db/x?sslmode=${mode}`)).toEqual(verified);
    expect(tlsOf('postgres://db/x?sslmode=disable')).toBeNull();
  });

  it('names the authority and this node’s own certificate by their files', () => {
    const tls = tlsOf('postgres://localhost/x?sslrootcert=/ca&sslcert=/cert&sslkey=/key');
    expect(tls).toMatchObject({ isVerified: true, ca: pem, cert: pem });
    expect(tls?.key?.expose()).toBe(pem);
  });

  it('P25: without a proven name it is taken only where an unsafe store is allowed', () => {
    const url = 'postgres://db/x?sslmode=no-verify';
    expect(refusalOf(url)).toMatch(/sslrootcert=PATH, or set MAYFLY_ALLOW_UNSAFE_STORE=on/);
    expect(tlsOf(url, { MAYFLY_ALLOW_UNSAFE_STORE: 'on' })).toMatchObject({ isVerified: false });
  });

  for (const [url, says] of [
    ['postgres://u:canary@db', 'MAYFLY_STORE names no database: it must be postgres://'],
    ['postgres://u:canary@db/a/b', 'names no database'],
    ['postgres:///x', 'names no server'],
    ['postgres://u:canary@d%20b/x', 'names no server'],
    ['postgres://u:canary@a,b/x', 'names several servers: use one address that reaches the primary'],
    ['postgres://u:canary@a:5432,b:5432/x', 'names several servers'],
    ['postgres://u:can#ary@db/x', 'is not usable: it must be postgres://'],
    ['postgres://u:canary%zz@db/x', 'is not percent-encoded: write % as %25'],
    ['postgres://:canary@db/x', 'has a password but no user'],
    ['postgres://u:canary@db:0/x', 'port 0'],
    ['postgres://db/x?canary=1', 'an unknown parameter: only host, sslmode'],
    ['postgres://db/x?sslmode=disable&sslmode=require', 'a parameter twice'],
    ['postgres://db/x?host=/run', 'names two hosts'],
    ['postgres:///x?host=db', 'not a socket’s folder'],
    ['postgres://db/x?sslmode=prefer', 'invalid sslmode: use verify-full, no-verify or disable'],
    ['postgres://db/x?sslmode=disable&sslrootcert=/ca', 'has certificates and sslmode=disable'],
    ['postgres://db/x?sslcert=/cert', 'needs both sslcert and sslkey, or neither'],
    ['postgres://db/x?sslrootcert=/none', 'a file that cannot be read (sslrootcert): /none'],
    ['postgres://db/x?sslrootcert=/text', 'a file that is not in PEM (sslrootcert): /text'],
  ] as const)
    it(`P18: ${url} is refused without repeating it`, () => {
      expect(refusalOf(url)).toContain(says);
    });

  it('is missed where other settings speak of PostgreSQL', () => {
    const said = refusalOf('sqlite', { MAYFLY_STORE_DURABILITY: 'single', MAYFLY_STORE_POOL_SIZE: '20' });
    expect(said).toBe(
      'MAYFLY_STORE_DURABILITY and MAYFLY_STORE_POOL_SIZE are set, but the store is the embedded one: set MAYFLY_STORE to a postgres:// address, or remove them.',
    );
  });
});

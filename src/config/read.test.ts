import { describe, expect, it } from 'bun:test';
import { inspect } from 'node:util';
import { builtInPlans } from '../core/plans.ts';
import { supportedLocales } from '../locale/catalogues.ts';
import { type Environment, readConfig, type Settings } from './read.ts';
import { renderReference } from './reference.ts';
import { definitionList } from './settings.ts';

const noFiles = (path: string): string => {
  throw new Error(`no such file: ${path}`);
};

function read(env: Environment, files: Record<string, string> = {}): Settings {
  const reading = readConfig(env, (path) => files[path] ?? noFiles(path));
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  return reading.settings;
}

function effective(env: Environment) {
  const reading = readConfig(env);
  return reading.outcome === 'read' ? reading.effective : [];
}

function refusals(env: Environment, files: Record<string, string> = {}): readonly string[] {
  const reading = readConfig(env, (path) => files[path] ?? noFiles(path));
  return reading.outcome === 'refused' ? reading.refusals : [];
}

describe('configuration', () => {
  it('needs no setting at all', () => {
    const config = read({});
    expect([config.port, config.host, config.baseUrl]).toEqual([3000, '127.0.0.1', 'http://localhost:3000']);
    expect([config.dataDir, config.rootKeysFile, config.store]).toEqual([
      './data',
      'data/keys.json',
      'sqlite',
    ]);
    expect([config.v1Dialect, config.anonymousMayCreate, config.logLevel]).toEqual([
      'documented',
      true,
      'info',
    ]);
    expect([config.smtpServer, config.locales, config.internalPort]).toEqual([null, supportedLocales, null]);
    expect(config.plans).toEqual(builtInPlans);
    expect(config.given.size).toBe(0);
  });

  it('lets the base address follow the port and the keys follow the folder', () => {
    const config = read({ PORT: '8080', MAYFLY_DATA_DIR: '/srv/mayfly' });
    expect(config.baseUrl).toBe('http://localhost:8080');
    expect(config.rootKeysFile).toBe('/srv/mayfly/keys.json');
    expect(read({ MAYFLY_BASE_URL: 'https://s.example.org/x/' }).mailFrom).toBe('mayfly@s.example.org');
    expect(read({ MAYFLY_BASE_URL: 'https://s.example.org/x/' }).baseUrl).toBe('https://s.example.org/x');
  });

  it('lets people sign up where it is tried out, and elsewhere only when told so', () => {
    const signUpAt = (MAYFLY_BASE_URL: string, more: Environment = {}) =>
      read({ MAYFLY_BASE_URL, ...more }).signUpIsOpen;
    const here = ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:80', 'https://localhost/base'];
    expect(here.map((url) => signUpAt(url))).toEqual(here.map(() => true));
    const elsewhere = ['https://secrets.example.com', 'http://10.0.0.1', 'https://localhost.example.com'];
    expect(elsewhere.map((url) => signUpAt(url))).toEqual(elsewhere.map(() => false));
    for (const HOST of ['localhost', '127.0.0.2', '::1'])
      expect(signUpAt(here[0] ?? '', { HOST })).toBe(true);
    for (const HOST of ['0.0.0.0', '::', '192.0.2.1', 'mayfly.internal']) {
      expect(signUpAt(here[0] ?? '', { HOST })).toBe(false);
      expect(read({ HOST }).signUpIsOpen).toBe(false);
      expect(read({ HOST, MAYFLY_SIGNUP: 'open' }).signUpIsOpen).toBe(true);
    }
    expect(signUpAt('http://localhost', { MAYFLY_SIGNUP: 'closed' })).toBe(false);
    expect(signUpAt('https://secrets.example.com', { MAYFLY_SIGNUP: 'open' })).toBe(true);
  });

  it('counts an empty variable as not set', () => {
    expect(read({ PORT: '', MAYFLY_SMTP_URL: '', MAYFLY_SMTP_URL_FILE: '' }).port).toBe(3000);
  });

  const wrong: readonly (readonly [Environment, string])[] = [
    [{ PORT: '70000' }, 'PORT is "70000": it must be a whole number from 1 to 65535.'],
    [{ PORT: '3000x' }, 'PORT is "3000x": it must be a whole number from 1 to 65535.'],
    [{ PORT: '03000' }, 'PORT is "03000": it must be a whole number from 1 to 65535.'],
    [{ HOST: 'not an address' }, 'HOST is "not an address": it must be an IP address'],
    [
      { MAYFLY_BASE_URL: 'secrets.example.org' },
      'MAYFLY_BASE_URL is "secrets.example.org": it must be an http',
    ],
    [{ MAYFLY_BASE_URL: 'https://u:p@example.org' }, 'MAYFLY_BASE_URL is'],
    [{ MAYFLY_BASE_URL: 'https://example.org/?a' }, 'MAYFLY_BASE_URL is'],
    [{ MAYFLY_BASE_URL: 'ftp://example.org' }, 'MAYFLY_BASE_URL is'],
    [{ MAYFLY_STORE: 'redis://cache' }, 'this version has no redis store'],
    [{ MAYFLY_STORE: 'mysql' }, 'MAYFLY_STORE is not usable: it must be "sqlite" or postgres://'],
    [{ MAYFLY_STORE_DURABILITY: 'fast' }, 'it must be "single" or "synchronous" or "engine".'],
    [{ MAYFLY_V1_DIALECT: 'Upstream' }, 'it must be "documented" or "upstream".'],
    [{ MAYFLY_ANONYMOUS: 'yes' }, 'it must be "create" or "read".'],
    [{ MAYFLY_REQUESTS: 'on' }, 'it must be "accounts" or "anyone" or "off".'],
    [{ MAYFLY_LOG_LEVEL: 'verbose' }, 'it must be "debug" or "info" or "warn" or "error".'],
    [{ MAYFLY_RATE_LIMITS: 'none' }, 'it must be "on", "off" or the path of a JSON file.'],
    [{ MAYFLY_TRUSTED_PROXIES: '10.0.0.0/33' }, 'MAYFLY_TRUSTED_PROXIES is "10.0.0.0/33"'],
    [{ MAYFLY_TRUSTED_PROXIES: '10.0.0.1,proxy' }, 'MAYFLY_TRUSTED_PROXIES is'],
    [{ MAYFLY_ALLOWED_ORIGINS: 'https://app.example.org/' }, 'MAYFLY_ALLOWED_ORIGINS is'],
    [{ MAYFLY_ALLOWED_ORIGINS: '*' }, 'MAYFLY_ALLOWED_ORIGINS is "*"'],
    [{ MAYFLY_DEFAULT_LOCALE: 'not_a_tag' }, 'MAYFLY_DEFAULT_LOCALE is "not_a_tag"'],
    [{ MAYFLY_MAIL_FROM: 'nobody' }, 'MAYFLY_MAIL_FROM is "nobody"'],
    [{ MAYFLY_MAIL_FROM: 'a@b.example\r\nBcc: c@d.example' }, 'MAYFLY_MAIL_FROM is'],
    [{ MAYFLY_MAIL_RETURN_PATH: 'Bounces <b@example.org>' }, 'it must be one address such as bounces@'],
    [{ MAYFLY_DKIM_DOMAIN: 'https://example.org' }, 'it must be a host name such as mail.example.org'],
    [{ MAYFLY_DKIM_SELECTOR: 'a b' }, 'MAYFLY_DKIM_SELECTOR is "a b"'],
    [
      { MAYFLY_DKIM_DOMAIN: 'example.org' },
      'MAYFLY_DKIM_DOMAIN is set without MAYFLY_DKIM_SELECTOR and MAYFLY_DKIM_KEY: signing mail takes all three, so set the others too, or none.',
    ],
    [
      { MAYFLY_DKIM_DOMAIN: 'example.org', MAYFLY_DKIM_SELECTOR: 'mayfly' },
      'MAYFLY_DKIM_DOMAIN and MAYFLY_DKIM_SELECTOR are set without MAYFLY_DKIM_KEY: signing mail takes all three',
    ],
    [
      { MAYFLY_INTERNAL_PORT: '8080', PORT: '8080' },
      'MAYFLY_INTERNAL_PORT and PORT are both 8080: /metrics must not share the service’s port, so change one of them.',
    ],
    [{ MAYFLY_INTERNAL_PORT: '3000' }, 'MAYFLY_INTERNAL_PORT and PORT are both 3000'],
    [{ MAYFLY_DOMAIN_TARGET: 'example.org/' }, 'MAYFLY_DOMAIN_TARGET is "example.org/"'],
    [{ MAYFLY_DNS_SERVERS: 'dns.example.org' }, 'it must be IP addresses separated by commas'],
    [{ MAYFLY_DNS_SERVERS: '192.0.2.53:0' }, 'MAYFLY_DNS_SERVERS is "192.0.2.53:0"'],
    [{ MAYFLY_REGION: 'USA' }, 'it must be two characters of a-z and 0-9, such as us or eu.'],
    [{ MAYFLY_REGIONS: 'https://us.example.com' }, 'it must be labels of two characters'],
    [{ MAYFLY_REGIONS: 'us=https://a.example,us=https://b.example' }, 'labels and addresses must not repeat'],
    [
      { MAYFLY_REGIONS: 'us=https://a.example,eu=https://a.example/' },
      'labels and addresses must not repeat',
    ],
    [{ MAYFLY_ROUTER_UPSTREAMS: 'us=127.0.0.1:3000' }, 'MAYFLY_ROUTER_UPSTREAMS is'],
    [{ MAYFLY_ROUTER_WEIGHTS: 'us=0,eu=0' }, 'at least one above 0'],
    [{ MAYFLY_ROUTER_WEIGHTS: 'us=1,us=2' }, 'MAYFLY_ROUTER_WEIGHTS is "us=1,us=2"'],
    [{ MAYFLY_ROUTER_DEPRECATION: '2027-02-30' }, 'it must be a day such as 2027-01-31.'],
    [{ MAYFLY_INTERNAL_PORT: '0' }, 'MAYFLY_INTERNAL_PORT is "0"'],
    [{ MAYFLY_INTERNAL_HOST: 'this machine' }, 'MAYFLY_INTERNAL_HOST is "this machine"'],
    [{ MAYFLY_PLANS_FILE: '/nowhere' }, 'MAYFLY_PLANS_FILE names a file that cannot be read: /nowhere'],
  ];
  it.each(wrong)(
    'refuses %o with a sentence that names the variable and what is allowed',
    (env, sentence) => {
      const given = refusals(env);
      expect(given).toHaveLength(1);
      expect(given[0]).toContain(sentence);
    },
  );

  it('names every fault at once', () => {
    expect(refusals({ PORT: 'x', MAYFLY_STORE: 'y', MAYFLY_NONSENSE_ALTOGETHER: 'z' })).toHaveLength(3);
  });

  it('refuses a variable it does not know and says which one was meant', () => {
    expect(refusals({ MAYFLY_BASEURL: 'x' })).toEqual([
      'MAYFLY_BASEURL is not a Mayfly setting. Did you mean MAYFLY_BASE_URL?',
    ]);
    expect(refusals({ MAYFLY_SMTP_URI_FILE: 'x' })[0]).toContain('Did you mean MAYFLY_SMTP_URL_FILE?');
    expect(refusals({ MAYFLY_PORT: '3001' })[0]).toContain('Did you mean PORT?');
    expect(refusals({ MAYFLY_QUITE_ANOTHER_THING: 'x' })[0]).toContain('See docs/configuration.md');
  });

  it('reads the limit of the store in the usual units, and shows it in the largest that fits', () => {
    const limit = (MAYFLY_MAX_STORAGE: string) => read({ MAYFLY_MAX_STORAGE }).maxStorageBytes;
    expect(read({}).maxStorageBytes).toBe(10 * 1024 ** 3);
    expect(['500MB', '500 MiB', '2GB', '3TiB'].map(limit)).toEqual([5e8, 500 * 2 ** 20, 2e9, 3 * 2 ** 40]);
    expect(limit('none')).toBeNull();
    const shown = (text: string) =>
      effective({ MAYFLY_MAX_STORAGE: text }).find(({ env }) => env === 'MAYFLY_MAX_STORAGE');
    const texts = ['10GiB', '1024MiB', '1500MB', 'none'];
    expect(texts.map((text) => shown(text)?.value)).toEqual(['10GiB', '1GiB', '1500MB', 'none']);
    for (const text of ['0MB', '-1GB', '1.5GB', '10', '10G', '10gb', '1e3MB', '9999999MB', 'None']) {
      expect(refusals({ MAYFLY_MAX_STORAGE: text })).toHaveLength(1);
    }
  });

  it('accepts DNS servers in every form of an address, with a port or without', () => {
    const servers = ['192.0.2.53', '127.0.0.1:5353', '2001:db8::53', '::1', '[2001:db8::53]', '[::1]:5353'];
    expect(read({ MAYFLY_DNS_SERVERS: servers.join(', ') }).dnsServers).toEqual(servers);
  });

  it('lets share domains lead to the site itself unless told where', () => {
    const site = { MAYFLY_BASE_URL: 'https://secrets.example.org/x' };
    expect(read(site).domainTarget).toBe('secrets.example.org');
    expect(read({ ...site, MAYFLY_DOMAIN_TARGET: 'Edge.Example.org' }).domainTarget).toBe('edge.example.org');
  });

  it('accepts lists with blanks around the commas', () => {
    const config = read({
      MAYFLY_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      MAYFLY_ALLOWED_ORIGINS: 'https://a.example,http://localhost:5173',
      MAYFLY_LOCALES: 'en, pt-br',
    });
    expect(config.trustedProxies.ranges).toEqual(['10.0.0.0/8', '::1/128']);
    expect([...config.allowedOrigins]).toEqual(['https://a.example', 'http://localhost:5173']);
    expect(config.locales).toEqual(['en', 'pt-BR']);
  });
});

describe('secrets among the settings', () => {
  const canary = 'smtps://user:canary-password@mail.example.org';

  it('can be read from a file, without the line break at its end', () => {
    const config = read({ MAYFLY_SMTP_URL_FILE: '/run/smtp' }, { '/run/smtp': `${canary}\n` });
    expect(config.smtpServer).toMatchObject({ host: 'mail.example.org', port: 465, tls: 'implicit' });
    expect(config.smtpServer?.login?.password.expose()).toBe('canary-password');
  });

  it('are refused when given twice, or from a file that is empty or cannot be read', () => {
    const both = refusals({ MAYFLY_SMTP_URL: canary, MAYFLY_SMTP_URL_FILE: '/run/smtp' });
    expect(both).toEqual(['MAYFLY_SMTP_URL and MAYFLY_SMTP_URL_FILE are both set: remove one of them.']);
    expect(refusals({ MAYFLY_TOKEN_FILE: '/e' }, { '/e': '\n' })).toEqual([
      'MAYFLY_TOKEN_FILE names an empty file.',
    ]);
    expect(refusals({ MAYFLY_TOKEN_FILE: '/e' })[0]).toContain('cannot be read: /e');
  });

  it('stand in no refusal, no listing and no print of the configuration (P18)', () => {
    const env = {
      MAYFLY_SMTP_URL: canary,
      MAYFLY_TOKEN: 'canary-token',
      MAYFLY_PASSPHRASE: 'canary-pass',
      MAYFLY_DKIM_DOMAIN: 'example.org',
      MAYFLY_DKIM_SELECTOR: 'mayfly',
      MAYFLY_DKIM_KEY: 'canary-key',
      MAYFLY_STORE: 'postgres://u:canary-password@db/x',
    };
    const config = read(env);
    const printed = [inspect(config, { depth: 9 }), JSON.stringify(config), JSON.stringify(effective(env))];
    printed.push(
      ...refusals({ MAYFLY_SMTP_URL: 'http://canary' }),
      ...refusals({ MAYFLY_TOKEN: 'canary\nx' }),
    );
    printed.push(...refusals({ MAYFLY_STORE: 'postgres://u:canary@db' }));
    printed.push(...refusals({ MAYFLY_BASE_URL: 'https://u:canary@example.org' }));
    expect(printed).toHaveLength(7);
    expect(printed.join('\n')).not.toContain('canary');
    expect(effective(env).find(({ env }) => env === 'MAYFLY_TOKEN')?.value).toBe('set, not shown');
  });
});

describe('the plans file', () => {
  const plansOf = (json: unknown) => {
    const files = { '/plans.json': typeof json === 'string' ? json : JSON.stringify(json) };
    return readConfig(
      { MAYFLY_PLANS_FILE: '/plans.json' },
      (path) => files[path as '/plans.json'] ?? noFiles(path),
    );
  };

  it('overrides parts of the built-in plans', () => {
    const reading = plansOf({ anonymous: { ttlMinSeconds: 1 }, basic: { maxValueBytes: 2_000 } });
    if (reading.outcome === 'refused') throw new Error('refused');
    expect(reading.settings.plans.anonymous).toEqual({ ...builtInPlans.anonymous, ttlMinSeconds: 1 });
    expect(reading.settings.plans.basic).toEqual({ ...builtInPlans.basic, maxValueBytes: 2_000 });
    expect(reading.settings.plans.identity).toEqual(builtInPlans.identity);
  });

  it('may leave a plan without share domains, or give it some', () => {
    const reading = plansOf({ identity: { maxDomains: 0 }, basic: { maxDomains: 10_000 } });
    if (reading.outcome === 'refused') throw new Error('refused');
    const { identity, basic } = reading.settings.plans;
    expect([identity.maxDomains, basic.maxDomains]).toEqual([0, 10_000]);
  });

  const wrong: readonly (readonly [unknown, string])[] = [
    ['{', 'it must hold a JSON object of plans'],
    [[], 'it must hold a JSON object of plans'],
    [{ pro: {} }, 'there is no plan "pro" (anonymous, basic, identity)'],
    [{ basic: { maxBytes: 1 } }, 'basic.maxBytes is not a field of a plan'],
    [{ basic: 3 }, 'basic must be an object'],
    [{ basic: { ttlMinSeconds: 0 } }, 'basic.ttlMinSeconds must be a whole number from 1'],
    [{ basic: { ttlMinSeconds: 1.5 } }, 'basic.ttlMinSeconds must be a whole number from 1'],
    [{ basic: { ttlMinSeconds: '60' } }, 'basic.ttlMinSeconds must be a whole number from 1'],
    [{ basic: { maxValueBytes: 1e12 } }, 'basic.maxValueBytes must be a whole number from 1'],
    [{ basic: { maxDomains: -1 } }, 'basic.maxDomains must be a whole number from 0 to 10000'],
    [{ identity: { maxDomains: 10_001 } }, 'identity.maxDomains must be a whole number from 0 to 10000'],
    [
      { basic: { ttlMinSeconds: 700_000 } },
      'basic: ttlMinSeconds (700000) must not be above ttlDefaultSeconds (604800)',
    ],
    [{ basic: { ttlMaxSeconds: 60 } }, 'nor that above ttlMaxSeconds (60)'],
    ['{"__proto__":{"ttlMinSeconds":1}}', 'there is no plan "__proto__"'],
  ];
  it.each(wrong)('is refused as a whole when it holds %j', (json, sentence) => {
    const reading = plansOf(json);
    expect(reading.outcome === 'refused' && reading.refusals.join('\n')).toContain(sentence);
  });
});

describe('the settings reference', () => {
  it('keeps what the router reads apart from what only the server does', () => {
    const [, router = ''] = renderReference().split('## The router');
    const [told = ''] = router.split('## The commands');
    for (const [, { env, reader }] of definitionList) {
      expect([env, told.includes(`\`${env}\``)]).toEqual([
        env,
        reader === 'router' || reader === 'server and router',
      ]);
    }
  });

  it('lists every setting with its default', () => {
    const page = renderReference();
    for (const [, of] of definitionList) {
      expect(page).toContain(`\`${of.env}\``);
      expect(page).toContain(`| ${of.defaultText} |`);
    }
  });
});

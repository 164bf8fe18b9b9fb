/** What a start on a server says to do next: only there, only what is open, and readable in a terminal. */
import { describe, expect, it } from 'bun:test';
import { type Environment, readConfig, type Settings } from '../config/read.ts';
import { toFields } from './log-lines.ts';
import { nextSteps, renderNextSteps, type SetupFacts, type StepName, stepNames } from './next-steps.ts';

function read(env: Environment): Settings {
  const reading = readConfig({ MAYFLY_DATA_DIR: '/var/lib/mayfly', ...env });
  if (reading.outcome === 'refused') throw new Error(reading.refusals.join('\n'));
  return reading.settings;
}

const fresh: SetupFacts = { hasAccounts: false, hasNewKeys: true, isService: false };
const later: SetupFacts = { ...fresh, hasNewKeys: false };
const https = { MAYFLY_BASE_URL: 'https://secrets.example.com' };
const mail = { MAYFLY_SMTP_URL: 'smtps://u:canary@mail.example.com' };
const proxied = { ...https, ...mail, MAYFLY_TRUSTED_PROXIES: '127.0.0.1' };

const namesOf = (env: Environment, facts: SetupFacts) => nextSteps(read(env), facts).map(({ name }) => name);
const textOf = (env: Environment, facts: SetupFacts) =>
  renderNextSteps(read(env), nextSteps(read(env), facts), facts);

const cases: readonly (readonly [string, Environment, SetupFacts, readonly StepName[]])[] = [
  ['on localhost', {}, fresh, []],
  ['on localhost under another port', { MAYFLY_BASE_URL: 'http://localhost:8080' }, fresh, []],
  ['on localhost as a service', {}, { ...fresh, isService: true }, ['address', 'mail', 'keys']],
  ['where others can connect', { HOST: '0.0.0.0' }, fresh, ['address', 'mail', 'keys', 'account']],
  ['at a later start', { HOST: '0.0.0.0' }, later, ['address', 'mail', 'keys', 'account']],
  ['with an address', https, later, ['proxy', 'mail', 'keys', 'account']],
  [
    'without TLS',
    { ...mail, MAYFLY_BASE_URL: 'http://secrets.example.com' },
    later,
    ['tls', 'keys', 'account'],
  ],
  ['with an account', https, { ...later, hasAccounts: true }, ['proxy', 'mail']],
  [
    'with an account, and keys made just now',
    https,
    { ...fresh, hasAccounts: true },
    ['proxy', 'mail', 'keys'],
  ],
  ['where people will sign up', { ...proxied, MAYFLY_SIGNUP: 'open' }, later, ['keys']],
  ['where people have signed up', { ...proxied, MAYFLY_SIGNUP: 'open' }, { ...later, hasAccounts: true }, []],
  [
    'with a sender that does not exist',
    { ...proxied, MAYFLY_MAIL_FROM: 'x@mayfly.invalid' },
    later,
    ['sender', 'keys', 'account'],
  ],
  ['with a proxy', proxied, later, ['keys', 'account']],
  ['when everything is done', proxied, { ...later, hasAccounts: true }, []],
];

describe('the next steps', () => {
  it.each(cases)('%s are those that are open', (_, env, facts, names) => {
    expect(namesOf(env, facts)).toEqual([...names]);
  });

  it('are numbered, at most 80 columns wide, with each command whole on a line', () => {
    const text = textOf({ HOST: '0.0.0.0' }, fresh);
    const lines = text.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => /^ {2}\d\. /.test(line)).map((line) => line[2])).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
    expect(lines).toContain('       mayfly account create you@example.com --link');
    expect(lines).toContain('       mayfly doctor --mail-to you@example.com');
    expect(text).toContain('/var/lib/mayfly/keys.json');
    expect(text).toContain('/readyz answers 200');
  });

  it('name the command that runs as the service’s user where there is one', () => {
    const text = textOf(https, { ...later, isService: true });
    expect(text).toContain('  mayfly-admin account create you@example.com --link\n');
    expect(text).toMatch(/mayfly-admin\s+doctor\s+checks/);
    expect(text).not.toMatch(/mayfly\s+(doctor|account)/);
  });

  it('are not printed at all when there are none', () => {
    expect(textOf({}, fresh)).toBe('');
  });

  it('say where load balancers ask below a path', () => {
    expect(textOf({ MAYFLY_BASE_URL: 'https://example.com/vault' }, later)).toContain('/vault/readyz');
  });

  it('P18: hold no secret setting, and no link that opens anything', () => {
    for (const env of [https, mail, proxied, { HOST: '0.0.0.0', ...mail }]) {
      const text = textOf(env, fresh);
      expect(text).not.toContain('canary');
      expect(text).not.toMatch(/[0-9a-f]{64}|\/reset\//);
    }
  });

  it('are logged by their names, and nothing else is', () => {
    expect(toFields({ event: 'setup_open', steps: stepNames })).toEqual({
      event: 'setup_open',
      steps: stepNames,
    });
    const strange = ['address', 'jo@example.org'] as never;
    expect(toFields({ event: 'setup_open', steps: strange })).toEqual({
      event: 'setup_open',
      steps: '[withheld]',
    });
  });
});

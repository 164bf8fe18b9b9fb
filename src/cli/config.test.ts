/** What `mayfly config` says of the settings: those in effect, and what each means, without a secret. */
import { describe, expect, it } from 'bun:test';
import { runCli } from '../../test/support/cli-world.ts';
import { type Environment, readConfig } from '../config/read.ts';
import { renderReference } from '../config/reference.ts';
import { definitionList } from '../config/settings.ts';

const run = (args: readonly string[], env: Environment = {}) =>
  runCli(['config', ...args], {
    readConfig: async () => readConfig(env, () => 'smtps://u:canary@mail.example.org\n'),
  });
const explained = async (args: readonly string[], env: Environment = {}) =>
  JSON.parse((await run([...args, '--explain', '--json'], env)).out);

/** As words between single spaces: lines are wrapped. */
const flat = (text: string): string => text.replaceAll(/\s+/g, ' ');

describe('mayfly config --explain', () => {
  it('explains every setting in the words of the reference', async () => {
    const reference = renderReference();
    const { code, out } = await run(['--explain']);
    expect(code).toBe(0);
    for (const [, { env, doc, kind, defaultText }] of definitionList) {
      expect(reference).toContain(`| ${doc} | ${kind.allowed} |`);
      expect(out).toMatch(new RegExp(`^${env}$`, 'm'));
      expect(flat(out)).toContain(flat(`${env} ${doc} takes ${kind.allowed} `));
      expect(flat(out)).toContain(flat(`default ${defaultText} in effect `));
    }
    expect(Object.keys(await explained([]))).toEqual(definitionList.map(([, { env }]) => env));
  });

  it('is at most 80 columns wide, but for a word that is longer', async () => {
    const long = (await run(['--explain'])).out.split('\n').filter((line) => line.length > 80);
    for (const line of long) expect(line.trim().split(/\s+/).at(-1)?.length).toBeGreaterThan(60);
  });

  it('says what is in effect and where it comes from: the environment, a file or the default', async () => {
    const env = { PORT: '8080', MAYFLY_SMTP_URL_FILE: '/etc/mayfly/smtp-url' };
    const { out } = await run(['--explain'], env);
    expect(out).toContain('    in effect  8080 (from the environment)');
    expect(out).toContain('    in effect  set, not shown (from the file that MAYFLY_SMTP_URL_FILE names)');
    expect(out).toContain('    in effect  http://localhost:8080 (default)');
    expect(await explained([], env)).toMatchObject({
      PORT: { value: '8080', given: true, source: 'PORT', secret: false },
      MAYFLY_SMTP_URL: { value: 'set, not shown', source: 'MAYFLY_SMTP_URL_FILE', secret: true },
      HOST: { value: '127.0.0.1', given: false, source: null, default: '127.0.0.1' },
    });
  });

  it('P18: shows no secret, and says that it may be in a file', async () => {
    const secrets = { MAYFLY_TOKEN: 'canary', MAYFLY_PASSPHRASE: 'canary', MAYFLY_SMTP_URL_FILE: '/x' };
    for (const args of [['--explain'], ['--explain', '--json'], [], ['token', '--explain']]) {
      const { out, err } = await run(args, secrets);
      expect(out + err).not.toContain('canary');
    }
    expect((await run(['MAYFLY_TOKEN', '--explain'])).out).toContain('MAYFLY_TOKEN_FILE can name a file');
  });

  it('explains what is refused too, with the reasons, and ends with 2', async () => {
    const { code, out, err } = await run(['port', '--explain'], { PORT: 'x' });
    expect(code).toBe(2);
    expect(out).toContain('takes      a whole number from 1 to 65535');
    expect(out).toContain('in effect  nothing: the settings are invalid');
    expect(err).toBe('PORT is "x": it must be a whole number from 1 to 65535.\n');
    expect(await explained(['port'], { PORT: 'x' })).toMatchObject({ PORT: { value: null, source: null } });
  });
});

describe('settings that a server refuses', () => {
  const refused: readonly (readonly [Environment, string])[] = [
    [{ MAYFLY_SMTP_URL: 'smtps://user:canary100%@mail.example.com' }, 'MAYFLY_SMTP_URL'],
    [{ MAYFLY_RATE_LIMITS: '/no/such/limits.json' }, 'MAYFLY_RATE_LIMITS'],
    [{ MAYFLY_LOCALES: 'tlh' }, 'MAYFLY_LOCALES'],
    [{ MAYFLY_DEFAULT_LOCALE: 'tlh' }, 'MAYFLY_DEFAULT_LOCALE'],
  ];
  it.each(refused)('are refused by config too, and not shown as defaults: %o', async (env, name) => {
    for (const args of [[], [name], ['--explain'], [name, '--explain']]) {
      const { code, out, err } = await run(args, env);
      expect([args, code]).toEqual([args, 2]);
      expect(err).toStartWith(name);
      expect(out + err).not.toContain('canary');
      if (!args.includes('--explain')) expect(out).toMatch(new RegExp(`^${name} +refused$`, 'm'));
      else expect(flat(out)).toContain('in effect nothing: it is invalid');
    }
    expect(await explained([name], env)).toMatchObject({
      [name]: { value: null, given: true, source: name },
    });
    expect(JSON.parse((await run([name, '--json'], env)).out)).toEqual({
      [name]: { value: null, given: true },
    });
  });

  it('are told from those that only together are wrong, whose values are shown', async () => {
    const { code, out, err } = await run(['default_locale'], { MAYFLY_LOCALES: 'fr' });
    expect([code, out]).toEqual([2, 'MAYFLY_DEFAULT_LOCALE  en  (default)\n']);
    expect(err).toBe('MAYFLY_DEFAULT_LOCALE must be one of MAYFLY_LOCALES.\n');
  });
});

describe('mayfly config NAME', () => {
  it('prints that setting alone, by any of its names', async () => {
    for (const name of ['MAYFLY_BASE_URL', 'mayfly_base_url', 'base_url'])
      expect((await run([name])).out).toBe('MAYFLY_BASE_URL  http://localhost:3000  (default)\n');
    expect((await run(['MAYFLY_TOKEN_FILE'])).out).toBe('MAYFLY_TOKEN  none  (default)\n');
  });

  it('suggests the nearest name for one that does not exist', async () => {
    for (const [name, near] of [
      ['MAYFLY_BSE_URL', 'MAYFLY_BASE_URL'],
      ['PROT', 'PORT'],
      ['smpt_url', 'MAYFLY_SMTP_URL'],
    ] as const) {
      const { code, err } = await run([name, '--explain']);
      expect([code, err]).toEqual([2, expect.stringContaining(`Did you mean ${near}?`)]);
    }
    expect((await run(['zzzzzzzz'])).err).toContain('Unknown setting. mayfly config lists them all.');
  });
});

import { describe, expect, it } from 'bun:test';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Sensitive } from '../core/sensitive.ts';
import { type DkimSettings, MailSettingError, parseSmtpUrl, toDkimSigner } from './settings.ts';

/** The settings without the password, which refuses to print. */
function settingsOf(url: string) {
  const parsed = parseSmtpUrl(url);
  if ('error' in parsed) return parsed.error;
  return `${parsed.host} ${parsed.port} ${parsed.tls} ${parsed.login?.user ?? '-'} ${parsed.login?.password.expose() ?? '-'}`;
}

describe('the mail server’s URL', () => {
  it('reads host, port, encryption and log-in', () => {
    expect(settingsOf('smtps://mail.example.com')).toBe('mail.example.com 465 implicit - -');
    expect(settingsOf('smtp://mail.example.com')).toBe('mail.example.com 587 required - -');
    expect(settingsOf('smtp://MAIL.example.com:25/')).toBe('mail.example.com 25 required - -');
    expect(settingsOf('smtp://a%40b.org:p%3Aw%2F@mail.example.com')).toBe(
      'mail.example.com 587 required a@b.org p:w/',
    );
    expect(settingsOf('smtps://[2001:db8::1]:1465')).toBe('2001:db8::1 1465 implicit - -');
  });

  it('demands encryption of every server but this machine, unless the URL says never', () => {
    const servers = [
      'mail',
      '10.0.0.1',
      '192.168.1.1',
      '128.0.0.1',
      '127.0.0.1.example.com',
      'localhost.example.com',
    ];
    for (const host of servers) expect(settingsOf(`smtp://${host}:25`)).toContain(' required ');
    for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '[::1]']) {
      expect(settingsOf(`smtp://${host}:25`)).toContain(' never ');
      expect(settingsOf(`smtp://${host}:25?tls=required`)).toContain(' required ');
    }
    expect(settingsOf('smtp://10.0.0.1?tls=never')).toContain(' never ');
    expect(settingsOf('smtp://10.0.0.1?tls=opportunistic')).toContain(' opportunistic ');
    expect(settingsOf('smtps://10.0.0.1?tls=required')).toContain(' implicit ');
  });

  const refused = [
    '',
    'mail.example.com',
    'http://mail.example.com',
    'smtp:',
    'smtp://',
    'smtp:///x',
    'smtp://h/path',
    'smtp://h#x',
    'smtp://h:0',
    'smtp://h:99999',
    'smtp://h?tls=maybe',
    'smtp://h?tls=never&tls=never',
    'smtp://h?tls=',
    'smtp://h?ssl=1',
    'smtp://h?tls=implicit',
    'smtps://h?tls=never',
    'smtps://h?tls=opportunistic',
    'smtp://:hunter2@h',
    'smtp://u:%E0%A4%A@h',
    'smtp://h%0d%0a',
    'smtp://h ost',
  ];
  it('refuses anything else with a sentence that does not repeat it', () => {
    for (const url of refused) {
      const parsed = parseSmtpUrl(url);
      expect({ url, refused: 'error' in parsed }).toEqual({ url, refused: true });
      expect(JSON.stringify(parsed)).not.toContain('hunter2');
    }
  });
});

function pemOf(key: KeyObject, type: 'pkcs1' | 'pkcs8' = 'pkcs8'): string {
  return String(key.export({ type, format: 'pem' }));
}

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const settings: DkimSettings = {
  domain: 'example.com',
  selector: 's1',
  privateKey: new Sensitive(pemOf(rsa.privateKey)),
};

function refusalOf(changes: Partial<DkimSettings>): string {
  try {
    toDkimSigner({ ...settings, ...changes });
    return '';
  } catch (error) {
    if (!(error instanceof MailSettingError) || error.setting !== 'dkim') throw error;
    return error.message;
  }
}

describe('the signature of mail', () => {
  it('is none where nothing is set', () => {
    expect(toDkimSigner({ domain: null, selector: null, privateKey: null })).toBeNull();
  });

  it('takes an RSA key in both forms of PEM', () => {
    for (const type of ['pkcs1', 'pkcs8'] as const) {
      const pem = pemOf(rsa.privateKey, type);
      expect(toDkimSigner({ ...settings, privateKey: new Sensitive(pem) })).toEqual({
        domainName: 'example.com',
        keySelector: 's1',
        privateKey: pem,
      });
    }
  });

  it('is refused where only a part of it is set', () => {
    for (const missing of ['domain', 'selector', 'privateKey'])
      expect(refusalOf({ [missing]: null })).toContain('set all three or none');
  });

  it('is refused for a domain or selector that is no host name', () => {
    for (const name of ['', 'a b', 'a;s=b', 'a\r\nX: y', '.example.com', 'a..b']) {
      expect(refusalOf({ domain: name })).toContain('host names');
      expect(refusalOf({ selector: name })).toContain('host names');
    }
  });

  const keys: readonly [string, string, string][] = [
    ['no PEM', 'canary', 'no private key'],
    ['a public key', String(rsa.publicKey.export({ type: 'spki', format: 'pem' })), 'no private key'],
    ['half a key', pemOf(rsa.privateKey).slice(0, 700), 'no private key'],
    [
      'a key with a password',
      String(
        rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary' }),
      ),
      'no private key',
    ],
    ['an Ed25519 key', pemOf(generateKeyPairSync('ed25519').privateKey), 'must be an RSA key'],
    ['a short key', pemOf(generateKeyPairSync('rsa', { modulusLength: 768 }).privateKey), 'too short'],
  ];
  for (const [what, pem, words] of keys) {
    it(`is refused with ${what}, in a sentence that does not repeat it`, () => {
      const refusal = refusalOf({ privateKey: new Sensitive(pem) });
      expect(refusal).toContain(words);
      for (const line of pem.split('\n').filter((part) => part !== '')) expect(refusal).not.toContain(line);
    });
  }
});

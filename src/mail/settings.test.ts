import { describe, expect, it } from 'bun:test';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Sensitive } from '../core/sensitive.ts';
import { type DkimSettings, MailSettingError, toDkimSigner } from './settings.ts';

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
  it('is absent when nothing is set', () => {
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
    ['no PEM', 'canary', 'not a private key'],
    ['a public key', String(rsa.publicKey.export({ type: 'spki', format: 'pem' })), 'not a private key'],
    ['half a key', pemOf(rsa.privateKey).slice(0, 700), 'not a private key'],
    [
      'a key with a password',
      String(
        rsa.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary' }),
      ),
      'not a private key',
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

import { describe, expect, it } from 'bun:test';
import { contact, parseSmtpUrl } from './addresses.ts';

/** The settings as text, the password included, which otherwise refuses to print. */
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

describe('the contact for security problems', () => {
  const parsed = (text: string) => contact.parse(text, () => '');

  it('is an address of mail or of an https page', () => {
    for (const text of ['mailto:security@example.org', 'https://example.org/report?x=1'])
      expect(parsed(text)).toEqual({ value: text });
  });

  it('is nothing else, and holds no second line of the file', () => {
    for (const text of [
      'security@example.org',
      'mailto:nobody',
      'http://example.org/',
      'javascript:alert(1)',
      'https:///',
      'tel:+1-201-555-0123',
    ])
      expect([text, parsed(text)]).toEqual([text, expect.objectContaining({ problem: expect.any(String) })]);
    expect(parsed('https://example.org/a\nPolicy: https://evil.example/')).not.toEqual(
      expect.objectContaining({ value: expect.stringContaining('\n') }),
    );
  });
});

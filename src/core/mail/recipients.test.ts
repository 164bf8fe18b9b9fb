/** Proves that only a single plain address is accepted, and that an address is never shown in full. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { isDeliverable, obfuscate, parseRecipient } from './recipients.ts';

describe('the obfuscated address', () => {
  it.each([
    ['john@example.org', 'jo*****@e*****.org'],
    ['joe@example.org', 'jo*****@e*****.org'],
    ['jo@example.org', 'j*****@e*****.org'],
    ['j@example.org', '*****@e*****.org'],
    ['john.doe+tag@mail.example.co.uk', 'jo*****@m*****.uk'],
    ['john@xn--bcher-kva.example', 'jo*****@b*****.example'],
    ['john@xn--e1afmkfd.xn--p1ai', 'jo*****@п*****.рф'],
    ['john@xn--a.example', 'jo*****@x*****.example'],
    ['john@a.io', 'jo*****@a*****.io'],
  ])('of %s is %s', (address, shown) => {
    expect(isDeliverable(address)).toBe(true);
    expect(obfuscate(address)).toBe(shown);
  });

  const local = fc.stringMatching(/^[a-z0-9#$&'*+/?^_`{}~][a-z0-9#$&'*+/?^_`{}~-]{0,19}$/);
  const domain = fc
    .tuple(fc.stringMatching(/^[a-z0-9]{1,12}$/), fc.stringMatching(/^[a-z]{2,6}$/))
    .map((labels) => labels.join('.'));

  it('shows at most two characters of the local part, always one fewer than it has, and one of the domain', () => {
    fc.assert(
      fc.property(local, domain, (name, host) => {
        expect(isDeliverable(`${name}@${host}`)).toBe(true);
        const shown = obfuscate(`${name}@${host}`);
        const visible = Math.min(2, name.length - 1);
        const label = host.slice(host.lastIndexOf('.') + 1);
        expect(shown).toBe(`${name.slice(0, visible)}*****@${host[0]}*****.${label}`);
        expect(shown).not.toBe(`${name}@${host}`);
      }),
      { numRuns: 1000 },
    );
  });

  it('is the same for every length that is hidden', () => {
    expect(obfuscate('john@example.org')).toBe(obfuscate('jonathan.of.somewhere@entirely-different.org'));
  });
});

describe('a recipient as people type it', () => {
  it.each([
    [' joe@example.org ', 'joe@example.org'],
    ['\tjoe@example.org\u00a0\u3000', 'joe@example.org'],
    ['joe@EXAMPLE.org', 'joe@EXAMPLE.org'],
    ['Joe@example.org', 'Joe@example.org'],
    ['joe@müller.example.org', 'joe@xn--mller-kva.example.org'],
    ['joe@MÜLLER.example.org', 'joe@xn--mller-kva.example.org'],
    ['joe@mu\u0308ller.example.org', 'joe@xn--mller-kva.example.org'],
    ['joe@xn--mller-kva.example.org', 'joe@xn--mller-kva.example.org'],
    ['joe@faß.de', 'joe@xn--fa-hia.de'],
    ['joe@пример.рф', 'joe@xn--e1afmkfd.xn--p1ai'],
    ['joe@例え.テスト', 'joe@xn--r8jz45g.xn--zckzah'],
    [`${' '.repeat(100)}joe@example.org${' '.repeat(100)}`, 'joe@example.org'],
  ])('%j is taken as %s', (typed, address) => {
    expect(parseRecipient(typed)).toBe(address);
    expect(isDeliverable(address)).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['blanks alone', '   '],
    ['a blank inside', 'joe @example.org'],
    ['a blank behind the at sign', 'joe@ example.org'],
    ['a line end behind', 'joe@example.org\n'],
    ['a line end in front', '\r\njoe@example.org'],
    ['a line separator behind', 'joe@example.org\u2028'],
    ['a header behind', 'joe@example.org\r\nBcc: all@example.org'],
    ['a NUL behind', 'joe@example.org\u0000'],
    ['two addresses', 'joe@example.org, al@example.org'],
    ['a local part beyond ASCII', 'jörg@example.org'],
    ['a local part that is compatible with ASCII', 'ｊoe@example.org'],
    ['a domain that hides a comma', 'joe@example.org，evil.example'],
    ['a domain that hides an at sign', 'joe@evil.example＠example.org'],
    ['a domain that hides a slash', 'joe@example.org℀evil.example'],
    ['a percent-encoded domain', 'joe@ex%61mple.org'],
    ['a zero-width space in the domain', 'joe@exam\u200bple.org'],
    ['a right-to-left override in the domain', 'joe@exam\u202eple.org'],
    ['a domain that is an address in disguise', 'joe@１２７.0.0.1'],
    ['one in hexadecimal', 'joe@0x7f.1'],
    ['punycode that decodes to nothing', 'joe@xn--a.example'],
    ['a mark in front of a label', 'joe@\u0301a.org'],
    ['an empty label', 'joe@müller..org'],
    ['a label that is too long in ASCII', `joe@${'ü'.repeat(60)}.org`],
    ['an encoded word', ' =?utf-8?q?a?=@example.org'],
    ['an option behind a blank', ' -oQ/tmp@example.org'],
    ['a percent hack', ' jo%example.com@example.org'],
    ['a bang path', ' example.com!jo@example.org'],
    ['a pipe', ' |cat@example.org'],
    ['321 characters', `joe@${'ü.'.repeat(157)}org`],
    ['a hundred thousand blanks', ' '.repeat(100_000)],
    ['a hundred thousand characters', `joe@${'ü.'.repeat(50_000)}org`],
  ])('is refused with %s', (_name, typed) => expect(parseRecipient(typed)).toBeNull());

  it('never becomes more than one plain ASCII address, whatever it is made of (P26)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 12 }), fc.nat(3), (odd, place) => {
        const texts = [
          `${odd}jo@müller.org`,
          `jo${odd}@müller.org`,
          `jo@mü${odd}ller.org`,
          `jo@müller.org${odd}`,
        ];
        const address = parseRecipient(texts[place] ?? '');
        if (address !== null) expect(address).toMatch(/^[a-zA-Z0-9#$&'*+/=?^_`{}~.-]+@[a-zA-Z0-9.-]+$/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('an address that mail can be tried to', () => {
  it.each([
    'a@b.co',
    "weird#$&'*+/=^_`{}~-?@example.org",
    'btv1==de==0123=example.net@example.org',
    'first.last@sub.domain.example.museum',
    'digits123@123.example.com',
    'JO@EXAMPLE.ORG',
    'jo@xn--e1afmkfd.xn--p1ai',
    `${'l'.repeat(64)}@example.org`,
    `a@${'d'.repeat(63)}.org`,
    `jo@${'d.'.repeat(125)}org`,
  ])('is %p', (address) => expect(isDeliverable(address)).toBe(true));

  it.each([
    ['nothing', ''],
    ['no at sign', 'example.org'],
    ['no local part', '@example.org'],
    ['no domain', 'jo@'],
    ['one label', 'jo@localhost'],
    ['two at signs', 'jo@al@example.org'],
    ['a line end and a header', 'jo@example.org\r\nBcc: all@example.org'],
    ['a bare line feed', 'jo@example.org\nBcc: all@example.org'],
    ['a line feed behind', 'jo@example.org\n'],
    ['a line feed in front', '\njo@example.org'],
    ['a NUL', 'jo\u0000@example.org'],
    ['a blank in front', ' jo@example.org'],
    ['a blank behind', 'jo@example.org '],
    ['a blank inside', 'jo hn@example.org'],
    ['a tab', 'jo\t@example.org'],
    ['two addresses', 'jo@example.org,al@example.org'],
    ['two addresses with a semicolon', 'jo@example.org;al@example.org'],
    ['a display name', 'Jo <jo@example.org>'],
    ['angle brackets', '<jo@example.org>'],
    ['an SMTP command', 'jo@example.org> RCPT TO:<al@example.org'],
    ['a quoted local part', '"jo hn"@example.org'],
    ['a comment', 'jo(comment)@example.org'],
    ['an address literal', 'jo@[192.0.2.1]'],
    ['an IPv4 address', 'jo@192.0.2.1'],
    ['a route', '@a.example:jo@example.org'],
    ['a percent hack to another host', 'jo%example.com@'],
    ['a percent hack beside its own host', 'jo%example.com@example.org'],
    ['a bang path', 'example.com!jo@example.org'],
    ['a pipe to a program', '|cat@example.org'],
    ['a pipe inside', 'jo|cat@example.org'],
    ['an option of a mail program', '-oQ/tmp@example.org'],
    ['an encoded word', '=?utf-8?q?a?=@example.org'],
    ['the beginning of one inside', 'jo.=?utf-8?q?a@example.org'],
    ['a dot in front', '.jo@example.org'],
    ['a dot behind', 'jo.@example.org'],
    ['two dots', 'jo..hn@example.org'],
    ['an empty label', 'jo@example..org'],
    ['a trailing dot', 'jo@example.org.'],
    ['a hyphen in front of a label', 'jo@-example.org'],
    ['a hyphen behind a label', 'jo@example-.org'],
    ['a numeric last label', 'jo@example.123'],
    ['a last label of one letter', 'jo@example.o'],
    ['letters beyond ASCII', 'jö@example.org'],
    ['a domain beyond ASCII', 'jo@exämple.org'],
    ['a right-to-left override', 'jo\u202e@example.org'],
    ['a full-width at sign', 'jo＠example.org'],
    ['a lone surrogate', 'jo\ud800@example.org'],
    ['a local part of 65', `${'l'.repeat(65)}@example.org`],
    ['a label of 64', `jo@${'d'.repeat(64)}.org`],
    ['a domain of 254', `jo@${'d.'.repeat(126)}de`],
    ['321 characters', `${'l'.repeat(64)}@${'d.'.repeat(126)}deee`],
    ['a hundred thousand characters', `${'a.'.repeat(50_000)}@example.org`],
  ])('is none with %s', (_name, address) => expect(isDeliverable(address)).toBe(false));

  it('never holds a control character, a blank or a bracket, whatever it is made of (P26)', () => {
    const pieces = fc.constantFrom(
      'jo',
      '@',
      'example',
      '.',
      'org',
      '\r\n',
      ' ',
      '<',
      '>',
      ',',
      '"',
      '\u0000',
      ':',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), fc.string({ maxLength: 12 }), (parts, tail) => {
        for (const text of [parts.join(''), parts.join('') + tail, `jo@example.org${tail}`]) {
          if (isDeliverable(text)) expect(text).toMatch(/^[!-~]+$/);
          if (isDeliverable(text)) expect(text).not.toMatch(/[<>()[\]\\,;:"]/);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

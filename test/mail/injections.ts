/**
 * Hostile texts for every part of a mail that others can fill in.
 *
 * Cases are only ever added.
 */
export const evil = 'evil@example.net';

/** Recipients that are not a single plain address. */
export const refusedRecipients: readonly string[] = [
  '',
  ' ',
  '@',
  'jo',
  'jo@',
  '@example.org',
  'jo@example',
  'jo@@example.org',
  'jo@example.org\r\nBcc: evil@example.net',
  'jo@example.org\nBcc: evil@example.net',
  'jo@example.org\rBcc: evil@example.net',
  'jo\r\n@example.org',
  'jo@example.org\u0000',
  'jo\u0000@example.org',
  'jo@example.org\u000b',
  'jo@example.org\u0085',
  'jo@example.org\u2028Bcc: evil@example.net',
  'jo@example.org,evil@example.net',
  'jo@example.org;evil@example.net',
  'jo@example.org evil@example.net',
  'jo@example.org%0d%0aBcc:evil@example.net',
  'Jo <jo@example.org>',
  '<jo@example.org>',
  'jo@example.org>',
  'jo@example.org> NOTIFY=SUCCESS',
  'jo@example.org>\r\nRCPT TO:<evil@example.net',
  '"jo"@example.org',
  '"jo@example.org,evil@example.net"@example.org',
  'jo"@example.org',
  'friends: jo@example.org, evil@example.net;',
  'friends:;',
  'jo(evil@example.net)@example.org',
  'jo@example.org (comment)',
  '@evil.example.net:jo@example.org',
  '=?utf-8?q?jo?=@example.org\r\n',
  '=?utf-8?q?jo=40example.org=2C?= <evil@example.net>',
  'jo\\@example.org',
  'jo@[127.0.0.1]',
  'jo@127.0.0.1',
  'jo@0x7f.1',
  'jo@example..org',
  'jo@.example.org',
  'jo@-example.org',
  '.jo@example.org',
  'jo.@example.org',
  'j..o@example.org',
  ' jo@example.org',
  'jo@example.org ',
  'jo\u202e@example.org',
  'jo\u200b@example.org',
  'jo\ud800@example.org',
  'jo@exam\u2024ple.org,evil@example.net',
  'jo@example.org/evil',
  'jo@example.org?bcc=evil@example.net',
  `${'a'.repeat(65)}@example.org`,
  `jo@${'a'.repeat(64)}.org`,
  `jo@${'a.'.repeat(130)}org`,
  'x'.repeat(1_000_000),
  `${'@'.repeat(100_000)}`,
];

/** Recipients that look odd but are one address, and what the envelope must hold. */
export const takenRecipients: Readonly<Record<string, string>> = {
  'jo@example.org': 'jo@example.org',
  "o'neil+tag=x@example.org": "o'neil+tag=x@example.org",
  '-oQ/tmp@example.org': '-oQ/tmp@example.org',
  'a|b`c{d}@example.org': 'a|b`c{d}@example.org',
  '$id@example.org': '$id@example.org',
  'Jo@EXAMPLE.org': 'Jo@example.org',
  'jo@bücher.example': 'jo@xn--bcher-kva.example',
  'jörg@example.org': 'jörg@example.org',
  '=?utf-8?q?jo?=@example.org': '=?utf-8?q?jo?=@example.org',
  [`${'a'.repeat(64)}@example.org`]: `${'a'.repeat(64)}@example.org`,
};

/** Recipients as people type them, which the service accepts. */
export const typedRecipients: readonly string[] = [
  ' jo@example.org ',
  '\u3000jo@example.org\t',
  'jo@müller.example.org',
  'jo@ＥＸＡＭＰＬＥ.org',
  'jo@пример.рф',
  'jo@例え.テスト',
  "o'neil+tag=x@faß.de",
];

/** Sender names: never an address of the message, always inside one line of the subject. */
export const senders: readonly string[] = [
  'ann@example.com\r\nBcc: evil@example.net',
  'ann@example.com\nTo: evil@example.net\n\nhello',
  'ann@example.com\r\n\r\n<html>body</html>',
  'ann@example.com\r\n.\r\nMAIL FROM:<evil@example.net>',
  'ann\u0000@example.com',
  'ann@example.com\u2028X-Evil: 1',
  'ann@example.com\u0085X-Evil: 1',
  '=?utf-8?q?=0D=0ABcc:_evil@example.net?=',
  '=?utf-8?b?DQpCY2M6IGV2aWxAZXhhbXBsZS5uZXQ=?=',
  '"ann, evil@example.net" <evil@example.net>',
  'friends: evil@example.net;',
  '<script>alert(1)</script>',
  '\u202eevil@example.net\u202c',
  'x'.repeat(100_000),
  'ü'.repeat(5_000),
  '😀'.repeat(400),
  '\ud800\udfff\ud800',
  '',
];

/** Brand names: never an address of the message, always inside one line of the body. */
export const brandNames: readonly string[] = [
  'Safe\r\nBcc: evil@example.net',
  'Safe\n\nhttps://evil.example/secret/1',
  'Safe\r\n.\r\nMAIL FROM:<evil@example.net>',
  'Safe\u2028evil@example.net\u2029',
  '<b>Safe</b><a href="https://evil.example">here</a>',
  '"><script>alert(1)</script>',
  '</p></div></body></html><img src=x onerror=alert(1)>',
  '<!-- ',
  ']]>',
  '{sender}{date}{host}',
  '\u202eefaS\u202c',
  '\u2068\u2069\u2068',
  '\ud800Safe',
  'x'.repeat(100_000),
  '',
  '\u0000',
  '=?utf-8?q?=0D=0ABcc:_evil@example.net?=',
];

/** Hosts of a mail's links, as a brand names them. */
export const hosts: readonly string[] = [
  'secrets.example.com\r\nBcc: evil@example.net',
  'secrets.example.com\n\n<b>evil</b>',
  '"><script>alert(1)</script>',
  'evil.example/<img src=x onerror=alert(1)>',
  '\u202emoc.live',
  'x'.repeat(100_000),
  '',
];

/** Colours of a button: six hex digits, or our own. */
export const colours: readonly string[] = [
  'red',
  '#fff',
  '#1d5c4',
  '#1d5c4d;background:url(https://evil.example/x.png)',
  '#1d5c4d"><script>alert(1)</script>',
  '#1d5c4d\n',
  'url(javascript:alert(1))',
  'expression(alert(1))',
  '',
];

/** Links: always in a line and an attribute of their own. */
export const links: readonly string[] = [
  'https://secrets.example.com/secret/0\r\nBcc: evil@example.net',
  'https://secrets.example.com/secret/0\n\nhttps://evil.example/',
  'https://secrets.example.com/secret/0"><script>alert(1)</script>',
  "https://secrets.example.com/secret/0' onclick='alert(1)",
  'https://secrets.example.com/secret/0</a><a href=https://evil.example>',
  'https://secrets.example.com/secret/0\u2028evil',
  'https://secrets.example.com/secret/0\r\n.\r\nMAIL FROM:<evil@example.net>',
];

/** Languages that do not exist. */
export const locales: readonly string[] = [
  'en\r\nBcc: evil@example.net',
  'en"><script>alert(1)</script>',
  '../../../etc/passwd',
  '__proto__',
  'constructor',
  'x'.repeat(100_000),
  '',
];

/** Possible server replies; the first line holds the reply code. */
export const replies: readonly string[] = [
  '550 <script>alert(1)</script>',
  '550 a\u0000b\u001b[2Jc',
  '550 \u202egnp.exe\u202c',
  '550-one\r\n550-Bcc: evil@example.net\r\n550 three',
  '550 \ud83d\ude00\u200b\u2028\u2029',
  `550 ${'x'.repeat(5_000)}`,
  '550 jo@example.org https://secrets.example.com/secret/0123456789abcdefghijklmnopqrstu',
  '550-https://secrets.example.com/secret/01234567\r\n550 89abcdefghijklmnopqrstu',
  '550 {"json":"\\u0000"}',
  '550 %0d%0aBcc:%20evil@example.net',
];

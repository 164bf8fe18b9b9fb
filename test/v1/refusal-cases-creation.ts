/** Every refusal of a creation by v1 as data, with the status in each dialect and the body, which is the same in both. */
import {
  bad,
  type Case,
  closedDomain,
  json,
  message,
  multipart,
  notAuthorized,
  nothingToShare,
  partsOf,
  saying,
} from './refusal-scene.ts';

export const onCreation: Case[] = [
  { title: 'no secret', documented: 400, upstream: 404, body: nothingToShare, call: (s) => s.post('/share') },
  {
    title: 'an empty secret',
    documented: 400,
    upstream: 404,
    body: nothingToShare,
    call: (s) => s.post('/share', { secret: '', ttl: '60' }),
  },
  {
    title: 'a secret given twice',
    documented: 400,
    upstream: 404,
    body: message('The parameter "secret" was given more than once.'),
    call: (s) => s.send('POST', '/share', { body: 'secret=a&secret=b' }),
  },
  {
    title: 'secret[]',
    documented: 400,
    upstream: 404,
    body: message('The parameter "secret" takes one plain value.'),
    call: (s) => s.send('POST', '/create', { body: 'secret[]=a' }),
  },
  {
    title: 'an invalid escape',
    documented: 400,
    upstream: 404,
    body: saying(/percent-encoding/),
    call: (s) => s.send('POST', '/share', { body: 'secret=%zz' }),
  },
  {
    title: 'bytes that are not UTF-8',
    documented: 400,
    upstream: 404,
    body: saying(/UTF-8/),
    call: (s) => s.send('POST', '/share', { body: new Uint8Array([...Buffer.from('secret='), 0xff]) }),
  },
  {
    title: 'a lone surrogate',
    documented: 400,
    upstream: 404,
    body: saying(/not well-formed/),
    call: (s) => s.send('POST', '/share', { body: '{"secret":"\\udc00"}', headers: json }),
  },
  {
    title: 'broken JSON',
    documented: 400,
    upstream: 404,
    body: saying(/not valid JSON/),
    call: (s) => s.send('POST', '/share', { body: '{', headers: json }),
  },
  ...[
    ['a list in JSON', '{"secret":["a"]}', 'must be a text'],
    ['an object in JSON', '{"secret":{"x":"a"}}', 'must be a text'],
    ['a number for a text in JSON', '{"secret":5}', 'must be a text'],
    ['secret[] in JSON', '{"secret[]":"a"}', 'takes one plain value'],
    ['a JSON list', '["a"]', 'must be a JSON object'],
    ['a name twice in JSON', '{"secret":"a","secret":"a"}', 'more than once'],
  ].map(
    ([title = '', body = '', sentence = '']): Case => ({
      title,
      documented: 400,
      upstream: 404,
      body: saying(new RegExp(sentence)),
      call: (s) => s.send('POST', '/share', { body, headers: json }),
    }),
  ),
  ...(
    [
      ['a secret twice in multipart', ['secret', 'secret'], /given more than once/],
      ['secret[x] in multipart', ['secret[x]'], /takes one plain value/],
    ] as const
  ).map(
    ([title, names, sentence]): Case => ({
      title,
      documented: 400,
      upstream: 404,
      body: saying(sentence),
      call: (s) => s.send('POST', '/share', { body: partsOf(names), headers: { 'content-type': multipart } }),
    }),
  ),
  {
    title: 'a file',
    documented: 400,
    upstream: 404,
    body: saying(/A file was sent/),
    call: (s) =>
      s.send('POST', '/share', {
        body: '--x\r\nContent-Disposition: form-data; name="secret"; filename="a"\r\n\r\na\r\n--x--',
        headers: { 'content-type': multipart },
      }),
  },
  ...['/share', '/generate'].flatMap((path) =>
    ['sealed', 'verify', 'files'].map(
      (name): Case => ({
        title: `${name} on ${path}, which would protect the secret`,
        documented: 400,
        upstream: 404,
        body: message(
          `The parameter "${name}" must be left out: version 1 would make the secret without it.`,
        ),
        call: (s) => s.post(path, { secret: 'a', [name]: 'x' }),
      }),
    ),
  ),
  {
    title: 'sealed as an object in JSON',
    documented: 400,
    upstream: 404,
    body: saying(/"sealed" must be a text/),
    call: (s) => s.send('POST', '/share', { body: '{"secret":"a","sealed":{}}', headers: json }),
  },
  {
    title: 'the rest of a value after an & that was not escaped',
    documented: 400,
    upstream: 404,
    body: message(
      'A part of the body has no "=": write an & inside a value as %26 (curl: --data-urlencode).',
    ),
    call: (s) => s.send('POST', '/share', { body: 'secret=P&ssw0rd' }),
  },
  {
    title: 'a compressed body',
    documented: 415,
    upstream: 415,
    body: message('Send the body as it is, without a Content-Encoding.'),
    call: (s) =>
      s.send('POST', '/share', { body: Bun.gzipSync('secret=a'), headers: { 'content-encoding': 'gzip' } }),
  },
  {
    title: 'a value of an anonymous caller over 10,000 bytes',
    documented: 413,
    upstream: 404,
    body: message('The secret is too large: at most 10000 bytes (UTF-8) are allowed.'),
    call: (s) => s.post('/share', { secret: `${'a'.repeat(9_999)}ä` }),
  },
  {
    title: 'a value of an account over 10,000 bytes',
    documented: 413,
    upstream: 404,
    body: message('The secret is too large: at most 10000 bytes (UTF-8) are allowed.'),
    call: (s) => s.post('/share', { secret: 'a'.repeat(10_001) }, s.alice),
  },
  {
    title: 'a body over the cap',
    documented: 413,
    upstream: 404,
    body: message('The request body is too large: at most 70240 bytes are accepted.'),
    call: (s) => s.send('POST', '/share', { body: `secret=${'a'.repeat(70_240)}` }),
  },
  {
    title: 'a passphrase over 1,024 bytes',
    documented: 400,
    upstream: 404,
    body: message('The passphrase is too long: at most 1024 bytes (UTF-8) are allowed.'),
    call: (s) => s.post('/share', { secret: 'a', passphrase: 'p'.repeat(1_025) }),
  },
  {
    title: 'a recipient while anonymous',
    documented: 401,
    upstream: 404,
    body: message('An account is required to send emails.'),
    call: (s) => s.post('/share', { secret: 'a', recipient: 'joe@example.org' }),
  },
  {
    title: 'a recipient that no mail reaches',
    documented: 400,
    upstream: 404,
    body: message('Undeliverable email address: joe@example..org'),
    call: (s) => s.post('/generate', { recipient: 'joe@example..org' }, s.alice),
  },
  ...['3', '129', 'many', '-4', '12.5'].map(
    (length): Case => ({
      title: `the length ${length}`,
      documented: 400,
      upstream: 404,
      body: message('The length must be a whole number from 4 to 128.'),
      call: (s) => s.post('/generate', { length }),
    }),
  ),
  ...['hex', 'lower;upper', 'lower,'].map(
    (charset): Case => ({
      title: `the charset ${charset}`,
      documented: 400,
      upstream: 404,
      body: message('The charset must be a comma list of lower, upper, digits, symbols.'),
      call: (s) => s.post('/generate', { charset }),
    }),
  ),
  {
    title: 'a share domain that nobody has',
    documented: 400,
    upstream: 404,
    body: message('Unknown domain: nobody.example'),
    call: (s) => s.post('/share', { secret: 'a', share_domain: 'nobody.example' }, s.alice),
  },
  {
    title: "another account's share domain",
    documented: 400,
    upstream: 404,
    body: message('Unknown domain: bob.example'),
    call: (s) => s.post('/generate', { share_domain: 'bob.example' }, s.alice),
  },
  {
    title: 'a secret on a domain whose owner shares there alone',
    documented: 403,
    upstream: 404,
    body: message('Public sharing disabled for domain: closed.bob.example'),
    call: (s) => s.send('POST', '/share', { form: { secret: 'a' }, headers: { host: closedDomain } }),
  },
  {
    title: 'notices while anonymous',
    documented: 401,
    upstream: 404,
    body: message('An account is required to be notified.'),
    call: (s) => s.post('/share', { secret: 'a', notify: 'read' }),
  },
  ...['reading', 'read,', 'read, burned', 'none,read', 'READ'].map(
    (notify): Case => ({
      title: `the notices "${notify}"`,
      documented: 400,
      upstream: 404,
      body: message('The parameter notify must be a comma list of read, burned, expiring, or none.'),
      call: (s) => s.post('/share', { secret: 'a', notify }, s.alice),
    }),
  ),
  {
    title: 'wrong credentials, though anonymous would do',
    documented: 401,
    upstream: 404,
    body: notAuthorized,
    call: (s) => s.send('POST', '/share', { form: { secret: 'a' }, headers: { authorization: bad } }),
  },
];

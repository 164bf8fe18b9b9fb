/**
 * Every refusal of v1 as data: the rows of the contract's table and what lies between them.
 *
 * Owns: the situations, with the status of each dialect and the body that both give.
 */
import { expect } from 'bun:test';
import type { TestAccount, TestAppOptions } from '../support/app.ts';
import { giveDomain } from '../support/own-domain.ts';
import { type Answer, createV1Caller, type Json, type V1Caller } from './caller.ts';

/** What a case starts from: one account with a secret of its own, another account, one anonymous secret. */
export interface Scene extends V1Caller {
  readonly alice: TestAccount;
  readonly bob: TestAccount;
  /** Alice's, protected by the passphrase `right`. */
  readonly own: Json;
  readonly anonymous: Json;
}

export const closedDomain = 'closed.bob.example';

export async function sceneOf(options: TestAppOptions): Promise<Scene> {
  const caller = createV1Caller(options);
  const alice = await caller.app.account('alice@example.com');
  const bob = await caller.app.account('bob@example.com', 'identity');
  await giveDomain(caller.app.store, bob.id, 'bob.example');
  await giveDomain(caller.app.store, bob.id, closedDomain, { isPublic: false });
  const own = await caller.share({ passphrase: 'right', ttl: '600' }, alice);
  const anonymous = await caller.share({ ttl: '600' });
  return { ...caller, alice, bob, own, anonymous };
}

const unknownKey = 'zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';
const multipart = 'multipart/form-data; boundary=x';
const partsOf = (names: readonly string[]) =>
  `${names.map((name) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\na\r\n`).join('')}--x--`;
const json = { 'content-type': 'application/json' };
const bad = `Basic ${btoa(`alice@example.com:${'0'.repeat(64)}`)}`;

type Expected = Record<string, unknown> | ((scene: Scene) => Record<string, unknown>);
export interface Case {
  readonly title: string;
  readonly documented: number;
  readonly upstream: number;
  readonly body: Expected;
  readonly call: (scene: Scene) => Promise<Answer>;
}

export const message = (text: string) => ({ message: text });
export const saying = (pattern: RegExp) => ({ message: expect.stringMatching(pattern) });
const nothingToShare = message('You did not provide anything to share');
const notAuthorized = message('Not authorized');

const onCreation: Case[] = [
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

const onReveal: Case[] = [
  ...[unknownKey, unknownKey.toUpperCase(), 'x', '%3Cb%3E', '..%2Fstatus', '%00'].map(
    (key): Case => ({
      title: `the key ${key}`,
      documented: 404,
      upstream: 404,
      body: { message: 'Unknown secret', secret_key: decodeURIComponent(key) },
      call: (s) => s.post(`/secret/${key}`),
    }),
  ),
  {
    title: 'a key in upper case',
    documented: 404,
    upstream: 404,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.anonymous.secret_key.toUpperCase() }),
    call: (s) => s.post(`/secret/${s.anonymous.secret_key.toUpperCase()}`),
  },
  {
    title: 'a metadata key',
    documented: 404,
    upstream: 404,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.anonymous.metadata_key }),
    call: (s) => s.post(`/secret/${s.anonymous.metadata_key}`),
  },
  ...[{}, { passphrase: '' }, { passphrase: 'wrong' }, { passphrase: 'right ' }, { passphrase: 'Right' }].map(
    (form): Case => ({
      title: `the passphrase ${JSON.stringify(form)}`,
      documented: 404,
      upstream: 404,
      body: (s) => ({ message: 'Unknown secret', secret_key: s.own.secret_key }),
      call: (s) => s.post(`/secret/${s.own.secret_key}`, form),
    }),
  ),
  {
    title: 'a passphrase given twice',
    documented: 400,
    upstream: 404,
    body: saying(/"passphrase" was given more than once/),
    call: (s) => s.send('POST', `/secret/${s.own.secret_key}`, { body: 'passphrase=right&passphrase=right' }),
  },
  {
    title: 'wrong credentials',
    documented: 401,
    upstream: 404,
    body: notAuthorized,
    call: (s) => s.send('POST', `/secret/${s.anonymous.secret_key}`, { headers: { authorization: bad } }),
  },
  {
    title: 'a page of another site',
    documented: 403,
    upstream: 403,
    body: saying(/another site/),
    call: (s) =>
      s.send('POST', `/secret/${s.anonymous.secret_key}`, { headers: { 'sec-fetch-site': 'cross-site' } }),
  },
];

const onManagement: Case[] = [
  ...['GET', 'POST'].flatMap((method): Case[] => [
    {
      title: `${method} of an unknown metadata key`,
      documented: 404,
      upstream: 404,
      body: { message: 'Unknown secret', secret_key: unknownKey },
      call: (s) => s.send(method, `/private/${unknownKey}`, { as: s.alice }),
    },
    {
      title: `${method} of a secret key`,
      documented: 404,
      upstream: 404,
      body: (s) => ({ message: 'Unknown secret', secret_key: s.own.secret_key }),
      call: (s) => s.send(method, `/private/${s.own.secret_key}`, { as: s.alice }),
    },
    {
      title: `${method} of /private/recent without credentials`,
      documented: 401,
      upstream: 404,
      body: notAuthorized,
      call: (s) => s.send(method, '/private/recent'),
    },
  ]),
  {
    title: 'burn of an unknown metadata key',
    documented: 404,
    upstream: 404,
    body: { message: 'Unknown secret', secret_key: unknownKey },
    call: (s) => s.post(`/private/${unknownKey}/burn`, {}, s.alice),
  },
  {
    title: 'burn of a secret that was read',
    documented: 404,
    upstream: 404,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.anonymous.metadata_key }),
    async call(s) {
      await s.post(`/secret/${s.anonymous.secret_key}`);
      return s.post(`/private/${s.anonymous.metadata_key}/burn`, {}, s.alice);
    },
  },
  {
    title: 'burn of a secret that was burned',
    documented: 404,
    upstream: 404,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.anonymous.metadata_key }),
    async call(s) {
      await s.post(`/private/${s.anonymous.metadata_key}/burn`, {}, s.alice);
      return s.post(`/private/${s.anonymous.metadata_key}/burn`, {}, s.alice);
    },
  },
  {
    title: 'burn of a secret that has expired',
    documented: 404,
    upstream: 404,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.own.metadata_key }),
    call(s) {
      s.app.clock.advance(600);
      return s.post(`/private/${s.own.metadata_key}/burn`, { passphrase: 'right' }, s.alice);
    },
  },
  {
    title: 'a malformed burn',
    documented: 400,
    upstream: 404,
    body: saying(/percent-encoding/),
    call: (s) => s.send('POST', `/private/${s.anonymous.metadata_key}/burn`, { body: '%', as: s.alice }),
  },
  {
    title: 'authcheck without credentials',
    documented: 401,
    upstream: 404,
    body: notAuthorized,
    call: (s) => s.get('/authcheck'),
  },
  ...[
    'Bearer abc',
    'Basic',
    'Basic !',
    `Basic ${btoa('alice@example.com:')}`,
    bad,
    `Basic ${btoa('eve@x.example:1')}`,
  ].map(
    (authorization): Case => ({
      title: `the credentials "${authorization.slice(0, 24)}" on /status`,
      documented: 401,
      upstream: 404,
      body: notAuthorized,
      call: (s) => s.send('GET', '/status', { headers: { authorization } }),
    }),
  ),
];

const onPaths: Case[] = [
  ...[
    '',
    '/',
    '/nothing',
    '/secret',
    '/secret/',
    '/share/x',
    '//status',
    '/private/',
    '/status/x',
    '/Status',
  ].map(
    (path): Case => ({
      title: `GET ${path === '' ? 'the base itself' : path}`,
      documented: 404,
      upstream: 404,
      body: { error: 'Not Found', message: 'Not Found' },
      call: (s) => s.get(path),
    }),
  ),
  ...[
    ['GET', '/share', 'POST, OPTIONS'],
    ['GET', '/generate', 'POST, OPTIONS'],
    ['GET', `/secret/${unknownKey}`, 'POST, OPTIONS'],
    ['GET', `/private/${unknownKey}/burn`, 'POST, OPTIONS'],
    ['POST', '/status', 'GET, HEAD, OPTIONS'],
    ['PUT', '/share', 'POST, OPTIONS'],
    ['DELETE', `/private/${unknownKey}`, 'GET, HEAD, POST, OPTIONS'],
    ['PATCH', '/receipt/recent', 'GET, HEAD, POST, OPTIONS'],
  ].map(
    ([method = '', path = '']): Case => ({
      title: `${method} ${path}`,
      documented: 405,
      upstream: 404,
      body: message('Method Not Allowed'),
      call: (s) => s.send(method, path),
    }),
  ),
];

/** Cases where only the documented dialect refuses. */
const onlyDocumented: Case[] = [
  ...['abc', '90abc', '61.9', '1e3', '-5', '-0', '+60'].map(
    (ttl): Case => ({
      title: `the ttl ${ttl}`,
      documented: 400,
      upstream: 200,
      body: message('The ttl must be a whole number of seconds, 0 or more, written in digits.'),
      call: (s) => s.post('/share', { secret: 'a', ttl }),
    }),
  ),
  {
    title: 'a recipient that is no address',
    documented: 400,
    upstream: 200,
    body: message('Undeliverable email address: notanemail'),
    call: (s) => s.post('/share', { secret: 'a', recipient: 'notanemail' }, s.alice),
  },
  {
    title: 'two recipients in a list',
    documented: 400,
    upstream: 200,
    body: message('The parameter "recipient" was given more than once.'),
    call: (s) =>
      s.send('POST', '/share', { body: 'secret=a&recipient[]=a@b.cd&recipient[]=c@d.ef', as: s.alice }),
  },
  {
    title: 'a share domain that is no domain',
    documented: 400,
    upstream: 200,
    body: message('Unknown domain: notadomain'),
    call: (s) => s.post('/share', { secret: 'a', share_domain: 'notadomain' }),
  },
  ...['GET', 'POST'].flatMap((method): Case[] => [
    {
      title: `${method} of a record without credentials`,
      documented: 401,
      upstream: 200,
      body: notAuthorized,
      call: (s) => s.send(method, `/private/${s.own.metadata_key}`),
    },
    {
      title: `${method} of another account's record (P16)`,
      documented: 404,
      upstream: 200,
      body: (s) => ({ message: 'Unknown secret', secret_key: s.own.metadata_key }),
      call: (s) => s.send(method, `/metadata/${s.own.metadata_key}`, { as: s.bob }),
    },
  ]),
  {
    title: 'burn without credentials',
    documented: 401,
    upstream: 200,
    body: notAuthorized,
    call: (s) => s.post(`/private/${s.anonymous.metadata_key}/burn`),
  },
  {
    title: "burn of another account's secret (P16)",
    documented: 404,
    upstream: 200,
    body: (s) => ({ message: 'Unknown secret', secret_key: s.own.metadata_key }),
    call: (s) => s.post(`/private/${s.own.metadata_key}/burn`, { passphrase: 'right' }, s.bob),
  },
];

/** Cases where only the upstream dialect refuses: a protected secret is burned with its passphrase alone. */
const onlyUpstream: Case[] = [{}, { passphrase: '' }, { passphrase: 'wrong' }].map((form) => ({
  title: `burn of a protected secret with ${JSON.stringify(form)}`,
  documented: 200,
  upstream: 404,
  body: message('Double check that passphrase'),
  call: (s) => s.post(`/private/${s.own.metadata_key}/burn`, form, s.alice),
}));

export const groups = { onCreation, onReveal, onManagement, onPaths, onlyDocumented, onlyUpstream };

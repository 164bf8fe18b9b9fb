/**
 * Every refusal of v1 as data: the rows of the contract's table and the cases between them, with the status in each
 * dialect and the body, which is the same in both.
 */
import { onCreation } from './refusal-cases-creation.ts';
import { bad, type Case, message, notAuthorized, saying, unknownKey } from './refusal-scene.ts';

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

const notFound = { error: 'Not Found', message: 'Not Found' };

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
      body: notFound,
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
      upstreamBody: notFound,
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

/** Cases where only the upstream dialect refuses: it burns a protected secret only with its passphrase. */
const onlyUpstream: Case[] = [{}, { passphrase: '' }, { passphrase: 'wrong' }].map((form) => ({
  title: `burn of a protected secret with ${JSON.stringify(form)}`,
  documented: 200,
  upstream: 404,
  body: message('Double check that passphrase'),
  call: (s) => s.post(`/private/${s.own.metadata_key}/burn`, form, s.alice),
}));

export const groups = { onCreation, onReveal, onManagement, onPaths, onlyDocumented, onlyUpstream };

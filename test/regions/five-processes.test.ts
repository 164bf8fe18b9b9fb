/**
 * Two regions with two servers each, and the router: five processes on loopback.
 *
 * Proves that every operation works through every host, that links carry their region's host, that credentials find
 * their region, and that a region which dies takes nothing with it and serves its own secrets when it is back (P1, P5,
 * P6).
 */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { parseSecretKey, regionOfKey } from '../../src/core/keys.ts';
import { clientAnswer, clientRequest } from '../support/asking.ts';
import {
  attemptRequest,
  createV1,
  createV2,
  type Made,
  readAttempt,
  readMade,
  readReceiptState,
  receiptRequest,
} from '../support/calls.ts';
import { race } from '../support/race.ts';
import { openConnection, type RawAnswer, requestBytes, sendOnce } from '../support/raw-client.ts';
import { announceSeed, seededFractions } from '../support/run-seed.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { openPool } from '../support/started-server.ts';
import { addressOf, type Installation, type Label, labels, openInstallation } from './installation.ts';

setDefaultTimeout(60_000);

let installation: Installation;
beforeAll(async () => {
  installation = await openInstallation();
});
afterAll(() => installation[Symbol.asyncDispose]());

/** Every host of the installation, and the region in which a create there ends up. */
const hosts = () => [
  ...labels.flatMap((label) =>
    installation[label].ports.map((port, index) => ({ name: `${label} ${index + 1}`, port, label })),
  ),
  { name: 'the router', port: installation.router.port, label: 'us' as Label },
];

function labelOf(made: Made): string {
  const keys = [made.secretKey, made.metadataKey].map((key) => {
    const parsed = parseSecretKey(key);
    return parsed === null ? 'none' : String(regionOfKey(parsed));
  });
  return keys[0] === keys[1] ? (keys[0] ?? '') : 'two regions';
}

async function make(port: number, request: Buffer): Promise<Made & { readonly answer: RawAnswer }> {
  const answer = await sendOnce(port, request);
  const made = readMade(answer);
  if (made === null) throw new Error(`a create answered ${answer.status}: ${answer.body}`);
  return { ...made, answer };
}

describe('through every host', () => {
  it('secrets are made, looked at, read once and burned, by both versions', async () => {
    for (const { port, label } of hosts()) {
      const { basic } = installation[label].account;
      for (const [index, create] of [createV1, createV2].entries()) {
        const read = await make(port, create({ value: `read through ${port}`, basic }));
        const burned = await make(port, create({ value: 'to be burned' }));
        expect([labelOf(read), labelOf(burned)]).toEqual([label, label]);
        const version = index === 0 ? 'v1' : 'v2';
        const reveal = { door: `${version}.reveal`, made: read } as const;
        const burn = { door: `${version}.burn`, made: burned, basic } as const;
        expect(readReceiptState(await sendOnce(port, receiptRequest(read, basic)))).toBe('new');
        expect(readAttempt(reveal, await sendOnce(port, attemptRequest(reveal)))).toEqual({
          is: 'released',
          value: `read through ${port}`,
        });
        expect(readAttempt(reveal, await sendOnce(port, attemptRequest(reveal)))).toEqual({ is: 'lost' });
        expect(readAttempt(burn, await sendOnce(port, attemptRequest(burn)))).toEqual({
          is: 'burned',
          by: 'creator',
        });
        expect(readReceiptState(await sendOnce(port, receiptRequest(read, basic)))).toBe('received');
        expect(readReceiptState(await sendOnce(port, receiptRequest(burned, basic)))).toBe('burned');
      }
    }
  });

  it('links carry the host of the region that keeps the secret, and never the router’s', async () => {
    for (const { port, label } of hosts()) {
      const { answer, secretKey } = await make(port, createV2({ value: 'linked' }));
      expect(JSON.parse(answer.body).record.share_url ?? answer.body).toContain(
        `${addressOf(label)}/secret/${secretKey}`,
      );
      expect(answer.body).not.toContain(String(port));
    }
  });

  it('what was made in one place is read in the other places of its region and through the router, and nowhere else', async () => {
    const { us, eu, router } = installation;
    const reads: readonly (readonly [from: number, to: number, status: number])[] = [
      [us.ports[0] ?? 0, us.ports[1] ?? 0, 200],
      [us.ports[1] ?? 0, router.port, 200],
      [eu.ports[0] ?? 0, router.port, 200],
      [router.port, us.ports[0] ?? 0, 200],
      [eu.ports[1] ?? 0, us.ports[0] ?? 0, 404],
    ];
    for (const [from, to, status] of reads) {
      const made = await make(from, createV1({ value: 'anywhere' }));
      const got = await sendOnce(to, attemptRequest({ door: 'v1.reveal', made }));
      expect(got.status).toBe(status);
    }
  });

  it('an unknown key is unknown in a region’s own words, also through the router', async () => {
    const path = '/api/v1/secret/zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz';
    for (const { port } of hosts()) {
      const got = await sendOnce(port, requestBytes({ method: 'POST', path, body: '' }));
      expect([got.status, JSON.parse(got.body).message]).toEqual([404, 'Unknown secret']);
    }
  });

  it('the largest end-to-end secret of an account arrives and leaves as it was sealed, for its proofs alone', async () => {
    const sealed = clientSecret({ hasPassphrase: true, paddedBytes: 1_015_808 });
    const post = (path: string, body: object, headers = {}) =>
      requestBytes({
        method: 'POST',
        path: `/api/v2/secret/${path}`,
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      });
    for (const { port, label } of hosts()) {
      const { basic } = installation[label].account;
      const create = post('conceal', { secret: { sealed: sealed.wire } }, { Authorization: basic });
      const { secretKey } = await make(port, create);
      const half = await sendOnce(port, post(`${secretKey}/reveal`, {}));
      expect([half.status, JSON.parse(half.body).error]).toEqual([422, 'incomplete_link']);
      const opened = await sendOnce(port, post(`${secretKey}/reveal`, sealed.body));
      expect(opened.status).toBe(200);
      expect(JSON.parse(opened.body).record.sealed.ciphertext === sealed.wire.ciphertext).toBe(true);
    }
  });

  it('a request is made, seen, answered by the largest answer, listed, discarded and closed, in the region of its key', async () => {
    const { terms, owner_hash, ask_hash } = clientRequest().wire;
    const { ask, owner } = { ...clientRequest().ask, ...clientRequest().owner };
    const { wire } = clientAnswer('through every host', 1_015_808);
    for (const { port, label } of hosts()) {
      const { basic, username } = installation[label].account;
      const post = async (path: string, body: object, headers = {}) => {
        const head = { 'Content-Type': 'application/json', ...headers };
        const request = { method: 'POST', path: `/api/v2/request${path}`, headers: head };
        const answer = await sendOnce(port, requestBytes({ ...request, body: JSON.stringify(body) }));
        expect([path, answer.status]).toEqual([path, 200]);
        return JSON.parse(answer.body);
      };
      const { key } = (await post('', { terms, owner_hash, ask_hash }, { Authorization: basic })).record;
      expect(String(regionOfKey(key))).toBe(label);
      expect((await post(`/${key}/look`, { ask })).record.asked_by.username).toBe(username);
      const { secret_key } = (await post(`/${key}/answer`, { ask, ...wire })).record;
      expect(String(regionOfKey(secret_key))).toBe(label);
      expect((await post(`/${key}/answers`, { owner })).records).toMatchObject([
        { secret_key, state: 'new' },
      ]);
      const discarded = await post(`/${key}/discard`, { owner, secret_key });
      expect(discarded.records).toMatchObject([{ secret_key, state: 'burned', discarded: true }]);
      expect((await post(`/${key}/change`, { owner, close: true })).record.state).toBe('ended');
    }
  });

  it('a body over the cap is refused in a region’s own words, by its length and in chunks', async () => {
    const body = `secret=${'x'.repeat(200_000)}`;
    const path = '/api/v1/share';
    const chunks = Buffer.from(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
    for (const { port } of hosts()) {
      for (const request of [
        requestBytes({ method: 'POST', path, body }),
        Buffer.concat([Buffer.from(head), chunks]),
      ]) {
        const got = await sendOnce(port, request);
        expect([got.status, JSON.parse(got.body).message]).toEqual([
          413,
          'The request body is too large: at most 70240 bytes are accepted.',
        ]);
      }
    }
  });

  it('each server says which region it is; the router leads to the preferred one', async () => {
    for (const { port, label } of hosts()) {
      const got = await sendOnce(port, requestBytes({ method: 'GET', path: '/api/v2/status' }));
      expect(JSON.parse(got.body).region).toBe(label);
    }
  });
});

describe('credentials through the router', () => {
  const ask = (path: string, basic: string) =>
    sendOnce(
      installation.router.port,
      requestBytes({ method: 'GET', path, headers: { Authorization: basic } }),
    );

  it('of either region lead to it: its secrets are made there and listed', async () => {
    for (const label of labels) {
      const { basic, username } = installation[label].account;
      const made = await make(installation.router.port, createV2({ value: 'of an account', basic }));
      expect(labelOf(made)).toBe(label);
      const check = await ask('/api/v2/authcheck', basic);
      expect(check.status).toBe(200);
      const recent = await ask('/api/v1/private/recent', basic);
      expect(JSON.parse(recent.body)[0]).toMatchObject({ metadata_key: made.metadataKey, custid: username });
    }
  });

  it('of one region open a link of another, whose receipt stays closed to them with words that name both', async () => {
    const { us, eu, router } = installation;
    const { basic } = us.account;
    for (const door of ['v1.reveal', 'v2.reveal'] as const) {
      const made = await make(eu.ports[0] ?? 0, createV2({ value: 'of the other region' }));
      const receipt = await ask(`/api/v2/receipt/${made.metadataKey}`, basic);
      expect([receipt.status, JSON.parse(receipt.body)]).toMatchObject([
        401,
        { error: 'not_authorized', message: expect.stringMatching(/to the region us, .* to the region eu/) },
      ]);
      const reveal = { door, made, basic };
      const wrong = { ...reveal, basic: `Basic ${btoa(`us@example.org:${'0'.repeat(64)}`)}` };
      expect((await sendOnce(router.port, attemptRequest(wrong))).status).toBe(401);
      const opened = readAttempt(reveal, await sendOnce(router.port, attemptRequest(reveal)));
      expect(opened).toEqual({ is: 'released', value: 'of the other region' });
    }
  });

  it('that no region knows are refused by one, as they would be there', async () => {
    const wrong = `Basic ${btoa(`eu@example.org:${'0'.repeat(64)}`)}`;
    const got = await ask('/api/v2/authcheck', wrong);
    expect([got.status, JSON.parse(got.body).error]).toEqual([401, 'not_authorized']);
    expect(got.headers.get('www-authenticate')).toContain('Basic');
  });
});

describe('pages at the router', () => {
  it('are on the region’s own address: of a key on that key’s region, others on the preferred one', async () => {
    const { metadataKey, secretKey } = await make(
      installation.eu.ports[0] ?? 0,
      createV1({ value: 'a page' }),
    );
    const ask = (method: string, path: string) =>
      sendOnce(installation.router.port, requestBytes({ method, path }));
    for (const [path, label] of [
      [`/secret/${secretKey}`, 'eu'],
      [`/receipt/${metadataKey}?lang=de`, 'eu'],
      [`/private/${metadataKey}`, 'eu'],
      ['/', 'us'],
      ['/log-in', 'us'],
      ['/mayfly.tgz?2', 'us'],
    ] as const) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const got = await ask(method, path);
        expect([got.status, got.headers.get('location')]).toEqual([307, `${addressOf(label)}${path}`]);
        expect(got.headers.get('referrer-policy')).toBe('no-referrer');
      }
    }
  });
});

describe('a race through the router', () => {
  it('P1, P7: of 60 reveals and burns over the router and both servers exactly one wins, each time', async () => {
    const random = seededFractions(announceSeed('race through the router'));
    const { us, router } = installation;
    const pools = await Promise.all(
      [router.port, router.port, ...us.ports].map((port) => openPool(port, 15)),
    );
    const creator = await openConnection(router.port);
    const track = {
      readers: pools.flatMap(({ connections }) => connections),
      ...{ creator, basic: us.account.basic, random },
    };
    try {
      for (let count = 0; count < 40; count += 1) {
        const { winners, faults } = await race(track, `race value ${count}`);
        expect([winners, faults]).toEqual([1, []]);
      }
    } finally {
      creator.destroy();
      for (const pool of pools) pool[Symbol.dispose]();
    }
  });
});

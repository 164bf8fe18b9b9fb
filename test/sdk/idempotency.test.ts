/** Creations that the client may send again, and batches, against a started server whose answers get lost. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createClient, type Fetch, type MayflyClient, MayflyError, type Receipt } from '../../sdk/mayfly.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { failure } from './observed.ts';

let server: StartedServer;
let options: { readonly server: string; readonly credentials: { username: string; token: string } };
let client: MayflyClient;
beforeAll(async () => {
  server = await startServer();
  const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
  options = { server: `http://127.0.0.1:${server.port}`, credentials: { username, token } };
  client = createClient(options);
});
afterAll(() => server[Symbol.asyncDispose]());

async function receipts(): Promise<readonly Receipt[]> {
  const all: Receipt[] = [];
  for await (const receipt of client.recent()) all.push(receipt);
  return all;
}

/** A client whose first `lost` answers do not arrive; counts the requests and keeps their bodies. */
function losing(lost: number) {
  const bodies: unknown[] = [];
  const fetch: Fetch = async (url, init) => {
    bodies.push(init.body);
    const answer = await globalThis.fetch(url, init);
    await answer.clone().text();
    if (bodies.length <= lost) throw new TypeError('the connection was lost');
    return answer;
  };
  return { client: createClient({ ...options, fetch }), bodies };
}

describe('a creation with an idempotency key', () => {
  it('is sent again with the same bytes when its answer is lost, and is one secret whose link opens', async () => {
    const before = (await receipts()).length;
    for (const [lost, plain] of [
      [0, false],
      [1, false],
      [2, true],
    ] as const) {
      const { client: unlucky, bodies } = losing(lost);
      const idempotencyKey = `lost ${lost}`;
      const created = await unlucky.conceal({ value: 'kept', plain, idempotencyKey });
      expect([created.repeated, bodies.length, new Set(bodies).size]).toEqual([lost > 0, lost + 1, 1]);
      expect((await client.reveal(created.link)).value).toBe('kept');
    }
    expect((await receipts()).length).toBe(before + 3);
  });

  it('gives a generated value again', async () => {
    for (const plain of [true, false]) {
      const { client: unlucky } = losing(1);
      const { value, link } = await unlucky.generate({ length: 30, plain, idempotencyKey: `value ${plain}` });
      expect(value).toHaveLength(30);
      expect((await client.reveal(link)).value).toBe(value);
    }
  });

  it('is given up after three tries', async () => {
    const { client: unlucky, bodies } = losing(9);
    const idempotencyKey = 'given up';
    expect((await failure(unlucky.conceal({ value: 'x', idempotencyKey }))).code).toBe('unreachable');
    expect(bodies).toHaveLength(3);
  });

  it('has the same answer later if it is plain, and is refused if it was encrypted anew', async () => {
    const plain = { value: 'later', plain: true, idempotencyKey: 'later' };
    const [first, second] = [await client.conceal(plain), await createClient(options).conceal(plain)];
    expect([second.link, second.metadataKey]).toEqual([first.link, first.metadataKey]);
    expect([first.repeated, second.repeated, second.state]).toEqual([false, true, 'new']);
    await client.burn(first.metadataKey);
    expect(await client.conceal(plain)).toMatchObject({
      repeated: true,
      state: 'burned',
      secretKey: first.secretKey,
    });
    const sealed = { value: 'later', idempotencyKey: 'sealed' };
    await client.conceal(sealed);
    const again = await failure(client.conceal(sealed));
    expect([again.code, again.status]).toEqual(['idempotency_mismatch', 422]);
  });

  it('waits while an equal one is at work', async () => {
    let count = 0;
    const fetch: Fetch = async (url, init) => {
      count += 1;
      if (count > 1) return globalThis.fetch(url, init);
      const refusal = { success: false, error: 'in_flight', message: 'An equal request is being answered' };
      return Response.json(refusal, { status: 409, headers: { 'Retry-After': '0' } });
    };
    await createClient({ ...options, fetch }).conceal({ value: 'x', idempotencyKey: 'at work' });
    expect(count).toBe(2);
  });

  it('needs an account and a key that a header can hold, or nothing is sent', async () => {
    let count = 0;
    const fetch: Fetch = async () => {
      count += 1;
      return Response.json({});
    };
    const anonymous = createClient({ server: options.server, fetch });
    for (const call of [
      () => anonymous.conceal({ value: 'x', idempotencyKey: 'k' }),
      () => anonymous.generate({ plain: true, idempotencyKey: 'k' }),
      () => anonymous.batch([{ value: 'x' }], { idempotencyKey: 'k' }),
    ])
      expect((await failure(call())).code).toBe('account_required');
    for (const idempotencyKey of ['', 'ü', ' k', 'k\n', 'k'.repeat(256)]) {
      const refused = await failure(
        createClient({ ...options, fetch }).conceal({ value: 'x', idempotencyKey }),
      );
      expect([refused.code, refused.field]).toEqual(['invalid_field', 'idempotencyKey']);
    }
    expect(count).toBe(0);
  });
});

describe('a batch', () => {
  const file = { name: 'x.bin', type: 'application/octet-stream', bytes: new Uint8Array([0, 255]) };

  it('creates end-to-end and plain secrets, texts, files and generated values, in order', async () => {
    const made = await client.batch([
      { value: 'one', memo: 'first' },
      { value: 'two', plain: true, ttlSeconds: 600 },
      { file },
      { generate: { length: 20 } },
      { generate: { length: 21, plain: true, charset: ['digits'] } },
    ]);
    const opened: unknown[] = [];
    const links = made.map((each) => (each instanceof MayflyError ? '' : each.link));
    for (const link of links) {
      const { value, file: read } = await client.reveal(link);
      opened.push(value ?? read);
    }
    expect(opened.slice(0, 3)).toEqual(['one', 'two', file]);
    const drawn = made.slice(3).map((each) => ('value' in each ? each.value : null));
    expect(opened.slice(3)).toEqual(drawn);
    expect(drawn).toEqual([expect.stringMatching(/^.{20}$/), expect.stringMatching(/^[2-9]{21}$/)]);
    expect(links.map((link) => link.includes('#'))).toEqual([true, false, true, true, false]);
    expect(made.slice(0, 2)).toMatchObject([{ memo: 'first', repeated: false }, { ttlSeconds: 600 }]);
    expect(JSON.stringify(made)).not.toContain(String(drawn[0]));
    expect(await client.batch([])).toEqual([]);
  });

  it('says for each why it was not created, and refuses as a whole what cannot be sent', async () => {
    const [good, bad, large] = await client.batch([
      { value: 'good' },
      { value: 'x', shareDomain: 'other.example' },
      { value: 'x'.repeat(100_001), plain: true, memo: 'x'.repeat(501) },
    ]);
    expect(good).toMatchObject({ state: 'new' });
    expect(bad).toMatchObject({ code: 'invalid_field', status: 422, field: 'secrets.1.share_domain' });
    expect(large).toBeInstanceOf(MayflyError);
    const items = Array.from({ length: 101 }, () => ({ value: 'x', plain: true }));
    expect((await failure(client.batch(items))).field).toBe('secrets');
    expect((await failure(client.batch([{ value: '' }]))).code).toBe('invalid_field');
  });

  it('with an idempotency key is sent again when its answer is lost, and is created once', async () => {
    const before = (await receipts()).length;
    const { client: unlucky, bodies } = losing(1);
    const made = await unlucky.batch([{ value: 'one' }, { generate: {} }], { idempotencyKey: 'batch' });
    expect([bodies.length, new Set(bodies).size]).toEqual([2, 1]);
    for (const each of made) expect(each).toMatchObject({ repeated: true, state: 'new' });
    expect((await receipts()).length).toBe(before + 2);
  });
});

/** Proves that the recent list shows only the account's own records, and that its pages neither repeat nor skip any. */
import { describe, expect, it } from 'bun:test';
import { asOwner, changing, found } from '../../../test/support/receipts.ts';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { sealBox } from '../../crypto/box.ts';
import { FieldWriter, utf8 } from '../../crypto/bytes.ts';
import { anonymous, tokenScopes } from '../account.ts';
import { createToken } from '../accounts/admin.ts';
import { type MetadataKey, receiptIdOf } from '../keys.ts';
import type { StoredReceipt } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import type { ReceiptView, RecentInput } from './outcomes.ts';
import { openCursor } from './recent.ts';

describe('the recent list', () => {
  it('is empty at first', async () => {
    const bench = createBench();
    const account = await bench.signUp('jo@example.org');
    const listed = await bench.service.recent({ limit: 10, cursor: null, states: null }, account);
    expect(listed).toEqual({ outcome: 'listed', receipts: [], nextCursor: null });
  });

  it('P16: holds one’s own records, newest first, with the metadata key and never the secret key', async () => {
    const bench = createBench();
    const [jo, al] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
    const one = await bench.share('one', { caller: jo, recipient: 'alan@example.com' });
    await bench.share('of al', { caller: al });
    await bench.share('of nobody');
    const two = await bench.share('two', { caller: jo, passphrase: 'p' });
    await bench.service.reveal(guess(one.secretKey), anonymous);
    const listed = await bench.service.recent({ limit: 10, cursor: null, states: null }, jo);
    if (listed.outcome !== 'listed') throw new Error(listed.outcome);
    expect(listed.nextCursor).toBeNull();
    expect(listed.receipts).toMatchObject([
      { metadataKey: two.metadataKey, secretKey: null, state: 'new', hasPassphrase: true, recipient: null },
      {
        metadataKey: one.metadataKey,
        secretKey: null,
        secretShortkey: one.secretKey.slice(0, 6),
        state: 'received',
        recipient: 'al*****@e*****.com',
        custid: 'jo@example.org',
      },
    ]);
  });

  it('comes in pages that neither repeat nor skip, whatever is created meanwhile', async () => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1)
      made.push((await bench.share('v', { caller: jo })).metadataKey);
    const listed: string[] = [];
    let cursor: string | null = null;
    const sizes: number[] = [];
    do {
      const page = await bench.service.recent({ limit: 3, cursor, states: null }, jo);
      if (page.outcome !== 'listed') throw new Error(page.outcome);
      listed.push(...page.receipts.map(({ metadataKey }) => metadataKey));
      sizes.push(page.receipts.length);
      cursor = page.nextCursor;
      await bench.share('meanwhile', { caller: jo });
    } while (cursor !== null);
    expect(listed).toEqual(made.toReversed() as never);
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('P16: has a cursor that works only for its account, and only unchanged', async () => {
    const bench = createBench();
    const [jo, al] = [await bench.signUp('jo@example.org'), await bench.signUp('al@example.org')];
    for (const caller of [jo, jo, jo, al, al]) await bench.share('v', { caller });
    const page = await bench.service.recent({ limit: 1, cursor: null, states: null }, jo);
    if (page.outcome !== 'listed' || page.nextCursor === null) throw new Error('there is a second page');
    const cursor = page.nextCursor;
    expect(await bench.service.recent({ states: null, limit: 1, cursor }, jo)).toMatchObject({
      outcome: 'listed',
    });
    expect(await bench.service.recent({ states: null, limit: 1, cursor }, al)).toEqual({
      outcome: 'invalid_cursor',
    });
    const tampered = [...cursor].map(
      (_, at) => cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1),
    );
    for (const other of [...tampered, cursor.slice(1), `${cursor}A`, `${cursor}=`, cursor.toUpperCase()]) {
      expect(await bench.service.recent({ states: null, limit: 1, cursor: other }, jo)).toEqual({
        outcome: 'invalid_cursor',
      });
    }
  });

  it('P16: has a cursor that says nothing of what others make', async () => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    for (let count = 0; count < 3; count += 1) await bench.share('v', { caller: jo });
    const cursors = [];
    for (let count = 0; count < 3; count += 1) {
      const page = await bench.service.recent({ limit: 1, cursor: null, states: null }, jo);
      cursors.push(page.outcome === 'listed' ? (page.nextCursor ?? '') : '');
      await bench.share('of nobody');
    }
    expect(new Set(cursors).size).toBe(3);
    for (const cursor of cursors) {
      expect(cursor).toHaveLength(150);
      expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/^[0-9]+$/);
    }
  });

  it('finds what was created in one second, and stops where everything is older', async () => {
    let reads = 0;
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        listReceipts: async (...given) => {
          reads += 1;
          return store.listReceipts(...given);
        },
      }),
    });
    const jo = await bench.signUp('jo@example.org');
    const al = await bench.signUp('al@example.org');
    for (let count = 0; count < 250; count += 1) await bench.share('old', { caller: jo });
    bench.advance(7_200);
    const createdAt = bench.deps.store.now();
    const made = [await bench.share('a', { caller: jo }), await bench.share('b', { caller: jo })];
    await bench.share('of al', { caller: al });
    bench.advance(1);
    for (let count = 0; count < 250; count += 1) await bench.share('new', { caller: jo });
    const input = { limit: 50, cursor: null, states: null };
    const keysAt = async (at: number) => {
      const listed = await bench.service.recent({ ...input, createdAt: at }, jo);
      if (listed.outcome !== 'listed') throw new Error(listed.outcome);
      return [listed.receipts.map(({ metadataKey }) => metadataKey), listed.nextCursor] as const;
    };
    expect(await keysAt(createdAt)).toEqual([made.map(({ metadataKey }) => metadataKey).reverse(), null]);
    expect(reads).toBe(2);
    expect(await keysAt(createdAt - 1)).toEqual([[], null]);
  });

  it('has no cursor when the last page is exactly full', async () => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    for (let count = 0; count < 3; count += 1) await bench.share('v', { caller: jo });
    expect(await bench.service.recent({ limit: 3, cursor: null, states: null }, jo)).toMatchObject({
      nextCursor: null,
    });
  });

  it.each([
    ['nothing', ''],
    ['a number', '5'],
    ['text', 'abc'],
    ['zero', Buffer.from('0').toString('base64url')],
    ['a leading zero', Buffer.from('05').toString('base64url')],
    ['a negative number', Buffer.from('-5').toString('base64url')],
    ['a number beyond 2^53', Buffer.from('9999999999999999').toString('base64url')],
    ['padding', Buffer.from('5').toString('base64')],
    ['blanks', ` ${Buffer.from('5').toString('base64url')}`],
    ['an injection', Buffer.from('5;DROP TABLE').toString('base64url')],
  ])('refuses a cursor it did not give: %s', async (_name, cursor) => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    expect(await bench.service.recent({ states: null, limit: 3, cursor }, jo)).toEqual({
      outcome: 'invalid_cursor',
    });
  });

  it('leaves out what was made under another data key, and shows it to the token that shares it', async () => {
    const bench = createBench();
    const jo = await bench.signUp('jo@example.org');
    const { metadataKey } = await bench.share('early', { caller: jo });
    const tokenOf = async (existingToken?: string) => {
      const made = await createToken(bench.deps, {
        scopes: tokenScopes,
        expiresAt: null,
        email: 'jo@example.org',
        name: 'second',
        existingToken: existingToken === undefined ? null : new Sensitive(existingToken),
      });
      if (made.outcome !== 'created') throw new Error(made.outcome);
      const caller = await bench.service.authenticate('jo@example.org', made.token.expose());
      if (caller === null) throw new Error('not signed in');
      return caller;
    };
    const [strange, shared] = [await tokenOf(), await tokenOf(jo.token)];
    expect(await bench.service.recent({ limit: 9, cursor: null, states: null }, strange)).toMatchObject({
      receipts: [],
      nextCursor: null,
    });
    expect(await bench.service.recent({ limit: 9, cursor: null, states: null }, shared)).toMatchObject({
      receipts: [{ metadataKey }],
    });
    expect(found(await bench.service.findReceipt(asOwner(metadataKey), strange)).state).toBe('new');
  });

  it('leaves out an entry whose box is damaged, missing or holds no key, and lists the others', async () => {
    const random = seededRandom('strange boxes');
    const changed = new Map<string, (receipt: StoredReceipt) => StoredReceipt>();
    const bench = createBench({
      wrap: changing((receipt) => changed.get(receipt.receiptId.toHex())?.(receipt) ?? receipt),
    });
    const jo = await bench.signUp('jo@example.org');
    const nextId = async () => {
      const { metadataKey } = await bench.share('v', { caller: jo });
      return receiptIdOf(metadataKey as MetadataKey).toHex();
    };
    changed.set(await nextId(), (receipt) => ({ ...receipt, recentBox: null }));
    changed.set(await nextId(), (receipt) => ({ ...receipt, recentBox: random(200) }));
    changed.set(await nextId(), (receipt) => {
      const content = new FieldWriter(17)
        .field(utf8('NOT A'))
        .field(new Uint8Array(0))
        .field(new Uint8Array(0));
      const at = { label: 'recent', keyMaterial: jo.dataKey.expose(), binding: receipt.receiptId } as const;
      return { ...receipt, recentBox: sealBox({ ...at, content: content.bytes, random }) };
    });
    await nextId();
    const listed = await bench.service.recent({ limit: 9, cursor: null, states: null }, jo);
    if (listed.outcome !== 'listed') throw new Error(listed.outcome);
    expect(listed.receipts).toHaveLength(1);
  });
});

describe('the recent list of some states', () => {
  /** An account with `count` records, the oldest first; those at the given places have been read. */
  async function withRead(count: number, read: (place: number) => boolean) {
    const pages: number[] = [];
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        async listReceipts(...args: Parameters<typeof store.listReceipts>) {
          const page = await store.listReceipts(...args);
          pages.push(page?.length ?? 0);
          return page;
        },
      }),
    });
    const jo = await bench.signUp('jo@example.org');
    const made: ReceiptView[] = [];
    for (let place = 0; place < count; place += 1) {
      const receipt = await bench.share('v', { caller: jo });
      if (read(place)) await bench.service.reveal(guess(receipt.secretKey), anonymous);
      made.push(receipt);
    }
    const list = async (input: RecentInput) => {
      const listed = await bench.service.recent(input, jo);
      if (listed.outcome !== 'listed') throw new Error(listed.outcome);
      return { keys: listed.receipts.map(({ metadataKey }) => metadataKey), next: listed.nextCursor };
    };
    const keysOf = (wanted: (place: number) => boolean) =>
      made.flatMap(({ metadataKey }, place) => (wanted(place) ? [metadataKey] : [])).toReversed();
    return { bench, jo, list, keysOf, pages };
  }

  /** The keys on all pages, and the length of each page. */
  async function listAll(list: Awaited<ReturnType<typeof withRead>>['list'], input: RecentInput) {
    const keys: string[] = [];
    const sizes: number[] = [];
    let cursor: string | null = null;
    do {
      const page = await list(cursor === null ? input : { ...input, cursor });
      keys.push(...page.keys);
      sizes.push(page.keys.length);
      cursor = page.next;
    } while (cursor !== null);
    return { keys, sizes };
  }

  it('holds only records in these states, in full pages as long as there are enough', async () => {
    const read = (place: number) => place % 3 === 0;
    const { list, keysOf } = await withRead(20, read);
    const received = await listAll(list, { cursor: null, limit: 3, states: ['received'] });
    expect(received).toEqual({ keys: keysOf(read), sizes: [3, 3, 1] });
    const waiting = await listAll(list, { cursor: null, limit: 5, states: ['new', 'viewed'] });
    expect(waiting.keys).toEqual(keysOf((place) => !read(place)));
    expect((await listAll(list, { cursor: null, limit: 5, states: ['burned', 'expired'] })).keys).toEqual([]);
  });

  it('tells by the time which have expired', async () => {
    const { bench, list, keysOf } = await withRead(4, (place) => place === 1);
    bench.advance(604_800);
    expect((await list({ cursor: null, limit: 9, states: ['expired'] })).keys).toEqual(
      keysOf((place) => place !== 1),
    );
  });

  it('looks at 1,000 records in a call at most, in pages of the store, and goes on where it stopped', async () => {
    const read = (place: number) => place === 0 || place === 150 || place === 1_150;
    const { jo, list, keysOf, pages } = await withRead(1_160, read);
    const first = await list({ cursor: null, limit: 5, states: ['received'] });
    expect(pages).toEqual([201, 201, 201, 201, 201]);
    expect(first.keys).toEqual(keysOf((place) => place === 1_150));
    const second = await list({ limit: 5, states: ['received'], cursor: first.next ?? '' });
    expect(second).toEqual({ keys: keysOf((place) => place === 150 || place === 0), next: null });
    const none = await list({ cursor: null, limit: 5, states: ['burned'] });
    const placeOf = ({ next }: typeof none) => openCursor(jo, next ?? '');
    expect([none.keys, placeOf(none)]).toEqual([[], placeOf(first)]);
  });

  it('neither repeats nor skips, whatever is created and read meanwhile', async () => {
    const { bench, jo, list, keysOf } = await withRead(9, () => true);
    const keys: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list({ limit: 2, states: ['received'], cursor });
      keys.push(...page.keys);
      cursor = page.next;
      const { secretKey } = await bench.share('meanwhile', { caller: jo });
      await bench.service.reveal(guess(secretKey), anonymous);
    } while (cursor !== null);
    expect(keys).toEqual(keysOf(() => true));
  });

  it('has no cursor when the last match is the last record, otherwise one that leads to an empty page', async () => {
    const { list } = await withRead(4, (place) => place < 2);
    expect((await list({ cursor: null, limit: 2, states: ['received'] })).next).toBeNull();
    const waiting = await list({ cursor: null, limit: 2, states: ['new'] });
    expect(await list({ limit: 2, states: ['new'], cursor: waiting.next ?? '' })).toEqual({
      keys: [],
      next: null,
    });
  });

  it('refuses a cursor it did not give', async () => {
    const { bench, jo } = await withRead(1, () => true);
    const asked = { limit: 3, states: ['received'], cursor: '5' } as const;
    expect(await bench.service.recent(asked, jo)).toEqual({ outcome: 'invalid_cursor' });
  });

  it('counts what it cannot open as looked at, and fills the page with others', async () => {
    const { bench, jo } = await withRead(3, () => true);
    const made = await createToken(bench.deps, {
      scopes: tokenScopes,
      expiresAt: null,
      existingToken: null,
      email: 'jo@example.org',
      name: 'other key',
    });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    const other = await bench.service.authenticate('jo@example.org', made.token.expose());
    if (other === null) throw new Error('not signed in');
    const { secretKey, metadataKey } = await bench.share('v', { caller: other });
    await bench.service.reveal(guess(secretKey), anonymous);
    for (const [caller, count] of [
      [jo, 3],
      [other, 1],
    ] as const) {
      const listed = await bench.service.recent({ cursor: null, limit: 3, states: ['received'] }, caller);
      if (listed.outcome !== 'listed') throw new Error(listed.outcome);
      expect(listed.receipts).toHaveLength(count);
      expect(listed.receipts.some((each) => each.metadataKey === metadataKey)).toBe(count === 1);
    }
  });
});

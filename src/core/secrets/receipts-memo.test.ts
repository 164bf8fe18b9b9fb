/** Proves that a memo is for the creator only, lives as long as the receipt, and changes nothing else. */
import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { anyGenerated, noOptions } from '../../../test/support/inputs.ts';
import { createBench, guess } from '../../../test/support/service-bench.ts';
import { type AccountCaller, anonymous, type Caller } from '../account.ts';
import { Sensitive } from '../sensitive.ts';
import type { ReceiptInput, ReceiptView } from './outcomes.ts';

const asOwner = (metadataKey: string): ReceiptInput => ({ metadataKey, authority: 'owner' });
const asHolder = (metadataKey: string): ReceiptInput => ({ metadataKey, authority: 'holder' });
const memoOf = (text: string) => ({ memo: new Sensitive(text) });

/** A bench with an account and functions to set and read its memos. */
async function createDesk() {
  const bench = createBench();
  const caller: AccountCaller = await bench.signUp('jo@example.org');
  async function told(metadataKey: string): Promise<ReceiptView> {
    const outcome = await bench.service.findReceipt(asOwner(metadataKey), caller);
    if (outcome.outcome !== 'found') throw new Error(outcome.outcome);
    return outcome.receipt;
  }
  const listed = async () => {
    const outcome = await bench.service.recent({ limit: 10, cursor: null, states: null }, caller);
    return outcome.outcome === 'listed' ? outcome.receipts.map((each) => each.memo) : null;
  };
  const set = (input: ReceiptInput, memo: string | null, by: Caller = caller) =>
    bench.service.change(
      { ...input, memo: memo === null ? null : new Sensitive(memo), ttlSeconds: null },
      by,
    );
  return { bench, caller, told, listed, set };
}

describe('a memo at creation', () => {
  const texts = [
    'VPN for Al',
    ' as typed \n',
    '\ufeffmarked',
    'Füße 🔑 漢字',
    'x'.repeat(500),
    '🔑'.repeat(500),
  ];

  it('is told as it was given, at once, in the receipt and in the recent list', async () => {
    const { bench, caller, told, listed } = await createDesk();
    for (const text of texts) {
      const made = await bench.share('v', { caller, ...memoOf(text) });
      expect(made.memo).toBe(text);
      expect((await told(made.metadataKey)).memo).toBe(text);
      expect((await listed())?.[0]).toBe(text);
    }
  });

  it('is none when absent or empty, and then nothing is kept', async () => {
    const { bench, caller, told, listed } = await createDesk();
    for (const options of [{}, memoOf('')]) {
      const { memo, metadataKey } = await bench.share('v', { caller, ...options });
      expect([memo, (await told(metadataKey)).memo]).toEqual(['', '']);
    }
    expect(await listed()).toEqual(['', '']);
    expect(bench.records.map((each) => each.memoBox)).toEqual([null, null]);
  });

  it('belongs to an anonymous creator too, who holds the metadata key', async () => {
    const { bench } = await createDesk();
    const { metadataKey } = await bench.share('v', memoOf('for Al'));
    const seen = await bench.service.findReceipt(asHolder(metadataKey), anonymous);
    expect(seen).toMatchObject({ outcome: 'found', receipt: { memo: 'for Al' } });
  });

  it('is refused when it is too long or no text, and nothing is stored', async () => {
    const { bench, caller } = await createDesk();
    const create = (text: string) =>
      bench.service.conceal({ ...noOptions, value: new Sensitive('v'), ...memoOf(text) }, caller);
    for (const text of ['x'.repeat(501), `🔑${'x'.repeat(500)}`, '🔑'.repeat(501), 'x'.repeat(100_000)])
      expect(await create(text)).toEqual({ outcome: 'memo_too_long', maxCharacters: 500 });
    expect(await create('lone \ud800')).toEqual({ outcome: 'ill_formed', field: 'memo' });
    const generated = await bench.service.generate(
      { ...anyGenerated, ...memoOf('x'.repeat(501)) },
      anonymous,
    );
    expect(generated).toEqual({ outcome: 'memo_too_long', maxCharacters: 500 });
    expect(bench.records).toEqual([]);
  });

  it('P11: shows of its length only whether it is short or long', async () => {
    const { bench } = await createDesk();
    for (const text of ['x', 'x'.repeat(252), 'x'.repeat(253), '🔑'.repeat(500)])
      await bench.share('v', memoOf(text));
    expect(bench.records.map((each) => each.memoBox?.length)).toEqual([304, 304, 2_096, 2_096]);
  });
});

describe('a memo that is changed', () => {
  it('is told from then on; empty or null removes it, and nothing else of the record changes', async () => {
    const { bench, caller, told, listed, set } = await createDesk();
    const { metadataKey } = await bench.share('v', { caller, recipient: 'alan@example.com' });
    await bench.service.settled();
    const before = await told(metadataKey);
    bench.advance(5);
    const now = { ...before, metadataTtlSeconds: before.metadataTtlSeconds - 5 };
    const secretTtlSeconds = (before.secretTtlSeconds ?? 0) - 5;
    const longestTtlSeconds = (before.longestTtlSeconds ?? 0) - 5;
    for (const [given, memo] of [
      ['one', 'one'],
      ['two', 'two'],
      ['', ''],
      ['three', 'three'],
      [null, ''],
    ] as const) {
      const receipt = { ...now, secretTtlSeconds, longestTtlSeconds, memo };
      expect(await set(asOwner(metadataKey), given)).toEqual({
        outcome: 'found',
        receipt,
        grantedTtlSeconds: null,
      });
      expect(await told(metadataKey)).toEqual(receipt);
      expect(await listed()).toEqual([memo]);
    }
  });

  it('P6: outlives the read, the burn and the expiry of its secret, and can be changed after them', async () => {
    const { bench, caller, told, set } = await createDesk();
    const share = () => bench.share('v', { caller, ...memoOf('first'), ttlSeconds: 60 });
    const [read, burned, expired] = [await share(), await share(), await share()];
    await bench.service.reveal(guess(read.secretKey), anonymous);
    await bench.service.burn(
      { proof: null, ...asOwner(burned.metadataKey), isAbandoned: clientStays },
      caller,
    );
    bench.advance(60);
    for (const [{ metadataKey }, state] of [
      [read, 'received'],
      [burned, 'burned'],
      [expired, 'expired'],
    ] as const) {
      expect(await told(metadataKey)).toMatchObject({ state, memo: 'first' });
      const changed = await set(asOwner(metadataKey), 'second');
      expect(changed).toMatchObject({
        outcome: 'found',
        receipt: { state, memo: 'second', secretKey: null },
      });
    }
    bench.advance(60);
    expect(await set(asOwner(read.metadataKey), 'third')).toEqual({ outcome: 'unknown' });
  });

  it('stays in the answer of a burn', async () => {
    const { bench, caller } = await createDesk();
    const { metadataKey } = await bench.share('v', { caller, ...memoOf('for Al') });
    const burned = await bench.service.burn(
      { proof: null, ...asOwner(metadataKey), isAbandoned: clientStays },
      caller,
    );
    expect(burned).toMatchObject({ outcome: 'burned', receipt: { memo: 'for Al' } });
  });

  it('is refused when it is too long or no text, and stays what it was', async () => {
    const { bench, caller, told, set } = await createDesk();
    const { metadataKey } = await bench.share('v', { caller, ...memoOf('first') });
    expect(await set(asOwner(metadataKey), 'x'.repeat(501))).toEqual({
      outcome: 'memo_too_long',
      maxCharacters: 500,
    });
    expect(await set(asOwner(metadataKey), '\udfff')).toEqual({ outcome: 'ill_formed', field: 'memo' });
    expect((await told(metadataKey)).memo).toBe('first');
  });

  it('P16: is its owner’s alone: to every other account, and without one, the record is unknown', async () => {
    const { bench, caller, told, set } = await createDesk();
    const other = await bench.signUp('al@example.org');
    const { metadataKey } = await bench.share('v', { caller, ...memoOf('first') });
    for (const by of [other, anonymous])
      expect(await set(asOwner(metadataKey), 'taken', by)).toEqual({ outcome: 'unknown' });
    expect((await told(metadataKey)).memo).toBe('first');
    const held = await set(asHolder(metadataKey), 'second', anonymous);
    expect(held).toMatchObject({ outcome: 'found', receipt: { memo: 'second' } });
    expect(await set(asOwner('a'.repeat(31)), 'x')).toEqual({ outcome: 'unknown' });
    expect(await set(asOwner(`${metadataKey} `), 'x')).toEqual({ outcome: 'unknown' });
  });

  it('opens for no other record: exchanged boxes stay closed', async () => {
    const { bench, caller, told } = await createDesk();
    const one = await bench.share('v', { caller, ...memoOf('one') });
    const two = await bench.share('v', { caller, ...memoOf('two') });
    const [first, second] = bench.records;
    if (first === undefined || second === undefined) throw new Error('no records');
    await bench.deps.store.setMemo(second.receiptId, first.memoBox);
    expect((await told(two.metadataKey)).memo).toBe('');
    expect((await told(one.metadataKey)).memo).toBe('one');
  });
});

describe('a memo', () => {
  it('P18: is in no event and no mail', async () => {
    const { bench, caller, set } = await createDesk();
    const notify = ['read', 'burned', 'expiring'] as const;
    const made = await bench.share('v', {
      caller,
      notify,
      recipient: 'alan@example.com',
      ...memoOf('canary'),
    });
    await set(asOwner(made.metadataKey), 'canary again');
    await bench.service.reveal(guess(made.secretKey), anonymous);
    await bench.service.settled();
    expect(bench.mails).toHaveLength(1);
    expect(bench.accountMails).toHaveLength(1);
    expect(JSON.stringify([bench.events, bench.mails, bench.accountMails])).not.toContain('canary');
  });
});

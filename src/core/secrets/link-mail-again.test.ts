/**
 * Proves that the recipient's mail is sent again to the same address, only for a waiting secret, only by its creator
 * and one at a time, and that the plain address opens only for its creator.
 */
import { describe, expect, it } from 'bun:test';
import { clientStays, recentOf } from '../../../test/stores/conformance/check.ts';
import { dumpOf, findCanaries } from '../../../test/support/canary.ts';
import { createOldRecords } from '../../../test/support/old-records.ts';
import { type Bench, createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { openBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import { openCreatorKey, unwrapSecret } from '../../crypto/envelope.ts';
import { createKeyRing } from '../../crypto/keyring.ts';
import type { UnwrappedSecret } from '../../crypto/row.ts';
import { anonymous } from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { Handover, Mailer, MailQuota, SecretLinkMail } from '../mailer.ts';
import { epochKeyOf } from '../ports/epochs.ts';
import type { NewRecord } from '../secret.ts';
import type { DeliverOutcome } from './outcomes.ts';
import { createService } from './service.ts';

const address = 'cnry-alan-7Kq2@canary-5bV9.example';
const canaries = [{ name: 'recipient', content: address }];

const owned = (metadataKey: string, locale = 'en') =>
  ({ metadataKey, authority: 'owner', locale, recipient: null, proof: null }) as const;
const onPage = (metadataKey: string, locale = 'en') =>
  ({ metadataKey, authority: 'creator', locale, recipient: null }) as const;

function countOf(outcomes: readonly DeliverOutcome[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** A secret with a recipient, its first mail accepted. */
async function mailedSecret(options: Parameters<typeof createBench>[0] = {}) {
  const bench = createBench(options);
  const caller = await bench.signUp('jo@example.org');
  const made = await bench.share('the value', { caller, recipient: address, locale: 'fr' });
  await bench.service.settled();
  return { bench, caller, ...made };
}

/** A mailer whose mails end when the test says so. */
function slowMailer() {
  const mails: SecretLinkMail[] = [];
  const endings: Array<PromiseWithResolvers<Handover>> = [];
  // A mail starts after the call that asked for it, so its ending can be set before it starts.
  const endingAt = (place: number) => {
    endings[place] ??= Promise.withResolvers<Handover>();
    return endings[place].promise;
  };
  const mailer: Mailer = {
    sendSecretLink: (mail) => endingAt(mails.push(mail) - 1),
    sendAccountMail: async () => ({ state: 'accepted', reply: null }),
  };
  let ended = 0;
  const end = (state: Handover['state'], reply: string | null = null) => {
    void endingAt(ended);
    endings[ended]?.resolve({ state, reply });
    ended += 1;
  };
  return { mailer, mails, end };
}

async function deliveryOf(bench: Bench, metadataKey: string) {
  const found = await bench.service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
  return found.outcome === 'found' ? found.receipt.delivery : null;
}

describe('sending the mail again', () => {
  it('sends the same link to the same address as the owner, in the language that is asked for', async () => {
    const { bench, caller, metadataKey, secretKey } = await mailedSecret();
    bench.advance(60);
    const sent = await bench.service.deliver(owned(metadataKey, 'de'), caller);
    expect(sent).toMatchObject({ outcome: 'queued', receipt: { metadataKey, secretKey, state: 'new' } });
    await bench.service.settled();
    const [first, second] = bench.mails;
    expect(bench.mails).toHaveLength(2);
    expect(second?.to.expose()).toBe(address);
    expect(second?.from.expose()).toBe('jo@example.org');
    expect(second?.link.expose()).toBe(first?.link.expose() ?? '');
    expect([first?.locale, second?.locale]).toEqual(['fr', 'de']);
    expect(second).toMatchObject({ hasPassphrase: false, expiresAt: startOfTime + 604_800 });
    expect(await deliveryOf(bench, metadataKey)).toEqual({
      state: 'accepted',
      at: startOfTime + 60,
      reply: null,
    });
  });

  it('P16: is unknown to everybody else, and sends nothing', async () => {
    const { bench, metadataKey } = await mailedSecret();
    const other = await bench.signUp('al@example.org');
    const asked: ReadonlyArray<[string, typeof other | typeof anonymous]> = [
      [metadataKey, other],
      [metadataKey, anonymous],
      ['a'.repeat(31), other],
      [metadataKey.toUpperCase(), other],
    ];
    for (const [key, caller] of asked)
      for (const input of [owned(key), onPage(key)])
        expect(await bench.service.deliver(input, caller)).toEqual({ outcome: 'unknown' });
    await bench.service.settled();
    expect(bench.mails).toHaveLength(1);
  });

  it('is queued first, and then what became of it: accepted after a refusal, not sent after that', async () => {
    const slow = slowMailer();
    const { bench, caller, metadataKey } = await createdWith(slow.mailer);
    slow.end('refused');
    await bench.service.settled();
    for (const state of ['accepted', 'not_sent'] as const) {
      bench.advance(5);
      const sent = await bench.service.deliver(owned(metadataKey), caller);
      expect(sent).toMatchObject({ outcome: 'queued', receipt: { delivery: { state: 'queued' } } });
      slow.end(state);
      await bench.service.settled();
      expect(await deliveryOf(bench, metadataKey)).toMatchObject({ state });
      expect(bench.events.at(-1)).toMatchObject({ event: 'mail_ended', state });
    }
  });

  it('waits for the mail that is under way: in flight, the first one too', async () => {
    const slow = slowMailer();
    const { bench, caller, metadataKey } = await createdWith(slow.mailer);
    const early = await bench.service.deliver(owned(metadataKey), caller);
    expect(early).toMatchObject({ outcome: 'in_flight', receipt: { delivery: { state: 'queued' } } });
    slow.end('accepted');
    await bench.service.settled();
    await bench.service.deliver(owned(metadataKey), caller);
    expect((await bench.service.deliver(owned(metadataKey), caller)).outcome).toBe('in_flight');
    slow.end('accepted');
    await bench.service.settled();
    expect(slow.mails).toHaveLength(2);
  });

  it('sends one mail for many calls at once', async () => {
    const { bench, caller, metadataKey } = await mailedSecret();
    const calls = Array.from({ length: 20 }, () => bench.service.deliver(owned(metadataKey), caller));
    expect(countOf(await Promise.all(calls))).toEqual({ queued: 1, in_flight: 19 });
    await bench.service.settled();
    expect(bench.mails).toHaveLength(2);
  });

  it('would send many if the store forgot what is queued: the same calls one by one show it (self-test)', async () => {
    const { bench, caller, metadataKey } = await mailedSecret({
      wrap: (store) => ({
        ...store,
        async findReceipt(...args) {
          const receipt = await store.findReceipt(...args);
          return receipt === null ? null : { ...receipt, delivery: null };
        },
        async queueDelivery(id, queued) {
          await store.setDelivery(id, { state: 'queued', ...queued });
          return 'queued';
        },
      }),
    });
    const outcomes: DeliverOutcome[] = [];
    for (let call = 0; call < 20; call += 1)
      outcomes.push(await bench.service.deliver(owned(metadataKey), caller));
    expect(countOf(outcomes).queued).toBe(20);
  });

  it('sends nothing, and can be tried again, when the store does not confirm that it is queued', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const state = { down: false };
    const { bench, caller, metadataKey } = await mailedSecret({
      wrap: (store) => ({
        ...store,
        queueDelivery: (...args) => (state.down ? Promise.reject(outage) : store.queueDelivery(...args)),
      }),
    });
    state.down = true;
    await expect(bench.service.deliver(owned(metadataKey), caller)).rejects.toBe(outage);
    await bench.service.settled();
    expect(bench.mails).toHaveLength(1);
    state.down = false;
    expect((await bench.service.deliver(owned(metadataKey), caller)).outcome).toBe('queued');
  });

  async function createdWith(mailer: Mailer) {
    const bench = createBench({ deps: { mailer } });
    const caller = await bench.signUp('jo@example.org');
    const { metadataKey } = await bench.share('v', { caller, recipient: address });
    return { bench, caller, metadataKey };
  }
});

describe('there is nothing to send', () => {
  it('once the secret is read, burned or expired', async () => {
    const endings: ReadonlyArray<[string, (made: Awaited<ReturnType<typeof mailedSecret>>) => unknown]> = [
      ['received', ({ bench, secretKey }) => bench.service.reveal(guess(secretKey), anonymous)],
      [
        'burned',
        ({ bench, caller, metadataKey }) =>
          bench.service.burn({ ...owned(metadataKey), isAbandoned: clientStays }, caller),
      ],
      ['expired', ({ bench }) => bench.advance(604_800)],
    ];
    for (const [state, end] of endings) {
      const made = await mailedSecret();
      await end(made);
      const { bench, caller, metadataKey } = made;
      const outcome = await bench.service.deliver(owned(metadataKey), caller);
      expect(outcome).toMatchObject({ outcome: 'nothing_to_send', receipt: { state, secretKey: null } });
      await bench.service.settled();
      expect(bench.mails).toHaveLength(1);
      expect(await deliveryOf(bench, metadataKey)).toMatchObject({ state: 'accepted' });
    }
  });

  it('where no recipient was given, with an account or without', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    for (const options of [{}, { caller }]) {
      const { metadataKey } = await bench.share('v', options);
      const outcome = await bench.service.deliver(onPage(metadataKey), caller);
      expect(outcome).toMatchObject({ outcome: 'nothing_to_send', receipt: { delivery: null } });
    }
  });

  it('where version 1 of the envelope kept no address yet: it still shows the link', async () => {
    const { wrap, turnOld } = createOldRecords();
    const bench = createBench({ wrap });
    const caller = await bench.signUp('jo@example.org');
    const { metadataKey, secretKey } = await bench.share('v', { caller, recipient: address });
    turnOld(bench, { metadataKey, secretKey, value: 'v', address: '' });
    await bench.service.settled();
    const outcome = await bench.service.deliver(owned(metadataKey), caller);
    expect(outcome).toMatchObject({ outcome: 'nothing_to_send', receipt: { secretKey, state: 'new' } });
  });
});

describe('the plain address', () => {
  it('P9: opens with the metadata key and the server’s root together, and with neither alone', async () => {
    const { bench, metadataKey, secretKey } = await mailedSecret();
    const [record] = bench.records;
    if (record === undefined) throw new Error('nothing was stored');
    const secret = await unwrappedOf(bench, record);
    expect(openCreatorKey(secret, metadataKey)).toBe(secretKey);
    const box = secret.creator?.addressBox ?? new Uint8Array();
    const opens = (key: string) =>
      openBox(box, { label: 'address', binding: record.receiptId, keyMaterial: utf8(key) });
    expect(new TextDecoder().decode(opens(metadataKey + secretKey) ?? undefined)).toBe(address);
    for (const key of [metadataKey, secretKey, secretKey + metadataKey, 'a'.repeat(62), address])
      expect(opens(key)).toBeNull();
    for (const key of [secretKey, 'a'.repeat(31)]) expect(openCreatorKey(secret, key)).toBeNull();
    const otherRing = createKeyRing([{ kid: 1, key: new Uint8Array(32) }]);
    const epochKey = await epochKeyOf(bench.deps.store, record.sealedSecret);
    expect(unwrapSecret(record.sealedSecret, record, otherRing, epochKey).outcome).toBe('damaged');
    expect(findCanaries(dumpOf([record, secret]), canaries)).toEqual([]);
  });

  it('P18: is in no event, no outcome and no print of a mail, whatever becomes of it', async () => {
    const { bench, caller, metadataKey } = await mailedSecret();
    const told: unknown[] = [];
    for (const state of ['refused', 'not_sent', 'accepted'] as const) {
      bench.mailEndsIn = state;
      told.push(await bench.service.deliver(owned(metadataKey), caller));
      await bench.service.settled();
    }
    told.push(await bench.service.recent({ limit: 5, cursor: null, states: null }, caller));
    expect(bench.mails).toHaveLength(4);
    expect(findCanaries(dumpOf([bench.events, told, ...bench.mails.map(String)]), canaries)).toEqual([]);
    expect(Bun.inspect(bench.mails, { depth: 9 })).not.toContain(address);
  });

  it('would be found in an event that named it (self-test)', async () => {
    const { bench } = await mailedSecret();
    const spoiled = { ...bench.events[0], to: bench.mails[0]?.to.expose() };
    expect(findCanaries(dumpOf(spoiled), canaries)).not.toEqual([]);
  });

  it('P11: shows in the size of its record only as a step of 64 bytes', async () => {
    const sizes = new Map<number, number>();
    for (const length of [12, 29, 30, 60, 61, 124, 125, 188]) {
      const bench = createBench();
      const caller = await bench.signUp('jo@example.org');
      await bench.share('v', { caller, recipient: addressOf(length) });
      sizes.set(length, bench.records[0]?.sealedSecret.length ?? 0);
    }
    const [shortest = 0] = sizes.values();
    expect([...sizes.values()].map((size) => size - shortest)).toEqual([0, 0, 0, 0, 64, 64, 128, 128]);
  });

  /** An address of exactly this length, 12 or more. */
  function addressOf(length: number): string {
    const local = Math.min(60, length - 11);
    const labels = 'd.'.repeat((length - 11 - local) / 2) + 'x'.repeat((length - 11 - local) % 2);
    return `${'a'.repeat(local)}@${labels}longer.org`;
  }

  it('goes with the secret: no box of it is left when the secret is gone (P10)', async () => {
    const { bench, caller, metadataKey } = await mailedSecret();
    await bench.service.burn({ ...owned(metadataKey), isAbandoned: clientStays }, caller);
    const [listed] = await recentOf(bench.deps.store, caller.account.id, 1);
    if (listed === undefined) throw new Error('nothing is listed');
    const receipt = await bench.deps.store.findReceipt(listed.receiptId);
    expect(receipt).toMatchObject({ state: 'burned', sealedSecret: null });
  });

  async function unwrappedOf(bench: Bench, record: NewRecord): Promise<UnwrappedSecret> {
    const epochKey = await epochKeyOf(bench.deps.store, record.sealedSecret);
    const unwrapped = unwrapSecret(record.sealedSecret, record, bench.deps.ring, epochKey);
    if (unwrapped.outcome !== 'unwrapped') throw new Error(unwrapped.outcome);
    return unwrapped.secret;
  }
});

describe('another process', () => {
  it('sends no second mail, asked at once, and counts none for what it did not send', async () => {
    let counted = 0;
    const mailQuota: MailQuota = {
      async take() {
        counted += 1;
        return { outcome: 'allowed' };
      },
      async refund() {
        counted -= 1;
      },
    };
    const { bench, caller, metadataKey } = await mailedSecret({ deps: { mailQuota } });
    const before = counted;
    const nodes = [createService(bench.deps), createService(bench.deps), createService(bench.deps)];
    const calls = nodes.flatMap((node) => [1, 2].map(() => node.deliver(owned(metadataKey), caller)));
    expect(countOf(await Promise.all(calls))).toEqual({ queued: 1, in_flight: 5 });
    for (const node of nodes) await node.settled();
    expect([bench.mails.length, counted - before]).toEqual([2, 1]);
  });

  it('mails nothing when it has read the secret meanwhile', async () => {
    const { bench, caller, metadataKey, secretKey } = await mailedSecret();
    const { store } = bench.deps;
    const node = createService({
      ...bench.deps,
      store: {
        ...store,
        async queueDelivery(...args: Parameters<typeof store.queueDelivery>) {
          await bench.service.reveal(guess(secretKey), anonymous);
          return store.queueDelivery(...args);
        },
      },
    });
    expect((await node.deliver(owned(metadataKey), caller)).outcome).toBe('nothing_to_send');
    await node.settled();
    expect(bench.mails).toHaveLength(1);
  });

  it('takes what the store says is queued for in flight, though it did not queue it', async () => {
    const slow = slowMailer();
    const { bench, caller, metadataKey } = await mailedSecret();
    const other = createService({ ...bench.deps, mailer: slow.mailer });
    await other.deliver(owned(metadataKey), caller);
    expect((await bench.service.deliver(owned(metadataKey), caller)).outcome).toBe('in_flight');
    slow.end('accepted');
    await other.settled();
    expect((await bench.service.deliver(owned(metadataKey), caller)).outcome).toBe('queued');
  });
});

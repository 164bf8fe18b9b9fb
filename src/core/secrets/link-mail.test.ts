/**
 * Proves that a receipt shows the delivery of the mail (in flight, at its end and after a crash), and that only the
 * creator sees the mail server's reply.
 */
import { describe, expect, it } from 'bun:test';
import { dumpOf, findCanaries } from '../../../test/support/canary.ts';
import { type Bench, createBench, startOfTime } from '../../../test/support/service-bench.ts';
import { noteContentOf } from '../../../test/vectors/reference.ts';
import { openBox } from '../../crypto/box.ts';
import { hex, utf8 } from '../../crypto/bytes.ts';
import { parseMetadataKey, receiptIdOf } from '../keys.ts';
import { firstTrySeconds, type Handover, type Mailer, type OnRetry, type SecretLinkMail } from '../mailer.ts';
import type { StoredDelivery } from '../secret.ts';
import type { ServiceParts } from './service.ts';

const address = 'alan@canary-5bV9.example';
type Store = ServiceParts['store'];

/** A mailer whose only mail is retried, and ends when the test says so. */
function steeredMailer() {
  const ending = Promise.withResolvers<Handover>();
  const begun = Promise.withResolvers<OnRetry>();
  const mails: SecretLinkMail[] = [];
  const mailer: Mailer = {
    sendSecretLink(mail, onRetry = () => {}) {
      mails.push(mail);
      begun.resolve(onRetry);
      return ending.promise;
    },
    sendAccountMail: async () => ({ state: 'accepted', reply: null }),
  };
  return { mailer, mails, begun: begun.promise, end: ending.resolve };
}

async function shared(deps: Partial<ServiceParts>, wrap: (store: Store) => Store = (store) => store) {
  const bench = createBench({ deps, wrap });
  const caller = await bench.signUp('jo@example.org');
  const made = await bench.share('v', { caller, recipient: address });
  const receipt = async () => {
    const found = await bench.service.findReceipt(
      { metadataKey: made.metadataKey, authority: 'owner' },
      caller,
    );
    if (found.outcome !== 'found') throw new Error(found.outcome);
    return found.receipt;
  };
  return { bench, caller, receipt, ...made };
}

async function storedDelivery(bench: Bench, metadataKey: string): Promise<StoredDelivery> {
  const key = parseMetadataKey(metadataKey);
  const stored = key === null ? null : await bench.deps.store.findReceipt(receiptIdOf(key));
  if (stored === null || stored.delivery === null) throw new Error('nothing was noted');
  return stored.delivery;
}

describe('a mail under way', () => {
  it('is queued with its secret, and answered before the mailer is even asked', async () => {
    const steered = steeredMailer();
    const { receipt, delivery } = await shared(steered);
    expect(delivery).toEqual({ state: 'queued', at: startOfTime, reply: null });
    expect(steered.mails).toEqual([]);
    await steered.begun;
    expect(steered.mails).toHaveLength(1);
    expect((await receipt()).delivery).toEqual({ state: 'queued', at: startOfTime, reply: null });
  });

  it('is believed for as long as a first try may take, and then shown as not sent: its process is gone', async () => {
    const { bench, receipt } = await shared(steeredMailer());
    bench.advance(firstTrySeconds - 1);
    expect((await receipt()).delivery?.state).toBe('queued');
    bench.advance(1);
    const told = { state: 'not_sent', at: startOfTime + firstTrySeconds, reply: null };
    expect((await receipt()).delivery).toEqual(told as never);
    expect((await receipt()).state).toBe('new');
  });

  it('is believed until its next try, and says what the server said meanwhile', async () => {
    const steered = steeredMailer();
    const { bench, receipt } = await shared(steered);
    const onRetry = await steered.begun;
    bench.advance(50);
    onRetry(300, '451 4.7.1 Try again later');
    await new Promise((noted) => setImmediate(noted));
    bench.advance(299);
    const reply = '451 4.7.1 Try again later';
    expect((await receipt()).delivery).toEqual({ state: 'queued', at: startOfTime + 50, reply });
    bench.advance(1);
    expect((await receipt()).delivery).toEqual({ state: 'not_sent', at: startOfTime + 350, reply });
  });

  it('would be believed forever without a time limit (self-test)', async () => {
    const { bench, receipt } = await shared(steeredMailer(), (store) => ({
      ...store,
      put: (record) => store.put({ ...record, deliveryStaleAt: Number.MAX_SAFE_INTEGER }),
    }));
    bench.advance(firstTrySeconds);
    expect((await receipt()).delivery?.state).toBe('queued');
  });
});

describe('the end of a mail', () => {
  it.each(['accepted', 'refused', 'given_up', 'not_sent'] as const)(
    'is what the receipt says: %s, with the reply',
    async (state) => {
      const steered = steeredMailer();
      const { bench, receipt } = await shared(steered);
      (await steered.begun)(60, '451 Later');
      steered.end({ state, reply: '250 2.0.0 Ok' });
      await bench.service.settled();
      expect((await receipt()).delivery).toEqual({ state, at: startOfTime, reply: '250 2.0.0 Ok' });
      bench.advance(3_600);
      expect((await receipt()).delivery?.state).toBe(state);
      expect(bench.events.at(-1)).toEqual({ event: 'mail_ended', tag: expect.any(String), state });
    },
  );

  it('is noted last, also when the store takes its time with what was noted before', async () => {
    const gate = Promise.withResolvers<void>();
    const noted: string[] = [];
    const steered = steeredMailer();
    const { bench, receipt } = await shared(steered, (store) => ({
      ...store,
      async setDelivery(id, delivery) {
        if (delivery.state === 'queued') await gate.promise;
        noted.push(delivery.state);
        await store.setDelivery(id, delivery);
      },
    }));
    (await steered.begun)(60, null);
    steered.end({ state: 'accepted', reply: null });
    gate.resolve();
    await bench.service.settled();
    expect(noted).toEqual(['queued', 'accepted']);
    expect((await receipt()).delivery?.state).toBe('accepted');
  });

  it('is noted also when the store could not note the pause before it', async () => {
    const steered = steeredMailer();
    const { bench, receipt } = await shared(steered, (store) => ({
      ...store,
      setDelivery: (id, delivery) =>
        delivery.state === 'queued' ? Promise.reject(new Error('no')) : store.setDelivery(id, delivery),
    }));
    (await steered.begun)(60, null);
    steered.end({ state: 'refused', reply: '550 No' });
    await bench.service.settled();
    expect((await receipt()).delivery).toMatchObject({ state: 'refused', reply: '550 No' });
  });
});

describe('what the mail server said', () => {
  const quoting = (link: string) => `554 Your message with ${link} was refused`;

  it('P9: is stored sealed for the metadata key, also when it quotes the link and the address', async () => {
    const steered = steeredMailer();
    const { bench, receipt, metadataKey, secretKey } = await shared(steered);
    const reply = quoting(`https://mayfly.example/secret/${secretKey} to ${address}`);
    (await steered.begun)(60, reply);
    steered.end({ state: 'refused', reply });
    await bench.service.settled();
    expect((await receipt()).delivery?.reply).toBe(reply);
    const delivery = await storedDelivery(bench, metadataKey);
    const canaries = [
      { name: 'secret key', content: secretKey },
      { name: 'recipient', content: address },
    ];
    expect(findCanaries(dumpOf([bench.records, delivery, bench.events]), canaries)).toEqual([]);
    // Self-test: the search finds the reply in the clear.
    expect(findCanaries(dumpOf([{ ...delivery, reply }]), canaries)).not.toEqual([]);
  });

  it('has the form that the vectors freeze, and opens with the metadata key alone, not with the link', async () => {
    const { bench, metadataKey, secretKey } = await shared({});
    bench.mailReply = '550 5.1.1 No such user';
    await bench.service.settled();
    const { noteBox, addressBox } = await storedDelivery(bench, metadataKey);
    const binding = bench.records[0]?.receiptId;
    if (noteBox === null || binding === undefined) throw new Error('nothing was noted');
    const open = (key: string) => openBox(noteBox, { label: 'note', keyMaterial: utf8(key), binding });
    expect(hex(open(metadataKey) ?? utf8(''))).toBe(
      noteContentOf('', '550 5.1.1 No such user').toString('hex'),
    );
    expect([open(secretKey), open(metadataKey + secretKey)]).toEqual([null, null]);
    expect(addressBox).toBeNull();
  });

  it('is no box at all where there is nothing to say', async () => {
    const { bench, metadataKey } = await shared({});
    await bench.service.settled();
    expect(await storedDelivery(bench, metadataKey)).toMatchObject({ noteBox: null, addressBox: null });
  });

  it('is in the account’s list too, and gone for whoever lacks the key of its box', async () => {
    const { bench, caller } = await shared({});
    bench.mailReply = '550 No';
    await bench.service.settled();
    const listed = await bench.service.recent({ limit: 5, cursor: null, states: null }, caller);
    expect(listed).toMatchObject({ receipts: [{ delivery: { state: 'accepted', reply: '550 No' } }] });
  });
});

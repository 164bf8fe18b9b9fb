/**
 * Proves that only an account that manages the record can mail another address, within the bounds on mails, and that
 * the new address is protected as well as the first.
 */
import { describe, expect, it } from 'bun:test';
import { clientStays, recentOf } from '../../../test/stores/conformance/check.ts';
import { dumpOf, findCanaries } from '../../../test/support/canary.ts';
import { anyGenerated, noOptions } from '../../../test/support/inputs.ts';
import { type Bench, createBench, guess, type ShareOptions } from '../../../test/support/service-bench.ts';
import { openBox } from '../../crypto/box.ts';
import { utf8 } from '../../crypto/bytes.ts';
import { type AccountCaller, anonymous, type Caller } from '../account.ts';
import type { MailQuota } from '../mailer.ts';
import type { ReceiptRecord } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import type { DeliverInput } from './outcomes.ts';

const first = 'first@example.com';
const second = 'cnry-second-7Kq2@canary-5bV9.example';

type Authority = DeliverInput['authority'];
function asked(metadataKey: string, recipient?: string, authority: Authority = 'owner'): DeliverInput {
  const address = recipient === undefined ? null : new Sensitive(recipient);
  return { metadataKey, authority, locale: 'en', recipient: address };
}

async function scene(share: Omit<ShareOptions, 'caller'> & { isAnonymous?: true } = {}, deps = {}) {
  const bench = createBench({ deps });
  const jo = await bench.signUp('jo@example.org');
  const al = await bench.signUp('al@example.org');
  const { isAnonymous, ...options } = share;
  const made = await bench.share('v', isAnonymous ? options : { ...options, caller: jo });
  await bench.service.settled();
  return { bench, jo, al, ...made };
}

async function sentTo(bench: Bench): Promise<(string | undefined)[]> {
  await bench.service.settled();
  return bench.mails.map(({ to }) => to.expose());
}

async function storedOf(bench: Bench, caller: AccountCaller): Promise<ReceiptRecord> {
  const [stored] = await recentOf(bench.deps.store, caller.account.id, 1);
  if (stored === undefined) throw new Error('nothing is stored');
  return stored;
}

describe('another address', () => {
  it('gets the same link, and the receipt then shows it, obfuscated', async () => {
    const { bench, jo, metadataKey, secretKey } = await scene({ recipient: first });
    const sent = await bench.service.deliver(asked(metadataKey, second), jo);
    expect(sent).toMatchObject({
      outcome: 'queued',
      receipt: { delivery: { state: 'queued' }, recipient: 'cn*****@c*****.example' },
    });
    expect(await sentTo(bench)).toEqual([first, second]);
    const [one, two] = bench.mails;
    expect(two?.link.expose()).toBe(`https://mayfly.example/secret/${secretKey}`);
    expect([two?.link.expose(), two?.from.expose()]).toEqual([one?.link.expose(), 'jo@example.org']);
    const found = await bench.service.findReceipt(asked(metadataKey), jo);
    expect(found).toMatchObject({ receipt: { recipient: 'cn*****@c*****.example' } });
    const listed = await bench.service.recent({ limit: 1, cursor: null, states: null }, jo);
    expect(listed).toMatchObject({ receipts: [{ recipient: 'cn*****@c*****.example' }] });
  });

  it('is the one that the next mail goes to, until the first is named again', async () => {
    const { bench, jo, metadataKey } = await scene({ recipient: first });
    const steps = [second, undefined, undefined, first, undefined];
    for (const recipient of steps) {
      await bench.service.deliver(asked(metadataKey, recipient), jo);
      await bench.service.settled();
    }
    expect(await sentTo(bench)).toEqual([first, second, second, second, first, first]);
    const found = await bench.service.findReceipt(asked(metadataKey), jo);
    expect(found).toMatchObject({ receipt: { recipient: 'fi*****@e*****.com' } });
    expect((await storedOf(bench, jo)).delivery?.addressBox).toBeNull();
  });

  it('can be named for a secret that never had one, with an account or without', async () => {
    for (const share of [{}, { isAnonymous: true }] as const) {
      const { bench, jo, metadataKey } = await scene(share);
      expect(await bench.service.deliver(asked(metadataKey), jo)).toMatchObject({
        outcome: 'nothing_to_send',
      });
      expect(await bench.service.deliver(asked(metadataKey, second), jo)).toMatchObject({
        outcome: 'queued',
      });
      await bench.service.settled();
      expect(await bench.service.deliver(asked(metadataKey), jo)).toMatchObject({ outcome: 'queued' });
      expect(await sentTo(bench)).toEqual([second, second]);
      expect(bench.mails[1]?.from.expose()).toBe('jo@example.org');
      // An anonymous secret has no sender, unless an account asks.
      const onPage = await bench.service.deliver(asked(metadataKey, undefined, 'creator'), anonymous);
      expect(onPage.outcome).toBe('isAnonymous' in share ? 'nothing_to_send' : 'unknown');
    }
  });

  it('P16: is only for an account that manages the record: holding just the key reaches no new address', async () => {
    const { bench, al, metadataKey } = await scene({ recipient: first });
    const refusals: ReadonlyArray<[Authority, Caller, string]> = [
      ['owner', al, 'unknown'],
      ['owner', anonymous, 'unknown'],
      ['creator', anonymous, 'unknown'],
      ['creator', al, 'unknown'],
    ];
    for (const [authority, caller, outcome] of refusals)
      expect(await bench.service.deliver(asked(metadataKey, second, authority), caller)).toEqual({
        outcome,
      } as never);
    const { metadataKey: unowned } = await bench.share('v');
    const onPage = await bench.service.deliver(asked(unowned, second, 'creator'), anonymous);
    expect(onPage).toEqual({ outcome: 'recipient_needs_account' });
    expect(await sentTo(bench)).toEqual([first]);
  });

  it('P26: is held to the same form as at creation', async () => {
    const { bench, jo, metadataKey } = await scene({ recipient: first });
    for (const recipient of ['nobody', 'a@b.example\r\nBcc: c@d.example', 'a@b.example, c@d.example', '']) {
      const refused = await bench.service.deliver(asked(metadataKey, recipient), jo);
      expect(refused).toEqual({ outcome: 'undeliverable_recipient', recipient });
    }
    expect(await sentTo(bench)).toEqual([first]);
  });

  it('is taken as at creation: without the blanks around it, its domain in ASCII', async () => {
    const { bench, jo, metadataKey } = await scene({ recipient: first });
    const told = await bench.service.deliver(asked(metadataKey, ' al@müller.example '), jo);
    expect(told).toMatchObject({ outcome: 'queued', receipt: { recipient: 'a*****@m*****.example' } });
    expect(await sentTo(bench)).toEqual([first, 'al@xn--mller-kva.example']);
  });

  it('sends one mail for many calls at once, whatever addresses they name', async () => {
    const { bench, jo, metadataKey } = await scene({ recipient: first });
    const calls = [second, first, undefined, second].map((to) =>
      bench.service.deliver(asked(metadataKey, to), jo),
    );
    const outcomes = (await Promise.all(calls)).map(({ outcome }) => outcome);
    expect(outcomes.sort()).toEqual(['in_flight', 'in_flight', 'in_flight', 'queued']);
    expect(await sentTo(bench)).toHaveLength(2);
  });

  it('is of no use once the secret is gone', async () => {
    const { bench, jo, metadataKey, secretKey } = await scene({ recipient: first });
    await bench.service.reveal(guess(secretKey), anonymous);
    const late = await bench.service.deliver(asked(metadataKey, second), jo);
    expect(late).toMatchObject({ outcome: 'nothing_to_send', receipt: { state: 'received' } });
    expect(await sentTo(bench)).toEqual([first]);
  });
});

describe('the other address at rest', () => {
  it('P9: opens with the metadata key and the secret key together, and with neither alone', async () => {
    const { bench, jo, metadataKey, secretKey } = await scene({ recipient: first });
    await bench.service.deliver(asked(metadataKey, second), jo);
    await bench.service.settled();
    const { receiptId: binding, delivery } = await storedOf(bench, jo);
    const box = delivery?.addressBox;
    if (box == null) throw new Error('the address was not kept');
    const open = (key: string) => openBox(box, { label: 'address', keyMaterial: utf8(key), binding });
    expect(new TextDecoder().decode(open(metadataKey + secretKey) ?? new Uint8Array())).toBe(second);
    expect([metadataKey, secretKey, secretKey + metadataKey].map(open)).toEqual([null, null, null]);
    expect(findCanaries(dumpOf([delivery, bench.events]), [{ name: 'recipient', content: second }])).toEqual(
      [],
    );
  });

  it('P11: goes with the secret, because what opened it is gone; only the obfuscated one stays', async () => {
    const { bench, jo, metadataKey } = await scene({ recipient: first });
    await bench.service.deliver(asked(metadataKey, second), jo);
    await bench.service.settled();
    await bench.service.burn({ proof: null, ...asked(metadataKey), isAbandoned: clientStays }, jo);
    const stored = await bench.deps.store.findReceipt((await storedOf(bench, jo)).receiptId);
    expect([stored?.sealedSecret, stored?.delivery?.addressBox]).toEqual([null, null]);
    const found = await bench.service.findReceipt(asked(metadataKey), jo);
    expect(found).toMatchObject({ receipt: { state: 'burned', recipient: 'cn*****@c*****.example' } });
  });
});

describe('the bounds on mails', () => {
  /** Allows `left` mails, and records which account asked for which address. */
  function quotaOf(left: number) {
    const takes: [number, string][] = [];
    const quota: MailQuota = {
      async take(account, address) {
        takes.push([account, address.expose()]);
        return takes.length <= left ? { outcome: 'allowed' } : { outcome: 'too_many', retryAfterSeconds: 72 };
      },
      async refund() {},
    };
    return { takes, quota };
  }

  const tooMany = { outcome: 'too_many_mails', retryAfterSeconds: 72 } as const;

  it('P21: refuse a delivery, which then changes nothing', async () => {
    const { takes, quota } = quotaOf(1);
    const { bench, jo, metadataKey } = await scene({ recipient: first }, { mailQuota: quota });
    const before = await bench.service.findReceipt(asked(metadataKey), jo);
    expect(await bench.service.deliver(asked(metadataKey, second), jo)).toEqual(tooMany);
    expect(await bench.service.deliver(asked(metadataKey), jo)).toEqual(tooMany);
    expect(await bench.service.findReceipt(asked(metadataKey), jo)).toEqual(before);
    expect(await sentTo(bench)).toEqual([first]);
    const id = jo.account.id;
    expect(takes).toEqual([
      [id, first],
      [id, second],
      [id, first],
    ]);
  });

  it('P21: refuse a creation before anything is stored, and a refusal for another reason counts for nothing', async () => {
    const { takes, quota } = quotaOf(0);
    const bench = createBench({ deps: { mailQuota: quota } });
    const jo = await bench.signUp('jo@example.org');
    const value = new Sensitive('v');
    const recipient = new Sensitive(first);
    const created = await bench.service.conceal({ ...noOptions, value, recipient }, jo);
    expect(created).toEqual(tooMany);
    expect(await bench.service.generate({ ...anyGenerated, recipient }, jo)).toEqual(tooMany);
    expect([bench.records, bench.events]).toEqual([[], []]);
    await bench.service.conceal({ ...noOptions, value, recipient, shareDomain: 'nobody.example.org' }, jo);
    await bench.service.conceal({ ...noOptions, value: new Sensitive(''), recipient }, jo);
    await bench.service.conceal({ ...noOptions, value, recipient: new Sensitive('nobody') }, jo);
    expect((await bench.service.conceal({ ...noOptions, value }, jo)).outcome).toBe('created');
    expect(takes).toHaveLength(2);
    expect(await sentTo(bench)).toEqual([]);
  });

  it('count nothing for whoever holds just the key', async () => {
    const { takes, quota } = quotaOf(9);
    const { bench, jo, al, metadataKey } = await scene({ recipient: first }, { mailQuota: quota });
    await bench.service.deliver(asked(metadataKey, undefined, 'creator'), al);
    await bench.service.deliver(asked(metadataKey, undefined, 'creator'), anonymous);
    await bench.service.settled();
    expect(takes.map(([account]) => account)).toEqual([jo.account.id]);
  });
});

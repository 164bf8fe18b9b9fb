/** Proves that a refusal stores nothing, that what is announced has been stored, and what a new receipt says. */
import { describe, expect, it } from 'bun:test';
import { anyGenerated, noOptions } from '../../../test/support/inputs.ts';
import { giveDomain } from '../../../test/support/own-domain.ts';
import { createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';
import { ServiceError } from '../errors.ts';
import type { MailQuota } from '../mailer.ts';
import { builtInPlans } from '../plans.ts';
import { Sensitive } from '../sensitive.ts';
import type { ConcealInput } from './outcomes.ts';
import { textOf } from './reveal.ts';

const input = (value: string, rest: Partial<ConcealInput> = {}): ConcealInput => ({
  ...noOptions,
  value: new Sensitive(value),
  ...rest,
});
const hidden = (text: string) => new Sensitive(text);

describe('a refused secret', () => {
  const refusals: ReadonlyArray<[string, 'anonymous' | 'account', ConcealInput, object]> = [
    ['an empty value', 'anonymous', input(''), { outcome: 'nothing_to_share' }],
    ['a lone surrogate', 'anonymous', input('a\ud800b'), { outcome: 'ill_formed', field: 'secret' }],
    [
      'a lone surrogate in the passphrase',
      'anonymous',
      input('v', { passphrase: hidden('\udc00') }),
      { outcome: 'ill_formed', field: 'passphrase' },
    ],
    ['10,001 bytes without an account', 'anonymous', input('x'.repeat(10_001)), tooLarge(10_000)],
    ['10,001 bytes with an account', 'account', input('x'.repeat(10_001)), tooLarge(10_000)],
    ['5,001 characters of two bytes', 'anonymous', input('ä'.repeat(5_001)), tooLarge(10_000)],
    [
      'a passphrase of 1,025 bytes',
      'anonymous',
      input('v', { passphrase: hidden('p'.repeat(1_025)) }),
      { outcome: 'passphrase_too_long', maxBytes: 1_024 },
    ],
    [
      'a recipient without an account',
      'anonymous',
      input('v', { recipient: hidden('jo@example.org') }),
      { outcome: 'recipient_needs_account' },
    ],
    [
      'a recipient whose domain nobody can have',
      'account',
      input('v', { recipient: hidden('jo@xn--a.example') }),
      { outcome: 'undeliverable_recipient', recipient: 'jo@xn--a.example' },
    ],
    [
      'a recipient that is no address',
      'account',
      input('v', { recipient: hidden('jo@example.org\r\nBcc: all@example.org') }),
      { outcome: 'undeliverable_recipient', recipient: 'jo@example.org\r\nBcc: all@example.org' },
    ],
    [
      'a share domain without an account',
      'anonymous',
      input('v', { shareDomain: 'secrets.example.org' }),
      { outcome: 'unknown_share_domain', shareDomain: 'secrets.example.org' },
    ],
    [
      'a share domain that nobody has',
      'account',
      input('v', { shareDomain: 'nobody.example.org' }),
      { outcome: 'unknown_share_domain', shareDomain: 'nobody.example.org' },
    ],
    [
      'a share domain of another account',
      'account',
      input('v', { shareDomain: 'secrets.example.org' }),
      { outcome: 'unknown_share_domain', shareDomain: 'secrets.example.org' },
    ],
  ];

  function tooLarge(maxBytes: number) {
    return { outcome: 'value_too_large', maxBytes };
  }

  it.each(refusals)(
    'for %s stores nothing, hashes nothing and mails nothing',
    async (_name, who, asked, told) => {
      const bench = createBench();
      const other = await bench.signUp('other@example.org', 'identity');
      await giveDomain(bench.deps.store, other.account.id, 'secrets.example.org');
      const caller = who === 'anonymous' ? anonymous : await bench.signUp('jo@example.org');
      expect(await bench.service.conceal(asked, caller)).toEqual(told as never);
      expect(bench.records).toEqual([]);
      expect(bench.hasher.stretched).toBe(0);
      await bench.service.settled();
      expect(bench.mails).toEqual([]);
      expect(bench.events).toEqual([]);
    },
  );

  it('for want of an account stores nothing where only accounts may create, generate included', async () => {
    const bench = createBench({ deps: { anonymousMayCreate: false } });
    expect(await bench.service.conceal(input('v'), anonymous)).toEqual({ outcome: 'account_required' });
    expect(await bench.service.generate(anyGenerated, anonymous)).toEqual({ outcome: 'account_required' });
    expect(bench.records).toEqual([]);
    const account = await bench.signUp('jo@example.org');
    expect((await bench.service.conceal(input('v'), account)).outcome).toBe('created');
  });

  it('P24: is also the result when a passphrase meets a full queue of hashes', async () => {
    const bench = createBench();
    bench.hasher.busy = true;
    const refused = bench.service.conceal(input('v', { passphrase: hidden('p') }), anonymous);
    await expect(refused).rejects.toMatchObject({ name: 'ServiceError', code: 'busy' });
    expect(bench.records).toEqual([]);
  });
});

describe('limits', () => {
  it('let pass what is just within them', async () => {
    const bench = createBench();
    const account = await bench.signUp('jo@example.org');
    for (const value of ['x'.repeat(10_000), 'ä'.repeat(5_000), '€'.repeat(3_333), '🔑'.repeat(2_500)]) {
      expect((await bench.service.conceal(input(value), anonymous)).outcome).toBe('created');
    }
    expect((await bench.service.conceal(input('x'.repeat(10_000)), account)).outcome).toBe('created');
    const long = input('v', { passphrase: hidden('p'.repeat(1_024)) });
    expect((await bench.service.conceal(long, anonymous)).outcome).toBe('created');
  });

  it('take an empty passphrase for none', async () => {
    const bench = createBench();
    const made = await bench.service.conceal(input('v', { passphrase: hidden('') }), anonymous);
    expect(made).toMatchObject({ outcome: 'created', receipt: { hasPassphrase: false } });
    expect(bench.hasher.stretched).toBe(0);
  });
});

describe('the lifetime granted', () => {
  const asked: ReadonlyArray<[string, number | undefined, number]> = [
    ['nothing', undefined, 604_800],
    ['1 second', 1, 60],
    ['the minimum', 60, 60],
    ['an hour', 3_600, 3_600],
    ['the maximum', 604_800, 604_800],
    ['too much', 9_999_999_999, 604_800],
  ];
  it.each(asked)('for %s is within the plan’s bounds, and shown', async (_name, ttlSeconds, granted) => {
    const bench = createBench();
    const receipt = await bench.share('v', ttlSeconds === undefined ? {} : { ttlSeconds });
    expect(receipt.ttlSeconds).toBe(granted);
    expect(receipt.secretTtlSeconds).toBe(granted);
    expect(receipt.metadataTtlSeconds).toBe(2 * granted);
    expect(bench.records[0]).toMatchObject({
      createdAt: startOfTime,
      expiresAt: startOfTime + granted,
      receiptExpiresAt: startOfTime + 2 * granted,
    });
  });

  it('follows the account’s plan', async () => {
    const bench = createBench();
    const basic = await bench.signUp('basic@example.org', 'basic');
    const identity = await bench.signUp('identity@example.org', 'identity');
    expect((await bench.share('v', { ttlSeconds: 1e8, caller: basic })).ttlSeconds).toBe(1_209_600);
    expect((await bench.share('v', { ttlSeconds: 1e8, caller: identity })).ttlSeconds).toBe(2_592_000);
  });
});

describe('what is announced', () => {
  it('P5: is nothing at all when the store does not confirm', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const bench = createBench({ wrap: (store) => ({ ...store, put: () => Promise.reject(outage) }) });
    const caller = await bench.signUp('jo@example.org');
    await expect(bench.share('v', { caller, recipient: 'al@example.org' })).rejects.toBe(outage);
    await bench.service.settled();
    expect(bench.events).toEqual([]);
    expect(bench.mails).toEqual([]);
  });

  it('P5: is stored before it is announced: the link works as soon as the answer is there', async () => {
    const bench = createBench();
    const { secretKey } = await bench.share('the value');
    expect(await bench.service.secretStatus({ secretKey }, anonymous)).toMatchObject({ outcome: 'waiting' });
  });

  it('P13: are two independent keys of 31 characters, and neither works in the other’s place', async () => {
    const bench = createBench();
    const receipt = await bench.share('v');
    for (const key of [receipt.secretKey, receipt.metadataKey]) expect(key).toMatch(/^[0-9a-z]{31}$/);
    expect(receipt.secretKey).not.toBe(receipt.metadataKey);
    const swapped = await bench.service.reveal(guess(receipt.metadataKey), anonymous);
    expect(swapped).toEqual({ outcome: 'unknown' });
    const account = await bench.signUp('jo@example.org');
    const asReceipt = { metadataKey: receipt.secretKey, authority: 'holder' } as const;
    expect(await bench.service.findReceipt(asReceipt, account)).toEqual({ outcome: 'unknown' });
  });

  it('is a receipt that says what was granted', async () => {
    const bench = createBench();
    const receipt = await bench.share('v', { passphrase: 'p' });
    expect(receipt).toMatchObject({
      custid: 'anon',
      state: 'new',
      secretShortkey: receipt.secretKey.slice(0, 6),
      recipient: null,
      shareDomain: '',
      hasPassphrase: true,
      createdAt: startOfTime,
      updatedAt: startOfTime,
      viewedAt: null,
      receivedAt: null,
      burnedAt: null,
      delivery: null,
    });
    expect(bench.events).toEqual([
      { event: 'concealed', tag: expect.stringMatching(/^[0-9a-f]{8}$/), kind: 'conceal', account: null },
    ]);
  });
});

describe('a share domain', () => {
  it('is the account’s own, in lower case, and in the link', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org', 'identity');
    await giveDomain(bench.deps.store, caller.account.id, 'secrets.example.org');
    const receipt = await bench.share('v', {
      caller,
      shareDomain: 'Secrets.Example.ORG',
      recipient: 'al@example.com',
    });
    expect(receipt.shareDomain).toBe('secrets.example.org');
    await bench.service.settled();
    const [mail] = bench.mails;
    expect(mail?.link.expose()).toBe(`https://secrets.example.org/secret/${receipt.secretKey}`);
  });

  it.each(['', 'mayfly.example', 'MAYFLY.example'])(
    'counts as not given when it is %p',
    async (shareDomain) => {
      const bench = createBench();
      expect((await bench.share('v', { shareDomain })).shareDomain).toBe('');
    },
  );
});

describe('the mail to a recipient', () => {
  it('goes out after the secret is stored, with the link and nothing else that is secret', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const receipt = await bench.share('the value', {
      caller,
      recipient: 'alan@example.com',
      passphrase: 'the passphrase',
      locale: 'fr',
    });
    expect(receipt.recipient).toBe('al*****@e*****.com');
    expect(receipt.delivery).toEqual({ state: 'queued', at: startOfTime, reply: null });
    await bench.service.settled();
    const [mail] = bench.mails;
    expect(bench.mails).toHaveLength(1);
    expect(mail?.to.expose()).toBe('alan@example.com');
    expect(mail?.from.expose()).toBe('jo@example.org');
    expect(mail?.link.expose()).toBe(`https://mayfly.example/secret/${receipt.secretKey}`);
    expect(mail).toMatchObject({ hasPassphrase: true, expiresAt: startOfTime + 604_800, locale: 'fr' });
    expect(Object.keys(mail ?? {}).sort()).toEqual([
      'brand',
      'expiresAt',
      'from',
      'hasPassphrase',
      'link',
      'locale',
      'senderName',
      'to',
    ]);
  });

  it('goes to the address without the blanks around it, its domain in ASCII', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const receipt = await bench.share('v', { caller, recipient: ' alan@müller.example.com ' });
    expect(receipt.recipient).toBe('al*****@m*****.com');
    await bench.service.settled();
    expect(bench.mails.map(({ to }) => to.expose())).toEqual(['alan@xn--mller-kva.example.com']);
  });

  it('counts one mailbox for all ways to write its address', async () => {
    const counted: string[] = [];
    const mailQuota: MailQuota = {
      async take(_account, address) {
        counted.push(address.expose());
        return { outcome: 'allowed' };
      },
      async refund() {},
    };
    const bench = createBench({ deps: { mailQuota } });
    const caller = await bench.signUp('jo@example.org');
    for (const recipient of ['al@müller.org', ' al@xn--mller-kva.org', 'al@MÜLLER.org'])
      await bench.share('v', { caller, recipient });
    expect(new Set(counted)).toEqual(new Set(['al@xn--mller-kva.org']));
  });

  it('goes out to nobody when no recipient was given', async () => {
    const bench = createBench();
    const caller = await bench.signUp('jo@example.org');
    const receipt = await bench.share('v', { caller });
    await bench.service.settled();
    expect(receipt.delivery).toBeNull();
    expect(bench.mails).toEqual([]);
    expect(bench.events.map(({ event }) => event)).toEqual(['concealed']);
  });

  it.each(['accepted', 'refused', 'not_sent'] as const)(
    'is told on the receipt when it was %s',
    async (state) => {
      const bench = createBench();
      bench.mailEndsIn = state;
      const caller = await bench.signUp('jo@example.org');
      const { metadataKey } = await bench.share('v', { caller, recipient: 'alan@example.com' });
      await bench.service.settled();
      const found = await bench.service.findReceipt({ metadataKey, authority: 'owner' }, caller);
      expect(found).toMatchObject({ receipt: { delivery: { state }, recipient: 'al*****@e*****.com' } });
      expect(bench.events.at(-1)).toMatchObject({ event: 'mail_ended', state });
    },
  );

  it('fails no creation when the store cannot note what became of it', async () => {
    const outage = new ServiceError('unavailable', 'the store did not answer');
    const bench = createBench({ wrap: (store) => ({ ...store, setDelivery: () => Promise.reject(outage) }) });
    const caller = await bench.signUp('jo@example.org');
    await bench.share('v', { caller, recipient: 'alan@example.com' });
    await bench.service.settled();
    expect(bench.mails).toHaveLength(1);
  });
});

describe('a generated value', () => {
  it('is given once with the receipt, and is what the link reveals', async () => {
    const bench = createBench();
    const made = await bench.service.generate(
      { ...anyGenerated, length: 20, charset: ['digits'] },
      anonymous,
    );
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(made.value?.expose()).toMatch(/^[2-9]{20}$/);
    expect(bench.events).toMatchObject([{ event: 'concealed', kind: 'generate' }]);
    const revealed = await bench.service.reveal(guess(made.receipt.secretKey ?? ''), anonymous);
    if (revealed.outcome !== 'revealed') throw new Error(revealed.outcome);
    expect(textOf(revealed.content)).toBe(made.value?.expose() ?? '');
  });

  it('has 12 characters of all sets when nothing is asked', async () => {
    const made = await createBench().service.generate(anyGenerated, anonymous);
    if (made.outcome !== 'created') throw new Error(made.outcome);
    expect(made.value?.expose()).toHaveLength(12);
  });

  it('is not given with a refusal', async () => {
    const plans = { ...builtInPlans, anonymous: { ...builtInPlans.anonymous, maxValueBytes: 8 } };
    const bench = createBench({ deps: { plans } });
    expect(await bench.service.generate(anyGenerated, anonymous)).toEqual({
      outcome: 'value_too_large',
      maxBytes: 8,
    });
    expect(bench.records).toEqual([]);
  });

  it('is not handed out by conceal', async () => {
    const made = await createBench().service.conceal(input('v'), anonymous);
    expect(made).toMatchObject({ outcome: 'created', value: null });
  });
});

/**
 * Proves that an account gets the notices it asked for, once, in its language, and that a notice delays nothing.
 */

import { describe, expect, it } from 'bun:test';
import { clientStays } from '../../../test/stores/conformance/check.ts';
import { dumpOf, findCanaries } from '../../../test/support/canary.ts';
import { noOptions } from '../../../test/support/inputs.ts';
import { giveDomain } from '../../../test/support/own-domain.ts';
import { type Bench, createBench, guess, startOfTime } from '../../../test/support/service-bench.ts';
import { noticeKinds } from '../../protocol/vocabulary.ts';
import { anonymous } from '../account.ts';
import type { Mailer } from '../mailer.ts';
import { Sensitive } from '../sensitive.ts';
import { noticeDueAt, noticesFor } from './notices.ts';

const week = 604_800;
const day = 86_400;

async function scene(deps = {}) {
  const bench = createBench({ deps });
  const caller = await bench.signUp('jo@example.org');
  return { bench, caller };
}

const owned = (metadataKey: string) =>
  ({ metadataKey, authority: 'owner', isAbandoned: clientStays, proof: null }) as const;

async function told(bench: Bench) {
  await bench.service.settled();
  return bench.accountMails.map(({ kind, to }) => [kind, to.expose()]);
}

describe('what a new secret’s account is told', () => {
  it('is what the secret says, else what the account has chosen, in one order and none twice', async () => {
    const { caller } = await scene();
    const chosen = { ...caller, account: { ...caller.account, notify: ['expiring'] as const } };
    expect(noticesFor(null, caller)).toEqual([]);
    expect(noticesFor(null, chosen)).toEqual(['expiring']);
    expect(noticesFor([], chosen)).toEqual([]);
    expect(noticesFor(['expiring', 'read', 'burned', 'read'], chosen)).toEqual([...noticeKinds]);
    expect(noticesFor(null, anonymous)).toEqual([]);
  });

  it('stands in its receipt', async () => {
    const { bench, caller } = await scene();
    await bench.deps.store.setNotify(caller.account.id, ['read']);
    const again = (await bench.service.authenticate('jo@example.org', caller.token)) ?? caller;
    expect((await bench.share('v', { caller: again })).notify).toEqual(['read']);
    const { metadataKey, notify } = await bench.share('v', { caller: again, notify: ['expiring', 'burned'] });
    expect(notify).toEqual(['burned', 'expiring']);
    const found = await bench.service.findReceipt(owned(metadataKey), again);
    expect(found).toMatchObject({ receipt: { notify: ['burned', 'expiring'] } });
  });

  it('is nothing without an account, and asking for it then stores nothing', async () => {
    const { bench } = await scene();
    const value = new Sensitive('v');
    const refused = await bench.service.conceal({ ...noOptions, value, notify: ['read'] }, anonymous);
    expect(refused).toEqual({ outcome: 'notify_needs_account' });
    expect(bench.records).toEqual([]);
    const created = await bench.service.conceal({ ...noOptions, value, notify: [] }, anonymous);
    expect(created).toMatchObject({ outcome: 'created', receipt: { notify: [] } });
  });

  it('of the expiry comes a day ahead, for a short lifetime a quarter of it, and never outside of the lifetime', () => {
    const dueAfter = (ttlSeconds: number) =>
      noticeDueAt(['expiring'], { createdAt: startOfTime, expiresAt: startOfTime + ttlSeconds });
    expect(dueAfter(week)).toBe(startOfTime + week - day);
    expect(dueAfter(4 * day)).toBe(startOfTime + 3 * day);
    expect(dueAfter(60)).toBe(startOfTime + 45);
    expect(dueAfter(7)).toBe(startOfTime + 6);
    for (const ttlSeconds of [1, 2, 3]) expect(dueAfter(ttlSeconds)).toBeNull();
    for (let ttlSeconds = 4; ttlSeconds < 500; ttlSeconds += 1) {
      const after = (dueAfter(ttlSeconds) ?? 0) - startOfTime;
      expect(after >= 1 && after < ttlSeconds).toBe(true);
    }
    expect(noticeDueAt(['read', 'burned'], { createdAt: 0, expiresAt: week })).toBeNull();
  });
});

describe('a notice', () => {
  it('tells once that a secret was read, whoever read it, in the account’s language and with the domain’s brand', async () => {
    const { bench, caller } = await scene();
    await bench.deps.store.setLocale(caller.account.id, 'fr');
    await giveDomain(bench.deps.store, caller.account.id, 'secrets.example.org');
    for (const reader of [anonymous, caller]) {
      const shareDomain = reader === caller ? 'secrets.example.org' : '';
      const { secretKey } = await bench.share('v', { caller, notify: ['read'], shareDomain });
      bench.advance(30);
      expect((await bench.service.reveal(guess(secretKey), reader)).outcome).toBe('revealed');
      expect((await bench.service.reveal(guess(secretKey), reader)).outcome).toBe('unknown');
    }
    expect(await told(bench)).toEqual([
      ['secret_read', 'jo@example.org'],
      ['secret_read', 'jo@example.org'],
    ]);
    expect(bench.accountMails[0]).toMatchObject({
      locale: 'fr',
      createdAt: startOfTime,
      at: startOfTime + 30,
      recentUrl: `https://mayfly.example/recent?at=${startOfTime}`,
      brand: { host: 'mayfly.example' },
    });
    expect(bench.accountMails[1]).toMatchObject({ brand: { host: 'secrets.example.org' } });
    expect(bench.events.at(-1)).toEqual({
      event: 'account_mail_ended',
      kind: 'secret_read',
      state: 'accepted',
    });
  });

  it('tells that a secret was burned, and nothing of what was not asked for', async () => {
    const { bench, caller } = await scene();
    const { metadataKey } = await bench.share('v', { caller, notify: ['burned'] });
    const { metadataKey: other, secretKey } = await bench.share('v', {
      caller,
      notify: ['burned', 'expiring'],
    });
    const { metadataKey: silent } = await bench.share('v', { caller, notify: ['read', 'expiring'] });
    await bench.service.reveal(guess(secretKey), anonymous);
    for (const key of [metadataKey, other, silent, metadataKey]) await bench.service.burn(owned(key), caller);
    expect(await told(bench)).toEqual([['secret_burned', 'jo@example.org']]);
    expect(bench.accountMails[0]).toMatchObject({ locale: 'en', at: startOfTime });
  });

  it('tells that a secret is about to expire, once, and not of one that is gone', async () => {
    const { bench, caller } = await scene();
    await bench.share('v', { caller, notify: ['expiring'] });
    const { secretKey } = await bench.share('v', { caller, notify: ['expiring'] });
    await bench.share('v', { caller, notify: ['read', 'burned'] });
    await bench.service.reveal(guess(secretKey), anonymous);
    bench.advance(week - day - 1);
    expect(await bench.service.sendDueNotices()).toBe(0);
    bench.advance(1);
    expect(await bench.service.sendDueNotices()).toBe(1);
    expect(await bench.service.sendDueNotices()).toBe(0);
    expect(await told(bench)).toEqual([['secret_expiring', 'jo@example.org']]);
    expect(bench.accountMails[0]).toMatchObject({ createdAt: startOfTime, at: startOfTime + week });
  });

  it('goes to nobody when the account is gone', async () => {
    const { bench, caller } = await scene();
    await bench.share('v', { caller, notify: [...noticeKinds] });
    await bench.deps.store.deleteAccount(caller.account.id);
    bench.advance(week - day);
    expect(await bench.service.sendDueNotices()).toBe(0);
    expect(await told(bench)).toEqual([]);
  });

  it('P18: names no key, no value, no link and no recipient', async () => {
    const { bench, caller } = await scene();
    const made = await bench.share('the-value-7Kq2', {
      caller,
      recipient: 'alan@example.com',
      notify: ['read'],
    });
    await bench.service.reveal(guess(made.secretKey), anonymous);
    await bench.service.settled();
    const canaries = [
      { name: 'secret key', content: made.secretKey },
      { name: 'metadata key', content: made.metadataKey },
      { name: 'value', content: 'the-value-7Kq2' },
      { name: 'recipient', content: 'alan@example.com' },
    ];
    const shown = bench.accountMails.map((mail) => ({ ...mail, to: mail.to.expose() }));
    expect(findCanaries(dumpOf(shown), canaries)).toEqual([]);
    expect(findCanaries(dumpOf([...shown, made.secretKey]), canaries)).not.toEqual([]);
  });
});

describe('telling', () => {
  const silent: Mailer = {
    sendSecretLink: () => new Promise(() => {}),
    sendAccountMail: () => new Promise(() => {}),
  };

  it('delays nothing: a reveal and a burn are answered while the mailer never is', async () => {
    const { bench, caller } = await scene({ mailer: silent });
    const { secretKey } = await bench.share('v', { caller, notify: ['read'] });
    expect((await bench.service.reveal(guess(secretKey), anonymous)).outcome).toBe('revealed');
    const { metadataKey } = await bench.share('v', { caller, notify: ['burned'] });
    expect((await bench.service.burn(owned(metadataKey), caller)).outcome).toBe('burned');
    await bench.share('v', { caller, notify: ['expiring'] });
    bench.advance(week - day);
    expect(await bench.service.sendDueNotices()).toBe(1);
  });

  it('fails nothing: a mailer, a brand and a store that break leave the answers as they are', async () => {
    const broken = () => Promise.reject(new Error('no'));
    for (const deps of [{ mailBrandOf: broken }, { mailer: { ...silent, sendAccountMail: broken } }]) {
      const { bench, caller } = await scene(deps);
      const { secretKey } = await bench.share('v', { caller, notify: ['read'] });
      expect((await bench.service.reveal(guess(secretKey), anonymous)).outcome).toBe('revealed');
      await bench.service.settled();
    }
  });

  it('would delay the reveal if it were waited for (self-test)', async () => {
    const { bench, caller } = await scene({ mailer: silent });
    await bench.share('v', { caller, notify: ['expiring'] });
    bench.advance(week - day);
    await bench.service.sendDueNotices();
    const isSettled = bench.service.settled().then(() => true);
    const turns = async () => {
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resume) => setImmediate(resume));
      return false;
    };
    expect(await Promise.race([isSettled, turns()])).toBe(false);
  });
});

/** Share domains in the core's use cases: registered, checked, and checked again every day. */
import { describe, expect, it } from 'bun:test';
import type { AccountCaller } from '../../src/core/account.ts';
import { ServiceError } from '../../src/core/errors.ts';
import { createDomainChecks } from '../../src/core/share-domains/check.ts';
import { added, callerOf, daySeconds, publish, setUp, site, verified } from './bench.ts';

describe('a share domain is registered', () => {
  it('by an account whose plan has domains, for a name that can be one, once', async () => {
    const { app, alice, domains } = await setUp();
    const basic = await callerOf(app, 'basic@example.com', 'basic');
    expect(await domains.add(basic, 'secrets.example.com')).toEqual({ outcome: 'plan_required' });
    expect([domains.maxDomains(basic), domains.maxDomains(alice)]).toEqual([0, 20]);
    expect(await domains.add(alice, '127.0.0.1')).toEqual({
      outcome: 'invalid_domain',
      problem: 'ip_address',
    });
    expect(await domains.add(alice, site)).toEqual({ outcome: 'invalid_domain', problem: 'own_host' });
    const view = await added(app, alice, 'Secrets.Example.co.uk.');
    expect(view).toMatchObject({
      name: 'secrets.example.co.uk',
      baseDomain: 'example.co.uk',
      subdomain: 'secrets',
      state: 'unverified',
      finding: null,
      checkedAt: null,
      target: { host: site, addresses: [] },
    });
    expect(view.txtRecord?.value).toMatch(/^[0-9a-f]{32}$/);
    expect(view.txtRecord?.host).toBe(
      `_mayfly-challenge-${view.txtRecord?.value.slice(0, 7)}.secrets.example.co.uk`,
    );
    expect(await domains.add(alice, 'SECRETS.example.co.uk')).toEqual({ outcome: 'exists' });
    expect((await domains.list(alice)).map(({ name }) => name)).toEqual(['secrets.example.co.uk']);
  });

  it('up to the number of the plan, which counts what the account has and not what it had', async () => {
    const { app, alice, domains } = await setUp();
    for (let number = 0; number < 20; number += 1) await added(app, alice, `s${number}.example.com`);
    expect(await domains.add(alice, 'one.more.example.com')).toEqual({ outcome: 'too_many', max: 20 });
    await domains.remove(alice, 's7.example.com');
    await added(app, alice, 'one.more.example.com');
  });

  it('by several accounts, with a challenge for each, and is verified for the first that proves it', async () => {
    const { zone, app, alice, domains } = await setUp();
    const bob = await callerOf(app, 'bob@example.com');
    const [ours, theirs] = [await added(app, alice, 'x.example.com'), await added(app, bob, 'x.example.com')];
    expect(ours.txtRecord?.value).not.toBe(theirs.txtRecord?.value ?? '');
    for (const view of [ours, theirs]) publish(zone, view);
    const both = await Promise.all([
      domains.verify(alice, 'x.example.com'),
      domains.verify(bob, 'x.example.com'),
    ]);
    expect(both.map(({ outcome }) => outcome).sort()).toEqual(['checked', 'taken']);
    const carol = await callerOf(app, 'carol@example.com');
    expect(await domains.add(carol, 'x.example.com')).toEqual({ outcome: 'taken' });
    // Nothing changed for the one who came second.
    const second = both[0].outcome === 'taken' ? alice : bob;
    expect(await domains.find(second, 'x.example.com')).toMatchObject({
      domain: { state: 'unverified', checkedAt: null },
    });
  });

  it('and is unknown to everybody else, as one that nobody has', async () => {
    const { zone, app, alice, domains } = await setUp();
    await verified(zone, app, alice, 'x.example.com');
    const bob = await callerOf(app, 'bob@example.com');
    for (const name of [
      'x.example.com',
      'nobody.example.com',
      'https://x.example.com',
      '',
      'x',
      '..',
      '\0',
    ]) {
      const outcomes = await Promise.all([
        domains.find(bob, name),
        domains.verify(bob, name),
        domains.remove(bob, name),
        domains.setBrand(bob, name, { isPublic: false }),
        domains.setLogo(bob, name, null),
      ]);
      for (const outcome of outcomes) expect([name, { ...outcome }]).toEqual([name, { outcome: 'unknown' }]);
    }
    expect(await domains.list(bob)).toEqual([]);
    expect(await domains.find(alice, 'X.example.com.')).toMatchObject({
      outcome: 'found',
      domain: { state: 'verified' },
    });
  });

  it('keeps working without the plan, for what was registered with it', async () => {
    const { zone, app, alice, domains } = await setUp();
    publish(zone, await added(app, alice, 'x.example.com'));
    await app.store.setPlan(alice.account.id, 'basic');
    const now: AccountCaller = { ...alice, account: { ...alice.account, plan: 'basic' } };
    expect(await domains.add(now, 'y.example.com')).toEqual({ outcome: 'plan_required' });
    expect(await domains.verify(now, 'x.example.com')).toMatchObject({ domain: { state: 'verified' } });
    expect(await domains.setBrand(now, 'x.example.com', { name: 'X' })).toMatchObject({ outcome: 'saved' });
    expect(await domains.remove(now, 'x.example.com')).toEqual({ outcome: 'removed' });
  });
});

describe('a check', () => {
  it('tells an event when it changed the state, and else none', async () => {
    const { zone, app, alice, domains } = await setUp();
    const view = await added(app, alice, 'x.example.com');
    const states = () => app.events.filter(({ event }) => event === 'domain_checked');
    await domains.verify(alice, 'x.example.com');
    expect(states()).toEqual([]);
    publish(zone, view);
    for (let times = 0; times < 2; times += 1) await domains.verify(alice, 'x.example.com');
    zone.fail('txt', view.txtRecord?.host ?? '');
    await domains.verify(alice, 'x.example.com');
    const event = { event: 'domain_checked', account: alice.account.id } as const;
    expect(states()).toEqual([{ ...event, domainState: 'verified' }]);
    zone.set('txt', view.txtRecord?.host ?? '');
    await domains.verify(alice, 'x.example.com');
    expect(states()).toHaveLength(2);
    expect(states()[1]).toEqual({ ...event, domainState: 'lost' });
  });

  it('runs once at a time for a domain, and answers all who asked meanwhile', async () => {
    const { zone, app, alice, domains } = await setUp();
    publish(zone, await added(app, alice, 'x.example.com'));
    const before = zone.asked.filter((question) => question.startsWith('txt')).length;
    const gate = Promise.withResolvers<void>();
    zone.hold(gate.promise);
    const asking = Array.from({ length: 5 }, () => domains.verify(alice, 'x.example.com'));
    // All five have gone as far as they can without an answer.
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    gate.resolve();
    for (const outcome of await Promise.all(asking))
      expect(outcome).toMatchObject({ domain: { state: 'verified' } });
    expect(zone.asked.filter((question) => question.startsWith('txt')).length - before).toBe(1);
  });

  it('self-test: two that know nothing of each other would ask twice', async () => {
    const { zone, app, alice } = await setUp();
    await added(app, alice, 'x.example.com');
    const domain = await app.store.findDomain(alice.account.id, 'x.example.com');
    if (domain === null) throw new Error('not stored');
    const apart = () =>
      createDomainChecks({ store: app.store, resolver: zone.resolver, target: site, events: () => {} });
    await Promise.all([apart().check(domain), apart().check(domain)]);
    expect(zone.asked.filter((question) => question.startsWith('txt'))).toHaveLength(2);
  });

  it('asks no DNS about a domain that the operator vouches for', async () => {
    const { zone, app, alice, domains } = await setUp();
    const record = { accountId: alice.account.id, state: 'verified', challenge: null, createdAt: 1 } as const;
    await app.store.addDomain({ ...record, name: 'x.example.com' }, 100);
    await app.store.addDomain({ ...record, name: 'secrets.corp.internal' }, 100);
    expect(await domains.verify(alice, 'x.example.com')).toMatchObject({
      outcome: 'checked',
      domain: { state: 'verified', txtRecord: null, checkedAt: null },
    });
    app.clock.advance(10 * daySeconds);
    expect(await domains.checkDue()).toBe(0);
    expect(zone.asked.filter((question) => !question.startsWith('addresses'))).toEqual([]);
    expect(await domains.find(alice, 'Secrets.Corp.Internal')).toMatchObject({
      domain: { baseDomain: 'secrets.corp.internal', subdomain: '', publicSuffix: 'internal' },
    });
  });

  it('of a domain that was removed meanwhile brings nothing back', async () => {
    const { zone, app, alice, domains } = await setUp();
    publish(zone, await added(app, alice, 'x.example.com'));
    const gate = Promise.withResolvers<void>();
    zone.hold(gate.promise);
    const checking = domains.verify(alice, 'x.example.com');
    await domains.remove(alice, 'x.example.com');
    gate.resolve();
    expect(await checking).toEqual({ outcome: 'unknown' });
    expect(await domains.isVerified('x.example.com')).toBe(false);
  });
});

describe('the daily check', () => {
  it('takes verified and lost domains a day after their last check, and no others', async () => {
    const { zone, app, alice, domains } = await setUp();
    const kept = await verified(zone, app, alice, 'kept.example.com');
    const lost = await verified(zone, app, alice, 'lost.example.com');
    await added(app, alice, 'unverified.example.com');
    zone.set('cname', lost.name);
    app.clock.advance(daySeconds - 1);
    expect(await domains.checkDue()).toBe(0);
    app.clock.advance(1);
    expect(await domains.checkDue()).toBe(2);
    expect(await domains.checkDue()).toBe(0);
    const states = (await domains.list(alice)).map(({ name, state, finding }) => [name, state, finding]);
    expect(states).toEqual([
      ['kept.example.com', 'verified', null],
      ['lost.example.com', 'lost', 'not_pointing'],
      ['unverified.example.com', 'unverified', null],
    ]);
    expect(await domains.brandedDomain(lost.name)).toBeNull();
    expect(await domains.brandedDomain(kept.name)).toMatchObject({ name: kept.name });
    zone.set('cname', lost.name, site);
    app.clock.advance(daySeconds);
    expect(await domains.checkDue()).toBe(2);
    expect(await domains.isVerified(lost.name)).toBe(true);
  });

  it('concludes nothing from a DNS that is down', async () => {
    const { zone, app, alice, domains } = await setUp();
    const view = await verified(zone, app, alice, 'x.example.com');
    zone.fail('txt', view.txtRecord?.host ?? '');
    app.clock.advance(daySeconds);
    expect(await domains.checkDue()).toBe(1);
    expect(await domains.find(alice, 'x.example.com')).toMatchObject({
      domain: { state: 'verified', finding: 'dns_failed', checkedAt: app.clock.now() },
    });
    expect(await domains.isVerified('x.example.com')).toBe(true);
  });

  it('has at most four checks under way, takes at most fifty in a run, and ends when it is told to', async () => {
    const plan = {
      maxValueBytes: 100,
      maxSealedBytes: 100,
      ttlMinSeconds: 1,
      ttlDefaultSeconds: 1,
      ttlMaxSeconds: 1,
      maxDomains: 60,
      maxPlaces: 40,
    };
    const { zone, app, alice, domains } = await setUp({ plans: { identity: plan } });
    for (let number = 0; number < 60; number += 1) await verified(zone, app, alice, `s${number}.example.com`);
    app.clock.advance(daySeconds);
    const gate = Promise.withResolvers<void>();
    zone.hold(gate.promise);
    const before = zone.asked.length;
    const stopping = new AbortController();
    const run = domains.checkDue(stopping.signal);
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
    expect(zone.asked.length - before).toBe(4);
    stopping.abort();
    gate.resolve();
    expect(await run).toBe(4);
    expect(await domains.checkDue()).toBe(50);
    expect(await domains.checkDue()).toBe(6);
  });

  it('gives every domain its turn, also when others cannot become verified again because they are taken', async () => {
    const { zone, app, alice, domains } = await setUp();
    const bob = await callerOf(app, 'bob@example.com');
    const ours = await verified(zone, app, alice, 'x.example.com');
    zone.set('cname', ours.name);
    await domains.verify(alice, ours.name);
    publish(zone, await added(app, bob, ours.name));
    expect(await domains.verify(bob, ours.name)).toMatchObject({ domain: { state: 'verified' } });
    app.clock.advance(daySeconds);
    expect(await domains.checkDue()).toBe(2);
    expect(await domains.checkDue()).toBe(0);
    expect(await domains.find(alice, ours.name)).toMatchObject({ domain: { state: 'lost' } });
    expect(await domains.verify(alice, ours.name)).toEqual({ outcome: 'taken' });
  });

  it('tells of a store that fails, after the checks under way have ended', async () => {
    let isDown = false;
    const { zone, app, alice, domains } = await setUp({
      wrapStore: (store) => ({
        ...store,
        noteDomainCheck: async (...note) => {
          if (isDown) throw new ServiceError('unavailable', 'down');
          return store.noteDomainCheck(...note);
        },
      }),
    });
    for (const name of ['a.example.com', 'b.example.com']) await verified(zone, app, alice, name);
    app.clock.advance(daySeconds);
    isDown = true;
    await expect(domains.checkDue()).rejects.toThrow('down');
    isDown = false;
    // Until then, they belong to the run that could not record them.
    app.clock.advance(299);
    expect(await domains.checkDue()).toBe(0);
    app.clock.advance(1);
    expect(await domains.checkDue()).toBe(2);
  });
});

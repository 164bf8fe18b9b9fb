import { describe, expect, it } from 'bun:test';
import type { DomainState } from '../../protocol/vocabulary.ts';
import type { AccountId } from '../account.ts';
import { type DomainCheck, plainBrand } from '../share-domain.ts';
import { checkDomain, type DnsAnswer, type Resolver, txtHostOf } from './check.ts';

const challenge = '0123456789abcdef0123456789abcdef';
const target = 'in.mayfly.example';
const name = 'secrets.example.com';

const none: DnsAnswer = { outcome: 'none' };
const failed: DnsAnswer = { outcome: 'failed' };
const found = (...values: string[]): DnsAnswer => ({ outcome: 'found', values });

interface Zone {
  readonly txt?: DnsAnswer;
  /** By name; `none` where absent. */
  readonly cname?: Readonly<Record<string, DnsAnswer>>;
  readonly addresses?: Readonly<Record<string, DnsAnswer>>;
}

function resolverOf(zone: Zone, asked: string[] = []): Resolver {
  return {
    async txt(host) {
      asked.push(`txt ${host}`);
      return zone.txt ?? none;
    },
    async cname(host) {
      asked.push(`cname ${host}`);
      return zone.cname?.[host] ?? none;
    },
    async addresses(host) {
      asked.push(`addresses ${host}`);
      return zone.addresses?.[host] ?? none;
    },
  };
}

function domain(state: DomainState) {
  const record = { accountId: 1 as AccountId, name, state, challenge, createdAt: 0, updatedAt: 0 };
  return { ...record, checkedAt: null, finding: null, brand: plainBrand, logoName: null };
}

const check = (state: DomainState, zone: Zone, asked?: string[]): Promise<DomainCheck> =>
  checkDomain({ resolver: resolverOf(zone, asked), target }, domain(state));

const states: readonly DomainState[] = ['unverified', 'pending', 'verified', 'lost'];
const right = found('v=spf1 -all', challenge);
const here = { [name]: found(target) };

describe('a check of a share domain', () => {
  const rows: readonly (readonly [string, Zone, readonly DomainState[], DomainCheck['finding']])[] = [
    ['no TXT record', {}, ['unverified', 'unverified', 'lost', 'lost'], 'txt_missing'],
    [
      'another TXT record',
      { txt: found('other'), cname: here },
      ['unverified', 'unverified', 'lost', 'lost'],
      'txt_differs',
    ],
    ['the record, and no way here', { txt: right }, ['pending', 'pending', 'lost', 'lost'], 'not_pointing'],
    [
      'the record and the way here',
      { txt: right, cname: here },
      ['verified', 'verified', 'verified', 'verified'],
      null,
    ],
    ['no answer about the record', { txt: failed, cname: here }, states, 'dns_failed'],
    ['no answer about the way', { txt: right, cname: { [name]: failed } }, states, 'dns_failed'],
    [
      'no answer about its addresses',
      { txt: right, addresses: { [name]: failed, [target]: found('192.0.2.1') } },
      states,
      'dns_failed',
    ],
    [
      'no answer about the target',
      { txt: right, addresses: { [name]: found('192.0.2.1'), [target]: failed } },
      states,
      'dns_failed',
    ],
  ];
  for (const [what, zone, expected, finding] of rows) {
    it(`that finds ${what} makes of ${states.join(', ')}: ${expected.join(', ')}`, async () => {
      const checks = await Promise.all(states.map((state) => check(state, zone)));
      expect(checks).toEqual(expected.map((state) => ({ state, finding })));
    });
  }

  it('takes the challenge whole, and only where it must stand', async () => {
    for (const value of ['', challenge.slice(1), `${challenge}0`, challenge.toUpperCase(), ` ${challenge}`])
      expect((await check('pending', { txt: found(value), cname: here })).finding).toBe('txt_differs');
    const asked: string[] = [];
    await check('pending', { txt: right, cname: here }, asked);
    expect(asked).toEqual([`txt _mayfly-challenge-0123456.${name}`, `cname ${name}`]);
    expect(txtHostOf(name, challenge)).toBe(`_mayfly-challenge-0123456.${name}`);
  });

  it('asks nothing more when the record is not there', async () => {
    const asked: string[] = [];
    await check('verified', { txt: none, cname: here }, asked);
    expect(asked).toHaveLength(1);
  });
});

describe('a name leads here', () => {
  const finding = async (zone: Omit<Zone, 'txt'>, state: DomainState = 'pending') =>
    (await check(state, { txt: right, ...zone })).finding;
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, hop) => [
        hop === 0 ? name : `hop${hop}.example.net`,
        found(hop === length - 1 ? target : `hop${hop + 1}.example.net`),
      ]),
    );

  it('by a chain of at most five aliases', async () => {
    for (const length of [1, 2, 5])
      expect([length, await finding({ cname: chain(length) })]).toEqual([length, null]);
    expect(await finding({ cname: chain(6) })).toBe('not_pointing');
  });

  it('never by aliases that go round in circles', async () => {
    const [a, b] = ['a.example.net', 'b.example.net'];
    const asked: string[] = [];
    const circle = { [name]: found(a), [a]: found(b), [b]: found(a) };
    expect((await check('pending', { txt: right, cname: circle }, asked)).finding).toBe('not_pointing');
    expect(asked.filter((question) => question.startsWith('cname'))).toHaveLength(3);
    expect(await finding({ cname: { [name]: found(name) } })).toBe('not_pointing');
  });

  it('by addresses that are all the target’s; a verified one keeps its state while one of them is', async () => {
    const addresses = (...own: string[]) => ({
      addresses: { [name]: found(...own), [target]: found('192.0.2.1', '192.0.2.2', '2001:db8::1') },
    });
    expect(await finding(addresses('192.0.2.2'))).toBeNull();
    expect(await finding(addresses('2001:db8::1', '192.0.2.1'))).toBeNull();
    expect(await finding(addresses('192.0.2.1', '198.51.100.7'))).toBe('not_pointing');
    expect(await finding(addresses('192.0.2.1', '198.51.100.7'), 'lost')).toBe('not_pointing');
    expect(await finding(addresses('192.0.2.1', '198.51.100.7'), 'verified')).toBeNull();
    expect(await finding(addresses('198.51.100.7'), 'verified')).toBe('not_pointing');
  });

  it('by no address when the target has none', async () => {
    expect(await finding({ addresses: { [name]: found('192.0.2.1') } })).toBe('not_pointing');
    expect(await finding({})).toBe('not_pointing');
  });
});

/** Proves that links are made only on verified domains, for the owner and for those the owner lets share there. */

import { describe, expect, it } from 'bun:test';
import { giveDomain } from '../../../test/support/own-domain.ts';
import { createBench } from '../../../test/support/service-bench.ts';
import { anonymous, type Caller } from '../account.ts';
import { hostNameOf } from '../share-domain.ts';
import { chooseShareDomain, type DomainWish } from './choose.ts';

const siteHost = 'mayfly.example';
const site = { siteHost, sitePort: '3000' };
const open = 'open.jo.example';
const closed = 'closed.jo.example';

async function scene() {
  const bench = createBench();
  const { store } = bench.deps;
  const jo = await bench.signUp('jo@example.org', 'identity');
  const al = await bench.signUp('al@example.org', 'identity');
  await giveDomain(store, jo.account.id, open);
  await giveDomain(store, jo.account.id, closed, { isPublic: false });
  await giveDomain(store, al.account.id, 'al.example');
  const challenge = '0'.repeat(32);
  const base = { accountId: jo.account.id, challenge, createdAt: store.now() };
  for (const state of ['unverified', 'pending', 'lost'] as const)
    await store.addDomain({ ...base, name: `${state}.jo.example`, state }, 20);
  const choose = (wish: Partial<DomainWish>, caller: Caller) =>
    chooseShareDomain({ store, links: site }, { shareDomain: null, arrivedOn: null, ...wish }, caller);
  return { bench, jo, al, choose };
}

const chosen = (shareDomain: string) => ({ outcome: 'chosen', shareDomain }) as const;
const unknown = (shareDomain: string) => ({ outcome: 'unknown_share_domain', shareDomain }) as const;
const disabled = (shareDomain: string) => ({ outcome: 'public_sharing_disabled', shareDomain }) as const;

describe('the domain of a new link', () => {
  it('is the site’s own when nothing else is asked, and when the site is asked for', async () => {
    const { jo, choose } = await scene();
    for (const caller of [jo, anonymous]) {
      for (const shareDomain of [null, '', siteHost, 'MAYFLY.example', 'Mayfly.example:3000']) {
        expect(await choose({ shareDomain }, caller)).toEqual(chosen(''));
        expect(await choose({ shareDomain, arrivedOn: `${siteHost}:8080` }, caller)).toEqual(chosen(''));
        expect(await choose({ shareDomain, arrivedOn: 'elsewhere.example' }, caller)).toEqual(chosen(''));
      }
    }
  });

  it('is a verified one of the caller’s when it is asked for, in any spelling', async () => {
    const { jo, al, choose } = await scene();
    expect(await choose({ shareDomain: 'Open.JO.example' }, jo)).toEqual(chosen(open));
    expect(await choose({ shareDomain: closed }, jo)).toEqual(chosen(closed));
    expect(await choose({ shareDomain: open }, al)).toEqual(unknown(open));
    expect(await choose({ shareDomain: open }, anonymous)).toEqual(unknown(open));
    expect(await choose({ shareDomain: 'Nobody.example' }, jo)).toEqual(unknown('Nobody.example'));
  });

  it('P20: is never one that is not verified (any more), also for its owner, also when the request arrives on it', async () => {
    const { jo, choose } = await scene();
    for (const state of ['unverified', 'pending', 'lost']) {
      const name = `${state}.jo.example`;
      expect(await choose({ shareDomain: name }, jo)).toEqual(unknown(name));
      expect(await choose({ arrivedOn: name }, jo)).toEqual(chosen(''));
      expect(await choose({ shareDomain: name, arrivedOn: name }, jo)).toEqual(unknown(name));
    }
  });

  it('is the one that the request arrives on, for everybody, where its owner lets everybody share', async () => {
    const { jo, al, choose } = await scene();
    for (const caller of [jo, al, anonymous]) {
      for (const arrivedOn of [open, 'OPEN.jo.example:443', `${open}.`]) {
        expect(await choose({ arrivedOn }, caller)).toEqual(chosen(open));
        for (const shareDomain of [open, siteHost, `${siteHost}:3000`])
          expect(await choose({ arrivedOn, shareDomain }, caller)).toEqual(chosen(open));
      }
    }
    expect(await choose({ arrivedOn: open, shareDomain: 'al.example' }, al)).toEqual(chosen('al.example'));
    expect(await choose({ arrivedOn: open, shareDomain: 'al.example' }, jo)).toEqual(unknown('al.example'));
  });

  it('where its owner shares alone is for its owner, and lets nobody anonymous create at all', async () => {
    const { jo, al, choose } = await scene();
    expect(await choose({ arrivedOn: closed }, jo)).toEqual(chosen(closed));
    expect(await choose({ arrivedOn: closed }, al)).toEqual(chosen(''));
    expect(await choose({ arrivedOn: closed, shareDomain: closed }, al)).toEqual(unknown(closed));
    for (const shareDomain of ['', siteHost, open, closed])
      expect(await choose({ arrivedOn: closed, shareDomain }, anonymous)).toEqual(disabled(closed));
  });

  it('is not the site’s own when the port is another one', async () => {
    const { jo, choose } = await scene();
    for (const shareDomain of [`${siteHost}:3001`, `${siteHost}:`, `${siteHost}:03000`, 'x.example:3000'])
      expect(await choose({ shareDomain }, jo)).toEqual(unknown(shareDomain));
  });

  it('is not looked up by a name that no share domain can have, nor by the site’s own', async () => {
    const asked: string[] = [];
    const store = {
      findVerifiedDomain: async (name: string) => {
        asked.push(name);
        return null;
      },
    };
    const choose = (wish: DomainWish) => chooseShareDomain({ store, links: site }, wish, anonymous);
    const addresses = [
      '127.0.0.1:3000',
      '203.0.113.9',
      '1.2.3',
      'example.0x7f',
      '[::1]:3000',
      '[2001:db8::1]',
    ];
    const others = ['', 'localhost:3000', 'mayfly', '.', 'a..example', '-a.example', 'a_b.example'];
    for (const name of [...addresses, ...others, `${'a'.repeat(64)}.example`, siteHost, `${siteHost}.:3000`])
      for (const wish of [
        { shareDomain: null, arrivedOn: name },
        { shareDomain: name, arrivedOn: siteHost },
      ])
        await choose(wish);
    expect(asked).toEqual([]);
    await choose({ shareDomain: 'two.example', arrivedOn: 'One.example:3000' });
    expect(asked).toEqual(['one.example', 'two.example']);
  });

  it('may be one without a public suffix, which an operator can add', async () => {
    const { bench, jo, choose } = await scene();
    for (const name of ['secrets.intern', 'a.b', 'links.4com']) {
      await giveDomain(bench.deps.store, jo.account.id, name);
      expect(await choose({ shareDomain: name }, jo)).toEqual(chosen(name));
      expect(await choose({ arrivedOn: `${name}:3000` }, jo)).toEqual(chosen(name));
    }
  });

  it('is what creation takes, and a refusal stores nothing', async () => {
    const { bench, jo } = await scene();
    expect((await bench.share('v', { arrivedOn: open })).shareDomain).toBe(open);
    expect((await bench.share('v', { arrivedOn: closed, caller: jo })).shareDomain).toBe(closed);
    const stored = bench.records.length;
    await expect(bench.share('v', { arrivedOn: closed })).rejects.toThrow('public_sharing_disabled');
    expect(bench.records).toHaveLength(stored);
  });
});

describe('a Host header', () => {
  it('is compared without its port, its last dot and its case', () => {
    const named: ReadonlyArray<[string, string]> = [
      ['Secrets.Example.ORG', 'secrets.example.org'],
      ['secrets.example.org:8443', 'secrets.example.org'],
      ['secrets.example.org.', 'secrets.example.org'],
      ['secrets.example.org:', 'secrets.example.org'],
      ['[::1]:3000', '[::1]'],
      ['', ''],
    ];
    for (const [host, name] of named) expect(hostNameOf(host)).toBe(name);
  });
});

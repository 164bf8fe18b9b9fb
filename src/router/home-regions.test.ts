/**
 * Proves that credentials find the region that knows them, that uncertainty is never answered as a refusal, and that
 * nothing of them is kept.
 */
import { describe, expect, it } from 'bun:test';
import { parseRegionLabel } from '../core/keys.ts';
import { type RouterRegion, routerRegions } from './fleet.ts';
import { createHomeRegions, type Recognition } from './home-regions.ts';

const regions: readonly RouterRegion[] = routerRegions(
  ['us', 'eu', 'ap'].flatMap((text) => {
    const label = parseRegionLabel(text);
    return label === null ? [] : [{ label, baseUrl: `https://${text}.example.com` }];
  }),
  [],
);

function homesWhere(says: Record<string, Recognition>, maxEntries = 100) {
  let nowMs = 0;
  const asked: string[] = [];
  const homes = createHomeRegions({
    regions,
    ask: async ({ label }, authorization, client) => {
      asked.push(`${label} ${authorization} ${client}`);
      return says[label] ?? 'unknown';
    },
    key: new Uint8Array(32).fill(3),
    nowMs: () => nowMs,
    maxEntries,
  });
  const find = async (authorization = 'Basic a', keeper: string | null = null) => {
    const region = regions.find(({ label }) => label === keeper) ?? null;
    const home = await homes.find(authorization, '203.0.113.9', region);
    return 'region' in home ? `${home.outcome} ${home.region.label}` : home.outcome;
  };
  return { homes, asked, says, find, pass: (milliseconds: number) => (nowMs += milliseconds) };
}

describe('credentials', () => {
  it('are at home where they are known, first in the operator’s order where several know them', async () => {
    expect(await homesWhere({ eu: 'known' }).find()).toBe('home eu');
    expect(await homesWhere({ eu: 'known', us: 'known' }).find()).toBe('home us');
    expect(await homesWhere({ eu: 'known', us: 'lost', ap: 'withheld' }).find()).toBe('home eu');
  });

  it('that no region knows are a stranger’s only if every region answered', async () => {
    expect(await homesWhere({}).find()).toBe('stranger');
    expect(await homesWhere({ ap: 'lost' }).find()).toBe('lost ap');
    expect(await homesWhere({ ap: 'lost', eu: 'withheld' }).find()).toBe('withheld eu');
  });

  it('are remembered for five minutes, or until their region no longer knows them', async () => {
    const { homes, asked, find, pass } = homesWhere({ eu: 'known' });
    await find();
    await find();
    expect(asked).toHaveLength(3);
    pass(299_999);
    await find();
    expect(asked).toHaveLength(3);
    pass(1);
    await find();
    expect(asked).toHaveLength(6);
    homes.forget('Basic a');
    await find();
    expect(asked).toHaveLength(9);
  });

  it('that were unknown are asked about again, so that a new account is found at once', async () => {
    const { says, find } = homesWhere({});
    expect(await find()).toBe('stranger');
    says.ap = 'known';
    expect(await find()).toBe('home ap');
  });

  it('that come many at once are asked about once, with the client’s address', async () => {
    const { asked, find } = homesWhere({ eu: 'known' });
    await Promise.all(Array.from({ length: 20 }, () => find()));
    expect(asked).toEqual(['us', 'eu', 'ap'].map((label) => `${label} Basic a 203.0.113.9`));
  });

  it('that come with a key are asked about in its region alone where they are at home there', async () => {
    const { asked, find } = homesWhere({ eu: 'known', us: 'lost' });
    expect(await find('Basic a', 'eu')).toBe('home eu');
    expect(await find('Basic a', 'eu')).toBe('home eu');
    expect(asked).toEqual(['eu Basic a 203.0.113.9']);
  });

  it.each([
    ['known', 'home us'],
    ['withheld', 'withheld us'],
    ['lost', 'lost us'],
    ['unknown', 'stranger'],
  ] as const)(
    'that come with a key from elsewhere are checked at home each time: %s, so %s',
    async (later, home) => {
      const { says, asked, find } = homesWhere({ us: 'known' });
      expect(await find('Basic a', 'eu')).toBe('home us');
      says.us = later;
      asked.length = 0;
      expect(await find('Basic a', 'eu')).toBe(home);
      expect(asked[0]).toStartWith('us ');
      expect(await find('Basic a', 'eu')).toBe(home);
    },
  );

  it('are forgotten in the order of their use when there are too many', async () => {
    const { asked, find } = homesWhere({ eu: 'known' }, 2);
    for (const header of ['Basic a', 'Basic b', 'Basic a', 'Basic c', 'Basic a']) await find(header);
    expect(asked).toHaveLength(9);
    await find('Basic b');
    expect(asked).toHaveLength(12);
  });
});

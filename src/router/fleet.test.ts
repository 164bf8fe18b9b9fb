/** Which servers count as healthy, when, and which is asked next, on a fake clock. */
import { describe, expect, it } from 'bun:test';
import { parseRegionLabel, type Region, type RegionLabel } from '../core/keys.ts';
import {
  createFleet,
  createHealthWatch,
  type Hop,
  type HopOutcome,
  type RegionServer,
  routerRegions,
} from './fleet.ts';

function labelOf(text: string): RegionLabel {
  const label = parseRegionLabel(text);
  if (label === null) throw new Error(`${text} is no label`);
  return label;
}
const region = (label: string, baseUrl = `https://${label}.example.com`): Region => ({
  label: labelOf(label),
  baseUrl,
});

function fleetOf(addresses: Readonly<Record<string, readonly string[]>>) {
  const changes: string[] = [];
  const upstreams = Object.entries(addresses).flatMap(([label, urls]) =>
    urls.map((url) => region(label, url)),
  );
  const regions = routerRegions(
    Object.keys(addresses).map((label) => region(label)),
    upstreams,
  );
  const fleet = createFleet(regions, {
    onChange: (label, isHealthy) => changes.push(`${label} ${isHealthy ? 'back' : 'lost'}`),
  });
  const [first, second] = regions;
  if (first === undefined || second === undefined) throw new Error('two regions are needed');
  return { fleet, changes, first, second };
}

describe('the servers of a region', () => {
  it('are reached at its own address, under its own Host, or where the operator says', () => {
    const [us, eu, ap] = routerRegions(
      [region('us'), region('eu', 'https://eu.example.com:8443/mayfly'), region('ap', 'http://[::1]:80')],
      [region('us', 'http://10.0.0.1:3000'), region('us', 'http://[fd00::2]:3000')],
    );
    expect(us?.servers).toEqual([
      { isTls: false, hostname: '10.0.0.1', port: 3000, basePath: '', host: 'us.example.com' },
      { isTls: false, hostname: 'fd00::2', port: 3000, basePath: '', host: 'us.example.com' },
    ]);
    const host = 'eu.example.com:8443';
    expect(eu?.servers).toEqual([
      { isTls: true, hostname: 'eu.example.com', port: 8443, basePath: '/mayfly', host },
    ]);
    expect(ap?.servers).toEqual([{ isTls: false, hostname: '::1', port: 80, basePath: '', host: '[::1]' }]);
  });

  it('are asked in turn, and unhealthy ones are skipped', () => {
    const { fleet, first } = fleetOf({ us: ['http://a', 'http://b', 'http://c'], eu: ['http://d'] });
    for (const server of first.servers) fleet.setHealth(server, true);
    const firstAsked = () => fleet.inTurn(first)[0]?.hostname;
    expect([firstAsked(), firstAsked(), firstAsked(), firstAsked()].sort()).toEqual(['a', 'b', 'b', 'c']);
    const [a] = first.servers;
    if (a !== undefined) fleet.setHealth(a, false);
    expect(
      fleet
        .inTurn(first)
        .map(({ hostname }) => hostname)
        .sort(),
    ).toEqual(['b', 'c']);
  });
});

describe('a region', () => {
  it('is healthy while one of its servers is, and each change is reported once', () => {
    const { fleet, changes, first } = fleetOf({ us: ['http://a', 'http://b'], eu: ['http://d'] });
    const [a, b] = first.servers;
    if (a === undefined || b === undefined) throw new Error('two servers are needed');
    for (const [server, isHealthy] of [
      [a, true],
      [b, true],
      [a, false],
      [a, false],
      [b, false],
      [b, false],
      [b, true],
    ] as const)
      fleet.setHealth(server, isHealthy);
    expect(changes).toEqual(['us back', 'us lost', 'us back']);
    expect(fleet.isHealthy(first)).toBe(true);
  });

  it('of a key without a known tag is the first, healthy or not', () => {
    const { fleet, first, second } = fleetOf({ us: ['http://a'], eu: ['http://d'] });
    expect(fleet.regionOf(labelOf('eu'))).toBe(second);
    expect(fleet.regionOf(labelOf('zz'))).toBe(first);
    expect(fleet.regionOf(null)).toBe(first);
  });
});

/** A clock and servers that answer as told. */
function watchOf(says: (server: RegionServer) => Promise<HopOutcome>) {
  const { fleet, changes, first, second } = fleetOf({ us: ['http://a'], eu: ['http://b'] });
  let timers: { readonly at: number; readonly run: () => void }[] = [];
  let now = 0;
  let asked = 0;
  const hop: Hop = (server, { signal }) => {
    asked += 1;
    const left = new Promise<HopOutcome>((resolve) =>
      signal.addEventListener('abort', () => resolve({ outcome: 'left' })),
    );
    return Promise.race([says(server), left]);
  };
  const after = (milliseconds: number, run: () => void) => {
    const timer = { at: now + milliseconds, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  };
  const watch = createHealthWatch({ fleet, hop, abandon: () => {}, after, everyMs: 2_000, limitMs: 1_000 });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    ...{ fleet, changes, first, second, watch, settle },
    askedSoFar: () => asked,
    async pass(milliseconds: number) {
      now += milliseconds;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
      await settle();
    },
  };
}

const answer = (status: number): HopOutcome => ({
  outcome: 'answered',
  response: new Response(null, { status }),
});

describe('the watch', () => {
  it('asks every server at once and again every two seconds, and a lost one is healthy after its next good answer', async () => {
    let status = 200;
    const { watch, changes, pass, askedSoFar } = watchOf(async () => answer(status));
    await watch.checkAll();
    expect(changes).toEqual(['us back', 'eu back']);
    status = 503;
    await pass(1_999);
    expect(askedSoFar()).toBe(2);
    await pass(1);
    expect(changes.slice(2)).toEqual(['us lost', 'eu lost']);
    status = 200;
    await pass(2_000);
    expect(changes.slice(4)).toEqual(['us back', 'eu back']);
    watch.stop();
    await pass(10_000);
    expect(askedSoFar()).toBe(6);
  });

  it('takes a refused connection at its word, and a slow answer only the second time', async () => {
    let outcome: Promise<HopOutcome> = Promise.resolve(answer(200));
    const { watch, changes, pass, settle, first } = watchOf(() => outcome);
    await watch.checkAll();
    outcome = new Promise(() => {});
    await pass(2_000);
    await pass(1_000);
    expect(changes).toHaveLength(2);
    await pass(2_000);
    await pass(1_000);
    expect(changes.slice(2)).toEqual(['us lost', 'eu lost']);
    outcome = Promise.resolve(answer(200));
    await pass(2_000);
    outcome = Promise.resolve({ outcome: 'not_sent' });
    const [server] = first.servers;
    if (server !== undefined) void watch.check(server);
    await settle();
    expect(changes.slice(4)).toEqual(['us back', 'eu back', 'us lost']);
  });

  it('asks a server once at a time, however many ask for it', async () => {
    const held = Promise.withResolvers<HopOutcome>();
    const { watch, first, askedSoFar } = watchOf(() => held.promise);
    const [server] = first.servers;
    if (server === undefined) throw new Error('a server is needed');
    const checks = [watch.check(server), watch.check(server), watch.check(server)];
    held.resolve(answer(200));
    await Promise.all(checks);
    expect(askedSoFar()).toBe(1);
  });
});

/** Whose brand a host has, and what an owner is shown of a domain. */
import { describe, expect, it } from 'bun:test';
import { added, setUp, site, verified } from './bench.ts';

describe('the brand of a host', () => {
  it('is that of a verified domain, whatever its case and port, and of nothing else', async () => {
    const { zone, app, alice, domains } = await setUp();
    await verified(zone, app, alice, 'x.example.com');
    await added(app, alice, 'y.example.com');
    await domains.setBrand(alice, 'x.example.com', { name: 'Example', isPublic: false });
    for (const host of ['x.example.com', 'X.Example.com:8443', 'x.example.com.', 'x.example.com.:443']) {
      expect([host, await domains.brandedDomain(host)]).toMatchObject([
        host,
        { name: 'x.example.com', brand: { name: 'Example', isPublic: false }, logoName: null },
      ]);
      expect(await domains.isVerified(host)).toBe(true);
    }
    for (const host of ['y.example.com', 'example.com', site])
      expect(await domains.brandedDomain(host)).toBeNull();
  });

  it('costs no look-up where the host cannot be a domain', async () => {
    let lookUps = 0;
    const { domains } = await setUp({
      wrapStore: (store) => ({
        ...store,
        findVerifiedDomain: (name) => {
          lookUps += 1;
          return store.findVerifiedDomain(name);
        },
      }),
    });
    const strange = [
      '',
      'localhost',
      '127.0.0.1',
      '127.0.0.1:3000',
      '[::1]:3000',
      site,
      `${site}:443`,
      'a b.com',
      '_x.com',
    ];
    for (const host of [...strange, 'x'.repeat(300), `${'a.'.repeat(130)}com`, "'; drop table--", 'a..b'])
      expect([host, await domains.brandedDomain(host)]).toEqual([host, null]);
    expect(lookUps).toBe(0);
    await domains.brandedDomain('stranger.example.com');
    expect(lookUps).toBe(1);
  });
});

describe('what is shown of a domain', () => {
  it('has the target’s addresses, asked for once a minute', async () => {
    const { zone, app, alice, domains } = await setUp();
    zone.set('addresses', site, '192.0.2.1', '2001:db8::1');
    await added(app, alice, 'x.example.com');
    await added(app, alice, 'y.example.com');
    for (const view of await domains.list(alice))
      expect(view.target.addresses).toEqual(['192.0.2.1', '2001:db8::1']);
    expect(zone.asked.filter((question) => question === `addresses ${site}`)).toHaveLength(1);
    zone.set('addresses', site, '192.0.2.2');
    app.clock.advance(60);
    expect(await domains.find(alice, 'x.example.com')).toMatchObject({
      domain: { target: { addresses: ['192.0.2.2'] } },
    });
  });

  it('changes with brand and logo, and the logo is found by its name alone', async () => {
    const { app, alice, domains } = await setUp();
    await added(app, alice, 'x.example.com');
    const svg = new TextEncoder().encode(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1z"/></svg>',
    );
    const saved = await domains.setLogo(alice, 'x.example.com', svg);
    if (saved.outcome !== 'saved' || saved.domain.logoName === null) throw new Error(JSON.stringify(saved));
    expect(await domains.findLogo(saved.domain.logoName)).toMatchObject({
      type: 'image/svg+xml',
      name: saved.domain.logoName,
    });
    for (const name of ['', 'x.svg', '../x.svg', `${saved.domain.logoName}x`])
      expect(await domains.findLogo(name)).toBeNull();
    expect(await domains.setLogo(alice, 'x.example.com', new Uint8Array(262_145))).toEqual({
      ...{ outcome: 'invalid', problem: 'too_large', maxBytes: 262_144 },
    });
    expect(await domains.setLogo(alice, 'x.example.com', new Uint8Array(10))).toMatchObject({
      problem: 'unknown_type',
    });
    expect(await domains.setLogo(alice, 'x.example.com', null)).toMatchObject({ domain: { logoName: null } });
    expect(await domains.findLogo(saved.domain.logoName)).toBeNull();
  });
});

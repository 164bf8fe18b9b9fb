/** Regions, as a reader sees them: which one this is, where the others are, and no mention when there are none. */
import { describe, expect, it } from 'bun:test';
import type { RegionLabel, Regions } from '../../src/core/keys.ts';
import { createTestApp } from '../support/app.ts';
import { visit } from './visit.ts';
import { saying, words } from './words.ts';

const regions: Regions = {
  own: 'eu' as RegionLabel,
  all: [
    { label: 'us' as RegionLabel, baseUrl: 'https://us.mayfly.example' },
    { label: 'eu' as RegionLabel, baseUrl: 'https://eu.mayfly.example:8443/secrets' },
  ],
};

const footOf = (html: string) => html.slice(html.indexOf('<footer>'));

describe('a region', () => {
  it('is named at the foot of every page, with the way to all of them', async () => {
    const app = createTestApp({ regions });
    for (const path of ['/', '/about', '/status', '/log-in', '/nope', '/secret/nope']) {
      const foot = footOf((await visit(app, path)).html);
      expect([
        path,
        foot.includes(words('frame.region', { region: 'EU' })),
        foot.includes('href="/regions"'),
      ]).toEqual([path, true, true]);
    }
  });

  it('is shown among the others by label and address, the present one marked', async () => {
    const { status, html } = await visit(createTestApp({ regions }), '/regions');
    const lines = [
      ...html.matchAll(/<li><strong>(\w+)<\/strong><a href="([^"]+)"[^>]*>([^<]+)<\/a>(.*?)<\/li>/g),
    ];
    expect(status).toBe(200);
    expect(
      lines.map(([, label, address, host, rest = '']) => [label, address, host, rest.includes('badge')]),
    ).toEqual([
      ['US', 'https://us.mayfly.example/', 'us.mayfly.example', false],
      ['EU', 'https://eu.mayfly.example:8443/secrets/', 'eu.mayfly.example:8443', true],
    ]);
    expect(html).toMatch(saying('regions.lead'));
  });

  it('is told by the status', async () => {
    const { html } = await visit(createTestApp({ regions }), '/status');
    expect(html).toContain(`<dt>${words('status.region')}</dt><dd>EU</dd>`);
  });
});

describe('without regions', () => {
  it('no page speaks of them', async () => {
    const app = createTestApp();
    for (const path of ['/', '/about', '/status'])
      expect((await visit(app, path)).html).not.toMatch(/region/i);
    expect((await visit(app, '/regions')).status).toBe(404);
  });
});

/** Where a browser is redirected, and what it is shown when no region is up. */
import { describe, expect, it } from 'bun:test';
import { parseRegionLabel, type Region } from '../core/keys.ts';
import { type RouterRegion, routerRegions } from './fleet.ts';
import { lostPage, redirectTo } from './own-answers.ts';

function regionAt(label: string, baseUrl: string): RouterRegion {
  const known = parseRegionLabel(label);
  const regions: readonly Region[] = known === null ? [] : [{ label: known, baseUrl }];
  const [region] = routerRegions(regions, []);
  if (region === undefined) throw new Error(`${label} is no label`);
  return region;
}
const us = regionAt('us', 'https://us.example.com');
const eu = regionAt('eu', 'https://eu.example.com/mayfly');

describe('a redirect', () => {
  it('leads to the same path and query on the region’s own address, and keeps the method', () => {
    const { status, headers } = redirectTo(eu, '/secret/abc?lang=de');
    expect([status, headers.get('location')]).toEqual([
      307,
      'https://eu.example.com/mayfly/secret/abc?lang=de',
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('leads nowhere else, whatever the path looks like', () => {
    for (const target of ['//evil.example/', '/@evil.example', '/\\evil.example', '/https://evil.example'])
      expect(new URL(redirectTo(us, target).headers.get('location') ?? '').origin).toBe(
        'https://us.example.com',
      );
  });
});

describe('the page of a lost region', () => {
  it('names the region and leads to the others, with nothing that runs or loads', async () => {
    const page = await lostPage(us, [eu], 'en');
    const markup = await page.text();
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
    expect(page.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(markup).toContain('This link belongs to the region us');
    expect(markup).toContain('<a href="https://eu.example.com/mayfly/">eu.example.com</a>');
    expect(markup).toStartWith('<!doctype html>\n<html lang="en" dir="ltr">');
    expect(markup).not.toMatch(/<script|<img|<link|src=| on\w+=/);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]+='; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });

  it('offers nothing where there is nothing to offer', async () => {
    const markup = await (await lostPage(null, [], null)).text();
    expect(markup).toContain('None of our regions can be reached');
    expect(markup).not.toContain('<a ');
  });

  it('has the style that its policy allows', async () => {
    const page = await lostPage(us, [], 'en');
    const style = /<style>(.*)<\/style>/.exec(await page.text())?.[1] ?? '';
    const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
    expect(page.headers.get('content-security-policy')).toContain(`'sha256-${hash}'`);
  });
});

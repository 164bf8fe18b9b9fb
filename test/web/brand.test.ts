/** The operator's brand: what a brand file may say, and how pages show it. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonReading } from '../../src/config/json.ts';
import type { Brands } from '../../src/web/brand/brand.ts';
import { readBrandFile } from '../../src/web/brand/brand-file.ts';
import { contrast, nearestReadable, paletteOf } from '../../src/web/brand/colours.ts';
import { createTestApp } from '../support/app.ts';
import { plainSvg } from './pictures.ts';
import { visit } from './visit.ts';
import { words } from './words.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-brand-'));
  await Bun.write(join(folder, 'logo.svg'), plainSvg);
});
afterAll(() => rm(folder, { recursive: true }));

async function read(content: unknown): Promise<JsonReading<Brands>> {
  const path = join(folder, 'brand.json');
  await Bun.write(
    path,
    typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
  );
  return readBrandFile(path);
}

async function brandsOf(content: unknown): Promise<Brands> {
  const reading = await read(content);
  if ('problems' in reading) throw new Error(reading.problems.join('\n'));
  return reading.value;
}

async function refusalOf(content: unknown): Promise<string> {
  const reading = await read(content);
  return 'problems' in reading ? reading.problems.join('\n') : 'accepted';
}

async function documented(): Promise<unknown> {
  const guide = await Bun.file(join(import.meta.dir, '../../docs/branding.md')).text();
  return JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)?.[1] ?? '');
}

describe('a brand file', () => {
  it('may be the example of the guide, which shows every field', async () => {
    const brands = await brandsOf(await documented());
    const site = brands.forHost('mayfly.example');
    expect([site.name, site.logo?.type, site.links.length]).toEqual(['Example Vault', 'image/svg+xml', 2]);
    expect([site.termsUrl, site.imprintUrl]).toEqual([
      'https://example.org/terms',
      'https://example.org/imprint',
    ]);
    expect(site.styleText).toContain('--leaf:#3a4f9a');
    expect(site.styleText).toContain('--leaf:#aab8f5');
  });

  it('gives a share domain what it says and the site’s brand for the rest', async () => {
    const brands = await brandsOf(await documented());
    const secrets = brands.forHost('secrets.example.org');
    const drop = brands.forHost('drop.example.net');
    expect([secrets.name, secrets.logo, secrets.links.length]).toEqual([
      'Example Secrets',
      brands.forHost(null).logo,
      2,
    ]);
    expect([drop.name, drop.logo, drop.links.length]).toEqual(['Example Vault', null, 0]);
    expect(drop.styleText).toContain('--leaf:#7a2f4f');
    expect(drop.styleText).toContain('--leaf:#aab8f5');
  });

  it('is chosen by the host name alone, whatever its port and its letters', async () => {
    const brands = await brandsOf({ name: 'A', domains: { 'Secrets.Example.org': { name: 'B' } } });
    const hosts = [
      'secrets.example.org',
      'SECRETS.example.org:8443',
      'secrets.example.org.',
      'secrets.example.org:',
    ];
    expect(hosts.map((host) => brands.forHost(host).name)).toEqual(['B', 'B', 'B', 'B']);
    const others = [
      'example.org',
      'x.secrets.example.org',
      'secrets.example.org.evil',
      '',
      '__proto__',
      null,
    ];
    expect(others.map((host) => brands.forHost(host).name)).toEqual(['A', 'A', 'A', 'A', 'A', 'A']);
  });

  it('may be empty', async () => {
    expect((await brandsOf({})).forHost(null).name).toBe('Mayfly');
  });

  const wholeFile =
    'the file must hold JSON in UTF-8, an object of name, logo, colour, links, termsUrl, imprintUrl, domains';
  const refusals: readonly [string, unknown, string][] = [
    ['no JSON', '{"name":', wholeFile],
    ['a list', [], wholeFile],
    ['another encoding', new Uint8Array([0x7b, 0xff, 0x7d]), wholeFile],
    [
      'an unknown field',
      { color: {} },
      'the file has no field "color": allowed are name, logo, colour, links, termsUrl, imprintUrl, domains',
    ],
    [
      'an inherited name as a field',
      '{"__proto__":{"name":"x"}}',
      'the file has no field "__proto__": allowed are name, logo, colour, links, termsUrl, imprintUrl, domains',
    ],
    ['a number as a name', { name: 7 }, 'name must be a text of 1 to 60 characters'],
    ['an empty name', { name: ' ' }, 'name must be a text of 1 to 60 characters'],
    ['a name of two lines', { name: 'a\nb' }, 'name must be a text of 1 to 60 characters'],
    ['a long name', { name: 'x'.repeat(61) }, 'name must be a text of 1 to 60 characters'],
    ['a colour by name', { colour: { light: 'red' } }, 'colour.light must be a colour in the form #rrggbb'],
    [
      'a third scheme',
      { colour: { sepia: '#000000' } },
      'colour has no field "sepia": allowed are light, dark',
    ],
    ['links that are no list', { links: {} }, 'links must be a list of at most 10 objects of label, url'],
    [
      'a script as a link',
      { links: [{ label: 'x', url: 'javascript:alert(1)' }] },
      'links[0].url must be an address that begins with https://, http:// or mailto:',
    ],
    [
      'a path as terms',
      { termsUrl: '/terms' },
      'termsUrl must be an address that begins with https://, http:// or mailto:',
    ],
    [
      'a link with a target',
      { links: [{ label: 'x', url: 'https://a.example', target: '_blank' }] },
      'links[0] has no field "target": allowed are label, url',
    ],
    [
      'a logo from elsewhere',
      { logo: 'https://a.example/logo.svg' },
      'logo must be a path relative to the brand file, or null for Mayfly’s own logo',
    ],
    [
      'a logo that is not there',
      { logo: 'none.png' },
      'logo ("none.png") cannot be read: check that it exists and that Mayfly may read it',
    ],
    [
      'a logo that is no picture',
      { logo: 'brand.json' },
      'logo ("brand.json") must be a picture: SVG, PNG, WebP, JPEG or GIF',
    ],
    [
      'a domain with a port',
      { domains: { 'a.example:80': {} } },
      'domains: "a.example:80" must be a host name without scheme, port and path',
    ],
    [
      'a fault in a domain',
      { domains: { 'a.example': { name: '' } } },
      'domains["a.example"].name must be a text of 1 to 60 characters',
    ],
    [
      'domains in a domain',
      { domains: { 'a.example': { domains: {} } } },
      'domains["a.example"] has no field "domains": allowed are name, logo, colour, links, termsUrl, imprintUrl',
    ],
  ];
  for (const [what, content, sentence] of refusals) {
    it(`is refused for ${what} with a sentence that names the field and what is allowed`, async () => {
      expect(await refusalOf(content)).toBe(sentence);
    });
  }

  it('is refused for everything that is wrong with it at once, in the order of the file', async () => {
    const sentences = await refusalOf({ termsUrl: 7, links: [{ url: 'x', label: 'x' }, {}], nmae: 'x' });
    const isAddress = 'must be an address that begins with https://, http:// or mailto:';
    expect(sentences.split('\n')).toEqual([
      `termsUrl ${isAddress}`,
      `links[0].url ${isAddress}`,
      'links[1].label must be a text of 1 to 60 characters',
      `links[1].url ${isAddress}`,
      'the file has no field "nmae": allowed are name, logo, colour, links, termsUrl, imprintUrl, domains',
    ]);
  });

  it('is refused when it is not there', () => {
    expect(readBrandFile(join(folder, 'absent.json'))).toEqual({
      problems: ['the file cannot be read: check that it exists and that Mayfly may read it'],
    });
  });
});

describe('a colour', () => {
  it('that cannot be read is refused with the nearest that can', async () => {
    const sentence = await refusalOf({ colour: { light: '#66aaff' } });
    expect(sentence).toStartWith('colour.light must have a contrast of 4.5 to 1 on the light paper');
    const nearest = /nearest that can be read is (#[0-9a-f]{6})$/.exec(sentence)?.[1] ?? '';
    expect(contrast(nearest, paletteOf('light').paper ?? '')).toBeGreaterThanOrEqual(4.5);
    expect(await refusalOf({ colour: { light: nearest } })).toBe('accepted');
    expect(await refusalOf({ colour: { dark: '#202020' } })).toContain('on the dark paper');
  });

  it('that is accepted can be read on paper, sheet and its soft ground, and so can the words on it', async () => {
    for (const scheme of ['light', 'dark'] as const) {
      const palette = paletteOf(scheme);
      for (const wish of [
        '#ff0000',
        '#00ff00',
        '#0000ff',
        '#ffff00',
        '#808080',
        '#000000',
        '#ffffff',
        '#c0ffee',
      ]) {
        const colour = nearestReadable(wish, scheme);
        const { styleText } = (await brandsOf({ colour: { [scheme]: colour } })).forHost(null);
        const said = (name: string) => new RegExp(`--${name}:(#[0-9a-f]{6})`).exec(styleText)?.[1] ?? '';
        const ratios = [
          contrast(colour, palette.paper ?? ''),
          contrast(colour, palette.sheet ?? ''),
          contrast(colour, said('leaf-soft')),
          contrast(said('on-leaf'), colour),
          contrast(said('on-leaf'), said('leaf-hover')),
        ];
        expect({ scheme, wish, least: Math.min(...ratios) >= 4.5 }).toEqual({ scheme, wish, least: true });
      }
    }
  });
});

describe('pages of a brand', () => {
  it('show its name, logo and links, and a policy that admits its colours by their hash alone (P19)', async () => {
    const app = createTestApp({ brands: await brandsOf(await documented()) });
    const { headers, html } = await visit(app, '/about');
    expect(html).toContain(`<title>${words('about.title')} · Example Vault</title>`);
    expect(html).toMatch(/<img src="\/logo\/logo-[0-9a-f]{32}\.svg" alt=""/);
    for (const url of [
      'https://help.example.org/secrets',
      'mailto:it@example.org',
      'https://example.org/terms',
    ])
      expect(html).toContain(`href="${url}"`);
    const style = /<style>([^<]*)<\/style>/.exec(html)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain(`style-src 'self' 'sha256-${hash}';`);
    expect(policy).not.toContain('unsafe');
  });

  it('have no inline style where the brand has no colours', async () => {
    const { headers, html } = await visit(createTestApp(), '/about');
    expect(html).not.toContain('<style');
    expect(headers.get('content-security-policy')).toContain("style-src 'self';");
  });

  it('follow the host they are asked from and never repeat it (P20)', async () => {
    const brands = await brandsOf({ name: 'Site', domains: { 'secrets.example.org': { name: 'Secrets' } } });
    const app = createTestApp({ brands });
    const at = async (host: string) => (await visit(app, '/', { headers: { host } })).html;
    expect(await at('secrets.example.org:443')).toContain('· Secrets</title>');
    const stranger = await at('evil.example');
    expect(stranger).toContain('· Site</title>');
    expect(stranger).not.toContain('evil.example');
  });

  it('serve the logo as what it is, for ever, unable to run or load anything when it is opened by itself', async () => {
    const app = createTestApp({ brands: await brandsOf({ logo: 'logo.svg' }) });
    const path = /src="(\/logo\/[^"]+)"/.exec((await visit(app, '/about')).html)?.[1] ?? '';
    const { status, headers, html } = await visit(app, path);
    expect([status, html]).toEqual([200, plainSvg]);
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable, no-transform');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'; sandbox",
    );
    expect((await visit(app, '/logo/logo-0000000000000000.svg')).status).toBe(404);
  });
});

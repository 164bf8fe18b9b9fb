/** A logo: which files may be one, known by what they hold and never by what they are called. */
import { describe, expect, it } from 'bun:test';
import { brandRules } from '../../src/web/brand/brand-rules.ts';
import { maxLogoBytes, parseLogo } from '../../src/web/brand/logo.ts';
import { gif, jpeg, plainSvg, png, webp } from './pictures.ts';

describe('a logo', () => {
  const parse = (text: string) => parseLogo(new Uint8Array(Buffer.from(text, 'latin1')));
  const flawOf = (text: string) => {
    const logo = parse(text);
    return 'error' in logo ? logo.error : 'accepted';
  };
  const svg = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`;

  it('is known by its content and not by its name', () => {
    const files = [png, jpeg, webp, gif, new Uint8Array(Buffer.from(plainSvg))];
    const types = files.map((file) => {
      const logo = parseLogo(file);
      return 'error' in logo ? logo.error : logo.file.type;
    });
    expect(types).toEqual(['image/png', 'image/jpeg', 'image/webp', 'image/gif', 'image/svg+xml']);
    for (const text of [
      '',
      'GIF88a',
      '<html></html>',
      'RIFF\0\0\0\0WAVE',
      '\xff\xfe<\0s\0v\0g\0',
      '<!DOCTYPE svg><svg/>',
    ]) {
      expect(flawOf(text)).toBe('must be a picture: SVG, PNG, WebP, JPEG or GIF');
    }
  });

  it('is at most 256 kB', () => {
    const padded = (length: number) => svg(' '.repeat(length - svg('').length));
    expect(flawOf(padded(maxLogoBytes))).toBe('accepted');
    expect(flawOf(padded(maxLogoBytes + 1))).toBe('must be a file of at most 256 kB');
  });

  it('is whole: a picture that was cut off anywhere, or has no size, is damaged', () => {
    for (const whole of [png, jpeg, webp, gif]) {
      const signatureBytes = whole === webp ? 12 : 8;
      for (let length = signatureBytes; length < whole.length; length += 1) {
        const cut = parseLogo(whole.slice(0, length));
        expect([length, 'problem' in cut ? cut.problem : 'accepted']).toEqual([length, 'damaged']);
      }
    }
    const flat = png.slice();
    flat.fill(0, 16, 20);
    expect(parseLogo(flat)).toMatchObject({ problem: 'damaged' });
  });

  it('is refused with the problem that an owner is told, and kept as a copy of its own', () => {
    const problems: readonly [string, string][] = [
      ['no picture', 'unknown_type'],
      [svg('<script/>'), 'unsafe_svg'],
      [svg('<g>'), 'damaged'],
      [svg('<g></path>'), 'damaged'],
      [svg(' '.repeat(maxLogoBytes)), 'too_large'],
    ];
    for (const [text, problem] of problems)
      expect(brandRules.parseLogo(new Uint8Array(Buffer.from(text)))).toEqual({ problem } as never);
    const whole = new Uint8Array(png.length + 100);
    whole.set(png, 100);
    const logo = brandRules.parseLogo(whole.subarray(100));
    if ('problem' in logo) throw new Error(logo.problem);
    expect([logo.type, logo.bytes.buffer.byteLength]).toEqual(['image/png', png.length]);
    expect(logo.name).toMatch(/^logo-[0-9a-f]{32}\.png$/);
  });

  it('is judged in a time that grows with its length alone, whatever it is made of', () => {
    const rows = ['<!-- -->', '<!---->', '<!--', '<?xml ?>', ' ', '<', '<a ', 'a="" ', '<g a="'];
    for (const row of rows) {
      const text = row.repeat(Math.floor(maxLogoBytes / row.length / 2));
      for (const drawn of [text, svg(text), `<svg ${text}`]) expect(flawOf(drawn)).not.toBe('');
    }
  });

  const dangerous: readonly string[] = [
    '<script>alert(1)</script>',
    '<SCRIPT/>',
    '<svg:script/>',
    '<g onload="alert(1)"/>',
    "<g OnClick = 'x'/>",
    '<foreignObject/>',
    '<image href="https://a.example/x.png"/>',
    '<use href="https://a.example/x.svg#a"/>',
    '<use xlink:href="other.svg#a"/>',
    '<use href="data:image/svg+xml,x"/>',
    '<a href="#x"/>',
    '<style>path{fill:url(https://a.example)}</style>',
    '<path style="fill:red"/>',
    '<path fill="url(https://a.example/#x)"/>',
    '<path fill="url( &quot;//a.example/&quot;)"/>',
    '<path fill="\\75rl(//a.example)"/>',
    '<path fill="&#117;rl(//a.example)"/>',
    '<g xml:base="https://a.example/"/>',
    '<animate attributeName="href" to="javascript:alert(1)"/>',
    '<set attributeName="onload" to="alert(1)"/>',
    '<![CDATA[<script>alert(1)</script>]]>',
    '<!ENTITY x "y">',
    '<?xml-stylesheet href="https://a.example/x.css"?>',
    '<path d=M0/>',
    '<path onload=alert(1)/>',
    '<path d="M0"',
    '<filter/>',
    '<iframe/>',
  ];
  for (const inside of dangerous) {
    it(`is refused when it holds ${inside}`, () => {
      expect(flawOf(svg(inside))).toStartWith('must be a plain drawing, and this SVG has ');
    });
  }

  it('tooth check: the same drawings without what is dangerous are accepted', () => {
    const harmless = [
      '<g/>',
      '<use href="#a"/>',
      '<use xlink:href="#a"/>',
      '<path fill="url(#a)"/>',
      '<path d="M0"/>',
      '<!-- <script> -->',
      'a &gt; b',
    ];
    expect(harmless.map((inside) => flawOf(svg(inside)))).toEqual(harmless.map(() => 'accepted'));
  });
});

/** Which files may be a logo, recognised by their content and never by their name. */
import { describe, expect, it } from 'bun:test';
import { brandRules } from '../../src/web/brand/brand.ts';
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

  it('is at most 262 kB', () => {
    const padded = (length: number) => svg(' '.repeat(length - svg('').length));
    expect(flawOf(padded(maxLogoBytes))).toBe('accepted');
    expect(flawOf(padded(maxLogoBytes + 1))).toBe('must be a file of at most 262\u00a0kB');
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

  describe('that draws itself over and over', () => {
    const tenTimes = (piece: string) => piece.repeat(10);
    const levels = (count: number, level: (n: number) => string) =>
      svg(Array.from({ length: count }, (_, n) => level(n)).join(''));
    const flood =
      'must be a plain drawing, and this SVG has more than 100,000 shapes once its references are drawn';
    const shape = '<path id="i0" d="M0 0h1v1z"/>';

    it('is refused for more than 100,000 shapes, by whatever reference (P21)', () => {
      const bombs = [
        levels(9, (n) => (n === 0 ? shape : `<g id="i${n}">${tenTimes(`<use href="#i${n - 1}"/>`)}</g>`)),
        levels(9, (n) => `<g id="i${n}">${tenTimes(`<use xlink:href='#i${n + 1}'/>`)}</g>`),
        levels(
          9,
          (n) => `<mask id="i${n}">${tenTimes(`<rect mask="url(#i${n + 1})" width="1" height="1"/>`)}</mask>`,
        ),
        levels(9, (n) => `<pattern id="i${n}">${tenTimes(`<rect fill="url( '#i${n + 1}' )"/>`)}</pattern>`),
        levels(9, (n) => `<g xml:id="i${n}">${tenTimes(`<use href="#i${n + 1}"/>`)}</g>`),
        svg(`<g id="i0">${'<path/>'.repeat(1_000)}</g>${'<use href="#i0"/>'.repeat(200)}`),
      ];
      expect(bombs.map(flawOf)).toEqual(bombs.map(() => flood));
      for (const bomb of bombs) expect(bomb.length).toBeLessThan(12_000);
    });

    it('is refused when it is inside of what it draws', () => {
      for (const circle of [
        '<g id="a"><use href="#a"/></g>',
        '<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>',
        '<pattern id="a"><rect fill="url(#a)"/></pattern>',
      ]) {
        expect(flawOf(svg(circle))).toBe(flood);
      }
    });

    it('is accepted as long as it is few, also in several levels', () => {
      const nested = levels(4, (n) =>
        n === 0 ? shape : `<g id="i${n}">${tenTimes(`<use href="#i${n - 1}"/>`)}</g>`,
      );
      expect(flawOf(nested)).toBe('accepted');
      expect(flawOf(svg('<path fill="url(#g)"/>'.repeat(5_000)))).toBe('accepted');
    });

    it('is judged in a time that its length bounds', () => {
      const wide = `<g id="a">${'<use href="#b"/>'.repeat(7_000)}</g>${'<use href="#a"/>'.repeat(7_000)}`;
      const deep = Array.from({ length: 6_000 }, (_, n) => `<g id="i${n}"><use href="#i${n + 1}"/></g>`).join(
        '',
      );
      for (const drawn of [svg(wide), svg(deep)]) {
        expect(drawn.length).toBeLessThan(maxLogoBytes);
        expect(flawOf(drawn)).not.toBe('');
      }
    });
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
    '<g mask="image-set(&quot;http://a.example/x.png&quot; 1x)"/>',
    '<g mask=\'image-set("http://a.example/x.png" 1x)\'/>',
    '<g mask=\'-webkit-image-set("//a.example/x.png" 1x)\'/>',
    '<g mask=\'image-set("x.png" 1x)\'/>',
    '<g cursor=\'src("x.cur")\'/>',
    '<g fill="https://a.example/"/>',
    '<use href="#%61"/>',
    '<use href="#a&amp;b"/>',
    '<path fill="url(#a&amp;b)"/>',
    '<path fill="url(#a"/>',
  ];
  for (const inside of dangerous) {
    it(`is refused when it holds ${inside}`, () => {
      expect(flawOf(svg(inside))).toStartWith('must be a plain drawing, and this SVG has ');
    });
  }

  it('self-test: the same drawings without what is dangerous are accepted', () => {
    const harmless = [
      '<g/>',
      '<use href="#a"/>',
      '<use xlink:href="#a"/>',
      '<path fill="url(#a)"/>',
      '<path d="M0"/>',
      '<path fill="url(\'#a\') red"/>',
      '<path id="s"/><clipPath id="c"><use href="#s"/></clipPath><g clip-path="url(#c)"/>',
      '<linearGradient id="b" href="#a" gradientTransform="rotate(45)"/>',
      '<g xmlns:x="http://www.w3.org/1999/xlink"><use x:href="#a"/></g>',
      '<!-- <script> -->',
      'a &gt; b',
    ];
    expect(harmless.map((inside) => flawOf(svg(inside)))).toEqual(harmless.map(() => 'accepted'));
  });
});

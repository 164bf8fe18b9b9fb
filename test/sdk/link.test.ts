import { describe, expect, it } from 'bun:test';
import { parseLink } from '../../sdk/mayfly.ts';

describe('a link', () => {
  const key = 'abcdefghijklmnopqrstuvwxyz01234';

  it('is told from a receipt, and both from a bare key', () => {
    expect(parseLink(` https://x.example/secret/${key}\n`)).toEqual({
      kind: 'secret',
      key,
      server: 'https://x.example',
      fragment: null,
    });
    expect(parseLink(`http://localhost:3000/below/receipt/${key}/`)).toEqual({
      kind: 'receipt',
      key,
      server: 'http://localhost:3000/below',
      fragment: null,
    });
    expect(parseLink(`https://x.example/private/${key}`)?.kind).toBe('receipt');
    expect(parseLink(key)).toEqual({ kind: 'unknown', key, server: null, fragment: null });
  });

  it('has a fragment that opens an end-to-end secret, and so may a bare key', () => {
    for (const [text, server] of [
      [`https://x.example/secret/${key}#aB-_0`, 'https://x.example'],
      [` ${key}#aB-_0\n`, null],
      [`https://x.example/receipt/${key}/#aB-_0`, 'https://x.example'],
    ] as const)
      expect(parseLink(text)).toMatchObject({ key, server, fragment: 'aB-_0' });
    expect(parseLink(`https://x.example/secret/${key}#`)?.fragment).toBeNull();
    // Nothing of it is decoded or left out: what is damaged must not look whole.
    for (const odd of ['a#b', '%41', 'a b', 'é'])
      expect(parseLink(`https://x.example/secret/${key}#${odd}`)?.fragment).toBe(odd);
  });

  it('may be to answer, or to read answers, each with an end of its own length', () => {
    const ends = { ask: `${'x'.repeat(41)}-8`, answers: `${'x'.repeat(21)}A` } as const;
    for (const kind of ['ask', 'answers'] as const) {
      const link = `https://x.example/below/${kind}/${key}`;
      const whole = { kind, key, server: 'https://x.example/below', fragment: ends[kind] };
      for (const text of [
        `${link}#${ends[kind]}`,
        ` <${link}/#${ends[kind]}>.\n`,
        `${link}%23${ends[kind]}`,
        `${link}#${ends[kind].slice(0, 9)}=\r\n > ${ends[kind].slice(9)}`,
        `https://filter.example/?u=${encodeURIComponent(link)}#${ends[kind]}`,
        `https://filter.example/?u=${encodeURIComponent(`${link}#${ends[kind]}`)}`,
      ])
        expect([text, parseLink(text)]).toEqual([text, whole]);
      // The end of the other kind is none of this.
      for (const odd of [
        'aB-_0',
        ends[kind].slice(0, -1),
        `${ends[kind]}A`,
        ends[kind === 'ask' ? 'answers' : 'ask'],
      ])
        expect(parseLink(`${link}#${odd}`)).toEqual({ ...whole, fragment: odd });
      expect(parseLink(link)).toEqual({ ...whole, fragment: null });
      expect(parseLink(`${link} ${link}`)).toBeNull();
    }
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      key.slice(1),
      `${key}0`,
      key.toUpperCase(),
      `ftp://x.example/secret/${key}`,
      `https://x.example/${key}`,
      `https://x.example/secret/${key}/x`,
    ]) {
      expect(parseLink(text)).toBeNull();
    }
  });
});

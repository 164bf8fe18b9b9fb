import { describe, expect, it } from 'bun:test';
import { exchangeOf } from '../../../test/support/exchange.ts';
import { readParameters } from './carriage.ts';
import { dialectOf } from './dialect.ts';

const form = 'application/x-www-form-urlencoded';
const known = new Set(['secret']);
const documented = dialectOf('documented');

async function secretOf(contentType: string, body: string | Uint8Array): Promise<string> {
  try {
    return (
      (await readParameters(exchangeOf({ contentType, body }), known, documented)).get('secret') ?? 'none'
    );
  } catch (error) {
    return error instanceof Error ? error.message : 'refused';
  }
}

const refused = 'malformed';

describe('a body of v1 that names another charset than UTF-8', () => {
  it('is read where the label makes no difference: plain ASCII, as existing clients send it', async () => {
    const labels = ['ISO-8859-1', 'us-ascii', '"windows-1252"', 'Shift_JIS', 'x-unknown', ''];
    for (const label of labels) {
      expect([label, await secretOf(`${form}; charset=${label}`, 'secret=a%20b')]).toEqual([label, 'a b']);
    }
    for (const label of ['utf-8', 'UTF8', '"Utf-8"']) {
      expect([label, await secretOf(`${form};charset=${label}`, 'secret=ä')]).toEqual([label, 'ä']);
    }
    expect(await secretOf('application/json; charset=iso-8859-1', '{"secret":"\\u00e4"}')).toBe('ä');
  });

  it('is refused where another reader of it would see another text, and never converted', async () => {
    const bytes = (...parts: number[]) => Uint8Array.from([...Buffer.from('secret='), ...parts]);
    const bodies: readonly (readonly [string, string | Uint8Array])[] = [
      // UTF-8 for "ä", which ISO-8859-1 reads as two letters.
      [`${form}; charset=ISO-8859-1`, 'secret=ä'],
      [`${form}; charset=ISO-8859-1`, 'secret=%C3%A4'],
      ['application/json; charset=iso-8859-1', '{"secret":"ä"}'],
      ['text/plain; charset=windows-1252', 'secret=ä'],
      // One Chinese letter that is also well-formed UTF-8.
      [`${form}; charset=gbk`, bytes(0xd0, 0xb0)],
      [`${form}; charset="Shift_JIS"; x=y`, bytes(0xc3, 0xa4)],
      // All ASCII as bytes, and another text.
      [`${form}; charset=iso-2022-jp`, bytes(0x1b, 0x24, 0x42, 0x24, 0x22, 0x1b, 0x28, 0x42)],
      [`${form}; charset=utf-7`, 'secret=%2BAOQ-'],
      [`${form}; charset=UTF-16`, 'secret=a'],
      [`${form}; charset=utf-16le`, new Uint8Array(Buffer.from('secret=a', 'utf16le'))],
    ];
    for (const [contentType, body] of bodies)
      expect([contentType, await secretOf(contentType, body)]).toEqual([contentType, refused]);
  });

  it('is refused as multipart too', async () => {
    const multipart = (label: string) => `multipart/form-data; boundary=b; charset=${label}`;
    const body = (value: string) =>
      `--b\r\nContent-Disposition: form-data; name="secret"\r\n\r\n${value}\r\n--b--\r\n`;
    expect(await secretOf(multipart('iso-8859-1'), body('a'))).toBe('a');
    expect(await secretOf(multipart('iso-8859-1'), body('ä'))).toBe(refused);
    expect(await secretOf(multipart('utf-8'), body('ä'))).toBe('ä');
  });
});

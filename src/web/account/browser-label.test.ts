/** The label of a session: what a person recognises a browser by. */
import { describe, expect, it } from 'bun:test';
import { browserLabel, parseBrowserLabel } from './browser-label.ts';

const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0';
const known = {
  'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0': 'Firefox on Linux',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`]: 'Chrome on Windows',
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/140.0.0.0`]: 'Edge on Windows',
  [`Mozilla/5.0 (Windows NT 10.0) ${chrome} Safari/537.36 OPR/120.0.0.0`]: 'Opera on Windows',
  [`Mozilla/5.0 (Linux; Android 15; K) ${chrome} Mobile Safari/537.36`]: 'Chrome on Android',
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`]: 'Chrome on ChromeOS',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15':
    'Safari on macOS',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) FxiOS/140.0 Mobile/15E148 Safari/605.1.15':
    'Firefox on iPhone',
  'Mozilla/5.0 (X11; Linux x86_64) Konqueror/5': 'on Linux',
  'curl/8.5.0': '',
  '': '',
};

describe('the label of a browser', () => {
  for (const [header, label] of Object.entries(known)) {
    it(`is “${label}” for “${header.slice(0, 60)}”`, () => expect(browserLabel(header)).toBe(label));
  }

  it('holds nothing of the header’s own text, whatever that is, and stays short', () => {
    const hostile = `<b>Firefox/1</b> Linux ${'x'.repeat(100_000)} Windows`;
    expect(browserLabel(hostile)).toBe('Firefox on Linux');
    for (const header of ['Version/', 'Version/1 '.repeat(10_000), '\u0000 Firefox/ \r\n']) {
      expect(browserLabel(header).length).toBeLessThanOrEqual(60);
    }
  });

  it('comes apart again into browser and system', () => {
    expect(parseBrowserLabel('Samsung Internet on Android')).toEqual({
      browser: 'Samsung Internet',
      system: 'Android',
    });
    expect(parseBrowserLabel('on Linux')).toEqual({ browser: '', system: 'Linux' });
    expect(parseBrowserLabel('Firefox')).toEqual({ browser: 'Firefox', system: '' });
    expect(parseBrowserLabel('')).toEqual({ browser: '', system: '' });
  });
});

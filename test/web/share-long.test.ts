/** Texts far longer than a plan allows, and bodies longer than any form: refused, and given back where possible. */
import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { builtInPlans } from '../../src/core/plans.ts';
import { parseForm } from '../../src/web/kit/form.ts';
import { createTestApp } from '../support/app.ts';
import { chosenIn, postForm, share, textIn, valueIn, visit, wordsOf } from './visit.ts';
import { words } from './words.ts';

const mebibyte = 1_048_576;
const typed = {
  passphrase: 'pa"ss',
  ttl: 'other',
  'ttl-amount': '36',
  'ttl-unit': 'hours',
  recipient: 'joanna@example.org',
  'suggest-style': 'words',
  'suggest-length': '20',
  'suggest-words': '7',
};

describe('a text that is too long', () => {
  for (const [what, secret] of [
    ['100,000 letters', 'x'.repeat(100_000)],
    ['900 kB', `${'x'.repeat(59)}\n`.repeat(15_000)],
    ['100,000 letters of three bytes each', 'あ'.repeat(100_000)],
  ] as const) {
    it(`of ${what} comes back whole with all that was typed beside it, and nothing is stored`, async () => {
      const app = createTestApp();
      const refused = await postForm(app, '/share', { ...typed, secret });
      expect(refused.status).toBe(413);
      expect(textIn(refused.html, 'secret') === secret).toBe(true);
      expect(refused.html).toContain(words('share.tooLarge', { size: '10\u00a0kB' }));
      for (const name of [
        'passphrase',
        'ttl-amount',
        'recipient',
        'suggest-length',
        'suggest-words',
      ] as const)
        expect(valueIn(refused.html, name)).toBe(typed[name]);
      expect([chosenIn(refused.html, 'ttl'), chosenIn(refused.html, 'ttl-unit')]).toEqual(['other', 'hours']);
      expect(app.events).toEqual([]);
    });
  }

  it('comes back in an answer that no cache keeps, that is not compressed, and of which nothing is logged (P9)', async () => {
    const app = createTestApp();
    const secret = 'canary '.repeat(20_000);
    const refused = await postForm(app, '/share', { secret }, { 'accept-encoding': 'gzip' });
    expect(textIn(refused.html, 'secret') === secret).toBe(true);
    expect(refused.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(refused.headers.get('content-encoding')).toBeNull();
    expect(JSON.stringify([app.answers, app.events, app.faults])).not.toContain('canary');
    expect(app.faults).toEqual([]);
  });

  it('comes back from Generate too, when nothing can be generated', async () => {
    const app = createTestApp();
    const secret = 'x'.repeat(900_000);
    const refused = await postForm(app, '/suggest', { ...typed, secret, 'suggest-words': '99' });
    expect([refused.status, textIn(refused.html, 'secret') === secret]).toEqual([422, true]);
  });

  it('comes back over the rate limit, too', async () => {
    const once = { limit: 1, windowSeconds: 600, burst: 1 };
    const create = { anonymous: once, account: once };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, create } });
    await postForm(app, '/share', { secret: 'x' });
    const secret = 'x'.repeat(900_000);
    const refused = await postForm(app, '/share', { secret });
    expect([refused.status, textIn(refused.html, 'secret') === secret]).toEqual([429, true]);
  });
});

describe('a body over the cap', () => {
  it('of 1 MiB for the share form is refused with a page that names it and promises nothing that is not so', async () => {
    for (const path of ['/share', '/suggest']) {
      const app = createTestApp();
      const refused = await postForm(app, path, { secret: 'x'.repeat(mebibyte) });
      expect(refused.status).toBe(413);
      expect(refused.html).toContain('1\u00a0MB');
      expect(wordsOf(refused.html)).not.toContain('go back');
      expect(refused.html).not.toContain('xxxx');
      expect(app.events).toEqual([]);
    }
  });

  it('is smaller for every other form', async () => {
    const app = createTestApp();
    const { secretPath, receiptPath } = await share(app, { secret: 'x' });
    for (const path of [secretPath, receiptPath, `${receiptPath}/burn`, '/log-in', '/language']) {
      const refused = await postForm(app, path, { passphrase: 'x'.repeat(71_000) });
      expect([path, refused.status]).toEqual([path, 413]);
      expect(refused.html).toContain('70.2\u00a0kB');
    }
    expect((await visit(app, receiptPath)).status).toBe(200);
  });

  it('is the usual one for the share form too, where a plan allows more than 1 MiB', async () => {
    const largest = { ...builtInPlans.anonymous, maxValueBytes: 2_000_000 };
    const app = createTestApp({ plans: { anonymous: largest } });
    expect((await postForm(app, '/share', { secret: 'x'.repeat(1_900_000) })).status).toBe(303);
  });
});

describe('a form of many fields', () => {
  const type = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
  const fields = (count: number) =>
    Buffer.from(Array.from({ length: count }, (_, at) => `f${at}=`).join('&'));

  it('is read up to 100 of them, empty ones too, which is more than any page has (P21)', () => {
    expect(parseForm(fields(100), type).text('f99')).toBe('');
    expect(parseForm(Buffer.from(`${'&'.repeat(99)}a=b`), type).text('a')).toBe('b');
    const problem = { problem: 'malformed', message: 'There are more than 100 fields.' };
    for (const body of [fields(101), Buffer.from(`${'&'.repeat(100)}a=b`)])
      expect(() => parseForm(body, type)).toThrow(expect.objectContaining({ problem }));
  });
});

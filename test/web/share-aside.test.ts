/** What someone typed before a generated value replaced it: kept with the form, and restored by a button. */
import { describe, expect, it } from 'bun:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { postForm as send, share, textIn, unescapeText, type Visit } from './visit.ts';
import { words } from './words.ts';

const odd = '\n a "quoted" <b>line</b> & more\n\n\tünï😀 \n';

/** The fields of the form as shown, with a person's changes. */
function fieldsOf({ html }: Visit, changes: Readonly<Record<string, string>> = {}): Record<string, string> {
  const hidden = [...html.matchAll(/<input type="hidden" name="([a-z0-9-]+)" value="([^"]*)"/g)];
  const texts = hidden.map(([, name = '', text = '']) => [name, unescapeText(text)]);
  return { ...Object.fromEntries(texts), secret: textIn(html, 'secret') ?? '', ...changes };
}

const generate = (app: TestApp, fields: Readonly<Record<string, string>>) => send(app, '/suggest', fields);
const takeBack = (app: TestApp, fields: Readonly<Record<string, string>>) =>
  send(app, '/suggest', { ...fields, 'take-back': '1' });
const secretIn = ({ html }: Visit) => textIn(html, 'secret');
const offersIt = ({ html }: Visit) => /<button [^>]*id="take-back"/.test(html);

describe('text that was typed before something is generated', () => {
  it('comes back exactly, with the rest of the form, by one press', async () => {
    const app = createTestApp();
    const drawn = await generate(app, { secret: odd, passphrase: 'kept' });
    expect(secretIn(drawn)).toMatch(/^[!-~]{16}$/);
    expect(offersIt(drawn)).toBe(true);
    const back = await takeBack(app, fieldsOf(drawn, { passphrase: 'kept' }));
    expect([back.status, secretIn(back)]).toEqual([200, odd]);
    expect(back.html).toContain(words('suggest.takenBack'));
    expect(back.html).toContain('value="kept"');
    expect(offersIt(back)).toBe(false);
    expect(app.events).toEqual([]);
  });

  it('is not offered where there was none', async () => {
    const app = createTestApp();
    const first = await generate(app, { secret: '' });
    expect(offersIt(first)).toBe(false);
    expect(offersIt(await generate(app, fieldsOf(first)))).toBe(false);
  });

  it('stays through any number of other values', async () => {
    const app = createTestApp();
    let page = await generate(app, { secret: odd });
    for (let times = 0; times < 3; times += 1) page = await generate(app, fieldsOf(page));
    expect(secretIn(await takeBack(app, fieldsOf(page)))).toBe(odd);
  });

  it('stays when a wish to generate or to create is refused', async () => {
    const app = createTestApp();
    const drawn = await generate(app, { secret: odd });
    const again = { 'suggest-style': 'words', 'suggest-words': '99' };
    const refused = await generate(app, fieldsOf(drawn, again));
    expect([refused.status, offersIt(refused), secretIn(refused)]).toEqual([422, true, secretIn(drawn)]);
    const tooLong = await send(app, '/share', fieldsOf(refused, { passphrase: 'p'.repeat(2_000) }));
    expect(tooLong.status).toBe(422);
    expect(secretIn(await takeBack(app, fieldsOf(tooLong)))).toBe(odd);
  });

  it('is not lost either when what was generated is changed by hand: every text comes back in turn', async () => {
    const app = createTestApp();
    const first = await generate(app, { secret: 'typed first' });
    const second = await generate(app, fieldsOf(first, { secret: 'typed second' }));
    const back = await takeBack(app, fieldsOf(second));
    expect(secretIn(back)).toBe('typed second');
    const further = await takeBack(app, fieldsOf(back, { secret: 'typed third' }));
    expect(secretIn(further)).toBe('typed first');
    expect(secretIn(await takeBack(app, fieldsOf(further)))).toBe('typed third');
  });

  it('comes back where nothing can be created or generated', async () => {
    const app = createTestApp({ anonymousMayCreate: false });
    const back = await takeBack(app, { secret: 'drawn', drawn: 'drawn', 'aside-0': odd });
    expect([back.status, secretIn(back)]).toEqual([200, odd]);
  });

  it('is not part of what is shared', async () => {
    const app = createTestApp();
    const drawn = await generate(app, { secret: 'canary' });
    const { secretPath } = await share(app, fieldsOf(drawn));
    const { html } = await send(app, secretPath);
    expect(textIn(html, 'value')).toBe(secretIn(drawn));
    expect(html).not.toContain('canary');
    expect(JSON.stringify([app.events, app.answers])).not.toContain('canary');
  });
});

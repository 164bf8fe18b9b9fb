/** Generating a value into the form: what is generated, kept and refused, and that nothing is stored. */

import { describe, expect, it } from 'bun:test';
import { builtInRateLimits } from '../../src/config/json-files.ts';
import { type CharacterSet, characterSets } from '../../src/protocol/drawing.ts';
import { pairsIn } from '../../src/web/client/reading.ts';
import { strengthBits } from '../../src/web/secrets/typed.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { chosenIn, postForm, textIn, type Visit, valueIn, visit } from './visit.ts';
import { saying, words } from './words.ts';

const characters = {
  'suggest-style': 'characters',
  'suggest-length': '20',
  'suggest-lower': 'yes',
  'suggest-digits': 'yes',
};
const drawnWords = { 'suggest-style': 'words', 'suggest-words': '6', 'suggest-length': '' };

function press(fields: Readonly<Record<string, string>>, app: TestApp = createTestApp()): Promise<Visit> {
  return postForm(app, '/suggest', fields);
}

function drawnIn({ html }: Visit): string {
  return textIn(html, 'secret') ?? '';
}

describe('generating', () => {
  it('puts characters of the chosen sets and the chosen length into the field of the secret', async () => {
    const answer = await press(characters);
    expect([answer.status, drawnIn(answer)]).toEqual([200, expect.stringMatching(/^[a-z2-9]{20}$/)]);
    expect(answer.html).toMatch(saying('suggest.drawn'));
    expect(answer.html).toContain(words('suggest.again'));
    expect(answer.html).toContain(words('suggest.strong', { count: 99 }));
  });

  it('puts words with hyphens between them there', async () => {
    const answer = await press(drawnWords);
    expect(drawnIn(answer).split('-').length).toBeGreaterThanOrEqual(6);
    expect(drawnIn(answer)).toMatch(/^[a-z-]+$/);
    expect(answer.html).toContain(words('suggest.strong', { count: 77 }));
  });

  it('draws another value at each press', async () => {
    const app = createTestApp();
    const drawn = new Set<string>();
    for (let at = 0; at < 20; at += 1) drawn.add(drawnIn(await press(characters, app)));
    expect(drawn.size).toBe(20);
  });

  it('keeps everything else that was typed, and its own choices', async () => {
    const typed = {
      secret: 'before',
      passphrase: 'pa"ss',
      ttl: 'other',
      'ttl-amount': '9',
      'ttl-unit': 'days',
    };
    const { html } = await press({ ...typed, ...characters });
    expect(valueIn(html, 'passphrase')).toBe('pa"ss');
    expect([chosenIn(html, 'ttl'), valueIn(html, 'ttl-amount'), chosenIn(html, 'ttl-unit')]).toEqual([
      'other',
      '9',
      'days',
    ]);
    expect(valueIn(html, 'suggest-length')).toBe('20');
    const ticked = [...html.matchAll(/id="suggest-(\w+)" [^>]* checked=""/g)];
    expect(ticked.map(([, set]) => set)).toEqual(['lower', 'digits']);
  });

  it('stores nothing and names the value in no address, header or cookie (P18)', async () => {
    const app = createTestApp();
    const answer = await press(characters, app);
    expect(JSON.stringify([...answer.headers])).not.toContain(drawnIn(answer));
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(app.events).toEqual([]);
  });

  it('self-test: a suggestion that stores what it draws would be noticed', async () => {
    const app = createTestApp({
      wrapService: (service) => ({
        ...service,
        suggest: async (input) => {
          const value = await service.suggest(input);
          await service.conceal({ ...noOptions, value }, { kind: 'anonymous' });
          return value;
        },
      }),
    });
    await press(characters, app);
    expect(app.events).not.toEqual([]);
  });

  it('gives the focus to the value and describes it by what happened', async () => {
    const { html } = await press(characters);
    expect(html).toMatch(/<textarea id="secret"[^>]*aria-describedby="secret-news stopped"[^>]* autofocus=/);
    expect(html.match(/ autofocus=/g)).toHaveLength(1);
  });

  it('creates with what was drawn', async () => {
    const app = createTestApp();
    const secret = drawnIn(await press(characters, app));
    expect((await postForm(app, '/share', { ...characters, secret, ttl: '3600' })).status).toBe(303);
  });

  it('sends whoever types its address to the form', async () => {
    const { status, headers } = await visit(createTestApp(), '/suggest');
    expect([status, headers.get('location')]).toEqual([303, '/']);
  });
});

describe('what else is put into a field', () => {
  it('is a passphrase of five words, or a code of six digits that says what it is worth', async () => {
    const passphrase = await press({ secret: 'mine', draw: 'passphrase' });
    expect(valueIn(passphrase.html, 'passphrase')).toMatch(/^[a-z]+(?:-[a-z]+){4,}$/);
    const codes = new Set<string>();
    const digits = new Set<string>();
    for (let at = 0; at < 20; at += 1) {
      const { html } = await press({ secret: 'mine', draw: 'code' });
      const code = valueIn(html, 'passphrase') ?? '';
      expect([code, textIn(html, 'secret')]).toEqual([expect.stringMatching(/^\d{6}$/), 'mine']);
      expect(html).toContain(words('share.codeDrawn', { tries: 100, odds: 10_000 }));
      codes.add(code);
      for (const digit of code) digits.add(digit);
    }
    // All ten, or fewer than a million codes are possible.
    expect([codes.size, digits.size]).toEqual([20, 10]);
  });

  it('is a line for each part of a login, which takes nothing typed with it and is no generated value', async () => {
    const { html } = await press({ secret: 'mine', draw: 'template' });
    const lines = drawnIn({ html } as Visit);
    expect(pairsIn(lines.replaceAll('=', '=x')).map(({ name }) => name)).toEqual([
      'USERNAME',
      'PASSWORD',
      'TOTP_SEED',
      'NOTE',
    ]);
    expect(html).toContain(words('share.templateNews'));
    expect(html).toContain(words('suggest.aside'));
    expect(html).not.toContain(words('suggest.again'));
    const back = await press({ secret: lines, drawn: lines, 'aside-0': 'mine', 'take-back': 'secret' });
    expect(drawnIn(back)).toBe('mine');
  });
});

describe('a refused wish to generate', () => {
  const cases = [
    {
      what: 'no set',
      fields: { 'suggest-style': 'characters', 'suggest-length': '20' },
      field: 'suggest-sets',
    },
    { what: 'three characters', fields: { ...characters, 'suggest-length': '3' }, field: 'suggest-length' },
    { what: '129 characters', fields: { ...characters, 'suggest-length': '129' }, field: 'suggest-length' },
    { what: 'no number', fields: { ...characters, 'suggest-length': '1e1' }, field: 'suggest-length' },
    { what: 'two words', fields: { ...drawnWords, 'suggest-words': '2' }, field: 'suggest-words' },
    { what: '13 words', fields: { ...drawnWords, 'suggest-words': '13' }, field: 'suggest-words' },
  ] as const;
  for (const { what, fields, field } of cases) {
    it(`for ${what} marks its field, opens its part of the form and keeps everything`, async () => {
      const answer = await press({ secret: 'mine', passphrase: 'p', ...fields });
      expect(answer.status).toBe(422);
      expect([textIn(answer.html, 'secret'), valueIn(answer.html, 'passphrase')]).toEqual(['mine', 'p']);
      expect(answer.html).toContain(`<a href="#${field}">`);
      expect(answer.html).toContain(`id="${field}-wrong"`);
      expect(answer.html).toContain('aria-invalid="true"');
      expect(answer.html).toMatch(/<details class="generate"[^>]* open="">/);
      expect(answer.html.match(/ autofocus=/g)).toHaveLength(1);
    });
  }

  it('over the rate limit loses nothing either', async () => {
    const manage = { ...builtInRateLimits.manage, anonymous: { limit: 1, windowSeconds: 600, burst: 1 } };
    const app = createTestApp({ rateLimits: { ...builtInRateLimits, manage } });
    expect((await press(characters, app)).status).toBe(200);
    const refused = await press({ ...characters, secret: 'mine' }, app);
    expect([refused.status, textIn(refused.html, 'secret')]).toEqual([429, 'mine']);
    expect(refused.html).toMatch(saying('suggest.nothingDrawn'));
  });
});

describe('the strength that is said', () => {
  it('counts exactly what can be drawn, checked by drawing all of it', () => {
    const sets: readonly CharacterSet[] = ['digits', 'symbols'];
    const alphabet = sets.map((set) => characterSets[set]).join('');
    const [digits, symbols] = sets.map((set) => new Set(characterSets[set]));
    let texts = [''];
    for (let at = 0; at < 4; at += 1)
      texts = texts.flatMap((text) => [...alphabet].map((next) => text + next));
    const qualifying = texts.filter((text) =>
      [digits, symbols].every((set) => [...text].some((character) => set?.has(character))),
    );
    const bits = strengthBits({ style: 'characters', length: 4, charset: sets });
    expect(bits).toBe(Math.floor(Math.log2(qualifying.length)));
    expect(qualifying.length).toBeLessThan(alphabet.length ** 4);
  });

  it('is finite for the longest text of all sets', () => {
    const charset: readonly CharacterSet[] = ['lower', 'upper', 'digits', 'symbols'];
    expect(strengthBits({ style: 'characters', length: 128, charset })).toBe(781);
  });
});

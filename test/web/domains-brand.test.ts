/**
 * The brand of a share domain, as its owner sees it: what the form accepts, what it refuses, and that nothing typed is
 * lost.
 */
import { describe, expect, it } from 'bun:test';
import { ServiceError } from '../../src/core/errors.ts';
import { contrast, paletteOf } from '../../src/web/brand/colours.ts';
import { maxLogoBytes } from '../../src/web/brand/logo.ts';
import type { MemoryStore } from '../stores/memory.ts';
import { type AccountVisitor, wrongFields } from './account-visitor.ts';
import { addVerified, type DomainOwner, openOwner } from './domain-owner.ts';
import { plainSvg, png } from './pictures.ts';
import { withMethod } from './store-method.ts';
import { chosenIn, textIn, type Visit, valueIn, visit } from './visit.ts';
import { words } from './words.ts';

const name = 'secrets.example.com';
const page = `/account/domains/${name}/brand`;

async function openBrand(wrapStore?: (store: MemoryStore) => MemoryStore): Promise<DomainOwner> {
  const owner = await openOwner(wrapStore === undefined ? {} : { wrapStore });
  await addVerified(owner, name);
  await owner.visitor.get(page);
  return owner;
}

async function brandOf({ app, id }: DomainOwner) {
  const domain = await app.store.findDomain(id, name);
  if (domain === null) throw new Error('the domain is gone');
  return domain.brand;
}

/** Everything the form would send, as a page shows it. */
function fieldsIn(html: string): Record<string, string> {
  const hidden = [...html.matchAll(/<input type="hidden" name="(colour[^"]*)" value="([^"]*)"/g)];
  const pickers = [...html.matchAll(/<input type="color" name="([^"]+)" value="([^"]+)"/g)];
  const inputs = ['name', 'colour', 'colour-dark'].map((id) => [id, valueIn(html, id) ?? '']);
  const notes = ['note-before', 'note-after'].map((id) => [id, textIn(html, id) ?? '']);
  const rest = [...hidden, ...pickers].map(([, field = '', value = '']) => [field, value]);
  return {
    ...Object.fromEntries([...inputs, ...notes, ...rest]),
    lang: chosenIn(html, 'lang') ?? '',
    ...(/id="public"[^>]* checked/.test(html) ? { public: 'yes' } : {}),
  };
}

const typed = {
  name: 'Example <Vault>',
  colour: '#3a4f9a',
  'colour-dark': '#aab8f5',
  'note-before': 'Ask for the passphrase:\n+1 555 0100',
  'note-after': 'Put it into "the vault" now.',
  lang: 'de',
};

const kept = {
  name: typed.name,
  colour: typed.colour,
  colourDark: typed['colour-dark'],
  instructionsBefore: typed['note-before'],
  instructionsAfter: typed['note-after'],
  locale: typed.lang,
};

describe('the brand of a domain', () => {
  it('is what its owner fills in, and comes back as it was filled in', async () => {
    const owner = await openBrand();
    const saved = await owner.visitor.post(page, typed);
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `${page}?done=saved`]);
    expect(await brandOf(owner)).toEqual({ ...kept, isPublic: false });
    const { html } = await owner.visitor.get(page);
    const back = fieldsIn(html);
    expect(back).toMatchObject(typed);
    expect(back).not.toHaveProperty('public');
    await owner.visitor.post(page, { ...back, public: 'yes' });
    expect(await brandOf(owner)).toEqual({ ...kept, isPublic: true });
  });

  it('is the site’s again for all that is emptied', async () => {
    const owner = await openBrand();
    await owner.visitor.post(page, typed);
    await owner.visitor.get(page);
    await owner.visitor.post(page, { public: 'yes' });
    expect(Object.values(await brandOf(owner))).toEqual([null, null, null, null, null, null, true]);
  });

  it('sent back as it stands changes nothing: the picker of an empty colour chooses none', async () => {
    const owner = await openBrand();
    const fields = fieldsIn((await owner.visitor.get(page)).html);
    expect(fields['colour-picker']).toBe(paletteOf('light').leaf);
    await owner.visitor.post(page, fields);
    expect(await brandOf(owner)).toMatchObject({ colour: null, colourDark: null, isPublic: true });
  });

  it('takes the colour from whichever of text and picker was changed, and the text from both', async () => {
    const owner = await openBrand();
    const send = async (changes: Record<string, string>) => {
      const fields = fieldsIn((await owner.visitor.get(page)).html);
      await owner.visitor.post(page, { ...fields, ...changes });
      return (await brandOf(owner)).colour;
    };
    expect(await send({ 'colour-picker': '#3a4f9a' })).toBe('#3a4f9a');
    expect(await send({ colour: '7A2F4F' })).toBe('#7a2f4f');
    expect(await send({ 'colour-picker': '#104020' })).toBe('#104020');
    expect(await send({ 'colour-picker': '#3a4f9a', colour: '#7a2f4f' })).toBe('#7a2f4f');
    expect(await send({ colour: '' })).toBeNull();
  });

  const refusals: readonly [string, Record<string, string>, string][] = [
    ['a name of two lines', { name: 'a\nb' }, 'name'],
    ['a long name', { name: 'x'.repeat(61) }, 'name'],
    ['a colour by its name', { colour: 'red' }, 'colour'],
    ['a pale colour', { colour: '#ffee00' }, 'colour'],
    ['a dark colour on dark paper', { 'colour-dark': '#101010' }, 'colour-dark'],
    ['a long note', { 'note-before': 'x'.repeat(501) }, 'note-before'],
    ['a note that turns the words around it', { 'note-after': 'a\u202eb' }, 'note-after'],
    ['a language that is not offered', { lang: 'tlh' }, 'lang'],
  ];
  for (const [what, wrong, field] of refusals) {
    it(`is refused for ${what}, beside the field, with all that was typed and nothing changed`, async () => {
      const owner = await openBrand();
      const sent: Record<string, string> = { ...typed, ...wrong };
      const { status, html } = await owner.visitor.post(page, sent);
      expect([status, wrongFields(html)]).toEqual([422, [field]]);
      const back = fieldsIn(html);
      for (const id of ['colour', 'colour-dark', 'note-before', 'note-after'])
        expect([id, back[id]]).toEqual([id, sent[id]]);
      expect((await brandOf(owner)).name).toBeNull();
    });
  }

  it('is refused for a colour that cannot be read with the nearest that can, which one press takes (WCAG 1.4.3)', async () => {
    for (const [field, key, scheme, wish] of [
      ['colour', 'colour', 'light', '#ffee00'],
      ['colour-dark', 'colourDark', 'dark', '#102030'],
    ] as const) {
      const owner = await openBrand();
      const { html } = await owner.visitor.post(page, { ...typed, [field]: wish });
      const nearest = new RegExp(`name="take-${field}" value="(#[0-9a-f]{6})"`).exec(html)?.[1] ?? '';
      expect(html).toContain(`fill="${nearest}"`);
      expect(contrast(nearest, paletteOf(scheme).paper ?? '')).toBeGreaterThanOrEqual(4.5);
      expect(contrast(wish, paletteOf(scheme).paper ?? '')).toBeLessThan(4.5);
      const taken = await owner.visitor.post(page, { ...fieldsIn(html), [`take-${field}`]: nearest });
      expect(taken.headers.get('location')).toBe(`${page}?done=saved`);
      expect(await brandOf(owner)).toMatchObject({ ...kept, [key]: nearest });
    }
  });

  it('names that colour from left to right in a language that runs the other way', async () => {
    const owner = await openBrand();
    const { html } = await owner.visitor.post(`${page}?lang=ar`, { ...typed, colour: '#ffee00' });
    const nearest = /name="take-colour" value="(#[0-9a-f]{6})"/.exec(html)?.[1] ?? '';
    expect(html).toContain('dir="rtl"');
    // Next to the field, and on the button.
    expect(html.split(`\u2066${nearest}\u2069`)).toHaveLength(3);
  });

  it('is not lost to a store that does not answer', async () => {
    const down = async () => Promise.reject(new ServiceError('unavailable', 'the store is away'));
    let isDown = false;
    const owner = await openBrand((store) =>
      withMethod(store, 'findDomain', async (...given) => (isDown ? down() : store.findDomain(...given))),
    );
    isDown = true;
    const { status, html } = await owner.visitor.post(page, typed);
    expect([status, fieldsIn(html)['note-after']]).toEqual([503, typed['note-after']]);
  });
});

/** Sends a form with a file, as a browser does. */
async function upload(
  { app, visitor }: Pick<DomainOwner, 'app' | 'visitor'>,
  file: Uint8Array<ArrayBuffer> | null,
  fields: Readonly<Record<string, string>> = {},
): Promise<Visit> {
  const { html } = await visitor.get(page);
  const form = new FormData();
  form.append('form-token', /name="form-token" value="([0-9a-f]{32})"/.exec(html)?.[1] ?? '');
  for (const [field, text] of Object.entries(fields)) form.append(field, text);
  form.append('logo', new Blob(file === null ? [] : [file]), file === null ? '' : 'evil.html');
  const path = page.replace('/brand', '/logo');
  return visit(app, path, { method: 'POST', body: form, headers: { cookie: visitor.cookie() } });
}

async function logoIn(visitor: AccountVisitor): Promise<string> {
  return /<img src="(\/logo\/[^"]+)" alt="[^"]+/.exec((await visitor.get(page)).html)?.[1] ?? '';
}

describe('the logo of a domain', () => {
  it('is sent as a file, served as what it is under a name of its content, and taken away again', async () => {
    const owner = await openBrand();
    const saved = await upload(owner, png);
    expect([saved.status, saved.headers.get('location')]).toEqual([303, `${page}?done=logo`]);
    const path = await logoIn(owner.visitor);
    expect(path).toMatch(/^\/logo\/logo-[0-9a-f]{32}\.png$/);
    const served = await owner.app.fetch(path);
    expect([served.status, served.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(await served.bytes()).toEqual(png);
    const removed = await owner.visitor.post(page.replace('/brand', '/logo'), { remove: 'yes' });
    expect(removed.headers.get('location')).toBe(`${page}?done=logo-removed`);
    expect(await logoIn(owner.visitor)).toBe('');
  });

  it('of the type SVG can neither run nor load anything when it is opened by itself', async () => {
    const owner = await openBrand();
    await upload(owner, new Uint8Array(Buffer.from(plainSvg)));
    const { headers } = await owner.app.fetch(await logoIn(owner.visitor));
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'; sandbox",
    );
  });

  const svg = (inside: string) => new Uint8Array(Buffer.from(`<svg>${inside}</svg>`));
  const refusals: readonly [string, Uint8Array<ArrayBuffer> | null, number, string][] = [
    ['none', null, 422, words('domainBrand.logoMissing')],
    ['no picture', new Uint8Array(Buffer.from('<html>')), 422, words('domainBrand.logoUnknown')],
    ['a script', svg('<script/>'), 422, words('domainBrand.logoUnsafe')],
    ['half a picture', png.slice(0, 60), 422, words('domainBrand.logoDamaged')],
    [
      'a byte too many',
      svg(' '.repeat(maxLogoBytes)),
      413,
      words('domainBrand.logoTooLarge', { size: '262\u00a0kB' }),
    ],
    [
      'far too much',
      new Uint8Array(4 * maxLogoBytes),
      413,
      words('domainBrand.logoTooLarge', { size: '262\u00a0kB' }),
    ],
  ];
  for (const [what, file, status, sentence] of refusals) {
    it(`is refused beside its field, and the one before stays: ${what}`, async () => {
      const owner = await openBrand();
      await upload(owner, png);
      const before = await logoIn(owner.visitor);
      const refused = await upload(owner, file);
      expect([refused.status, wrongFields(refused.html)]).toEqual([status, ['logo']]);
      expect(refused.html).toContain(sentence);
      expect(await logoIn(owner.visitor)).toBe(before);
      expect(owner.app.faults).toEqual([]);
    });
  }

  it('is not taken without the token of the session, from a form in pieces, or with a field twice', async () => {
    const owner = await openBrand();
    const { app, visitor, id } = owner;
    expect((await upload(owner, png, { 'form-token': 'again' })).status).toBe(400);
    const path = page.replace('/brand', '/logo');
    const send = async (body: BodyInit, type: Record<string, string> = {}) =>
      (await app.fetch(path, { method: 'POST', body, headers: { cookie: visitor.cookie(), ...type } }))
        .status;
    const without = new FormData();
    without.append('logo', new Blob([png]), 'logo.png');
    expect(await send(without)).toBe(403);
    expect(await send('no parts', { 'content-type': 'multipart/form-data; boundary=x' })).toBe(400);
    expect(await send('no parts', { 'content-type': 'multipart/form-data' })).toBe(400);
    expect(await app.store.findDomain(id, name)).toMatchObject({ logoName: null });
  });

  it('is the only thing that a file is taken for: every other form refuses one', async () => {
    const { app, visitor } = await openBrand();
    for (const path of ['/share', page, '/account/domains', '/log-in']) {
      const form = new FormData();
      form.append('secret', 'x');
      const answer = await app.fetch(path, {
        method: 'POST',
        body: form,
        headers: { cookie: visitor.cookie() },
      });
      expect([path, answer.status]).toEqual([path, 415]);
    }
  });
});

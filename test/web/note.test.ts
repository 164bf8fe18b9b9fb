/** A note on the pages without scripts: written beside the label, read before opening, and never markup, a link or a preview (P26, P4, P10). */
import { describe, expect, it } from 'bun:test';
import { Sensitive } from '../../src/core/sensitive.ts';
import { createTestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';
import { clientSecret } from '../support/sealed-wire.ts';
import { withMethod } from './store-method.ts';
import { postForm, share, unescapeText, valueIn, visit } from './visit.ts';
import { words } from './words.ts';

const line = 'For Ana: the Wi-Fi of ward 4';

/** The words in quotation marks, as a browser would show them; `null` without a note. */
function noteIn(html: string): string | null {
  const found =
    /<div class="arrival" id="sender-note"><p class="hint">([^<]*)<\/p><p><q><bdi>([^<]*)<\/bdi><\/q><\/p><\/div>/.exec(
      html,
    );
  if (found === null) return null;
  expect(found[1]).toBe(words('note.from'));
  return unescapeText(found[2] ?? '');
}

describe('the note of a plain secret', () => {
  it('is on the page before the secret is opened, with a passphrase too, and gone afterwards', async () => {
    const app = createTestApp();
    for (const passphrase of ['', 'right']) {
      const { secretPath } = await share(app, { secret: 'v', note: ` ${line} `, passphrase });
      for (let n = 0; n < 2; n += 1) expect(noteIn((await visit(app, secretPath)).html)).toBe(line);
      const wrong = await postForm(app, secretPath, { passphrase: 'wrong' });
      if (passphrase !== '') expect([wrong.status, noteIn(wrong.html)]).toEqual([422, line]);
      await postForm(app, secretPath, { passphrase });
      const { status, html } = await visit(app, secretPath);
      expect([status, html.includes(line)]).toEqual([404, false]);
    }
    const { secretPath } = await share(app, { secret: 'v' });
    expect((await visit(app, secretPath)).html).not.toContain('sender-note');
  });

  it('is text, whatever it says: no markup, no link, no other direction, and no preview', async () => {
    const app = createTestApp();
    for (const [note, shown = note] of [
      ['</bdi><script>alert(1)</script><a href="https://evil.example">here</a>'],
      ['https://evil.example/?a&amp;b "quoted" \'too\''],
      ['\u{1f99f}'.repeat(140)],
      ['\u202eevil\u202c \u2066x', 'evil x'],
    ] as const) {
      const { secretPath } = await share(app, { secret: 'v', note });
      const { html } = await visit(app, secretPath);
      expect(noteIn(html)).toBe(shown);
      expect(html).not.toMatch(/<script>|href="https:\/\/evil/);
      const head = html.slice(0, html.indexOf('<body'));
      expect(unescapeText(head)).not.toContain(shown.slice(0, 12));
    }
  });

  it('is no error where its key cannot be read', async () => {
    let isAway = false;
    const away = () => Promise.reject(new Error('away'));
    const app = createTestApp({
      wrapStore: (store) =>
        withMethod(store, 'findEpochKey', (epoch) => (isAway ? away() : store.findEpochKey(epoch))),
    });
    const { secretPath } = await share(app, { secret: 'v', note: line });
    isAway = true;
    const { status, html } = await visit(app, secretPath);
    expect([status, html.includes('sender-note')]).toEqual([200, false]);
  });

  it('is nowhere on the receipt or in the list', async () => {
    const app = createTestApp();
    const { receiptPath, cookie } = await share(app, { secret: 'v', note: line, memo: 'mine' });
    const { html } = await visit(app, receiptPath, { headers: { cookie } });
    expect([html.includes('mine'), html.includes(line)]).toEqual([true, false]);
  });
});

describe('the share form', () => {
  it('asks for it beside the label, and says of each who reads it', async () => {
    const { html } = await visit(createTestApp(), '/');
    const option = html.slice(
      html.indexOf('id="option-memo"'),
      html.indexOf('</details>', html.indexOf('id="option-memo"')),
    );
    expect(option).toMatch(/<label for="note"[^>]*>/);
    for (const text of [words('note.label'), words('memo.forYou'), words('note.hint', { max: 140 })])
      expect(unescapeText(option)).toContain(text);
  });

  it('refuses one that is too long or no text at its field, and loses nothing that was typed', async () => {
    const app = createTestApp();
    for (const [status, note, message] of [
      [422, 'a'.repeat(141), words('note.wrong', { max: 140 })],
      [400, 'a\u0007b', words('share.illFormed')],
    ] as const) {
      const fields = { secret: 'typed', passphrase: 'p', memo: 'mine', note, ttl: '604800' };
      const refused = await postForm(app, '/share', fields);
      expect(refused.status).toBe(status);
      expect(refused.html).toMatch(/id="option-memo"[^>]* open=""/);
      expect(refused.html).toMatch(/<input id="note"[^>]* aria-invalid="true"/);
      expect(unescapeText(refused.html)).toContain(message);
      expect([valueIn(refused.html, 'note'), valueIn(refused.html, 'memo')]).toEqual([note, 'mine']);
    }
    expect(app.events).toEqual([]);
  });
});

describe('the note of an end-to-end secret', () => {
  const sealed = clientSecret({ hasNote: true, hasPassphrase: true });
  const noteOf = async (answer: Awaited<ReturnType<typeof postForm>>) => JSON.parse(answer.html) as unknown;

  async function make(more: { hasNote: boolean }) {
    const app = createTestApp();
    const input = {
      ...noOptions,
      value: new Sensitive(''),
      sealed: clientSecret({ ...more, hasPassphrase: true }).input(),
    };
    const made = await app.service.conceal(input, { kind: 'anonymous' });
    if (made.outcome !== 'created') throw new Error(made.outcome);
    return { app, path: `/secret/${made.receipt.secretKey}` };
  }

  it('is asked for by the page only where there is one, and is not in the page', async () => {
    const { app, path } = await make({ hasNote: true });
    const { html } = await visit(app, path);
    expect(html).toContain('<div class="arrival" id="sender-note" hidden="">');
    const without = await make({ hasNote: false });
    expect((await visit(without.app, without.path)).html).not.toContain('sender-note');
  });

  it('is given out for the link’s proof alone, and for nothing else; nothing is opened or counted', async () => {
    const { app, path } = await make({ hasNote: true });
    const proof = sealed.body.link_proof;
    for (const given of ['', 'x', sealed.body.proof, 'A'.repeat(43)])
      expect(await noteOf(await postForm(app, `${path}/note`, { 'link-proof': given }))).toEqual({
        note: null,
      });
    const right = await postForm(app, `${path}/note`, { 'link-proof': proof });
    expect([right.status, await noteOf(right)]).toEqual([200, { note: sealed.wire.note }]);
    expect(app.events.map(({ event }) => event)).toEqual(['concealed']);
    const unknown = await postForm(app, `/secret/${'0'.repeat(31)}/note`, { 'link-proof': proof });
    expect([unknown.status, await noteOf(unknown)]).toEqual([200, { note: null }]);
    const { secretPath } = await share(app, { secret: 'v', note: line });
    const plain = await postForm(app, `${secretPath}/note`, { 'link-proof': proof });
    expect(await noteOf(plain)).toEqual({ note: null });
  });

  it('is stored with a form that the script has sealed, and refused with another length', async () => {
    const app = createTestApp();
    const { wire } = sealed;
    const fields = {
      ...{
        ttl: '604800',
        'sealed-version': '1',
        'sealed-ciphertext': wire.ciphertext,
        'sealed-passphrase': '1',
      },
      ...{ 'sealed-link': wire.link_hash, 'sealed-proof': wire.proof_hash },
    };
    for (const note of ['AAAA', 'not base64url', 'A'.repeat(772)])
      expect((await postForm(app, '/share', { ...fields, 'sealed-note': note })).status).toBe(400);
    expect((await postForm(app, '/share', { ...fields, note: line })).status).toBe(400);
    expect((await postForm(app, '/share', { ...fields, 'sealed-note': wire.note ?? '' })).status).toBe(303);
    expect((await postForm(app, '/share', { ...fields, 'sealed-note': '' })).status).toBe(303);
  });
});

/** Secrets that open only with a code from a mailbox, on pages without scripts: link and mailbox are both needed. */
import { describe, expect, it } from 'bun:test';
import { prove } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import type { Caller } from '../../src/core/account.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import {
  codeMailed,
  codesMailed,
  createReader,
  lockCodes,
  mailbox,
  shownMailbox,
  wrongFor,
} from './codes.ts';
import { makeSealed } from './sealed-link.ts';
import { signUpAs } from './signed-in.ts';
import { postForm, textIn, type Visit, valueIn, visit } from './visit.ts';
import { makeWaiting, type WaitingOptions } from './waiting.ts';
import { saying, words } from './words.ts';

const baseUrl = 'https://secrets.example.com';
const tried = { open: 'now' } as const;

async function waitingFor(options: WaitingOptions = {}, app = createTestApp({ baseUrl })) {
  const { signedIn, cookie } = await signUpAs(app, 'sender@example.com');
  const waiting = await makeWaiting(app, { caller: signedIn.caller, verify: mailbox, ...options });
  return { app, cookie, signedIn, ...waiting, reader: createReader(app, waiting.secretPath) };
}

const wrongCodeIn = ({ html }: Visit) => /id="code-wrong">([^<]*)/.exec(html)?.[1] ?? null;
const asksForCode = ({ html }: Visit) => html.includes(words('secret.codeSubmit'));
const stateOf = async (app: TestApp, metadataKey: string, caller: Caller) => {
  const found = await app.service.findReceipt({ metadataKey, authority: 'creator' }, caller);
  return found.outcome === 'found' ? found.receipt.state : found.outcome;
};

describe('the page of a secret that asks for a code', () => {
  it('has one button, which mails a code, and opens with it', async () => {
    const { app, reader, secretPath } = await waitingFor();
    const first = await reader.look();
    expect([first.status, asksForCode(first), first.html.includes('id="code"')]).toEqual([200, true, false]);
    const { sent, shown } = await reader.askForCode();
    expect([sent.status, sent.headers.get('location')]).toEqual([303, secretPath]);
    expect([shown.html.includes(shownMailbox), shown.html.includes(mailbox)]).toEqual([true, false]);
    expect(/<input id="code"[^>]*>/.exec(shown.html)?.[0]).toMatch(
      /(?=.*autocomplete="one-time-code")(?=.*inputmode="numeric")(?=.* required)/,
    );
    const code = await codeMailed(app);
    expect(textIn((await reader.open({ code })).html, 'value')).toBe('canary');
    expect((await reader.look()).status).toBe(404);
  });

  it('mails nothing without a person’s tick, nor to a browser that keeps no cookie', async () => {
    const { app, reader, secretPath } = await waitingFor();
    await reader.look();
    const unticked = await reader.send(`${secretPath}/code`, { open: '' });
    expect([unticked.status, unticked.html.includes(words('secret.codeSureMissing'))]).toEqual([422, true]);
    const bare = await postForm(app, `${secretPath}/code`, { ...tried, look: 'A'.repeat(22) });
    expect([bare.status, bare.html.includes(words('secret.codeNeedsHttps'))]).toEqual([422, true]);
    expect((await visit(app, `${secretPath}/code`)).headers.get('location')).toBe(secretPath);
    expect(codesMailed(app)).toBe(0);
  });

  it('says without https that it needs https, and shows no form', async () => {
    const app = createTestApp({ baseUrl: 'http://192.0.2.1' });
    const { secretPath } = await waitingFor({}, app);
    const { html } = await visit(app, secretPath, { headers: { host: '192.0.2.1' } });
    expect(html).toContain(words('secret.codeNeedsHttps'));
    expect(html).toMatch(/<form[^>]* class="sheet opening"[^>]* hidden=""/);
  });

  it('takes six digits however they are copied or typed', async () => {
    const app = createTestApp({ baseUrl });
    const { signedIn } = await signUpAs(app, 'sender@example.com');
    const spellings: readonly ((code: string) => string)[] = [
      (code) => `${code.slice(0, 3)} ${code.slice(3)}`,
      (code) => ` ${code.slice(0, 3)}\u00a0${code.slice(3)}\t`,
      (code) => `${code.slice(0, 3)}-${code.slice(3)}`,
      (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit))),
      (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit))),
      (code) => code.replace(/\d/g, (digit) => String.fromCharCode(0x6f0 + Number(digit))),
    ];
    for (const spell of spellings) {
      const { secretPath } = await makeWaiting(app, { caller: signedIn.caller, verify: mailbox });
      const reader = createReader(app, secretPath);
      await reader.askForCode();
      const code = spell(await codeMailed(app));
      expect([code, textIn((await reader.open({ code })).html, 'value')]).toEqual([code, 'canary']);
    }
  });

  it('comes back with a wrong code and the tries left, and with none for what is no code', async () => {
    const { app, reader } = await waitingFor();
    await reader.askForCode();
    const code = await codeMailed(app);
    for (const typed of ['', '12345', '1234567', 'abcdef']) {
      const refused = await reader.open({ code: typed });
      expect([refused.status, wrongCodeIn(refused)]).toEqual([422, words('secret.codeMissing')]);
    }
    for (let count = 4; count > 0; count -= 1)
      expect(wrongCodeIn(await reader.open({ code: wrongFor(code) }))).toMatch(
        saying('secret.codeWrong', { count }),
      );
    const last = await reader.open({ code: wrongFor(code) });
    expect(wrongCodeIn(last)).toBe(words('secret.codeWrongLast', { wait: '10 minutes' }));
    const locked = await reader.open({ code });
    const wait = words('secret.exhausted', { wait: '10 minutes' });
    expect([locked.status, wrongCodeIn(locked)]).toEqual([429, wait]);
    app.clock.advance(600);
    await reader.askForCode();
    expect(textIn((await reader.open({ code: await codeMailed(app) })).html, 'value')).toBe('canary');
  });

  it('takes no late code, and no one else’s', async () => {
    const { app, reader, secretPath } = await waitingFor();
    await reader.askForCode();
    const mine = await codeMailed(app);
    const stranger = createReader(app, secretPath);
    await stranger.askForCode();
    expect(wrongCodeIn(await stranger.open({ code: mine }))).toMatch(saying('secret.codeWrong'));
    app.clock.advance(600);
    const late = await reader.open({ code: mine });
    expect([late.status, wrongCodeIn(late)]).toEqual([422, words('secret.codeMissing')]);
    expect(late.html).toContain(`href="${secretPath}?again"`);
    await reader.askForCode();
    expect(textIn((await reader.open({ code: await codeMailed(app) })).html, 'value')).toBe('canary');
  });

  it('is asked for again where the nonce’s other half has gone, and asking makes it last another hour', async () => {
    const { reader } = await waitingFor();
    const { sent } = await reader.askForCode();
    expect(sent.headers.getSetCookie()[0]).toBe(
      `__Host-mayfly-look=${reader.jar.get('__Host-mayfly-look')}; Max-Age=3600; Path=/; HttpOnly; Secure; SameSite=Lax`,
    );
    reader.jar.delete('__Host-mayfly-look');
    expect(asksForCode(await reader.look())).toBe(true);
  });

  it('remembers in this browser alone that a code is under way, with half a nonce and neither key nor address', async () => {
    const { app, reader, secretKey, secretPath } = await waitingFor();
    const { sent, shown } = await reader.askForCode();
    const [, set = ''] = sent.headers.getSetCookie();
    expect(set).toMatch(
      /^code-[0-9a-f]{4}=[0-9a-f]{24}\.[\w-]{22}\.[\w-]+; Path=\/secret; Max-Age=660; HttpOnly; SameSite=Lax; Secure$/,
    );
    for (const part of [secretKey, mailbox, Buffer.from(mailbox).toString('base64url')])
      expect(set).not.toContain(part);
    expect([asksForCode(shown), asksForCode(await reader.look(`${secretPath}?again`))]).toEqual([
      false,
      true,
    ]);
    expect(asksForCode(await createReader(app, secretPath).look())).toBe(true);
    // Without the cookie that no page and no script has, it is worth nothing.
    const thief = createReader(app, secretPath);
    for (const [name, value] of reader.jar) if (name.startsWith('code-')) thief.jar.set(name, value);
    await thief.look();
    expect(wrongCodeIn(await thief.open({ code: await codeMailed(app) }))).toBe(words('secret.codeMissing'));
    // Another secret of the same browser asks for its own.
    const other = await makeWaiting(app, { caller: { kind: 'anonymous' } });
    expect(asksForCode(await reader.look(other.secretPath))).toBe(false);
  });

  it('asks for the passphrase beside the code, keeps the code, and counts each apart', async () => {
    const { app, reader } = await waitingFor({ passphrase: 'right' });
    expect((await reader.look()).html).not.toContain('id="passphrase"');
    await reader.askForCode();
    const code = await codeMailed(app);
    const wrong = await reader.open({ code: wrongFor(code), passphrase: 'wrong' });
    expect([wrong.html.includes('id="passphrase-wrong"'), valueIn(wrong.html, 'code')]).toEqual([false, '']);
    const guessed = await reader.open({ code, passphrase: 'wrong' });
    expect(guessed.html).toMatch(saying('secret.passphraseWrong', { count: 4 }));
    expect([wrongCodeIn(guessed), /<input id="code"[^>]* value="(\d*)"/.exec(guessed.html)?.[1]]).toEqual([
      '',
      code,
    ]);
    expect(textIn((await reader.open({ code, passphrase: 'right' })).html, 'value')).toBe('canary');
  });

  it('has its code for burning unread, too', async () => {
    const { app, reader, secretPath, metadataKey, signedIn } = await waitingFor();
    const burn = `${secretPath}/burn`;
    expect((await reader.look()).html).not.toContain('id="burn-unread"');
    expect((await reader.look(burn)).headers.get('location')).toBe(secretPath);
    expect((await reader.send(burn, { burn: 'now' })).status).toBe(303);
    const { shown } = await reader.askForCode();
    expect(shown.html).toContain('id="burn-unread"');
    expect((await reader.look(burn)).html).toContain(shownMailbox);
    const code = await codeMailed(app);
    const wrong = await reader.send(burn, { burn: 'now', code: wrongFor(code) });
    expect(wrongCodeIn(wrong)).toMatch(saying('secret.codeWrong'));
    expect(await stateOf(app, metadataKey, signedIn.caller)).toBe('new');
    expect((await reader.send(burn, { burn: 'now', code })).html).toContain(words('recipientBurn.doneTitle'));
    expect(await stateOf(app, metadataKey, signedIn.caller)).toBe('burned');
  });

  it('says when codes are used up, and still takes the last one', async () => {
    const { app, reader } = await waitingFor();
    for (let codes = 0; codes < 3; codes += 1) expect((await reader.askForCode()).sent.status).toBe(303);
    const code = await codeMailed(app);
    const { sent } = await reader.askForCode();
    expect(sent.status).toBe(429);
    expect(sent.html).toMatch(saying('secret.codesUsedUp'));
    expect(sent.html).toContain('id="code"');
    expect(codesMailed(app)).toBe(3);
    await reader.look();
    expect(textIn((await reader.open({ code })).html, 'value')).toBe('canary');
  });

  it('is as any other for a key that is unknown (P17)', async () => {
    const app = createTestApp({ baseUrl });
    const { secretPath } = await makeWaiting(app);
    const reader = createReader(app, secretPath);
    await reader.look();
    await reader.open({});
    const [opened, unknown] = [
      await reader.send(`${secretPath}/code`, tried),
      await reader.send(`/secret/${'k'.repeat(31)}/code`, tried),
    ];
    expect([unknown.status, unknown.html]).toEqual([opened.status, opened.html]);
    expect([unknown.status, codesMailed(app)]).toEqual([404, 0]);
  });
});

describe('an end-to-end secret that asks for a code', () => {
  const proven = async (fragment: string) => {
    const { linkProof, proof } = await prove(fragment, null, stretch);
    return { 'link-proof': linkProof, proof };
  };
  const scene = async () => {
    const app = createTestApp({ baseUrl });
    const { signedIn } = await signUpAs(app, 'sender@example.com');
    const link = await makeSealed(app, 'canary', null, signedIn.caller, '', mailbox);
    return { app, ...link, reader: createReader(app, link.path), proofs: await proven(link.fragment) };
  };

  it('mails nothing for half a link', async () => {
    const { app, reader } = await scene();
    for (const proof of ['', 'A'.repeat(43), 'A'])
      expect((await reader.askForCode({ 'link-proof': proof })).sent.html).toContain(
        words('secret.incompleteLink'),
      );
    expect(codesMailed(app)).toBe(0);
  });

  it('opens with the code and shows again under its nonce, which the script has only half of', async () => {
    const { app, path, reader, proofs } = await scene();
    const { shown } = await reader.askForCode(proofs);
    expect(shown.html).toContain(shownMailbox);
    const look = / data-look="([^"]*)"/.exec(shown.html)?.[1] ?? '';
    const code = await codeMailed(app);
    const ask = async (fields: Record<string, string>) => {
      const { status, html } = await reader.send(`${path}/open`, { ...proofs, look, ...fields });
      return { status, ...JSON.parse(html) } as Record<string, unknown>;
    };
    expect(await ask({})).toEqual({ status: 422, at: 'code', say: words('secret.codeMissing') });
    expect(await ask({ code: wrongFor(code) })).toMatchObject({ status: 422, at: 'code' });
    expect(await ask({ code, look: 'A'.repeat(22) })).toMatchObject({ status: 422, at: 'code' });
    const opened = await ask({ code: `${code.slice(0, 3)} ${code.slice(3)}` });
    expect(opened).toMatchObject({ status: 200, v: 1 });
    expect(await ask({})).toEqual(opened);
    expect((await postForm(app, `${path}/open`, { ...proofs, look, code })).status).toBe(404);
    expect((await reader.send(`${path}/done`, { look })).status).toBe(303);
    expect((await ask({ code })).at).toBe('gone');
  });
});

describe('the creator of a secret that asks for a code', () => {
  it('chooses it with an address, for accounts alone; a refusal keeps everything typed', async () => {
    const app = createTestApp({ baseUrl });
    const { cookie, signedIn } = await signUpAs(app, 'sender@example.com');
    expect((await visit(app, '/')).html).not.toContain('id="verify"');
    const form = { secret: 'canary', ttl: '604800', verify: 'no address' };
    const stranger = await postForm(app, '/share', { ...form, verify: mailbox });
    expect([stranger.status, valueIn(stranger.html, 'verify')]).toEqual([403, mailbox]);
    const own = { 'form-token': signedIn.formToken };
    const refused = await postForm(app, '/share', { ...form, ...own }, { cookie });
    expect([refused.status, valueIn(refused.html, 'verify'), textIn(refused.html, 'secret')]).toEqual([
      422,
      'no address',
      'canary',
    ]);
    expect(/id="verify-wrong">([^<]*)/.exec(refused.html)?.[1]).toBe(words('share.recipientWrong'));
    const created = await postForm(app, '/share', { ...form, ...own, verify: mailbox }, { cookie });
    const path = created.headers.get('location') ?? '';
    const just = created.headers.getSetCookie().map((line) => line.split(';')[0]);
    const receipt = await visit(app, path, { headers: { cookie: [cookie, ...just].join('; ') } });
    expect(receipt.html).toContain(words('receipt.codesNone'));
    expect(receipt.html).toContain(words('receipt.messageVerify'));
    const link = new URL(textIn(receipt.html, 'link') ?? '').pathname;
    expect(asksForCode(await visit(app, link))).toBe(true);
    const off = createTestApp({ baseUrl, environment: { MAYFLY_VERIFY: 'off' } });
    const there = await signUpAs(off, 'sender@example.com');
    expect((await visit(off, '/', { headers: { cookie: there.cookie } })).html).not.toContain('id="verify"');
  });

  it('has a code mailed to each of several people', async () => {
    const app = createTestApp({ baseUrl });
    const { cookie, signedIn } = await signUpAs(app, 'sender@example.com');
    const form = { secret: 'canary', 'form-token': signedIn.formToken, 'verify-each': 'yes' };
    const refused = await postForm(
      app,
      '/share',
      { ...form, people: 'Ana, ana@example.org\nBen' },
      { cookie },
    );
    expect(refused.html).toContain(
      words('several.line', { line: 2, message: words('share.recipientWrong') }),
    );
    const people = 'Ana, ana@example.org\nBen, ben@example.net';
    const sent = await postForm(app, '/share', { ...form, people }, { cookie });
    const just = sent.headers.getSetCookie().map((line) => line.split(';')[0]);
    const page = await visit(app, sent.headers.get('location') ?? '', {
      headers: { cookie: [cookie, ...just].join('; ') },
    });
    const links = [...(textIn(page.html, 'all') ?? '').matchAll(/: (http\S+)/g)].map(([, link = '']) => link);
    for (const [link, shown] of [
      [links[0], 'an•••@e•••.org'],
      [links[1], 'be•••@e•••.net'],
    ] as const) {
      const reader = createReader(app, new URL(link ?? '').pathname);
      expect((await reader.askForCode()).shown.html).toContain(shown);
    }
  });

  it('sees each code with what became of its mail, and can allow more after too many wrong ones', async () => {
    const { app, cookie, signedIn, secretKey, secretPath, metadataKey, reader } = await waitingFor({
      ttlSeconds: 86_400,
    });
    await lockCodes(app, secretKey);
    const path = `/receipt/${metadataKey}`;
    const receipt = await visit(app, path, { headers: { cookie } });
    expect(receipt.html).toContain(words('receipt.codesLockedForGood', { limit: 100 }));
    expect(receipt.html.split(words('receipt.mailAccepted')).length - 1).toBe(5);
    expect(receipt.html).not.toMatch(/10\.\d\.0/);
    await reader.askForCode();
    const code = await codeMailed(app);
    expect((await reader.open({ code })).html).toContain(words('secret.codesLocked'));
    const more = { 'form-token': signedIn.formToken, by: 'code' };
    expect((await postForm(app, `${path}/allow-more`, more, { cookie })).status).toBe(303);
    expect((await visit(app, path, { headers: { cookie } })).html).not.toContain('name="by"');
    await reader.look(secretPath);
    expect(textIn((await reader.open({ code })).html, 'value')).toBe('canary');
  });
});

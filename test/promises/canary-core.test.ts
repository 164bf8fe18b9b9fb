/**
 * Nothing secret leaves the core in clear: not to the store, not in an event, not in an error.
 *
 * Runs a secret's life with canaries in value, passphrase, recipient, memo and note, searches everything that was handed over,
 * and proves that the search finds each disguise.
 */
import { describe, expect, it } from 'bun:test';
import { anonymous } from '../../src/core/account.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { clientStays } from '../stores/conformance/check.ts';
import { type Canary, dumpOf, findCanaries, formsOf } from '../support/canary.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createBench, guess } from '../support/service-bench.ts';

const text = {
  value: 'cnry-value-7Kq2+w"/ä\n<Zp4',
  passphrase: 'cnry-pass phrase-9Xw3=€&tM6',
  recipient: 'cnry-recipient-4hJ8@canary-domain-2bV7.example',
  elsewhere: 'cnry-elsewhere-6kM1@canary-domain-3cW8.example',
  memo: 'cnry-memo-8Vn4+ü <Rt1',
  note: 'cnry-note-5Gs9=ö &Yd2',
  laterMemo: 'cnry-later-memo-3Xb7&ß"Lk9',
  verify: 'cnry-verify-2Rp6@canary-domain-4dX9.example',
};

/** Records every argument of every call, before the call. */
function listening(store: ServiceParts['store'], heard: unknown[]): ServiceParts['store'] {
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== 'function') return method;
      return (...args: unknown[]) => {
        heard.push(dumpOf([name, ...args]));
        return Reflect.apply(method, target, args);
      };
    },
  });
}

/** A whole life with everything that can happen, and what was handed over in it. */
async function lifeOfASecret(
  defect: (store: ServiceParts['store']) => ServiceParts['store'] = (store) => store,
) {
  const heard: unknown[] = [];
  const state = { down: false };
  const bench = createBench({
    wrap: (store) => {
      const flaky: typeof store = {
        ...store,
        claim: (secret) =>
          state.down ? Promise.reject(new Error('the store is away')) : store.claim(secret, clientStays),
      };
      return listening(defect(flaky), heard);
    },
  });
  const caller = await bench.signUp('sender@example.org');
  heard.length = 0;
  const memo = new Sensitive(text.memo);
  const note = new Sensitive(text.note);
  const verify = new Sensitive(text.verify);
  const options = { passphrase: text.passphrase, recipient: text.recipient, caller, memo, note, verify };
  // Even if the mail server repeats what it was given, none of it may be kept in clear.
  bench.mailReply = `554 refused: ${Object.values(text).join(' ')}`;
  const { secretKey, metadataKey } = await bench.share(text.value, options);
  bench.mailReply += ` https://mayfly.example/secret/${secretKey}`;
  const noted = await bench.service.readNote({ secretKey, linkProof: null });
  const errors: unknown[] = [];
  const tell = (fault: unknown) => errors.push(fault);
  await bench.service.settled();
  const look = Buffer.from('cnry nonce 8Kw1 ');
  const { clientPrefix } = guess(secretKey);
  await bench.service.mailCode({ secretKey, look, linkProof: null, clientPrefix, locale: 'en' });
  await bench.service.settled();
  const code = bench.codeMailed();
  const open = (passphrase: string, given = code) => ({ ...guess(secretKey, passphrase), look, code: given });
  await bench.service.reveal(open(text.passphrase, code === '000000' ? '000001' : '000000'), anonymous);
  await bench.service.reveal(open(`${text.passphrase}x`), anonymous);
  bench.hasher.busy = true;
  await bench.service.reveal(open(text.passphrase), anonymous).catch(tell);
  bench.hasher.busy = false;
  state.down = true;
  await bench.service.reveal(open(text.passphrase), anonymous).catch(tell);
  state.down = false;
  await bench.service.viewReceipt({ metadataKey, authority: 'owner' }, caller);
  await bench.service.recent({ cursor: null, limit: 5, states: ['viewed'] }, caller);
  const laterMemo = new Sensitive(text.laterMemo);
  await bench.service.change({ metadataKey, authority: 'owner', memo: laterMemo, ttlSeconds: 3_600 }, caller);
  const recipient = new Sensitive(text.elsewhere);
  await bench.service.deliver({ metadataKey, authority: 'owner', locale: 'en', recipient }, caller);
  await bench.service.settled();
  const revealed = await bench.service.reveal(open(text.passphrase), anonymous);
  await bench.service.burn(
    { proof: null, metadataKey, authority: 'owner', isAbandoned: clientStays },
    caller,
  );
  await bench.service.settled();
  const canaries: Canary[] = [
    ...Object.entries(text).map(([name, content]) => ({ name, content })),
    { name: 'secret key', content: secretKey },
    { name: 'metadata key', content: metadataKey },
    { name: 'nonce', content: look },
    { name: 'token', content: caller.token },
    { name: 'token bytes', content: Buffer.from(caller.token, 'hex') },
    { name: 'account data key', content: caller.dataKey.expose() },
  ];
  return { bench, heard, errors, canaries, code, revealed, noted };
}

describe('a canary', () => {
  it('P9 P18: in value, passphrase, recipient, memo, note and keys is in nothing that the store was handed', async () => {
    const { bench, heard, canaries, code, revealed } = await lifeOfASecret();
    expect(revealed).toMatchObject({ outcome: 'revealed' });
    expect(heard.length).toBeGreaterThan(10);
    expect(heard.flatMap((each) => findCanaries(each as Buffer, canaries))).toEqual([]);
    // Too short to be looked for in disguise.
    expect(heard.some((each) => (each as Buffer).includes(code))).toBeFalse();
    expect(bench.records.flatMap((record) => findCanaries(dumpOf(record), canaries))).toEqual([]);
  });

  it('P18: is in no event and in no error', async () => {
    const { bench, errors, canaries, code } = await lifeOfASecret();
    expect(bench.events.map(({ event }) => event)).toEqual([
      'concealed',
      'mail_ended',
      'account_mail_ended',
      'code_refused',
      'passphrase_refused',
      'lifetime_changed',
      'mail_ended',
      'revealed',
    ]);
    expect(bench.events.flatMap((event) => findCanaries(dumpOf(event), canaries))).toEqual([]);
    expect(dumpOf([bench.events, errors]).includes(code)).toBeFalse();
    expect(errors).toHaveLength(2);
    expect(errors.flatMap((error) => findCanaries(dumpOf(error), canaries))).toEqual([]);
  });

  it('P18: does not show when a mail, an outcome’s value or a caller is printed', async () => {
    const { bench, canaries, revealed, noted } = await lifeOfASecret();
    const caller = await bench.signUp('another@example.org');
    const { token: _token, ...printed } = caller;
    const dataKey = { name: 'data key', content: caller.dataKey.expose() };
    expect(findCanaries(dumpOf([bench.mails, printed]), [...canaries, dataKey])).toEqual([]);
    if (revealed.outcome !== 'revealed') throw new Error(revealed.outcome);
    expect(findCanaries(dumpOf([revealed.content, noted]), canaries)).toEqual([]);
    expect(noted).toMatchObject({ outcome: 'found', note: expect.any(Sensitive) });
  });

  it('is found when a store is handed the value, in any disguise (self-test)', async () => {
    const disguises: ReadonlyArray<(value: string) => Uint8Array> = [
      (value) => Buffer.from(value),
      (value) => Buffer.from(Buffer.from(`x${value}`).toString('base64')),
      (value) => Buffer.from(value, 'utf16le'),
      (value) => Buffer.from(Buffer.from(value).toString('hex')),
    ];
    for (const disguise of disguises) {
      const { bench, canaries } = await lifeOfASecret((store) => ({
        ...store,
        put: (record) => store.put({ ...record, detailsBox: disguise(text.value) }),
      }));
      const stored = await bench.deps.store.listReceipts(1 as never, { limit: 9, after: null });
      expect(findCanaries(dumpOf(stored), canaries).map(({ canary }) => canary)).toContain('value');
    }
  });
});

describe('the search', () => {
  const canary: Canary = { name: 'planted', content: 'Kanarienvögel & "Zeichen" <7>/+' };
  const noise = seededRandom('noise');

  it('finds every disguise, wherever it is', () => {
    for (const { form, bytes } of formsOf(canary.content)) {
      for (const before of [0, 1, 2, 3, 500]) {
        const hits = findCanaries(Buffer.concat([noise(before), bytes, noise(50)]), [canary]);
        expect(hits.map((hit) => hit.form)).toContain(form);
        expect(hits.find((hit) => hit.form === form)?.offset).toBe(before);
      }
    }
  });

  it('finds base64 whatever surrounds the text', () => {
    for (let before = 0; before < 6; before += 1) {
      for (let after = 0; after < 6; after += 1) {
        const around = Buffer.concat([noise(before), Buffer.from(canary.content), noise(after)]);
        for (const encoding of ['base64', 'base64url'] as const) {
          expect(findCanaries(around.toString(encoding), [canary]).length).toBeGreaterThan(0);
        }
      }
    }
  });

  it('finds what encoders of the platform make of it', () => {
    const content = String(canary.content);
    const encoded = [
      encodeURIComponent(content),
      new URLSearchParams({ q: content }).toString(),
      JSON.stringify({ content }),
      Bun.escapeHTML(content),
      Bun.inspect(new TextEncoder().encode(content)).replaceAll('\n', ''),
      JSON.stringify(Buffer.from(content)),
    ];
    for (const each of encoded) expect(findCanaries(each, [canary]).length).toBeGreaterThan(0);
  });

  it('finds nothing in noise, and nothing of one canary in another', () => {
    expect(findCanaries(noise(1_000_000), [canary])).toEqual([]);
    expect(findCanaries('another text altogether', [canary])).toEqual([]);
  });

  it('refuses a canary that could turn up by chance', () => {
    expect(() => formsOf('short')).toThrow(RangeError);
  });

  it('looks into nested values, byte fields and errors with causes', () => {
    const content = String(canary.content);
    for (const value of [
      { a: [{ b: Buffer.from(`.${content}.`) }] },
      new Error('failed', { cause: { deep: [content] } }),
      Object.assign(new Error('failed'), { extra: content }),
      [content],
    ]) {
      expect(findCanaries(dumpOf(value), [canary]).length).toBeGreaterThan(0);
    }
  });
});

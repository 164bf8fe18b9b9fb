/** Our sealing against the vectors and against two implementations that share no code with it, in both directions. */

import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from 'bun:test';
import { createHash } from 'node:crypto';
import { MayflyError } from '../../sdk/error.ts';
import { createClient } from '../../sdk/mayfly.ts';
import { open, openNote, prove, proveLink, type SealedSecret, seal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { fromBase64Url, toBase64Url } from '../../src/protocol/base64url.ts';
import { isFragment } from '../../src/protocol/link.ts';
import { startServer } from '../support/started-server.ts';
import vectors from '../vectors/end-to-end.json';
import { fromWire, type Job, openIndependents, toWire, type WireContent } from './independent.ts';

const cases = vectors.cases.map((each) => ({ ...each, content: each.content as WireContent }));
const { refusals, notes } = vectors;

let independents: Awaited<ReturnType<typeof openIndependents>>;
beforeAll(async () => {
  independents = await openIndependents();
});
afterAll(() => independents[Symbol.asyncDispose]());
afterEach(() => mock.restore());

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: unknown) => (error instanceof MayflyError ? error.code : `no MayflyError: ${error}`),
  );
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

/** Draws the vector's fragment, once. */
function drawing(fragment: string): void {
  const bytes = fromBase64Url(fragment) ?? new Uint8Array();
  spyOn(crypto, 'getRandomValues').mockImplementationOnce(<Into>(into: Into) => {
    if (!(into instanceof Uint8Array) || into.length !== bytes.length) throw new Error('another draw');
    into.set(bytes);
    return into;
  });
}

describe('the vectors of end-to-end secrets', () => {
  it('are sealed, proved and opened by our module, byte for byte', async () => {
    for (const { fragment, passphrase, content, derived, sealed, reveal, name } of cases) {
      drawing(fragment);
      const made = await seal({ content: fromWire(content), passphrase, stretch });
      expect([name, made as unknown]).toEqual([name, { sealed, fragment }]);
      const { linkProof, proof, key } = await prove(fragment, passphrase, stretch);
      expect({ link_proof: linkProof, proof }).toEqual(reveal);
      expect([reveal.link_proof, reveal.proof].map((text) => hexOf(fromBase64Url(text) ?? key))).toEqual([
        derived.link,
        derived.proof,
      ]);
      expect(hexOf(key)).toBe(derived.key);
      expect((fromBase64Url(sealed.ciphertext)?.length ?? 0) - 16).toBe(derived.padded_bytes);
      expect(toWire(await open(sealed.ciphertext, key))).toEqual(content);
    }
  });

  it('stretch passphrases with the salt that they state', async () => {
    const stretched = cases.flatMap(({ passphrase, derived }) =>
      passphrase === null || derived.salt === undefined ? [] : [{ passphrase, ...derived }],
    );
    expect(stretched.length).toBeGreaterThan(4);
    for (const { passphrase, salt, stretched: wanted } of stretched) {
      const made = await stretch(Buffer.from(passphrase), Buffer.from(salt ?? '', 'hex'));
      expect(hexOf(made)).toBe(wanted ?? '');
    }
  });

  it('that must be refused are refused by our module', async () => {
    const { key } = await prove(refusals.fragment, null, stretch);
    expect(await open(refusals.opens.ciphertext, key)).toEqual(
      fromWire(refusals.opens.content as WireContent),
    );
    for (const { name, ciphertext } of refusals.ciphertexts)
      expect([name, await codeOf(open(ciphertext, key))]).toEqual([name, 'unreadable']);
    for (const fragment of refusals.fragments)
      expect([fragment, isFragment(fragment), await codeOf(prove(fragment, null, stretch))]).toEqual([
        fragment,
        false,
        'invalid_key',
      ]);
    for (const passphrase of refusals.passphrases)
      expect(await codeOf(prove(refusals.fragment, passphrase, stretch))).toBe('invalid_field');
    for (const short of [
      key.subarray(1),
      new Uint8Array([...key, 0]),
      new Uint8Array(0),
      key.subarray(0, 16),
    ])
      expect(await codeOf(open(refusals.opens.ciphertext, short))).toBe('unreadable');
  });
});

describe('the vectors of notes', () => {
  it('are sealed, proved and opened by our module, byte for byte, whatever the passphrase', async () => {
    for (const { name, fragment, note, sealed, link_proof } of notes)
      for (const passphrase of [null, 'right']) {
        drawing(fragment);
        const made = await seal({ content: { kind: 'text', text: 'x' }, passphrase, note, stretch });
        expect([name, made.sealed.note, made.fragment]).toEqual([name, sealed, fragment]);
        expect(await openNote(sealed, fragment)).toBe(note);
        expect(await proveLink(fragment)).toBe(link_proof);
      }
    expect(new Set(notes.map(({ sealed }) => sealed.length))).toEqual(new Set([768]));
  });

  it('that must be refused are refused by our module', async () => {
    for (const { name, note } of refusals.notes)
      expect([name, await codeOf(openNote(note, refusals.fragment))]).toEqual([name, 'unreadable']);
    for (const fragment of refusals.fragments) expect(await codeOf(proveLink(fragment))).toBe('invalid_key');
  });

  it('are tidied before they are sealed, and what cannot be one is refused before anything is drawn', async () => {
    const sealed = async (note: string) =>
      (await seal({ content: { kind: 'text', text: 'x' }, passphrase: null, note, stretch })).sealed;
    for (const none of ['', ' \n ', '\u200f']) expect('note' in (await sealed(none))).toBe(false);
    const { sealed: made, fragment } = await seal({
      ...{ content: { kind: 'text', text: 'x' }, passphrase: null, stretch },
      note: ' Call\n \u202a+49 30\u202c ',
    });
    expect(await openNote(made.note ?? '', fragment)).toBe('Call +49 30');
    for (const wrong of ['a'.repeat(141), '\u001b[2J', 'a\ud83d'])
      expect(await codeOf(sealed(wrong))).toBe('invalid_field');
  });
});

describe('a file from a stranger', () => {
  it('is opened under a name and a type that are safe to show', async () => {
    const { key } = await prove(refusals.fragment, null, stretch);
    for (const { ciphertext, kept } of refusals.names)
      expect(await open(ciphertext, key)).toEqual({ kind: 'file', ...kept, bytes: Buffer.from('data') });
  });
});

describe('the programs of the document', () => {
  it('prove and open the vectors as they say, and refuse the rest', async () => {
    const { fragment, opens, ciphertexts, fragments, passphrases } = refusals;
    const wrong: Job[] = [
      ...ciphertexts.map(({ ciphertext }): Job => ({ do: 'open', fragment, passphrase: null, ciphertext })),
      ...fragments.map((each): Job => ({ do: 'prove', fragment: each, passphrase: null })),
      ...passphrases.map((passphrase): Job => ({ do: 'prove', fragment, passphrase })),
    ];
    const right: Job[] = cases.flatMap((each): Job[] => [
      { do: 'prove', fragment: each.fragment, passphrase: each.passphrase },
      {
        do: 'open',
        fragment: each.fragment,
        passphrase: each.passphrase,
        ciphertext: each.sealed.ciphertext,
      },
    ]);
    const wanted: unknown[] = cases.flatMap(({ reveal, derived, content }) => [
      { ...reveal, key: derived.key },
      content,
    ]);
    for (const { name, run } of independents) {
      const results = await run([
        { do: 'open', fragment, passphrase: null, ciphertext: opens.ciphertext },
        ...right,
        ...wrong,
      ]);
      expect(results.slice(0, 1 + right.length) as unknown[]).toEqual([opens.content, ...wanted]);
      const taken = results
        .slice(1 + right.length)
        .flatMap((result, at) => ('refused' in result ? [] : [wrong[at]]));
      expect([name, results.length, taken]).toEqual([name, 1 + right.length + wrong.length, []]);
    }
  });

  it('prove links, and open and refuse notes as the vectors say', async () => {
    const jobs = notes.flatMap(({ fragment, sealed }): Job[] => [
      { do: 'prove link', fragment },
      { do: 'open note', fragment, note: sealed },
    ]);
    const { fragment } = refusals;
    const wrong = refusals.notes.map(({ note }): Job => ({ do: 'open note', fragment, note }));
    for (const { run } of independents) {
      const results = await run([...jobs, ...wrong]);
      const wanted = notes.flatMap(({ note, link_proof }) => [{ link_proof }, { note }]);
      expect(results.slice(0, jobs.length) as unknown[]).toEqual(wanted);
      expect(results.slice(jobs.length)).toEqual(wrong.map(() => ({ refused: expect.any(String) })));
    }
  });

  it('open the notes that our module seals, and our module opens theirs', async () => {
    const content = { kind: 'text', text: 'x' } as const;
    const ours = await Promise.all(
      notes.map(({ note }) => seal({ content, passphrase: null, note, stretch })),
    );
    const jobs = notes.flatMap(({ note }, at): Job[] => [
      { do: 'open note', fragment: ours[at]?.fragment ?? '', note: ours[at]?.sealed.note ?? '' },
      { do: 'seal', content, passphrase: at % 2 === 0 ? 'right' : null, note },
    ]);
    for (const { run } of independents) {
      const results = await run(jobs);
      for (const [at, { note }] of notes.entries()) {
        expect(results[at * 2] as unknown).toEqual({ note });
        const { sealed, fragment } = results[at * 2 + 1] as { sealed: SealedSecret; fragment: string };
        expect(await openNote(sealed.note ?? '', fragment)).toBe(note);
      }
    }
  });

  it('open what our module seals, and our module opens what they seal', async () => {
    const chosen = cases.filter(({ content }) => content.kind === 'file' || content.text.length < 100);
    const ours = await Promise.all(
      chosen.map(({ content, passphrase }) => seal({ content: fromWire(content), passphrase, stretch })),
    );
    const jobs: Job[] = chosen.flatMap(({ content, passphrase }, at): Job[] => [
      {
        do: 'open',
        fragment: ours[at]?.fragment ?? '',
        passphrase,
        ciphertext: ours[at]?.sealed.ciphertext ?? '',
      },
      { do: 'seal', content, passphrase },
    ]);
    for (const { run } of independents) {
      const results = await run(jobs);
      for (const [at, { content, passphrase }] of chosen.entries()) {
        expect(results[at * 2] as unknown).toEqual(content);
        const { sealed, fragment } = results[at * 2 + 1] as { sealed: SealedSecret; fragment: string };
        const { linkProof, proof, key } = await prove(fragment, passphrase, stretch);
        expect(toWire(await open(sealed.ciphertext, key))).toEqual(content);
        const hashes = [linkProof, proof].map((text) =>
          toBase64Url(
            createHash('sha256')
              .update(fromBase64Url(text) ?? '')
              .digest(),
          ),
        );
        expect([sealed.link_hash, sealed.proof_hash]).toEqual(hashes);
        expect([sealed.v, sealed.passphrase]).toEqual([1, passphrase !== null]);
      }
    }
  });

  it('share through a server what our client reads', async () => {
    await using server = await startServer();
    const origin = `http://127.0.0.1:${server.port}`;
    const link = await independents.share(origin);
    expect((await createClient({ server: origin }).reveal(link)).value).toBe('open sesame');
  });

  it('self-test: a program that derives another key is found', async () => {
    const [first] = cases;
    if (first === undefined) throw new Error('no vector');
    const { fragment, sealed } = first;
    const other = `${fragment.startsWith('A') ? 'B' : 'A'}${fragment.slice(1)}`;
    for (const { run } of independents)
      expect(
        await run([{ do: 'open', fragment: other, passphrase: null, ciphertext: sealed.ciphertext }]),
      ).toEqual([{ refused: expect.any(String) }]);
  });
});

/** Requests against the vectors, and against the Python program that docs/requests.md prints, in both directions. */
import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deriveKeyPair, openWith, sealTo } from '../../sdk/hpke.ts';
import {
  askProofOf,
  drawRequest,
  openAsker,
  openTerms,
  publicKeyIn,
  unwrap,
  wrap,
} from '../../sdk/request.ts';
import { hash, seal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import { fromBase64Url, toBase64Url } from '../../src/protocol/base64url.ts';
import vectors from '../vectors/requests.json';
import { printed, python, type Result, runIn } from './independent.ts';
import { failure } from './observed.ts';

const { cases, refused, rfc9180 } = vectors;
const [first, second] = cases;
if (first === undefined || second === undefined) throw new Error('no vectors');

afterEach(() => mock.restore());

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
const decoded = (text: string) => fromBase64Url(text) ?? new Uint8Array();
const sealedText = () => seal({ content: { kind: 'text', text: 'x' }, passphrase: null, stretch });

describe("RFC 9180's vectors", () => {
  it('give the same key pairs', async () => {
    for (const { ikm, public: wanted } of rfc9180.key_pairs)
      expect(hexOf((await deriveKeyPair(bytesOf(ikm))).publicKey)).toBe(wanted);
  });

  it('open, and not with anything changed', async () => {
    const { ikm, info, aad, plaintext, sealed } = rfc9180.message;
    const { keys } = await deriveKeyPair(bytesOf(ikm));
    const message = { info: bytesOf(info), aad: bytesOf(aad) };
    expect(hexOf(await openWith(keys, bytesOf(sealed), message))).toBe(plaintext);
    const other = (await deriveKeyPair(bytesOf(rfc9180.message.ephemeral_ikm))).keys;
    const changed = bytesOf(sealed);
    changed[40] = (changed[40] ?? 0) ^ 1;
    const openings = await Promise.allSettled([
      openWith(keys, changed, message),
      openWith(keys, bytesOf(sealed), { ...message, aad: bytesOf(info) }),
      openWith(keys, bytesOf(sealed), { ...message, info: bytesOf(aad) }),
      openWith(other, bytesOf(sealed), message),
    ]);
    expect(openings.map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  });

  it('seal what opens again, differently each time', async () => {
    const { keys, publicKey } = await deriveKeyPair(bytesOf(rfc9180.message.ikm));
    const message = { info: Buffer.from('info'), aad: Buffer.from('aad') };
    const sealed = await Promise.all([1, 2].map(() => sealTo(publicKey, Buffer.from('text'), message)));
    const [one, other] = sealed.map((parts) => Buffer.concat(parts));
    if (one === undefined || other === undefined) throw new Error('nothing sealed');
    expect(one.equals(other)).toBe(false);
    for (const each of [one, other])
      expect(hexOf(await openWith(keys, each, message))).toBe(hexOf(Buffer.from('text')));
  });
});

/** Draws the vector's end of the answers link, once. */
function drawing(end: string): void {
  spyOn(crypto, 'getRandomValues').mockImplementationOnce(<Into>(into: Into) => {
    if (!(into instanceof Uint8Array) || into.length !== 16) throw new Error('another draw');
    into.set(decoded(end));
    return into;
  });
}

describe('the vectors of requests', () => {
  it('are drawn, proved, opened and unwrapped by our module, byte for byte', async () => {
    for (const each of cases) {
      drawing(each.answers_end);
      const made = await drawRequest(each.prompt);
      expect([each.name, made as unknown]).toEqual([
        each.name,
        {
          sent: each.sent,
          publicKey: bytesOf(each.derived.pk),
          askEnd: each.ask_end,
          answersEnd: each.answers_end,
        },
      ]);
      const asker = await openAsker(each.answers_end);
      expect([hexOf(asker.publicKey), asker.ownerProof]).toEqual([each.derived.pk, each.owner]);
      const publicKey = publicKeyIn(each.ask_end);
      expect(hexOf(publicKey)).toBe(each.derived.pk);
      expect(await askProofOf(publicKey)).toBe(each.ask);
      expect([hexOf(decoded(each.owner)), hexOf(decoded(each.ask))]).toEqual([
        each.derived.owner,
        each.derived.ask,
      ]);
      expect([await hash(decoded(each.owner)), await hash(decoded(each.ask))]).toEqual([
        each.sent.owner_hash,
        each.sent.ask_hash,
      ]);
      expect(await openTerms(each.sent.terms, publicKey)).toBe(each.prompt);
      expect(decoded(each.sent.terms).length).toBe(each.derived.terms_bytes);
      const { fragment } = each.answer;
      expect(await unwrap(each.answer, each.request_key, asker)).toBe(fragment);
      const again = await wrap({ sealed: each.answer, fragment }, each.request_key, publicKey);
      expect([decoded(again).length, again === each.answer.wrapped]).toEqual([64, false]);
      expect(await unwrap({ ...each.answer, wrapped: again }, each.request_key, asker)).toBe(fragment);
    }
    expect([...new Set(cases.map(({ derived }) => derived.terms_bytes))].sort((a, b) => a - b)).toEqual([
      272, 528, 784, 1_040,
    ]);
  });

  it('that must be refused are refused by our module', async () => {
    const publicKey = publicKeyIn(first.ask_end);
    for (const { name, terms } of refused.terms)
      expect([name, (await failure(openTerms(terms, publicKey))).code]).toEqual([name, 'unreadable']);
    const asker = await openAsker(first.answers_end);
    for (const { name, request_key, ...answer } of refused.wrapped)
      expect([name, await unwrap(answer, request_key, asker)]).toEqual([name, null]);
    for (const { name, end } of refused.ask_ends)
      expect([name, (await failure(Promise.resolve().then(() => publicKeyIn(end)))).code]).toEqual([
        name,
        'incomplete_link',
      ]);
    for (const end of ['', first.ask_end, first.answers_end.slice(1), `${first.answers_end}A`])
      expect((await failure(openAsker(end))).code).toBe('incomplete_link');
  });

  it('draw another R each time, so that nothing on the wire is the same twice', async () => {
    const made = await Promise.all([1, 2].map(() => drawRequest('same')));
    const parts = made.flatMap(({ sent, askEnd, answersEnd }) => [
      ...Object.values(sent),
      askEnd,
      answersEnd,
    ]);
    expect(new Set(parts).size).toBe(10);
  });

  it('send nothing that opens: neither R nor pk, nor a proof', async () => {
    const { sent, askEnd, answersEnd } = await drawRequest('x');
    const [asker, publicKey] = [await openAsker(answersEnd), publicKeyIn(askEnd)];
    const wire = JSON.stringify(sent);
    for (const secret of [askEnd, answersEnd, asker.ownerProof, await askProofOf(publicKey)])
      expect(wire).not.toContain(secret);
  });

  it('take a prompt tidied, and refuse before anything is drawn what cannot be one', async () => {
    const { sent, askEnd } = await drawRequest(' The\n \u202aNAS\u202c ');
    expect(await openTerms(sent.terms, publicKeyIn(askEnd))).toBe('The NAS');
    const draw = spyOn(crypto, 'getRandomValues');
    for (const wrong of ['', ' \u200f', 'x'.repeat(201), '\u001b[2J', 'a\ud83d'])
      expect(await failure(drawRequest(wrong))).toMatchObject({ code: 'invalid_field', field: 'prompt' });
    expect(draw).not.toHaveBeenCalled();
  });

  it('refuse a public key of low order, with which everyone could read the answer', async () => {
    const answer = await sealedText();
    for (const point of [new Uint8Array(32), new Uint8Array(32).fill(1, 0, 1)])
      expect((await failure(wrap(answer, first.request_key, point))).code).toBe('incomplete_link');
  });

  it('say so where the runtime has no X25519', async () => {
    const lacking = () =>
      Promise.reject(new DOMException('Unrecognized name.', 'NotSupportedError')) as Promise<never>;
    spyOn(crypto.subtle, 'importKey').mockImplementation(((...[, , algorithm]: unknown[]) =>
      (algorithm as { readonly name?: string }).name === 'X25519' || algorithm === 'X25519'
        ? lacking()
        : Promise.resolve({} as CryptoKey)) as typeof crypto.subtle.importKey);
    spyOn(crypto.subtle, 'deriveBits').mockImplementation(async () => new ArrayBuffer(32));
    spyOn(crypto.subtle, 'sign').mockImplementation(async () => new ArrayBuffer(32));
    for (const work of [
      drawRequest('x'),
      openAsker(first.answers_end),
      wrap(
        { sealed: first.answer, fragment: first.answer.fragment },
        first.request_key,
        publicKeyIn(first.ask_end),
      ),
    ])
      expect(await failure(work)).toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('X25519'),
      });
  });
});

const driver = `
import json, sys
import program as p

def work(job):
    if job["do"] == "ask":
        fields, ask_end, answers_end = p.ask(job["prompt"])
        return {"sent": fields, "ask_end": ask_end, "answers_end": answers_end}
    if job["do"] == "prove":
        return {**p.prove_ask(job["ask_end"]), **p.prove_owner(job["answers_end"])}
    if job["do"] == "open terms":
        return {"prompt": p.open_terms(job["ask_end"], job["terms"])}
    if job["do"] == "wrap":
        return {"wrapped": p.wrap(job["ask_end"], job["request_key"], job["link_hash"], job["fragment"])}
    return {"fragment": p.unwrap(job["answers_end"], job["request_key"], job["link_hash"], job["wrapped"])}

def run(job):
    try:
        return work(job)
    except Exception as error:
        return {"refused": type(error).__name__}

print(json.dumps([run(job) for job in json.load(sys.stdin)]))
`;

describe('the program of the document', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
    const [answers] = await printed('end-to-end.md', 'python', 'In Python');
    const [requests] = await printed('requests.md', 'python', 'In Python');
    const files = { 'end_to_end.py': answers, 'program.py': requests, 'driver.py': driver };
    for (const [name, text] of Object.entries(files)) await Bun.write(join(folder, name), text);
  });
  afterAll(() => rm(folder, { recursive: true }));
  const run = (jobs: readonly object[]): Promise<Result[]> => runIn(folder, [python, 'driver.py'], jobs);

  it('proves, opens and unwraps the vectors as they say, and refuses the rest', async () => {
    const right = cases.flatMap(({ ask_end, answers_end, request_key, sent, answer }) => [
      { do: 'prove', ask_end, answers_end },
      { do: 'open terms', ask_end, terms: sent.terms },
      { do: 'unwrap', answers_end, request_key, ...answer },
    ]);
    const { ask_end, answers_end } = first;
    const wrong = [
      ...refused.terms.map(({ terms }) => ({ do: 'open terms', ask_end, terms })),
      ...refused.wrapped.map((each) => ({ ...each, do: 'unwrap', answers_end })),
      ...refused.ask_ends.map(({ end }) => ({ do: 'prove', ask_end: end, answers_end })),
      { do: 'ask', prompt: '' },
      { do: 'ask', prompt: 'x'.repeat(201) },
    ];
    const results = await run([...right, ...wrong]);
    const wanted = cases.flatMap(({ ask, owner, prompt, answer: { fragment } }) => [
      { ask, owner },
      { prompt },
      { fragment },
    ]);
    expect(results.slice(0, right.length) as unknown[]).toEqual(wanted);
    expect(results.slice(right.length)).toEqual(wrong.map(() => ({ refused: expect.any(String) })));
  });

  it('reads what our module asks and answers, and our module reads what it does', async () => {
    const request_key = second.request_key;
    const prompts = cases.map(({ prompt }) => prompt);
    const ours = await Promise.all(prompts.map((prompt) => drawRequest(prompt)));
    const answer = await sealedText();
    const { link_hash } = answer.sealed;
    const jobs = await Promise.all(
      ours.map(async ({ sent, askEnd, answersEnd }) => [
        { do: 'open terms', ask_end: askEnd, terms: sent.terms },
        {
          ...{ do: 'unwrap', answers_end: answersEnd, request_key, link_hash },
          wrapped: await wrap(answer, request_key, publicKeyIn(askEnd)),
        },
        { do: 'wrap', ask_end: askEnd, request_key, link_hash, fragment: answer.fragment },
      ]),
    );
    const results = await run([...jobs.flat(), ...prompts.map((prompt) => ({ do: 'ask', prompt }))]);
    for (const [at, { answersEnd }] of ours.entries()) {
      const [opened, unwrapped, wrapped] = results.slice(at * 3);
      expect([opened, unwrapped] as unknown[]).toEqual([
        { prompt: prompts[at] },
        { fragment: answer.fragment },
      ]);
      const theirs = { wrapped: String(wrapped?.wrapped), link_hash };
      expect(await unwrap(theirs, request_key, await openAsker(answersEnd))).toBe(answer.fragment);
    }
    for (const [at, asked] of results.slice(3 * ours.length).entries()) {
      const { sent, ask_end, answers_end } = asked as unknown as typeof first;
      const [asker, publicKey] = [await openAsker(answers_end), publicKeyIn(ask_end)];
      expect(toBase64Url(asker.publicKey)).toBe(ask_end);
      expect(await openTerms(sent.terms, publicKey)).toBe(prompts[at] ?? '');
      expect([
        await hash(decoded(asker.ownerProof)),
        await hash(decoded(await askProofOf(publicKey))),
      ]).toEqual([sent.owner_hash, sent.ask_hash]);
    }
  });
});

/**
 * API v2, end-to-end secrets: ciphertext comes in, ciphertext goes out, and only for both proofs.
 *
 * Every answer in this file is also checked against the OpenAPI document (see `documented-app.ts`).
 */
import { describe, expect, it } from 'bun:test';
import { builtInPlans } from '../../src/core/plans.ts';
import { attemptLimits } from '../../src/core/secrets/attempts.ts';
import { base64url, type ClientSecret, clientSecret } from '../support/sealed-wire.ts';
import { createDocumentedApp, type DocumentedApp } from './documented-app.ts';

const app = createDocumentedApp();
const alice = await app.account('alice@example.com', 'identity');
const as = { authorization: alice.authorization };
const upstream = createDocumentedApp({ dialect: 'upstream', v2Dialect: 'upstream' });

async function concealed(sealed: ClientSecret, from: DocumentedApp = app, headers = {}) {
  const json = { secret: { sealed: sealed.wire } };
  const { status, body } = await from.call('/secret/conceal', { json, headers });
  expect(status).toBe(200);
  return { key: body.record.secret.key as string, metadataKey: body.record.metadata.key as string, body };
}

const reveal = (key: string, json: object = {}, from: DocumentedApp = app) =>
  from.call(`/secret/${key}/reveal`, { json });

const asV1 = async (path: string, from: DocumentedApp, body = '') => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...as };
  const answer = await from.fetch(`/api/v1${path}`, { method: 'POST', body, headers });
  return { status: answer.status, body: await answer.json() };
};

const waits = async (key: string, from: DocumentedApp = app) =>
  (await from.call('/secret/status', { json: { identifiers: key } })).body.records[0].state === 'new';

for (const hasPassphrase of [false, true]) {
  describe(`an end-to-end secret ${hasPassphrase ? 'with' : 'without'} a passphrase`, () => {
    for (const [name, from] of [
      ['documented', app],
      ['upstream', upstream],
    ] as const) {
      it(`goes out as it came in, once, in the dialect ${name} (P1)`, async () => {
        const sealed = clientSecret({ hasPassphrase });
        const { key, body } = await concealed(sealed, from);
        expect(body.record.metadata).toMatchObject({
          ...{ secret_key: key, sealed: true, has_passphrase: hasPassphrase },
          ...{ share_url: '', share_path: '' },
        });
        expect(body.record.secret).toMatchObject({ sealed: true, has_passphrase: hasPassphrase });
        const first = await reveal(key, { continue: true, ...sealed.body }, from);
        expect(first.status).toBe(200);
        expect(first.body.record.sealed).toEqual({ v: 1, ciphertext: sealed.wire.ciphertext });
        expect(first.body.record).not.toHaveProperty('secret_value');
        const second = await reveal(key, { continue: true, ...sealed.body }, from);
        expect([second.status, second.body.error]).toEqual([404, 'unknown_secret']);
      });
    }

    it('is taken from a flat body too', async () => {
      const { wire, body } = clientSecret({ hasPassphrase });
      const made = await app.call('/secret/conceal', { json: { sealed: wire, ttl: 600, memo: 'for Al' } });
      expect(made.body.record.metadata).toMatchObject({ sealed: true, lifespan: 600, memo: 'for Al' });
      expect((await reveal(made.body.record.secret.key, body)).status).toBe(200);
    });

    it('says what it is to whoever looks, without a proof and without a trace (P4)', async () => {
      const { key, metadataKey } = await concealed(clientSecret({ hasPassphrase }), app, as);
      const said = { sealed: true, has_passphrase: hasPassphrase, state: 'new' };
      const looked = await app.call(`/secret/${key}`);
      expect(looked.body.record).toMatchObject(said);
      expect(looked.body.details.correct_passphrase).toBe(!hasPassphrase);
      expect((await app.call(`/secret/${key}/status`)).body.record).toMatchObject(said);
      const several = await app.call('/secret/status', { json: { identifiers: key } });
      expect(several.body.records).toMatchObject([said]);
      const checked = await reveal(key, { continue: false });
      expect(checked.body.record).toMatchObject(said);
      const receipt = await app.call(`/private/${metadataKey}`, { headers: as });
      expect(receipt.body.record).toMatchObject({ ...said, share_url: '', share_path: '', secret_key: key });
      expect(receipt.body.details).toMatchObject({ show_secret_link: false, can_decrypt: false });
      const recent = await app.call('/private/recent', { headers: as });
      expect(recent.body.records[0]).toMatchObject({ sealed: true, has_passphrase: hasPassphrase });
    });

    it('is checked by its proofs and not consumed with continue false', async () => {
      const sealed = clientSecret({ hasPassphrase });
      const { key } = await concealed(sealed);
      const right = await reveal(key, { continue: false, ...sealed.body });
      expect([right.status, right.body.details.correct_passphrase]).toEqual([200, true]);
      const wrong = await reveal(key, { continue: false, ...sealed.body, link_proof: sealed.body.proof });
      expect([wrong.status, wrong.body.error]).toEqual([422, 'incomplete_link']);
      expect(await waits(key)).toBe(true);
    });

    it('burns without a passphrase, through both versions and dialects', async () => {
      for (const from of [app, upstream]) {
        const owner = await from.account(`owner-${hasPassphrase}-${from === app}@example.com`);
        const headers = { authorization: owner.authorization };
        const first = await concealed(clientSecret({ hasPassphrase }), from, headers);
        const burned = await from.call(`/private/${first.metadataKey}/burn`, {
          json: { continue: true },
          headers,
        });
        expect([burned.status, burned.body.record.state]).toEqual([200, 'burned']);
        const { metadataKey } = await concealed(clientSecret({ hasPassphrase }), from, headers);
        const response = await from.fetch(`/api/v1/private/${metadataKey}/burn`, { method: 'POST', headers });
        expect(response.status).toBe(200);
      }
    });

    it('is not consumed by v1, which says what it is', async () => {
      const message =
        'This secret is end-to-end encrypted. Open its full link in a browser or with the mayfly command.';
      for (const [from, status] of [
        [app, 400],
        [upstream, 404],
      ] as const) {
        const sealed = clientSecret({ hasPassphrase });
        const { key } = await concealed(sealed, from);
        const headers = { 'content-type': 'application/x-www-form-urlencoded' };
        for (const body of [
          '',
          'passphrase=x',
          `link_proof=${sealed.body.link_proof}&proof=${sealed.body.proof}`,
        ]) {
          const answer = await from.fetch(`/api/v1/secret/${key}`, { method: 'POST', body, headers });
          expect([answer.status, await answer.json()]).toEqual([status, { message }]);
        }
        expect((await reveal(key, { continue: true, ...sealed.body }, from)).status).toBe(200);
      }
    });

    it('keeps waiting, and counts nothing, where the whole link is not proven (P14)', async () => {
      const sealed = clientSecret({ hasPassphrase });
      const other = clientSecret({ seed: 'other' });
      const { key } = await concealed(sealed);
      const halves: readonly object[] = [
        {},
        { passphrase: 'correct horse' },
        { link_proof: other.body.link_proof, proof: other.body.proof },
        { link_proof: other.body.link_proof, proof: sealed.body.proof },
        { link_proof: sealed.body.proof, proof: sealed.body.link_proof },
      ];
      for (let round = 0; round <= attemptLimits.perLife / halves.length; round += 1) {
        for (const half of halves) {
          const { status, body } = await reveal(key, half);
          expect([status, body.error]).toEqual([422, 'incomplete_link']);
        }
      }
      expect((await reveal(key, sealed.body)).status).toBe(200);
    });

    it('is not opened by a right link proof with another proof', async () => {
      const sealed = clientSecret({ hasPassphrase });
      const { key } = await concealed(sealed);
      const half = { ...sealed.body, proof: sealed.body.link_proof };
      const answers: unknown[] = [];
      for (let guess = 0; guess <= attemptLimits.perClient; guess += 1)
        answers.push((await reveal(key, half)).body.error);
      const wrong = hasPassphrase ? 'incorrect_passphrase' : 'incomplete_link';
      const last = hasPassphrase ? 'too_many_attempts' : 'incomplete_link';
      expect(answers).toEqual([...Array.from({ length: attemptLimits.perClient }, () => wrong), last]);
      const { status } = await reveal(key, sealed.body);
      expect(status).toBe(hasPassphrase ? 429 : 200);
    });
  });
}

describe('a second look at an end-to-end secret', () => {
  for (const hasPassphrase of [false, true])
    it(`takes both proofs each time, and no half link ends it (passphrase: ${hasPassphrase}) (P1, P14)`, async () => {
      const sealed = clientSecret({ hasPassphrase });
      const other = clientSecret({ seed: 'other' }).body;
      const { key } = await concealed(sealed);
      const look = base64url(new Uint8Array(16).fill(9));
      const ciphertexts: string[] = [];
      for (let answer = 0; answer < 3; answer += 1) {
        for (const half of [{}, other, { ...other, proof: sealed.body.proof }, { passphrase: 'x' }]) {
          const { status, body } = await reveal(key, { ...half, look });
          expect([status, body.error]).toEqual([422, 'incomplete_link']);
        }
        const wrong = await reveal(key, { ...sealed.body, proof: other.proof, look });
        const error = hasPassphrase ? 'incorrect_passphrase' : 'incomplete_link';
        expect([wrong.status, wrong.body.error]).toEqual([422, error]);
        ciphertexts.push((await reveal(key, { ...sealed.body, look })).body.record.sealed.ciphertext);
      }
      expect(ciphertexts).toEqual(Array(3).fill(sealed.wire.ciphertext));
      expect((await reveal(key, { ...sealed.body, look })).status).toBe(404);
    });
});

describe('proofs', () => {
  it('of a plain secret are refused, and nothing is consumed or counted', async () => {
    for (const passphrase of [undefined, 'pw']) {
      const json = { secret: { secret: 'plain', passphrase } };
      const { key } = (await app.call('/secret/conceal', { json })).body.record.secret;
      for (let guess = 0; guess <= attemptLimits.perClient; guess += 1) {
        for (const proceed of [true, false]) {
          const { status, body } = await reveal(key, { continue: proceed, ...clientSecret().body });
          expect([status, body.error]).toEqual([422, 'not_sealed']);
        }
      }
      expect((await reveal(key, { passphrase })).body.record.secret_value).toBe('plain');
    }
  });

  const { body: right } = clientSecret();
  const malformed: readonly [string, object, string][] = [
    ['a link proof alone', { link_proof: right.link_proof }, 'proof'],
    ['a proof alone', { proof: right.proof }, 'link_proof'],
    ['a proof of 31 bytes', { ...right, proof: base64url(new Uint8Array(31)) }, 'proof'],
    ['a proof of 33 bytes', { ...right, link_proof: base64url(new Uint8Array(33)) }, 'link_proof'],
    ['a proof with padding', { ...right, proof: `${right.proof}=` }, 'proof'],
    ['a proof in base64', { ...right, proof: `+/${right.proof.slice(2)}` }, 'proof'],
    ['a proof with stray bits at its end', { ...right, proof: `${'A'.repeat(42)}B` }, 'proof'],
    ['a proof that is no text', { ...right, proof: 5 }, 'proof'],
    ['an empty proof', { ...right, link_proof: '' }, 'link_proof'],
    ['a passphrase beside them', { ...right, passphrase: 'pw' }, 'passphrase'],
  ];
  it.each(malformed)('with %s are refused, and nothing is consumed', async (_what, json, field) => {
    const { key } = await concealed(clientSecret());
    const { status, body } = await reveal(key, json);
    expect([status, body.error, body.field]).toEqual([422, 'invalid_field', field]);
    expect((await reveal(key, right)).status).toBe(200);
  });

  it('of null are none', async () => {
    const { key } = await concealed(clientSecret());
    const { body } = await reveal(key, { link_proof: null, proof: null });
    expect(body.error).toBe('incomplete_link');
  });
});

describe('a creation of an end-to-end secret', () => {
  const { wire } = clientSecret();
  const long = base64url(new Uint8Array(33));
  const refused: readonly [string, object, string][] = [
    ['a value beside it', { sealed: wire, secret: 'x' }, 'secret'],
    ['a passphrase beside it', { sealed: wire, passphrase: 'x' }, 'passphrase'],
    ['a recipient beside it', { sealed: wire, recipient: 'joe@example.org' }, 'recipient'],
    ['another version', { sealed: { ...wire, v: 2 } }, 'sealed.v'],
    ['no version', { sealed: { ...wire, v: undefined } }, 'sealed.v'],
    ['no ciphertext', { sealed: { ...wire, ciphertext: undefined } }, 'sealed.ciphertext'],
    ['padded base64url', { sealed: { ...wire, ciphertext: 'AAA=' } }, 'sealed.ciphertext'],
    [
      'plain base64',
      { sealed: { ...wire, ciphertext: `+/${wire.ciphertext.slice(2)}` } },
      'sealed.ciphertext',
    ],
    ['a long link hash', { sealed: { ...wire, link_hash: long } }, 'sealed.link_hash'],
    ['a short proof hash', { sealed: { ...wire, proof_hash: 'AAAA' } }, 'sealed.proof_hash'],
    ['a passphrase that is a text', { sealed: { ...wire, passphrase: 'yes' } }, 'sealed.passphrase'],
    ['no word on a passphrase', { sealed: { ...wire, passphrase: undefined } }, 'sealed.passphrase'],
    ['a text as sealed', { sealed: 'x' }, 'sealed'],
    ...[0, 16, 255 + 16, 256, 257 + 16, 4_096 + 256 + 17, 8_192 + 256 + 16].map(
      (bytes) =>
        [
          `${bytes} bytes, which padding cannot make`,
          { sealed: { ...wire, ciphertext: base64url(new Uint8Array(bytes)) } },
          'sealed',
        ] as [string, object, string],
    ),
  ];
  it.each(refused)('with %s is refused, nested and flat, in both dialects', async (_what, fields, field) => {
    for (const from of [app, upstream]) {
      for (const [json, prefix] of [
        [{ secret: fields }, 'secret.'],
        [fields, ''],
      ] as const) {
        const headers = from === app ? as : {};
        const { status, body } = await from.call('/secret/conceal', { json, headers });
        expect([status, body.error, body.field]).toEqual([422, 'invalid_field', prefix + field]);
      }
    }
  });

  it('is refused beside a nested value, rather than ignored', async () => {
    const json = { secret: { secret: 'x' }, sealed: wire };
    const { status, body } = await app.call('/secret/conceal', { json });
    expect([status, body.field]).toEqual([422, 'sealed']);
  });

  it('is refused on generate', async () => {
    for (const [json, field] of [
      [{ secret: { sealed: wire } }, 'secret.sealed'],
      [{ sealed: wire }, 'sealed'],
    ] as const) {
      const { status, body } = await app.call('/secret/generate', { json });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', field]);
    }
  });

  it('takes empty texts beside it for nothing, and names unknown fields', async () => {
    const sealed = { ...wire, shrimp: 1 };
    const json = { secret: { sealed, secret: '', passphrase: '', recipient: null, prawn: 2 } };
    const { status, body } = await app.call('/secret/conceal', { json });
    expect(status).toBe(200);
    expect(body.details.ignored).toEqual(['secret.prawn', 'secret.sealed.shrimp']);
  });

  it('takes every length that padding makes', async () => {
    for (const paddedBytes of [256, 512, 4_096, 4_352, 8_192, 8_704, 65_536, 69_632]) {
      const sealed = clientSecret({ paddedBytes });
      const { key } = await concealed(sealed);
      expect((await reveal(key, sealed.body)).body.record.sealed.ciphertext).toBe(sealed.wire.ciphertext);
    }
  });

  const largest = { anonymous: 102_400, account: 1_015_808 };
  it('is as large as the plan allows, and no larger', async () => {
    for (const [headers, paddedBytes, limit] of [
      [{}, largest.anonymous, builtInPlans.anonymous.maxSealedBytes],
      [as, largest.account, builtInPlans.identity.maxSealedBytes],
    ] as const) {
      const sealed = clientSecret({ paddedBytes });
      const { key } = await concealed(sealed, app, headers);
      expect((await reveal(key, sealed.body)).body.record.sealed.ciphertext).toBe(sealed.wire.ciphertext);
      const step = 2 ** (Math.floor(Math.log2(paddedBytes)) - 4);
      const larger = { secret: { sealed: clientSecret({ paddedBytes: paddedBytes + step }).wire } };
      const { status, body } = await app.call('/secret/conceal', { json: larger, headers });
      expect([status, body.error]).toEqual([413, 'too_large']);
      expect([limit, 152_939, 1_370_816]).toContain(body.limit);
    }
  });

  it('may be as large as its account, and not its guest path, allows', async () => {
    const json = { secret: { sealed: clientSecret({ paddedBytes: largest.account }).wire } };
    const guest = await app.call('/guest/secret/conceal', { json, headers: as });
    expect([guest.status, guest.body.error]).toEqual([413, 'too_large']);
  });

  it('cannot be mailed', async () => {
    const { metadataKey } = await concealed(clientSecret(), app, as);
    for (const json of [{ recipient: 'joe@example.org' }, {}]) {
      const { status, body } = await app.call(`/private/${metadataKey}/deliver`, { json, headers: as });
      expect([status, body.error, body.field]).toEqual([422, 'invalid_field', 'recipient']);
    }
    await app.service.settled();
    expect(app.mails).toEqual([]);
  });

  it('is told how large it may be', async () => {
    const { body } = await app.call('/authcheck', { headers: as });
    expect(body.record.plan.options.max_sealed_bytes).toBe(builtInPlans.identity.maxSealedBytes);
  });

  it('keeps its lifetime changeable', async () => {
    const sealed = clientSecret({ hasPassphrase: true });
    const { key, metadataKey } = await concealed(sealed, app, as);
    const { body } = await app.call(`/private/${metadataKey}`, {
      method: 'PATCH',
      json: { ttl: 60 },
      headers: as,
    });
    expect(body.record).toMatchObject({ secret_ttl: 60, sealed: true });
    expect((await reveal(key, sealed.body)).body.record.sealed.ciphertext).toBe(sealed.wire.ciphertext);
  });

  it('shows v1 a record without a link that would open nothing', async () => {
    const { metadataKey } = await concealed(clientSecret({ hasPassphrase: true }), app, as);
    const { status, body } = await asV1(`/private/${metadataKey}`, app);
    expect([status, body.passphrase_required]).toEqual([200, true]);
    expect(body).not.toHaveProperty('share_url');
  });
});

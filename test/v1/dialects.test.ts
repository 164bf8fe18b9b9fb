/** Every row of the table of dialects, seen from outside: one question to the service, and its answer in each dialect. */

import { describe, expect, it } from 'bun:test';
import { type Dialect, differences } from '../../src/api/v1/dialect.ts';
import { narrowed } from '../support/narrow-token.ts';
import type { Answer, Json } from './caller.ts';
import { closedDomain, type Scene, sceneOf } from './refusal-scene.ts';

interface Proof {
  readonly what: string;
  readonly ask: (scene: Scene) => Promise<unknown>;
  readonly documented: unknown;
  readonly upstream: unknown;
}

const absent = 'absent';
const fieldOf = (record: Json, name: string) => (name in record ? record[name] : absent);
const statusOf = ({ status }: Answer) => status;

/** A field of the record of a secret that was read, of one that was burned, and of one that has expired. */
async function whenGone({ share, post, get, alice, app }: Scene, name: string): Promise<unknown[]> {
  const read = await share({ passphrase: 'p' }, alice);
  const burned = await share({ passphrase: 'p' }, alice);
  const expired = await share({ passphrase: 'p', ttl: '60' }, alice);
  await post(`/secret/${read.secret_key}`, { passphrase: 'p' });
  await post(`/private/${burned.metadata_key}/burn`, { passphrase: 'p' }, alice);
  app.clock.advance(60);
  const records = [read, burned, expired].map((made) => get(`/private/${made.metadata_key}`, alice));
  return (await Promise.all(records)).map(({ body }) => fieldOf(body, name));
}

async function granted({ post }: Scene, ttl: string): Promise<unknown> {
  const { status, body } = await post('/share', { secret: 'a', ttl });
  return status === 200 ? body.ttl : status;
}

const proofs: { readonly [Row in keyof Dialect]: Proof } = {
  secretKeyOfGone: {
    what: 'secret_key of what was read, burned, expired',
    ask: (s) => whenGone(s, 'secret_key'),
    documented: [absent, absent, absent],
    upstream: [absent, '', ''],
  },
  secretTtlOfGone: {
    what: 'secret_ttl of what was read, burned, expired',
    ask: (s) => whenGone(s, 'secret_ttl'),
    documented: [absent, absent, absent],
    upstream: [absent, null, null],
  },
  passphraseOfGone: {
    what: 'passphrase_required of what was read, burned, expired',
    ask: (s) => whenGone(s, 'passphrase_required'),
    documented: [true, true, true],
    upstream: [absent, absent, absent],
  },
  metadataUrl: {
    what: 'metadata_url of a record',
    ask: async (s) => fieldOf(s.own, 'metadata_url') === s.app.links.receiptUrl(s.own.metadata_key),
    documented: false,
    upstream: true,
  },
  recipientField: {
    what: 'recipient where one was given, and where none was',
    ask: async (s) => {
      const given = await s.share({ recipient: 'joe@example.org' }, s.alice);
      return [given.recipient, fieldOf(s.own, 'recipient')];
    },
    documented: ['jo*****@e*****.org', absent],
    upstream: [['jo*****@e*****.org'], []],
  },
  managementAccess: {
    what: 'a record made anonymously, asked for without credentials',
    ask: async (s) => statusOf(await s.get(`/private/${s.anonymous.metadata_key}`)),
    documented: 401,
    upstream: 200,
  },
  managementAuthority: {
    what: "another account's record",
    ask: async (s) => statusOf(await s.get(`/private/${s.own.metadata_key}`, s.bob)),
    documented: 404,
    upstream: 200,
  },
  refusalStatus: {
    what: 'no secret, no credentials, a wrong method, a value too large; and a challenge',
    ask: async (s) => {
      const unnamed = await s.get('/authcheck');
      const others = [await s.post('/share'), unnamed, await s.get('/share')];
      const large = await s.post('/share', { secret: 'a'.repeat(20_000) });
      return [...others.map(statusOf), large.status, unnamed.headers.has('www-authenticate')];
    },
    documented: [400, 401, 405, 413, true],
    upstream: [404, 404, 404, 404, false],
  },
  wrongMethodBody: {
    what: 'the body of a wrong method',
    ask: async (s) => (await s.send('PUT', '/share')).body,
    documented: { message: 'Method Not Allowed' },
    upstream: { error: 'Not Found', message: 'Not Found' },
  },
  missingScopeStatus: {
    what: 'a token that lacks the scope',
    ask: async (s) => {
      const narrow = await narrowed(s.app, s.alice, ['manage']);
      return statusOf(await s.post('/share', { secret: 'a' }, narrow));
    },
    documented: 403,
    upstream: 404,
  },
  sharingDisabledStatus: {
    what: 'a domain whose owner shares there alone',
    ask: async (s) =>
      statusOf(await s.send('POST', '/share', { form: { secret: 'a' }, headers: { host: closedDomain } })),
    documented: 403,
    upstream: 404,
  },
  readTtl: {
    what: 'the ttl abc, 90abc, 61.9, -5 and 99999999999',
    ask: (s) => Promise.all(['abc', '90abc', '61.9', '-5', '99999999999'].map((ttl) => granted(s, ttl))),
    documented: [400, 400, 400, 400, 604_800],
    upstream: [604_800, 90, 61, 604_800, 604_800],
  },
  severalRecipients: {
    what: 'two recipients: who gets the mail',
    ask: async (s) => {
      const body = 'secret=a&recipient[]=joe@example.org&recipient[]=ann@example.org';
      const { status } = await s.send('POST', '/share', { body, as: s.alice });
      await s.app.service.settled();
      return [status, ...s.app.mails.map(({ to }) => to.expose())];
    },
    documented: [400],
    upstream: [200, 'joe@example.org'],
  },
  readRecipient: {
    what: 'a recipient that is no address, without credentials',
    ask: async (s) => statusOf(await s.post('/share', { secret: 'a', recipient: 'notanemail' })),
    documented: 401,
    upstream: 200,
  },
  readShareDomain: {
    what: 'a share domain that is no domain',
    ask: async (s) => statusOf(await s.post('/share', { secret: 'a', share_domain: 'notadomain' })),
    documented: 400,
    upstream: 200,
  },
  burnNeedsPassphrase: {
    what: 'the burn of a protected secret without and with its passphrase',
    ask: async (s) => {
      const burn = async (made: Json, form = {}) =>
        statusOf(await s.post(`/private/${made.metadata_key}/burn`, form, s.alice));
      const second = await s.share({ passphrase: 'p' }, s.alice);
      return [await burn(s.own), await burn(second, { passphrase: 'p' })];
    },
    documented: [200, 200],
    upstream: [404, 200],
  },
  revealShareDomain: {
    what: 'share_domain of a reveal',
    ask: async (s) => (await s.post(`/secret/${s.anonymous.secret_key}`)).body.share_domain,
    documented: '',
    upstream: 'https://mayfly.example',
  },
};

function isRow(name: string): name is keyof Dialect {
  return Object.hasOwn(proofs, name);
}

for (const name of Object.keys(differences)) {
  describe(`the row ${name} of the dialects`, () => {
    it('has a proof, in which both sides differ, and says why', () => {
      if (!isRow(name)) throw new Error(`no proof of the row ${name}`);
      expect(proofs[name].documented).not.toEqual(proofs[name].upstream);
      expect(differences[name].evidence).toMatch(/^[A-Z].{40,}\.$/);
    });
    if (!isRow(name)) return;
    const { what, ask, ...sides } = proofs[name];
    for (const dialect of ['documented', 'upstream'] as const) {
      it(`shows in ${what}, in the ${dialect} dialect`, async () => {
        expect(await ask(await sceneOf({ dialect }))).toEqual(sides[dialect]);
      });
    }
  });
}

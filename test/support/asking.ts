/** What clients of requests send: seeded bytes in place of keys and sealed prompts, because the server cannot tell them apart. */
import { createHash } from 'node:crypto';
import type { AskInput } from '../../src/core/requests/service.ts';
import { base64url, type ClientSecret, clientSecret } from './sealed-wire.ts';
import { seededRandom } from './seeded-random.ts';

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());

export interface ClientRequest {
  readonly input: AskInput;
  readonly ownerProof: Uint8Array;
  readonly askProof: Uint8Array;
  /** The body that makes it, and those that prove one of its links. */
  readonly wire: { readonly terms: string; readonly owner_hash: string; readonly ask_hash: string };
  readonly ask: { readonly ask: string };
  readonly owner: { readonly owner: string };
}

export function clientRequest(seed = 'one', more: Partial<AskInput> = {}): ClientRequest {
  const random = seededRandom(`client request ${seed}`);
  const [terms, ownerProof, askProof] = [random(272), random(32), random(32)];
  const [ownerHash, askHash] = [sha256(ownerProof), sha256(askProof)];
  return {
    input: {
      ...{ terms, ownerHash, askHash, places: 1, ttlSeconds: null, answerTtlSeconds: null, notify: false },
      ...{ shareDomain: null, arrivedOn: null },
      ...more,
    },
    ownerProof,
    askProof,
    wire: { terms: base64url(terms), owner_hash: base64url(ownerHash), ask_hash: base64url(askHash) },
    ask: { ask: base64url(askProof) },
    owner: { owner: base64url(ownerProof) },
  };
}

export interface ClientAnswer {
  readonly secret: ClientSecret;
  readonly wrapped: Uint8Array;
  readonly wire: { readonly sealed: ClientSecret['wire']; readonly wrapped: string };
}

export function clientAnswer(seed: string, paddedBytes?: number): ClientAnswer {
  const secret = clientSecret({ seed, ...(paddedBytes !== undefined && { paddedBytes }) });
  const wrapped = seededRandom(`wrapped ${seed}`)(64);
  return { secret, wrapped, wire: { sealed: secret.wire, wrapped: base64url(wrapped) } };
}

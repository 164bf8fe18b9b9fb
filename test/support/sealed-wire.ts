/**
 * What a client of end-to-end secrets sends: seeded bytes in place of AES-GCM and argon2id, because the server cannot tell them apart.
 */
import { createHash } from 'node:crypto';
import type { SealedInput } from '../../src/core/secrets/end-to-end.ts';
import { sealedNoteBytes } from '../../src/protocol/note.ts';
import { seededRandom } from './seeded-random.ts';

export const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest());

export interface ClientSecret {
  /** As the core takes it; a copy for each, because a store of it wipes its bytes. */
  readonly input: () => SealedInput;
  readonly ciphertext: Uint8Array;
  readonly note: Uint8Array | null;
  readonly proofs: { readonly linkProof: Uint8Array; readonly proof: Uint8Array };
  /** `secret.sealed`. */
  readonly wire: {
    readonly v: number;
    readonly ciphertext: string;
    readonly link_hash: string;
    readonly proof_hash: string;
    readonly passphrase: boolean;
    readonly note?: string;
  };
  /** Of a reveal. */
  readonly body: { readonly link_proof: string; readonly proof: string };
}

interface ClientSecretOptions {
  readonly seed?: string;
  readonly hasPassphrase?: boolean;
  readonly hasNote?: boolean;
  /** Of the padded content. */
  readonly paddedBytes?: number;
}

export function clientSecret({
  seed = 'one',
  hasPassphrase = false,
  hasNote = false,
  paddedBytes = 256,
}: ClientSecretOptions = {}): ClientSecret {
  const random = seededRandom(`client secret ${seed}`);
  const ciphertext = random(paddedBytes + 16);
  const proofs = { linkProof: random(32), proof: random(32) };
  const note = hasNote ? random(sealedNoteBytes) : null;
  const [linkHash, proofHash] = [sha256(proofs.linkProof), sha256(proofs.proof)];
  return {
    input: () => ({
      ciphertext: ciphertext.slice(),
      linkHash,
      proofHash,
      hasPassphrase,
      note: note?.slice() ?? null,
    }),
    ciphertext,
    note,
    proofs,
    wire: {
      v: 1,
      ciphertext: base64url(ciphertext),
      link_hash: base64url(linkHash),
      proof_hash: base64url(proofHash),
      passphrase: hasPassphrase,
      ...(note !== null && { note: base64url(note) }),
    },
    body: { link_proof: base64url(proofs.linkProof), proof: base64url(proofs.proof) },
  };
}

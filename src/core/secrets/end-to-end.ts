/**
 * End-to-end secrets, encrypted by the client. The server keeps ciphertext inside its own two layers, and never has the value,
 * the key or the passphrase. The client's key is in the part of the link that browsers do not send.
 *
 * Two proofs replace the passphrase: one of the whole link, one of link and passphrase. Both are compared before a claim, so half
 * a link costs neither the secret nor an attempt (P3, P14). Their hashes are sealed in the row under a separate label, and both
 * layers are bound to the flag, so someone who can write to the store cannot turn such a secret into a plain one or back. The
 * request states which kind of secret it expects.
 */
import { equalInConstantTime } from '../../crypto/bytes.ts';
import { hashProof } from '../../crypto/derive.ts';
import { type ProofHashes, proofHashBytes } from '../../crypto/envelope.ts';
import { sealedNoteBytes } from '../../protocol/note.ts';
import { leastStepBytes, paddedLength } from '../../protocol/padding.ts';
import type { Plan } from '../plans.ts';

/** A secret sealed by its client. */
export interface SealedInput extends ProofHashes {
  /** AES-256-GCM of the padded content: text, or a file with name and type. */
  readonly ciphertext: Uint8Array;
  /** Whether the client derived its key with a passphrase. */
  readonly hasPassphrase: boolean;
  /** AES-256-GCM of the padded note; `null` without one. */
  readonly note: Uint8Array | null;
}

export interface Proofs {
  readonly linkProof: Uint8Array;
  readonly proof: Uint8Array;
}

/** Length of a proof, and of its hash. */
export const proofBytes: number = proofHashBytes;

const tagBytes = 16;
/** Bytes for the content's length and, for a file, its kind and the lengths of its name and type. */
const framingBytes = 4 + 1 + 2 + 1;

/** Checks whether a client that pads correctly can make ciphertext of this length. */
export function isCiphertextLength(bytes: number): boolean {
  const padded = bytes - tagBytes;
  return padded >= leastStepBytes && paddedLength(padded) === padded;
}

/** Returns the greatest ciphertext length that a plan allows. */
export function maxCiphertextBytes({ maxSealedBytes }: Pick<Plan, 'maxSealedBytes'>): number {
  return paddedLength(maxSealedBytes + framingBytes) + tagBytes;
}

export function flawOf(sealed: SealedInput): 'ciphertext' | 'hash' | 'note' | null {
  const { ciphertext, linkHash, proofHash, note } = sealed;
  if (linkHash.length !== proofBytes || proofHash.length !== proofBytes) return 'hash';
  if (note !== null && note.length !== sealedNoteBytes) return 'note';
  return isCiphertextLength(ciphertext.length) ? null : 'ciphertext';
}

/** Compares in constant time. */
export function isProofOf(proof: Uint8Array, expected: Uint8Array): boolean {
  return proof.length === proofBytes && equalInConstantTime(hashProof(proof), expected);
}

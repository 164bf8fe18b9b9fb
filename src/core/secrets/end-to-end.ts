/**
 * End-to-end secrets: encrypted where the value was typed. The server keeps ciphertext inside its own two layers, and never has the
 * value, the key or the passphrase. The client's key is in the part of the link that browsers do not send.
 *
 * Two proofs stand in for the passphrase: one that a client has the whole link, one that it has link and passphrase. Both are
 * compared before a claim, so half a link costs neither the secret nor an attempt (P3, P14). Their hashes are sealed in the row
 * under a label of their own and the flag is part of what both layers are bound to, so nobody who writes to the store can turn such
 * a secret into a plain one, or the other way round. Which one is asked for, the request says.
 */
import { equalInConstantTime } from '../../crypto/bytes.ts';
import { hashProof } from '../../crypto/derive.ts';
import { type ProofHashes, proofHashBytes } from '../../crypto/envelope.ts';
import { leastStepBytes, paddedLength } from '../../protocol/padding.ts';
import type { Plan } from '../plans.ts';

/** What a client has sealed. */
export interface SealedInput extends ProofHashes {
  /** AES-256-GCM of the padded content: text, or a file with name and type. */
  readonly ciphertext: Uint8Array;
  /** Whether the client derived its key with a passphrase. */
  readonly hasPassphrase: boolean;
}

/** What a reader shows in place of a passphrase. */
export interface Proofs {
  readonly linkProof: Uint8Array;
  readonly proof: Uint8Array;
}

/** Of a proof, and of the hash of one. */
export const proofBytes: number = proofHashBytes;

const tagBytes = 16;
/** The length before the content, and in a file's content its kind and the lengths of its name and its type. */
const framingBytes = 4 + 1 + 2 + 1;

/** Whether a client that pads as it should can have made a ciphertext of this length. */
export function isCiphertextLength(bytes: number): boolean {
  const padded = bytes - tagBytes;
  return padded >= leastStepBytes && paddedLength(padded) === padded;
}

/** The longest ciphertext that a plan allows. */
export function maxCiphertextBytes({ maxSealedBytes }: Pick<Plan, 'maxSealedBytes'>): number {
  return paddedLength(maxSealedBytes + framingBytes) + tagBytes;
}

/** What is wrong with what a client sealed, whoever sent it; `null` if nothing is. */
export function flawOf({ ciphertext, linkHash, proofHash }: SealedInput): 'ciphertext' | 'hash' | null {
  if (linkHash.length !== proofBytes || proofHash.length !== proofBytes) return 'hash';
  return isCiphertextLength(ciphertext.length) ? null : 'ciphertext';
}

/** In constant time. */
export function isProofOf(proof: Uint8Array, expected: Uint8Array): boolean {
  return proof.length === proofBytes && equalInConstantTime(hashProof(proof), expected);
}

/** API v2: end-to-end secrets on the wire. The server never sees the value, its key or its passphrase. */
import { z } from 'zod';
import { type Proofs, proofBytes, type SealedInput } from '../../core/secrets/end-to-end.ts';
import type { RevealedContent } from '../../core/secrets/outcomes.ts';
import { fromBase64Url, toBase64Url } from '../../protocol/base64url.ts';
import { sealedNoteBytes } from '../../protocol/note.ts';

const version = 1;
const notBase64url = 'Must be base64url without padding';
export const notHash = `Must be base64url of ${proofBytes} bytes, without padding`;
const notNote = `Must be base64url of ${sealedNoteBytes} bytes, without padding`;
const flawWords = {
  ciphertext: 'sealed.ciphertext must be as long as a padded secret is',
  hash: 'sealed.link_hash and sealed.proof_hash must be SHA-256 hashes',
  note: notNote,
} as const;

/** @param length in decoded bytes; absent means any length */
export const base64url = (refusal: string, length?: number) =>
  z.string(refusal).transform((given, context) => {
    const bytes = fromBase64Url(given);
    if (bytes !== null && (length === undefined || bytes.length === length)) return bytes;
    context.addIssue({ code: 'custom', message: refusal });
    return z.NEVER;
  });

export const proofExample = 'pVK5Vb3GQHhXjvLFSxkYvSwmtEWUnsWpFGC3_sX0nFA';

const ciphertext = z.string().meta({
  description:
    'AES-256-GCM of the padded content, in base64url. Its largest size depends on the plan; a length that padding cannot give ' +
    'is refused.',
});

/** The `sealed` field of a creation. */
export const sealedFields = z
  .object({
    v: z.literal(version, `Must be ${version}`),
    ciphertext: base64url(notBase64url).meta({
      description: ciphertext.meta()?.description,
    }),
    link_hash: base64url(notHash, proofBytes).meta({
      description: "SHA-256 of the link's proof, in base64url.",
      examples: [proofExample],
    }),
    proof_hash: base64url(notHash, proofBytes).meta({
      description: 'SHA-256 of the proof of link and passphrase, in base64url.',
      examples: [proofExample],
    }),
    passphrase: z.boolean('Must be true or false').meta({
      description: 'Whether a passphrase is part of the key. The passphrase itself is never sent.',
    }),
    note: base64url(notNote, sealedNoteBytes).optional().meta({
      description: 'A note for the recipient, sealed by the client, in base64url. Absent: none.',
    }),
  })
  .meta({
    id: 'V2Sealed',
    description:
      'An end-to-end secret, in place of `secret`. `secret`, `passphrase`, `recipient` and `note`, which would show it to the ' +
      'server, are not allowed beside it.',
  });

export function sealedInputOf(fields: z.output<typeof sealedFields>): SealedInput {
  return {
    ciphertext: fields.ciphertext,
    linkHash: fields.link_hash,
    proofHash: fields.proof_hash,
    hasPassphrase: fields.passphrase,
    note: fields.note ?? null,
  };
}

export function flawMessage(flaw: keyof typeof flawWords): string {
  return flawWords[flaw];
}

/** Replaces `sealed: true` in a reveal's response. */
export const sealedContent = z.object({ v: z.literal(version), ciphertext }).meta({
  id: 'V2SealedContent',
  description: 'For the client to decrypt. No other answer has it.',
});

export function encodeSealed(
  content: Extract<RevealedContent, { kind: 'sealed' }>,
): z.output<typeof sealedContent> {
  return { v: version, ciphertext: toBase64Url(content.ciphertext) };
}

const proof = (description: string) => base64url(notHash, proofBytes).nullish().meta({ description });

export const proofFields = {
  link_proof: proof('Of an end-to-end secret: proves the whole link. 32 bytes in base64url.'),
  proof: proof('Of an end-to-end secret: proves link and passphrase. 32 bytes in base64url.'),
};

type ProofFields = z.output<z.ZodObject<typeof proofFields>>;

/** Returns `null` if no proof is given, and `half` if only one is. */
export function proofsIn({ link_proof, proof: given }: ProofFields): Proofs | 'half' | null {
  const [linkProof, proofGiven] = [link_proof ?? null, given ?? null];
  if (linkProof !== null && proofGiven !== null) return { linkProof, proof: proofGiven };
  return linkProof === null && proofGiven === null ? null : 'half';
}

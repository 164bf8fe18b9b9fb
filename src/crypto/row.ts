/** Shared by all versions of a secret's row. */
import { FieldReader, FieldWriter, utf8 } from './bytes.ts';

const empty = new Uint8Array(0);

/** Authenticated, so that rows and their fields cannot be swapped. */
export interface SecretContext {
  readonly secretId: Uint8Array;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly hasPassphrase: boolean;
  /** End-to-end: the value is a client's ciphertext. Never in version 1. */
  readonly sealed: boolean;
  /** Its opener needs a code mailed to an address. Never in version 1. */
  readonly verify: boolean;
  /** An account's id. */
  readonly owner: number | null;
  readonly shareDomain: string;
}

/** Writes lp(label) lp(secret id) u64 created u64 ends u8 flags lp(owner) lp(share domain), and leaves `moreBytes` for the caller. */
export function writeContext(
  label: Uint8Array,
  context: SecretContext,
  endsAt: number,
  moreBytes: number,
): FieldWriter {
  const owner = context.owner === null ? empty : new FieldWriter(8).u64(context.owner).bytes;
  const shareDomain = context.shareDomain === '' ? empty : utf8(context.shareDomain);
  const flags = Number(context.hasPassphrase) + 2 * Number(context.sealed) + 4 * Number(context.verify);
  const size =
    4 + label.length + 4 + context.secretId.length + 17 + 4 + owner.length + 4 + shareDomain.length;
  return new FieldWriter(size + moreBytes)
    .field(label)
    .field(context.secretId)
    .u64(context.createdAt)
    .u64(endsAt)
    .u8(flags)
    .field(owner)
    .field(shareDomain);
}

/** A row without its outer layer: reveals nothing without the link or the metadata key. */
export interface UnwrappedSecret {
  readonly version: 1 | 2;
  readonly secretId: Uint8Array;
  /** `R`: 32 bytes. */
  readonly salt: Uint8Array;
  /** The passphrase's verifier, or the hashes of an end-to-end secret's proofs, and the note; sealed. */
  readonly sealedVerifier: Uint8Array;
  /** The address that codes are mailed to, sealed under the link; `null` without one, and in a look. */
  readonly codeAddress: Uint8Array | null;
  /** Commitment and sealed value. */
  readonly body: Uint8Array;
  /** Additional data of value and verifier. */
  readonly aad: Uint8Array;
  /** For the holder of the metadata key; `null` in version 1, which keeps a box instead. */
  readonly creator: CreatorPart | null;
}

export interface CreatorPart {
  readonly maskedKey: Uint8Array;
  /** The recipient's address, sealed under metadata key and secret key. */
  readonly addressBox: Uint8Array | null;
}

/** Returns `null` if the root sealed something other than these fields. */
export function readSealed<Fields>(inner: Uint8Array, read: (reader: FieldReader) => Fields): Fields | null {
  try {
    return read(new FieldReader(inner));
  } catch {
    return null;
  }
}

/** Reads a row with neither a creator's part nor an address: a look, and version 1. */
export const readWithoutCreator = (inner: Uint8Array) =>
  readSealed(inner, (reader) => ({
    ...{ salt: reader.raw(32), sealedVerifier: reader.field(), body: reader.field() },
    ...{ codeAddress: null, creator: null },
  }));

export type UnwrapOutcome =
  | { readonly outcome: 'unwrapped'; readonly secret: UnwrappedSecret }
  /** No root of the ring has this key id. */
  | { readonly outcome: 'unknown_root'; readonly kid: number }
  /** Not a row of a known version, a different record's row, or modified. */
  | { readonly outcome: 'damaged' };

/**
 * The faults of the service, as a closed set of codes.
 *
 * Owns: `ServiceError`. Invariant: an expected outcome (unknown key, wrong passphrase, refused input) is a value in a
 * use case's result; only what the caller could not have foreseen is thrown, and always as one of these.
 */

/**
 * - `unavailable`: the store did not confirm, or its durability is in doubt. Nothing was released, and nothing the
 *   caller may rely on was stored (P2, P5).
 * - `busy`: the bounded queue of passphrase hashes is full (P24). Nothing was consumed.
 * - `storage_full`: the disk, or the limit of the store, has no room for another secret; reads and burns still work
 *   (P21, P23).
 * - `damaged`: a stored record does not open although its key is right. It was not consumed (P3).
 */
export type ServiceErrorCode = 'unavailable' | 'busy' | 'storage_full' | 'damaged';

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  /** Seconds after which trying again makes sense. */
  readonly retryAfterSeconds: number;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: { retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryAfterSeconds = options.retryAfterSeconds ?? 2;
  }
}

/** The store's files are not where they were opened: nothing is answered from them until they have been put back. */
export class StoreMovedError extends ServiceError {
  constructor() {
    super('unavailable', 'The files of the store were moved, removed or replaced while they were open.');
  }
}

/**
 * The service's faults, a closed set of codes. Expected outcomes (unknown key, wrong passphrase, refused input) are returned
 * as values; only unforeseeable faults are thrown, always as a `ServiceError`.
 */

/**
 * - `unavailable`: the store did not confirm the operation, or its durability is in doubt. Nothing was released, and the
 *   caller may not rely on anything having been stored (P2, P5).
 * - `busy`: the bounded queue of passphrase hashes is full (P24). Nothing was consumed.
 * - `storage_full`: the disk is full, or the store has reached its limit; reads and burns still work (P21, P23).
 * - `damaged`: a stored record does not open although the key is right. It was not consumed (P3).
 */
export type ServiceErrorCode = 'unavailable' | 'busy' | 'storage_full' | 'damaged';

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly code: ServiceErrorCode;
  /** Seconds after which a retry makes sense. */
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

/** The store's files are no longer where they were opened. Nothing is read from them until they are back. */
export class StoreMovedError extends ServiceError {
  constructor() {
    super('unavailable', 'The files of the store were moved, removed or replaced while they were open.');
  }
}

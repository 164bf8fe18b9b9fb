/**
 * Why a store does not open.
 *
 * Owns: `StoreRefusal` and the closed set of its reasons. Invariant: an unsafe store is refused by name, never used in
 * the hope that it holds (P25); the message says what is wrong and what to do, for the operator to read.
 */

/**
 * - `network_filesystem`: locks and fsync of the folder's file system cannot be relied on.
 * - `unsafe_setting`: a durability or erasure setting did not take effect.
 * - `newer_schema`: a later version of this service has written the data.
 * - `foreign_database`: the file is a database of another program.
 * - `damaged`: the file is no database, or not an intact one.
 * - `not_writable`: the folder or the file cannot be created, read or written.
 */
export type RefusalReason =
  | 'network_filesystem'
  | 'unsafe_setting'
  | 'newer_schema'
  | 'foreign_database'
  | 'damaged'
  | 'not_writable';

export class StoreRefusal extends Error {
  override readonly name = 'StoreRefusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options: { cause?: unknown } = {}) {
    super(message, options);
    this.reason = reason;
  }
}

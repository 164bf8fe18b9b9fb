/**
 * What the errors of SQLite mean to the writer. Source of the codes: https://www.sqlite.org/rescode.html
 */

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The statement has undone itself, and nothing else. */
export const isConstraint = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_CONSTRAINT');

/** Another process held the lock for too long. */
export const isBusy = (error: unknown): boolean => codeOf(error).startsWith('SQLITE_BUSY');

/** Some file systems report a full disk as a failed write. */
export function isFull(error: unknown, diskIsFull: () => boolean): boolean {
  return codeOf(error) === 'SQLITE_FULL' || (codeOf(error).startsWith('SQLITE_IOERR') && diskIsFull());
}

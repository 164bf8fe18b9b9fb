import { codeOf, messageOf } from './files.ts';

const pathOf = (error: unknown): string =>
  error instanceof Error && 'path' in error ? String(error.path) : 'The file';

export function wordsOf(error: unknown): string {
  const code = codeOf(error);
  switch (code) {
    case 'ENOENT':
    case 'SQLITE_CANTOPEN':
      return 'There is no such file or folder, or it may not be read.';
    case 'SQLITE_NOTADB':
      return 'This is not a backup.';
    case 'EACCES':
    case 'EPERM':
      return `${pathOf(error)} may not be written by this user (${code}): choose a folder that it may write to.`;
    case 'EROFS':
      return `${pathOf(error)} is on a read-only file system (${code}): choose another folder.`;
    case 'ENOTDIR':
      return `${pathOf(error)} would be in a file, not in a folder (${code}): choose another name.`;
    case 'ENOSPC':
    case 'EDQUOT':
    case 'SQLITE_FULL':
      return `The disk is full (${code}): make room, or choose another one.`;
    default:
      return messageOf(error);
  }
}

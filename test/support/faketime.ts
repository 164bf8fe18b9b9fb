/** libfaketime, which gives a process another wall clock and leaves the time since boot alone. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export function faketimeLibrary(): string {
  const paths = readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'faketime/libfaketimeMT.so.1'));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error('libfaketime is not installed');
  return found;
}

/** Imported as a macro: the executable holds the pictures. `scripts/generate-icons.ts` draws them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In base64, by file name. */
export function appIcons(): Record<string, string> {
  const names = ['app-180.png', 'app-512.png'];
  return Object.fromEntries(
    names.map((name) => [name, readFileSync(join(import.meta.dir, name)).toString('base64')]),
  );
}

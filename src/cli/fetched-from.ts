import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * The installation that npm fetched this package from; `null` when it is from elsewhere. npm records the address of every package in a hidden
 * lock file beside it, except with `--global`.
 *
 * Source: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json#hidden-lockfiles
 * @param folder of the package, if this is one
 */
export async function fetchedFrom(folder: string): Promise<string | null> {
  try {
    const lock = JSON.parse(await readFile(join(folder, '..', '.package-lock.json'), 'utf8'));
    const { origin, pathname } = new URL(lock.packages[`node_modules/${basename(folder)}`].resolved);
    return /^(https?:.+)\/mayfly\.tgz$/.exec(origin + pathname)?.[1] ?? null;
  } catch {
    return null;
  }
}

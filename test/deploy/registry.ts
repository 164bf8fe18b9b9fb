/** A registry on loopback with what npm has installed here, so that a package can be installed without a network. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from '../support/started-server.ts';

const modules = join(repositoryRoot, 'node_modules');

/** The installation of `bun` has moved the program out of its own package. */
const moved = ['--transform', 's,^bun[.]exe$,package/bin/bun,', '-C', join(modules, 'bun', 'bin'), 'bun.exe'];

const packed = new Map<string, Buffer>();

function pack(name: string): Buffer {
  const known = packed.get(name);
  if (known !== undefined) return known;
  const whole = ['-c', '--transform', 's,^[.],package,', '-C', join(modules, name), '.'];
  const isRuntime = name.startsWith('@oven/') && !existsSync(join(modules, name, 'bin', 'bun'));
  // Fast rather than small: it is read once.
  const { stdout, status } = spawnSync('tar', ['-I', 'gzip -1', ...whole, ...(isRuntime ? moved : [])], {
    maxBuffer: 500_000_000,
  });
  // 1: a file has changed, as it does when another test links to it.
  if (status !== 0 && status !== 1) throw new Error(`${name} could not be packed`);
  packed.set(name, stdout);
  return stdout;
}

function describePackage(name: string, origin: string): unknown {
  const manifest = JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8')) as {
    version: string;
  };
  const { version } = manifest;
  const dist = { tarball: `${origin}/tarball/${encodeURIComponent(name)}` };
  return { name, 'dist-tags': { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/** What is not installed here, such as packages for other systems, it does not know. */
export function startRegistry() {
  return Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const { pathname, origin } = new URL(url);
      const [, first = '', second = ''] = pathname.split('/');
      const name = decodeURIComponent(first === 'tarball' || second !== '' ? second : first);
      const whole = first.startsWith('@') && second !== '' ? `${first}/${second}` : name;
      if (!existsSync(join(modules, whole, 'package.json'))) return new Response('{}', { status: 404 });
      if (first === 'tarball') return new Response(new Uint8Array(pack(whole)));
      return Response.json(describePackage(whole, origin));
    },
  });
}

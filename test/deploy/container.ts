/**
 * A container without an engine: the stages of a Dockerfile are replayed into folders, and the result runs in namespaces
 * (`container.sh`) with what the image holds, and of the base system only the libraries that the program asks for.
 *
 * It needs root and the right to make namespaces: without them nothing starts, and the test fails with the reason.
 */
import { expect } from 'bun:test';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { repositoryRoot, watch } from '../support/started-server.ts';
import type { Copy, Stage } from './dockerfile.ts';

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

function runStep(command: string, args: readonly string[], cwd: string): void {
  const env = { ...process.env, PATH: `${process.env.PATH}:${path}` };
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  expect([command, status, status === 0 ? '' : `${stdout}${stderr}${error ?? ''}`]).toEqual([command, 0, '']);
}

function copyInto(folder: string, { sources, target }: Copy): void {
  for (const source of sources) {
    // As Docker does: a folder's content, a file by its name when the target is a folder.
    const from = join(repositoryRoot, source);
    const to = target.endsWith('/') ? join(folder, target, basename(source)) : join(folder, target);
    mkdirSync(dirname(to), { recursive: true });
    cpSync(from, to, { recursive: true });
  }
}

/** Replays the stage that builds, in a folder; the packages are those of this checkout, so that nothing is fetched. */
export function replayBuild(stage: Stage, folder: string): void {
  symlinkSync(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  for (const step of stage.steps) {
    if (step.kind === 'copy') copyInto(folder, step);
    else runStep('sh', ['-ec', step.script], folder);
  }
}

/** In a root file system over this system's programs, without its users. */
function runInImage(image: string, script: string): void {
  const enter = 'mount --bind /usr usr; mount -o remount,bind,ro usr; exec chroot . /bin/sh -ec "$1"';
  const own = ['--mount', '--propagation', 'private', 'sh', '-ec', enter, 'sh', script];
  runStep('unshare', own, image);
}

/** The libraries that programs name. */
function librariesOf(programs: readonly string[]): string[] {
  const { stdout } = spawnSync('ldd', programs, { encoding: 'utf8' });
  expect(stdout).not.toContain('not found');
  return [...new Set([...stdout.matchAll(/(?:=> |^\s+)(\/\S+) \(0x/gm)].map(([, library = '']) => library))];
}

function copyFile(from: string, root: string, to = from): void {
  mkdirSync(dirname(join(root, to)), { recursive: true });
  cpSync(from, join(root, to), { dereference: true });
}

const confine = '/usr/bin/setpriv';

/**
 * Replays the final stage into `folder/root` and `folder/volume`.
 * @param built the folder of the stage that builds, and where it is in that stage
 * @param native what the program loads besides itself
 */
export function replayFinal(
  stage: Stage,
  folder: string,
  built: { readonly folder: string; readonly workdir: string },
  native: readonly string[],
): void {
  const image = join(folder, 'image');
  for (const name of ['usr', 'etc', 'var/lib']) mkdirSync(join(image, name), { recursive: true });
  for (const name of ['bin', 'lib', 'lib64', 'sbin'])
    if (existsSync(`/${name}`)) symlinkSync(`usr/${name}`, join(image, name));
  writeFileSync(join(image, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  writeFileSync(join(image, 'etc/group'), 'root:x:0:\n');
  copyFile('/etc/login.defs', image);

  const root = join(folder, 'root');
  for (const name of ['dev', 'proc', 'tmp']) mkdirSync(join(root, name), { recursive: true });
  for (const step of stage.steps) {
    if (step.kind === 'run') {
      runInImage(image, step.script);
      continue;
    }
    expect(step.from).toBe('build');
    const [source = ''] = step.sources;
    expect(source).toStartWith(`${built.workdir}/`);
    copyFile(join(built.folder, source.slice(built.workdir.length)), root, step.target);
  }
  for (const name of ['passwd', 'group']) copyFile(join(image, 'etc', name), root, `/etc/${name}`);
  const program = join(root, 'usr/local/bin', stage.entrypoint[0] ?? '');
  for (const library of librariesOf([program, confine, ...native])) copyFile(library, root);
  copyFile(confine, root);
  mkdirSync(join(root, stage.volume), { recursive: true });
  // An engine fills a new volume with what the image has there, owner and mode included.
  runStep('cp', ['--archive', join(image, stage.volume), join(folder, 'volume')], folder);
  chmodSync(folder, 0o755);
}

export interface Container extends AsyncDisposable {
  readonly exited: ReturnType<typeof watch>['exited'];
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Its process 1, as seen from here. */
  pid(): number;
  /** Resolves once it says that it is ready; rejects with what it said when it ends first. */
  ready(): Promise<void>;
  /** Runs a command in it, as an engine does for a health check. */
  exec(command: readonly string[], env?: Readonly<Record<string, string>>): SpawnResult;
  /** Asks the server in it with curl, which only shares its network. */
  curl(...args: readonly string[]): string;
}

interface SpawnResult {
  readonly status: number | null;
  readonly output: string;
}

const limitMs = 30_000;

function awaitReady(child: ChildProcess, said: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready: ${said()}`)), limitMs);
    child.stderr?.on('data', () => {
      if (!said().includes('is ready')) return;
      clearTimeout(timer);
      resolve();
    });
    child.once('close', () => {
      clearTimeout(timer);
      reject(new Error(`it ended (root and new namespaces needed): ${said()}`));
    });
  });
}

/** Starts the program of a replayed stage. @param tmp mount options of `/tmp` */
export function startContainer(stage: Stage, folder: string, tmp: string): Container {
  const [user = '', group = ''] = stage.user.split(':');
  const ids = [`--reuid=${user}`, `--regid=${group}`, '--clear-groups'];
  const confined = [confine, ...ids, '--bounding-set=-all', '--inh-caps=-all', '--no-new-privs'];
  // Asked for again here, because a change of the user takes back what is to follow the end of the parent.
  const bound = [confine, '--pdeathsig', 'KILL', ...confined.slice(1)];
  const own = ['--mount', '--propagation', 'private', '--net', '--pid', '--fork', '--kill-child'];
  const script = join(repositoryRoot, 'test', 'deploy', 'container.sh');
  const command = [...bound, ...stage.entrypoint, ...stage.command];
  const args = ['--pdeathsig', 'KILL', 'unshare', ...own, script, folder, stage.volume, tmp, ...command];
  const env = { PATH: path, ...stage.env };
  const child = spawn(confine, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(child);
  const outer = child.pid ?? 0;
  const pid = () => Number(readFileSync(`/proc/${outer}/task/${outer}/children`, 'utf8').trim());
  const run = (enter: string[], words: readonly string[], more: Readonly<Record<string, string>>) => {
    const options = { env: { ...env, ...more }, timeout: limitMs, encoding: 'utf8' } as const;
    const ended = spawnSync('nsenter', ['--target', `${pid()}`, ...enter, ...words], options);
    return { status: ended.status, output: `${ended.stdout}${ended.stderr}` };
  };
  return {
    exited,
    stdout,
    stderr,
    pid,
    ready: () => awaitReady(child, stderr),
    exec: (words, more = {}) =>
      run(['--mount', '--net', '--pid', '--root', '--wd'], [...confined, ...words], more),
    curl: (...words) => run(['--net'], ['curl', '--silent', '--show-error', ...words], {}).output,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
      await exited;
    },
  };
}

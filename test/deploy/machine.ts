/**
 * A machine for a test: systemd as process 1 in namespaces of its own (`machine.sh`), which the test's operator installs into.
 *
 * It needs root and the right to make namespaces: without them it does not start, and the test fails with the reason.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot, watch } from '../support/started-server.ts';

/** What Debian's targets are to a service, without what they would start. */
const targets = ['sysinit', 'basic', 'multi-user', 'network-online', 'time-sync', 'shutdown'];
const startUnits: Readonly<Record<string, string>> = {
  'machine.target': '[Unit]\nDefaultDependencies=no\nWants=dbus.socket ready.service multi-user.target\n',
  'ready.service':
    '[Unit]\nDefaultDependencies=no\nAfter=dbus.socket\n' +
    "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo ready >/mnt/ready'\n",
};

const startLimitMs = 30_000;
const runLimitMs = 60_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Machine extends AsyncDisposable {
  /** Runs a shell script as root in it, in the folder that `files` was copied to. */
  run(script: string): Promise<Ended>;
}

async function runToEnd(command: string, args: readonly string[], limitMs: number): Promise<Ended> {
  const child = spawn(command, [...args], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(child);
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs);
  const { code } = await exited;
  clearTimeout(timer);
  return { code, stdout: stdout(), stderr: stderr() };
}

/** The one child of a process. */
function childOf(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
}

function layOut(folder: string, files: Readonly<Record<string, string>>): void {
  for (const name of ['files', 'units']) mkdirSync(join(folder, name));
  for (const [path, from] of Object.entries(files))
    cpSync(from, join(folder, 'files', path), { recursive: true });
  for (const target of targets) {
    const text = `[Unit]\nDescription=${target}\nDefaultDependencies=no\n`;
    writeFileSync(join(folder, 'units', `${target}.target`), text);
  }
  for (const [name, text] of Object.entries(startUnits)) writeFileSync(join(folder, 'units', name), text);
}

/** Starts it. @param files what the operator has, by path in their folder */
export async function startMachine(files: Readonly<Record<string, string>>): Promise<Machine> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-machine-'));
  layOut(folder, files);
  const ready = join(folder, 'ready');
  expectDone(await runToEnd('/usr/bin/mkfifo', [ready], startLimitMs));
  const script = join(repositoryRoot, 'test', 'deploy', 'machine.sh');
  const own = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--propagation', 'private', script, folder];
  const outer = spawn('/usr/bin/setpriv', own, { stdio: ['ignore', 'pipe', 'pipe'] });
  const { stdout, stderr, exited } = watch(outer);

  // Whoever reads the pipe waits for its writer.
  const reader = spawn('/usr/bin/cat', [ready], { stdio: ['ignore', 'pipe', 'ignore'] });
  const read = watch(reader);
  const timer = setTimeout(() => reader.kill('SIGKILL'), startLimitMs);
  void exited.then(() => reader.kill('SIGKILL'));
  await read.exited;
  clearTimeout(timer);
  if (read.stdout() !== 'ready\n') {
    outer.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true });
    throw new Error(`systemd does not start here (root and new namespaces needed): ${stdout()}${stderr()}`);
  }

  const first = childOf(childOf(outer.pid ?? 0));
  const enter = ['--target', `${first}`, '--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd'];
  const path = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin';
  const units = 'SYSTEMD_UNIT_PATH=/etc/systemd/system:/run/systemd/transient:/run/packaged';
  const shell = ['/usr/bin/env', '-i', path, units, 'sh', '-c'];
  return {
    run: (text) =>
      runToEnd('/usr/bin/nsenter', [...enter, ...shell, `set -eu; cd /files; ${text}`], runLimitMs),
    async [Symbol.asyncDispose]() {
      process.kill(first, 'SIGKILL');
      await exited;
      rmSync(folder, { recursive: true });
    },
  };
}

/** The standard output of what must have ended well. */
export function expectDone({ code, stdout, stderr }: Ended): string {
  if (code !== 0) throw new Error(`ended with ${code}: ${stderr}${stdout}`);
  return stdout;
}

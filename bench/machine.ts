/** Where and with what a run was made: what a reader needs to judge its figures. */
import { Database } from 'bun:sqlite';
import { execFileSync } from 'node:child_process';
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import packageJson from '../package.json';
import { repositoryRoot } from '../test/support/started-server.ts';
import { describeCommit } from './checkout.ts';
import { formatNumber, median } from './figures.ts';
import { canPin } from './processes.ts';

/** A 4 KiB write and fsync, in microseconds. */
function timeFsync(folder: string): number {
  const file = openSync(join(folder, 'fsync'), 'w');
  const block = Buffer.alloc(4096, 7);
  const times = Array.from({ length: 200 }, () => {
    const startedAt = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    return (performance.now() - startedAt) * 1000;
  });
  closeSync(file);
  return median(times);
}

function versionOfUndici(): string {
  const manifest = join(repositoryRoot, 'node_modules', 'undici', 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

function versions(): string {
  const sqlite = new Database(':memory:').query<{ v: string }, []>('SELECT sqlite_version() AS v').get()?.v;
  const node = execFileSync('node', ['--version'], { encoding: 'utf8' }).trim();
  return `Mayfly ${packageJson.version}, Bun ${Bun.version} with SQLite ${sqlite}; Node ${node} and undici ${versionOfUndici()} for the bare server and the generator`;
}

/** Called before the run: its load average is that of the machine without it. */
export function describeMachine(folder: string): string {
  const all = cpus();
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  const processor = all[0]?.model.trim() ?? 'unknown processor';
  const pinning = canPin
    ? 'The servers are pinned to core 0, the generators to core 1.'
    : 'Nothing is pinned, because this machine has no taskset.';
  return `- ${new Date().toISOString().slice(0, 10)}, commit ${describeCommit()}. ${versions()}.
- ${all.length} × ${processor}, ${gibibytes} GiB, ${type()} ${release()}. Load average before the run: ${(loadavg()[0] ?? 0).toFixed(2)}.
- A 4 KiB write and fsync takes ${formatNumber(timeFsync(folder), 0)} µs (median) where the data lay. ${pinning}`;
}

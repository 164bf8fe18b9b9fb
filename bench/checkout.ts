/** Another revision in a folder of its own, with its packages installed. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repositoryRoot } from '../test/support/started-server.ts';

const git = (...args: string[]) =>
  execFileSync('git', args, {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

/** The message is for the person at the terminal. */
export class UnknownRevision extends Error {
  override readonly name = 'UnknownRevision';
}

/** The full id of a commit. Throws `UnknownRevision`. */
export function resolveRevision(revision: string): string {
  try {
    return git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  } catch {
    throw new UnknownRevision(
      `--against ${revision}: no such revision here. Give a commit, a branch or a tag.`,
    );
  }
}

/** This checkout's commit, and whether it has changes beside it. */
export function describeCommit(): string {
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') === '' ? '' : ' with changes';
    return git('rev-parse', '--short=12', 'HEAD') + changed;
  } catch {
    return 'unknown';
  }
}

/** Packages of this checkout where the lock files agree, else the revision's own installation. */
function installPackages(checkout: string): void {
  const lockOf = (root: string) => join(root, 'package-lock.json');
  if (readFileSync(lockOf(checkout), 'utf8') === readFileSync(lockOf(repositoryRoot), 'utf8')) {
    symlinkSync(join(repositoryRoot, 'node_modules'), join(checkout, 'node_modules'));
    // A lock file newer than the packages would be compared with them at every start.
    const { mtime } = statSync(lockOf(repositoryRoot));
    utimesSync(lockOf(checkout), mtime, mtime);
    return;
  }
  const code = "import('./scripts/install.mjs').then(({ install }) => process.exit(install() ? 0 : 1))";
  execFileSync('node', ['-e', code], { cwd: checkout, stdio: ['ignore', 2, 2] });
}

export async function withCheckout<T>(commit: string, work: (checkout: string) => Promise<T>): Promise<T> {
  const checkout = mkdtempSync(join(tmpdir(), 'mayfly-against-'));
  git('worktree', 'add', '--quiet', '--detach', checkout, commit);
  try {
    installPackages(checkout);
    return await work(checkout);
  } finally {
    git('worktree', 'remove', '--force', checkout);
  }
}

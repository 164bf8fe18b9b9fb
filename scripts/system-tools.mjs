/**
 * What tests need from the system, and getting it.
 *
 * Nothing is installed that no test needs; where it may not be installed, the tests that need it are named.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { root } from './install.mjs';

function onPath(...names) {
  const folders = (process.env.PATH ?? '').split(':');
  return names.some((name) => folders.some((folder) => existsSync(join(folder, name))));
}

function hasPostgres() {
  const versions = '/usr/lib/postgresql';
  const isThere =
    existsSync(versions) &&
    readdirSync(versions).some((name) => existsSync(join(versions, name, 'bin/postgres')));
  return isThere || onPath('postgres');
}

/** A library, where Debian puts it for each architecture. */
function hasFaketime() {
  return (
    existsSync('/usr/lib') &&
    readdirSync('/usr/lib').some((name) => existsSync(join('/usr/lib', name, 'faketime/libfaketimeMT.so.1')))
  );
}

/** Debian puts servers where only root's PATH leads. */
function hasServer(name) {
  return onPath(name) || existsSync(`/usr/sbin/${name}`);
}

/**
 * `mark` is what a test, or a file it imports, says when it uses the tool; `packages` are Debian's, where the tool's own
 * name is not enough.
 */
const tools = [
  {
    name: 'chromium',
    // A browser without any font lays pages out as nobody sees them.
    packages: ['chromium', 'chromium-headless-shell', 'fonts-dejavu-core'],
    mark: /from 'playwright-core'/,
    isThere: () => onPath('chromium') && onPath('chromium-headless-shell'),
  },
  { name: 'tmux', mark: /'tmux'/, isThere: () => onPath('tmux') },
  { name: 'zsh', mark: /'zsh'/, isThere: () => onPath('zsh') },
  { name: 'fish', mark: /'fish'/, isThere: () => onPath('fish') },
  { name: 'groff-base', mark: /'groff'/, isThere: () => onPath('groff') },
  {
    name: 'gnome-keyring',
    packages: ['gnome-keyring', 'libsecret-1-0', 'dbus'],
    mark: /'gnome-keyring-daemon'/,
    isThere: () => onPath('gnome-keyring-daemon') && onPath('dbus-run-session'),
  },
  { name: 'curl', packages: ['curl', 'ca-certificates'], mark: /'curl'/, isThere: () => onPath('curl') },
  { name: 'python3', mark: /'python3'/, isThere: () => onPath('python3') },
  {
    // For Debian's own Python, which another one in PATH does not know.
    name: 'python3-argon2',
    packages: ['python3', 'python3-argon2', 'python3-cryptography'],
    mark: /'python3-argon2'/,
    isThere: () =>
      existsSync('/usr/bin/python3') &&
      ['argon2', 'cryptography'].every((name) => existsSync(join('/usr/lib/python3/dist-packages', name))),
  },
  {
    name: 'golang-go',
    mark: /'golang-go'/,
    // Half a gigabyte, for a program of the documentation.
    onlyLong: true,
    isThere: () => onPath('go'),
  },
  { name: 'gcc', packages: ['gcc', 'libc6-dev'], mark: /'gcc'/, isThere: () => onPath('gcc') },
  { name: 'redis-server', mark: /'redis-server'/, isThere: () => onPath('redis-server') },
  { name: 'postgresql', mark: /\/usr\/lib\/postgresql/, isThere: hasPostgres },
  { name: 'pgbouncer', mark: /\/usr\/sbin\/pgbouncer/, isThere: () => hasServer('pgbouncer') },
  { name: 'faketime', mark: /libfaketime/, isThere: hasFaketime },
  { name: 'caddy', mark: /'caddy'/, isThere: () => onPath('caddy') },
  { name: 'apache2', mark: /'apache2'/, isThere: () => hasServer('apache2') },
  { name: 'nginx', mark: /'nginx'/, isThere: () => hasServer('nginx') },
  { name: 'haproxy', mark: /'haproxy'/, isThere: () => hasServer('haproxy') },
  {
    name: 'systemd',
    packages: ['systemd', 'dbus'],
    mark: /'systemd-analyze'/,
    isThere: () => onPath('systemd-analyze') && onPath('dbus-daemon'),
  },
  { name: 'lintian', mark: /'lintian'/, isThere: () => onPath('lintian') },
  { name: 'iproute2', mark: /'container\.sh'/, isThere: () => onPath('ip') || existsSync('/usr/sbin/ip') },
];

export function listTests() {
  return ['src', 'sdk', 'test'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.test\.tsx?$/.test(name))
      .map((name) => join(root, folder, name)),
  );
}

/** The files of the project that a file imports, itself included. */
function reach(path, seen = new Set()) {
  if (seen.has(path) || !existsSync(path)) return seen;
  seen.add(path);
  const text = readFileSync(path, 'utf8');
  for (const [, relative] of text.matchAll(/(?:from|import\()\s*'(\.{1,2}\/[^']+)'/g)) {
    // Only what tests share: the product itself needs none of these tools.
    const target = resolve(dirname(path), relative);
    if (target.startsWith(join(root, 'test'))) reach(target, seen);
  }
  return seen;
}

function needsOf(path, isLong) {
  const texts = [...reach(path)].map((file) => readFileSync(file, 'utf8'));
  return tools
    .filter(({ mark, onlyLong = false }) => (isLong || !onlyLong) && texts.some((text) => mark.test(text)))
    .map(({ name }) => name);
}

function run(command, args) {
  // Offline, systemctl starts nothing: a web server that takes ports 80 and 443 is no part of getting a test's tool.
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', SYSTEMD_OFFLINE: '1' };
  return spawnSync(command, args, { stdio: ['ignore', 2, 2], env }).status === 0;
}

/** Why packages cannot be installed here; `null` when they can. */
function whyNot() {
  if (!existsSync('/etc/debian_version') || !onPath('apt-get')) return 'this system has no apt-get';
  return process.getuid?.() === 0 ? null : 'only root may install packages';
}

const policy = '/usr/sbin/policy-rc.d';

/** Does the work while no package may start a service (invoke-rc.d(8)), which not all leave to systemctl. */
function withoutServices(work) {
  if (existsSync(policy)) return work();
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    return work();
  } finally {
    rmSync(policy);
  }
}

/** One try. Services of the packages are not started: tests start their own. */
function installPackages(names) {
  const packages = names.flatMap((name) => tools.find((tool) => tool.name === name)?.packages ?? [name]);
  process.stdout.write(`Installing ${packages.join(', ')} with apt-get …\n`);
  const install = ['install', '-qy', '--no-install-recommends', ...packages];
  return run('apt-get', ['update', '-q']) && withoutServices(() => run('apt-get', install));
}

/**
 * @param {string[]} tests
 * @param {boolean} isLong whether this is the long run
 * @returns {{ runnable: string[], skipped: { test: string, tool: string, reason: string }[] }}
 */
export function prepareTools(tests, isLong) {
  const needs = new Map(tests.map((test) => [test, needsOf(test, isLong)]));
  const needed = new Set([...needs.values()].flat());
  const missing = () =>
    tools.filter(({ name, isThere }) => needed.has(name) && !isThere()).map(({ name }) => name);
  let reason = whyNot();
  if (missing().length > 0 && reason === null && !installPackages(missing()))
    reason = 'apt-get failed, see above';
  const absent = missing();
  const skipped = tests.flatMap((test) => {
    const tool = (needs.get(test) ?? []).find((name) => absent.includes(name));
    return tool === undefined ? [] : [{ test, tool, reason: reason ?? 'it is not where it should be' }];
  });
  return { runnable: tests.filter((test) => !skipped.some((entry) => entry.test === test)), skipped };
}

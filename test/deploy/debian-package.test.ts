/** The Debian package under a real systemd: installed, updated, removed and purged by dpkg; and what lintian says of it. */
import { afterAll, beforeAll, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, normalize } from 'node:path';
import { buildExecutable } from '../support/executable.ts';
import { freePort, repositoryRoot } from '../support/started-server.ts';
import { expectDone, type Machine, startMachine } from './machine.ts';

setDefaultTimeout(120_000);

const read = (path: string) => readFileSync(join(repositoryRoot, path), 'utf8');
/** 22 November 2026. */
const seconds = 1_795_300_000;
const [first, second] = ['0.0.1', '0.0.2'];

let folder = '';
let machine: Machine | undefined;
let port = 0;

/** @returns the path of the package */
function makePackage(name: string, parts: Record<string, unknown>, umask = '022'): string {
  const all = {
    outdir: join(folder, name),
    architecture: 'amd64',
    seconds,
    ...parts,
  };
  const script = `import { makeDebianPackage } from '${repositoryRoot}/scripts/debian.mjs';
    console.log(makeDebianPackage(${JSON.stringify(all)}));`;
  const shell = `umask ${umask}; exec node --input-type=module --eval "$1"`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', shell, 'sh', script], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
  return stdout.trim();
}

/** What a file in a package says. */
function textIn(path: string, name: string): string {
  const script = 'dpkg-deb --fsys-tarfile "$1" | tar -xO "./$2"';
  return spawnSync('sh', ['-c', script, 'sh', path, name]).stdout.toString();
}

async function run(script: string): Promise<string> {
  if (machine === undefined) throw new Error('no machine');
  return expectDone(await machine.run(script));
}

/**
 * dpkg, over this system's /usr, of which the machine sees a copy that it may write to. Of the units there it sees only what is
 * installed from now on, in the one more place where machine.sh looks for units. A policy of this system for services ends there.
 */
const prepare = `
  mkdir /run/over
  mount -t tmpfs tmpfs /run/over
  mkdir /run/over/upper /run/over/work
  mount -t overlay -o lowerdir=/usr,upperdir=/run/over/upper,workdir=/run/over/work overlay /usr
  rm -f /usr/sbin/policy-rc.d
  mkdir /run/packaged
  mount --bind /run/packaged /usr/lib/systemd/system
  mkdir -p /var/lib/dpkg/updates /var/log
  cp -r status info /var/lib/dpkg/`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-deb-'));
  const executable = join(folder, 'mayfly');
  await buildExecutable(executable);
  const [older, newer] = [first, second].map((version) =>
    makePackage('made', { executable, version, compression: ['-Znone'] }),
  );
  machine = await startMachine({
    'older.deb': older ?? '',
    'newer.deb': newer ?? '',
    status: '/var/lib/dpkg/status',
    info: '/var/lib/dpkg/info',
  });
  port = await freePort();
  await run(prepare);
});
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
});

function awaitReady(): void {
  const patience = ['--retry', '100', '--retry-delay', '1', '--retry-connrefused'];
  const { stdout } = spawnSync('curl', ['-sf', ...patience, `http://127.0.0.1:${port}/readyz`]);
  expect(stdout.toString()).toBe('{"status":"ok"}');
}

const post = (path: string, fields: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${port}/api/v1${path}`, { method: 'POST', body: new URLSearchParams(fields) });

async function share(fields: Record<string, string>): Promise<string> {
  const { secret_key: key } = (await (await post('/share', fields)).json()) as { secret_key: string };
  return key;
}

const quiet = 'export DEBIAN_FRONTEND=noninteractive;';
const enabled = 'systemctl is-enabled mayfly || true';
const active = 'systemctl is-active mayfly || true';

describe('the Debian package', () => {
  it('is installed without starting anything, and says what to do next', async () => {
    const words = await run(`${quiet} dpkg -i older.deb`);
    expect(words).toContain('set MAYFLY_BASE_URL in /etc/mayfly/mayfly.env');
    expect(words).toContain('systemctl enable --now mayfly');
    expect(words).toContain('Documentation: /usr/share/doc/mayfly');
    expect([await run(enabled), await run(active)]).toEqual(['disabled\n', 'inactive\n']);
    expect(await run("stat -c '%a %U' /etc/mayfly/mayfly.env /usr/bin/mayfly")).toBe('600 root\n755 root\n');
    expect(await run('id -nu mayfly; mayfly version')).toMatch(/^mayfly\n\d/);
    expect(await run('systemd-analyze verify /usr/lib/systemd/system/mayfly.service')).toBe('');
  });

  it('serves once it has settings, with a passphrase too, and mayfly-admin acts for it', async () => {
    await run(`printf 'PORT=${port}\\nMAYFLY_RATE_LIMITS=off\\n' >>/etc/mayfly/mayfly.env`);
    await run('systemctl enable --now mayfly');
    awaitReady();
    const key = await share({ secret: 'open sesame', passphrase: 'thyme' });
    expect(await (await post(`/secret/${key}`, { passphrase: 'thyme' })).json()).toMatchObject({
      value: 'open sesame',
    });
    expect(await run('mayfly-admin account create jo@example.com --json')).toContain('jo@example.com');
    expect(await run("stat -c '%a %U' /var/lib/mayfly")).toBe('700 mayfly\n');
    const environment = await run('cat /proc/$(systemctl show --property=MainPID --value mayfly)/environ');
    expect(environment.split('\0')).toContain('BUN_JSC_useFTLJIT=0');
  });

  it('is updated: the service runs the new one, with its settings and what it kept', async () => {
    const key = await share({ secret: 'kept' });
    const before = await run('systemctl show --property=MainPID mayfly');
    await run(`${quiet} dpkg -i newer.deb`);
    awaitReady();
    expect(await run('systemctl show --property=MainPID mayfly')).not.toBe(before);
    expect(await run('dpkg-query --show mayfly')).toBe(`mayfly\t${second}\n`);
    expect(await run(`grep -c 'PORT=${port}' /etc/mayfly/mayfly.env`)).toBe('1\n');
    expect([await run(enabled), await run(active)]).toEqual(['enabled\n', 'active\n']);
    expect(await (await post(`/secret/${key}`)).json()).toMatchObject({ value: 'kept' });
  });

  it('is removed: the service is stopped, settings and data stay', async () => {
    await run(`${quiet} dpkg --remove mayfly`);
    expect(await run(active)).toBe('inactive\n');
    await run('test ! -e /usr/bin/mayfly; test -s /etc/mayfly/mayfly.env; test -s /var/lib/mayfly/mayfly.db');
    await run('echo smtps://user:password@mail.example.com >/etc/mayfly/smtp-url');
  });

  it('is purged: its settings go, and it says where data and files of yours still are', async () => {
    const words = await run(`${quiet} dpkg --purge mayfly`);
    expect(words).toContain('still in /var/lib/mayfly');
    expect(words).toContain('\n  /etc/mayfly/smtp-url\n');
    await run('test ! -e /etc/mayfly/mayfly.env; test -s /etc/mayfly/smtp-url');
    await run('test -s /var/lib/mayfly/mayfly.db; test -s /var/lib/mayfly/keys.json');
    expect(await run('find /etc/systemd -name "mayfly*"')).toBe('');
  });

  it('is purged without a trace in /etc where nothing of yours is', async () => {
    await run('rm /etc/mayfly/smtp-url');
    await run(`${quiet} dpkg -i newer.deb`);
    expect(await run(`${quiet} dpkg --purge mayfly`)).not.toContain('What you put');
    await run('test ! -e /etc/mayfly');
  });
});

describe('what it is made of', () => {
  /** Any program will do: what is judged is the package around it. */
  const small = { executable: '/bin/true', version: first };

  it('has the same bytes at each build, whatever the umask', () => {
    const [one, other] = [makePackage('one', small), makePackage('other', small, '077')].map((path) =>
      readFileSync(path),
    );
    expect(one?.equals(other ?? Buffer.of())).toBe(true);
  });

  it('has no error for lintian', () => {
    const path = makePackage('judged', small);
    const { status, stdout } = spawnSync('lintian', ['--allow-root', '--fail-on', 'error', path], {
      encoding: 'utf8',
    });
    expect({ status, errors: stdout.split('\n').filter((line) => line.startsWith('E:')) }).toEqual({
      status: 0,
      errors: [],
    });
  });

  it('is the unit and mayfly-admin of deploy/, at the places that Debian has for programs', () => {
    const path = makePackage('compared', small);
    const show = (name: string) => textIn(path, name);
    const inPackage = (text: string) =>
      text
        .replaceAll('/usr/local/', '/usr/')
        .replace(/docs\/(install|configuration)\.md/g, '/usr/share/doc/mayfly/$1.md');
    expect(show('usr/lib/systemd/system/mayfly.service')).toBe(inPackage(read('deploy/mayfly.service')));
    expect(show('usr/sbin/mayfly-admin')).toBe(inPackage(read('deploy/mayfly-admin')));
    expect(show('etc/mayfly/mayfly.env')).toBe(inPackage(read('deploy/mayfly.env.example')));
  });
});

describe('its documentation', () => {
  const doc = 'usr/share/doc/mayfly';
  let files: string[] = [];
  let pages = new Map<string, string>();
  beforeAll(() => {
    const path = makePackage('read', { executable: '/bin/true', version: first });
    const listed = spawnSync('sh', ['-c', 'dpkg-deb --fsys-tarfile "$1" | tar -t', 'sh', path]);
    files = listed.stdout
      .toString()
      .split('\n')
      .map((name) => name.replace('./', ''));
    pages = new Map(
      files
        .filter((name) => name.startsWith(doc) && name.endsWith('.md'))
        .map((name) => [name, textIn(path, name)]),
    );
  });

  /** Links, by page, to what the package does not have. */
  function deadLinks(texts: ReadonlyMap<string, string>): string[] {
    return [...texts].flatMap(([name, text]) => {
      const targets = [...text.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target = '']) => target);
      const local = targets.filter((target) => !target.includes('://'));
      return local.filter((target) => !files.includes(normalize(join(name, '..', target))));
    });
  }

  it('has the pages for operators, whose links lead to files of the package', () => {
    for (const name of ['README', 'SECURITY', 'install', 'operating', 'backup', 'upgrade', 'proxies'])
      expect(pages.get(`${doc}/${name}.md`)?.length).toBeGreaterThan(500);
    expect(deadLinks(pages)).toEqual([]);
    expect(pages.get(`${doc}/proxies.md`)).toContain('](examples/nginx.conf)');
  });

  it('self-test: a link to what is not in the package is found', () => {
    expect(deadLinks(new Map([[`${doc}/x.md`, '[a](README.md) [b](../deploy/nginx.conf)']]))).toEqual([
      '../deploy/nginx.conf',
    ]);
  });

  it('has commands that the package installs, and files where the package has them', () => {
    for (const [name, text] of pages) {
      expect([name, text.match(/npm run -s|npm start|--config deploy/)]).toEqual([name, null]);
      expect([name, text.match(/^MAYFLY_DATA_DIR=\S+ mayfly-admin/m)]).toEqual([name, null]);
    }
    expect(pages.get(`${doc}/operating.md`)).toContain('\nmayfly-admin burn-all\n');
    expect(pages.get(`${doc}/backup.md`)).toContain('\nMAYFLY_DATA_DIR=/srv/mayfly mayfly restore ');
  });
});

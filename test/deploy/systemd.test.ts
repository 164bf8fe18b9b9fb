/** deploy/mayfly.service under a real systemd: installed as docs/install.md says, confined, and complete. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, setDefaultTimeout } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../src/cli/commands.ts';
import { buildExecutable } from '../support/executable.ts';
import { freePort, repositoryRoot } from '../support/started-server.ts';
import { expectDone, type Machine, startMachine } from './machine.ts';
import { unknownSettingsIn } from './settings-named.ts';

setDefaultTimeout(120_000);

const deploy = join(repositoryRoot, 'deploy');
const unit = readFileSync(join(deploy, 'mayfly.service'), 'utf8');

/** The blocks of commands under a heading of a page. */
function commandsUnder(page: string, heading: string): string[] {
  const text = readFileSync(join(repositoryRoot, 'docs', page), 'utf8');
  const section = text.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

const [install = '', start = ''] = commandsUnder('install.md', 'As a service');
const [, restoreOfService = ''] = commandsUnder('backup.md', 'A restore');
/** On the machine there is neither npm nor a checkout: the build is done before. */
const buildLine = 'npm run build\n';

let folder = '';
let port = 0;
let machine: Machine | undefined;

async function run(script: string): Promise<string> {
  if (machine === undefined) throw new Error('no machine');
  return expectDone(await machine.run(script));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mayfly-unit-'));
  const executable = join(folder, 'mayfly');
  await buildExecutable(executable);
  machine = await startMachine({ deploy, 'dist/mayfly': executable });
  port = await freePort();
  expect(install).toStartWith(buildLine);
  await run(install.slice(buildLine.length));
  await run(
    `echo PORT=${port} >>/etc/mayfly/mayfly.env; echo MAYFLY_RATE_LIMITS=off >>/etc/mayfly/mayfly.env`,
  );
  await run(start);
  await awaitReady();
});
afterAll(async () => {
  await machine?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
});

// The tests start it more often than an operator does.
beforeEach(async () => {
  await run('systemctl reset-failed mayfly 2>/dev/null || true');
});

/** Until it answers: curl asks again. */
async function awaitReady(): Promise<void> {
  const url = `http://127.0.0.1:${port}/readyz`;
  const asked = spawnSync('curl', [
    '-sf',
    '--retry',
    '100',
    '--retry-delay',
    '1',
    '--retry-connrefused',
    url,
  ]);
  expect(asked.stdout.toString()).toBe('{"status":"ok"}');
}

const post = (path: string, fields: Record<string, string>) =>
  fetch(`http://127.0.0.1:${port}/api/v1${path}`, { method: 'POST', body: new URLSearchParams(fields) });

async function shareAndRevealOnce(): Promise<void> {
  const made = await post('/share', { secret: 'open sesame', passphrase: 'thyme' });
  const { secret_key: key } = (await made.json()) as { secret_key: string };
  const revealed = await post(`/secret/${key}`, { passphrase: 'thyme' });
  expect(await revealed.json()).toMatchObject({ value: 'open sesame' });
  expect((await post(`/secret/${key}`, { passphrase: 'thyme' })).status).toBe(404);
}

/** What systemd says of its exposure, from 0 to 10. */
function exposureOf(text: string): number {
  const path = join(folder, 'mayfly.service');
  writeFileSync(path, text);
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', path], { encoding: 'utf8' });
  return Number(/Overall exposure level for mayfly\.service: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
}

const highestExposure = 2;

describe('the unit', () => {
  it('is correct to systemd-analyze', async () => {
    expect(await machine?.run('systemd-analyze verify deploy/mayfly.service')).toEqual({
      code: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('self-test: a misspelt option and a missing program are found', async () => {
    for (const [words, other] of [
      ['ProtectHome=yes', 'ProtectHomes=yes'],
      ['/usr/local/bin/mayfly serve', '/usr/local/bin/mayflie serve'],
    ] as const) {
      const text = Buffer.from(unit.replace(words, other)).toString('base64');
      const script = `echo ${text} | base64 -d >/run/mayfly.service; systemd-analyze verify /run/mayfly.service`;
      expect((await machine?.run(script))?.stderr).toContain(other.split(/[= ]/)[0] ?? '');
    }
  });

  it(`exposes less than ${highestExposure} of 10`, () => {
    expect(exposureOf(unit)).toBeLessThan(highestExposure);
  });

  it('self-test: a weakened one exposes more', () => {
    for (const weaker of [
      /^SystemCall.*\n/gm,
      /^(Capability|Protect|Private).*\n/gm,
      /^(User|NoNew|Restrict).*\n/gm,
    ])
      expect(exposureOf(unit.replace(weaker, ''))).toBeGreaterThan(highestExposure);
  });

  it('runs a command, with settings, that there are', () => {
    const [, words = ''] = /^ExecStart=\/usr\/local\/bin\/mayfly (.+)$/m.exec(unit) ?? [];
    expect(commands.map(({ path }) => path.join(' '))).toContain(words);
    const texts = ['mayfly.service', 'mayfly.env.example', 'mayfly-admin'].map((name) =>
      readFileSync(join(deploy, name), 'utf8'),
    );
    expect(texts.flatMap((text) => unknownSettingsIn(text))).toEqual([]);
  });

  it('has every path that it names, once installed', async () => {
    const paths = [...unit.matchAll(/^\w+=-?(?:\w+=)?(\/[^\s]+)/gm)].map(([, path = '']) => path);
    expect(paths).toContain('/etc/mayfly/mayfly.env');
    expect(await run(paths.map((path) => `ls -d ${path}`).join('; '))).toBe(`${paths.join('\n')}\n`);
  });

  it('allows Mayfly longer to stop than it takes at most', () => {
    const [, limit] =
      /^const stopLimitMs = ([\d_]+);$/m.exec(readFileSync(join(repositoryRoot, 'src', 'main.ts'), 'utf8')) ??
      [];
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(unit) ?? [];
    expect(Number(seconds) * 1_000).toBeGreaterThan(Number(limit?.replaceAll('_', '')));
  });
});

const mainPid = 'pid=$(systemctl show --property=MainPID --value mayfly)';

describe('the service', () => {
  it('shares and reveals once, with a passphrase, where /tmp is mounted noexec', async () => {
    expect(await run('findmnt --noheadings --output OPTIONS /tmp')).toContain('noexec');
    await shareAndRevealOnce();
  });

  it('has its own user, no capability, no way to more, and filtered system calls', async () => {
    const status = await run(`${mainPid}; cat /proc/$pid/status`);
    const user = (await run('id -u mayfly')).trim();
    expect(Number(user)).toBeGreaterThan(0);
    expect(status).toContain(`Uid:\t${user}\t${user}\t${user}\t${user}\n`);
    for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'])
      expect(status).toContain(`Cap${set}:\t0000000000000000\n`);
    expect(status).toContain('NoNewPrivs:\t1\n');
    expect(status).toContain('Seccomp:\t2\n');
    expect(await run(`${mainPid}; grep core /proc/$pid/limits`)).toMatch(/Max core file size +0 +0 /);
    expect(await run('systemctl show --value --property=MemorySwapMax mayfly')).toBe('0\n');
  });

  it('runs without the last tier of the compiler', async () => {
    const environment = await run(`${mainPid}; cat /proc/$pid/environ`);
    expect(environment.split('\0')).toContain('BUN_JSC_useFTLJIT=0');
  });

  it('can write to its state and to temporary folders, nowhere else', async () => {
    const mounts = await run(`${mainPid}; cut --delimiter=' ' --fields=5,6 /proc/$pid/mountinfo`);
    // A later mount hides an earlier one at the same place.
    const last = new Map(
      mounts
        .trim()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    );
    const writable = [...last].filter(([, options]) => /^rw\b/.test(options)).map(([path]) => path);
    const others = /^\/(proc|dev\/\w+|run|run\/lock|tmp|var\/tmp)$/;
    expect(writable.filter((path) => !others.test(path))).toEqual(['/var/lib/mayfly']);
    expect(last.get('/var/lib/mayfly')).toContain('noexec');
  });

  it('keeps its files to itself', async () => {
    const files = await run("find /var/lib/mayfly -printf '%u %m %y\\n' | sort -u");
    expect(files).toBe('mayfly 600 f\nmayfly 700 d\n');
  });

  it('stops well within its time, and starts again with what it kept', async () => {
    const made = await post('/share', { secret: 'kept' });
    const { secret_key: key } = (await made.json()) as { secret_key: string };
    const stopped = 'systemctl stop mayfly; systemctl show --property=Result,ExecMainStatus mayfly';
    expect(await run(stopped)).toBe('Result=success\nExecMainStatus=0\n');
    await run('systemctl start mayfly');
    await awaitReady();
    expect(await (await post(`/secret/${key}`, {})).json()).toMatchObject({ value: 'kept' });
  });

  it('is started again after a crash', async () => {
    const before = await run(`${mainPid}; echo $pid`);
    // The port is free once the process has ended, and not before.
    await run(
      `${mainPid}; systemctl kill --signal=KILL mayfly; tail --follow --sleep-interval=0.1 --pid=$pid /dev/null`,
    );
    await awaitReady();
    expect(await run(`${mainPid}; echo $pid`)).not.toBe(before);
    await shareAndRevealOnce();
  });
});

describe('mayfly-admin', () => {
  it('acts as the service does, while it runs and while it is stopped', async () => {
    const created = JSON.parse(await run('mayfly-admin account create jo@example.com --json'));
    expect(created).toMatchObject({ username: 'jo@example.com' });
    expect(await run('mayfly-admin doctor')).toContain('https://secrets.example.com');
    await run('systemctl stop mayfly');
    expect(await run('mayfly-admin account list')).toContain('jo@example.com');
    expect(await run("find /var/lib/mayfly -printf '%u %m %y\\n' | sort -u")).toBe(
      'mayfly 600 f\nmayfly 700 d\n',
    );
    await run('systemctl start mayfly');
    await awaitReady();
  });

  it('is what the service says to run next, because systemd has started it', async () => {
    // There is no journal in this machine.
    const folder = '/etc/systemd/system/mayfly.service.d';
    const dropIn = String.raw`[Service]\nStandardError=file:/run/mayfly.err\n`;
    await run(`mkdir ${folder}; printf '${dropIn}' >${folder}/said.conf; systemctl daemon-reload`);
    await run('systemctl restart mayfly');
    await awaitReady();
    // What a start says, it has said before it stops.
    const said = await run('systemctl stop mayfly; cat /run/mayfly.err');
    expect(said).toContain('  mayfly-admin doctor --mail-to you@example.com\n');
    await run(`rm -r ${folder}; systemctl daemon-reload; systemctl start mayfly`);
    await awaitReady();
  });

  it('ends as the command does', async () => {
    expect((await machine?.run('mayfly-admin account plan nobody@example.com basic'))?.code).toBe(1);
    expect((await machine?.run('mayfly-admin account plan'))?.code).toBe(2);
    expect((await machine?.run('mayfly-admin version'))?.code).toBe(0);
  });

  it('never ends well when its command was ended by a signal', async () => {
    // In place of the program, one that a signal ends.
    const stand = (signal: string) => String.raw`#!/bin/sh\nkill -${signal} $$\n`;
    const over = 'mount --bind /run/stand /usr/local/bin/mayfly; code=0; mayfly-admin burn-all || code=$?';
    for (const [signal, code] of [
      ['INT', 130],
      ['TERM', 143],
      ['HUP', 129],
    ] as const) {
      const script = `printf '${stand(signal)}' >/run/stand; chmod 755 /run/stand; ${over}`;
      expect(await run(`${script}; umount /usr/local/bin/mayfly; echo $code`)).toBe(`${code}\n`);
    }
  });

  it('writes nothing to a folder that ends with it', async () => {
    for (const file of ['/tmp', '/var/tmp'].flatMap((own) => [`${own}/x.db`, `--file=${own}/x.db`]))
      expect(await machine?.run(`mayfly-admin backup --quiet ${file}`)).toEqual({
        code: 2,
        stdout: '',
        stderr: 'mayfly-admin has a /tmp of its own, which ends with it: name a file elsewhere.\n',
      });
  });
});

describe('a backup', () => {
  it('to a folder that is not for the service’s user is refused in words', async () => {
    await run('install -d -m 700 /srv/closed');
    const refused = await machine?.run('mayfly-admin backup /srv/closed/x.db');
    expect([refused?.code, refused?.stderr]).toEqual([
      1,
      'No backup was made. /srv/closed/x.db.part may not be written by this user (EACCES): choose a folder that it may write to.\n',
    ]);
  });

  it('is restored as docs/backup.md says: accounts are there, and what waited is burned', async () => {
    await run('mayfly-admin account create al@example.com --json');
    const made = await post('/share', { secret: 'waits at the backup' });
    const { secret_key: key } = (await made.json()) as { secret_key: string };
    const [backup] = /\/var\/backups\/mayfly\/\S+\.db/.exec(restoreOfService) ?? [];
    await run(
      'mkdir -p /var/backups; install -d -m 700 -o mayfly -g mayfly /var/backups/mayfly; ' +
        `mayfly-admin backup ${backup}; cp /var/lib/mayfly/keys.json /run/copy-of-keys`,
    );
    // Nobody answers a question here.
    await run(
      restoreOfService.replace('COPY_OF_KEYS', '/run/copy-of-keys').replace('restore', 'restore --yes'),
    );
    await awaitReady();
    expect(await run('mayfly-admin account list')).toContain('al@example.com');
    expect((await post(`/secret/${key}`, {})).status).toBe(404);
    expect(await run("find /var/lib/mayfly -printf '%u %m %y\\n' | sort -u")).toBe(
      'mayfly 600 f\nmayfly 700 d\n',
    );
    await shareAndRevealOnce();
  });
});

describe('a refusal that no new try changes', () => {
  it('is counted for longer than the tries that are allowed take', () => {
    const secondsOf = (name: string) => Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(unit)?.[1]);
    const slowestStart = 5;
    const tries = secondsOf('StartLimitBurst') * (secondsOf('RestartSec') + slowestStart);
    expect(secondsOf('StartLimitIntervalSec')).toBeGreaterThan(tries);
  });

  it('ends in a failed service after a few tries', async () => {
    const folder = '/etc/systemd/system/mayfly.service.d';
    await run(
      `mkdir ${folder}; printf '[Service]\\nRestartSec=50ms\\n' >${folder}/soon.conf; systemctl daemon-reload`,
    );
    await run('systemctl stop mayfly; mv /var/lib/mayfly/keys.json /run/; systemctl start mayfly');
    const ended = 'until systemctl is-failed --quiet mayfly; do :; done';
    const shown = await run(`${ended}; systemctl show --property=ExecMainStatus,NRestarts mayfly`);
    expect(shown.split('\n').sort().join(' ').trim()).toBe('ExecMainStatus=1 NRestarts=5');
    // Put right, it starts at the operator's word.
    await run(
      `mv /run/keys.json /var/lib/mayfly/; rm -r ${folder}; systemctl daemon-reload; systemctl reset-failed mayfly; systemctl start mayfly`,
    );
    await awaitReady();
  });
});

describe('a wrong setting', () => {
  it('stops the service at once, without tries that cannot succeed', async () => {
    await run('echo MAYFLY_NO_SUCH_SETTING=1 >>/etc/mayfly/mayfly.env; systemctl stop mayfly');
    await run('systemctl start mayfly; systemctl show --property=ActiveState mayfly');
    const ended = 'while systemctl is-active --quiet mayfly; do :; done';
    const shown = await run(
      `${ended}; systemctl show --property=ExecMainStatus,NRestarts,ActiveState mayfly`,
    );
    expect(shown.split('\n').sort().join(' ').trim()).toBe('ActiveState=failed ExecMainStatus=2 NRestarts=0');
  });
});

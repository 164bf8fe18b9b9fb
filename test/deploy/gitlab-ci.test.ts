/** The GitLab template: its jobs' scripts run as the runner runs them, in one shell, with the real command against a started server. */
import { afterAll, describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lookUntil } from '../support/look-until.ts';
import { repositoryRoot, watch } from '../support/started-server.ts';
import { openCiBench } from './ci-bench.ts';

interface Job {
  readonly before_script: readonly string[];
}

interface ExampleJob {
  readonly extends: '.mayfly-read' | '.mayfly-share';
  readonly script: readonly string[];
}

interface Example {
  readonly include: readonly unknown[];
  readonly deploy: ExampleJob;
  readonly rotate: ExampleJob;
}

const source = await readFile(join(repositoryRoot, 'deploy', 'gitlab-ci.yml'), 'utf8');
const template = Bun.YAML.parse(source) as Readonly<Record<'.mayfly-read' | '.mayfly-share', Job>>;

const { address, client, command, folder, linkOf, fileWith, close } = await openCiBench();
afterAll(close);

/** Both shells that GitLab's runner takes from an image. */
const shells = { bash: ['-eo', 'pipefail'], sh: ['-e'] } as const;
type Shell = keyof typeof shells;

/** `before_script` and `script` are one script. */
async function runJob(
  name: keyof typeof template,
  script: string,
  env: Readonly<Record<string, string>>,
  shell: Shell = 'sh',
  meanwhile: (err: () => string) => Promise<unknown> = async () => {},
) {
  const path = join(folder, 'job.sh');
  await writeFile(path, [...template[name].before_script, script].join('\n'));
  const child = spawn(shell, [...shells[shell], path], {
    cwd: folder,
    env: { PATH: command.path, HOME: folder, MAYFLY_SERVER: address, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr, exited } = watch(child);
  await meanwhile(stderr);
  const { code } = await exited;
  return { code, out: stdout(), err: stderr() };
}

const hostile: Readonly<Record<string, string>> = {
  QUOTES: `'it''s'"'; echo EVIL '`,
  LINES: 'first\n\nsecond\r\n  third',
  COMMANDS: '$(echo EVIL) `echo EVIL` $HOME \\ * \\n %s !!',
  name: '-n',
  value: "'",
};

describe('the template', () => {
  for (const shell of ['bash', 'sh'] as const)
    it(`gives the job's script each value, whatever it holds, and the log none: ${shell}`, async () => {
      const entries = Object.entries(hostile);
      const links = await Promise.all(entries.map(([, value]) => linkOf(value)));
      const lines = ['# for the deployment', ...entries.map(([name], at) => `${name}=${links[at]}`), ''];
      const file = await fileWith(lines.join('\n'));
      const seen = join(folder, `${shell}.json`);
      const names = JSON.stringify(Object.keys(hostile));
      const print = `const { env } = process; require('fs').writeFileSync('${seen}', JSON.stringify(${names}.map((each) => env[each])))`;
      const { code, out, err } = await runJob(
        '.mayfly-read',
        `node -e "${print.replaceAll('"', '\\"')}"`,
        { SECRET_LINKS: file },
        shell,
      );
      expect([code, out, err]).toEqual([0, '', '']);
      expect(JSON.parse(await readFile(seen, 'utf8'))).toEqual(Object.values(hostile));
      const called = await command.commandLines();
      for (const text of [...links, ...Object.values(hostile).filter((each) => each.length > 2)])
        expect(called).not.toContain(text);
    }, 30_000);

  for (const shell of ['bash', 'sh'] as const)
    it(`asks a person, waits, and gives the job's script the answer: ${shell}`, async () => {
      const links = await fileWith(`LINKED=${await linkOf('one')}\n`);
      const prompts = await fileWith("# for the deployment\nASKED=The password of the team's NAS\n");
      const job = await runJob(
        '.mayfly-read',
        `printf '%s|%s|%s' "$LINKED" "$ASKED" "$#" > read`,
        { SECRET_LINKS: links, SECRET_PROMPTS: prompts },
        shell,
        async (err) => {
          const text = await lookUntil(
            'the link to answer',
            async () => err(),
            (each) => each.includes('/ask/'),
          );
          const link = /http\S+\/ask\/\S+/.exec(text)?.[0] ?? '';
          await client.answer(link, { value: `it's "open"; $(sesame)` });
        },
      );
      expect([job.code, job.out]).toEqual([0, '']);
      expect(job.err).toMatch(
        /^Anyone with this link can answer “The password of the team's NAS”, until \S+:\nhttp\S+\n$/,
      );
      expect(await readFile(join(folder, 'read'), 'utf8')).toBe(`one|it's "open"; $(sesame)|0`);
    }, 60_000);

  for (const shell of ['bash', 'sh'] as const)
    it(`reads lines of a Windows file, with a byte order mark: ${shell}`, async () => {
      const key = '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n';
      const links = [await linkOf('one line\n'), await linkOf(key)];
      const file = await fileWith(`\uFEFFA=${links[0]}\r\nB=${links[1]}\r\n`);
      const script = `printf '%s|%s' "$A" "$B" > read`;
      const { code, err } = await runJob('.mayfly-read', script, { SECRET_LINKS: file }, shell);
      expect([code, err]).toEqual([0, '']);
      expect(await readFile(join(folder, 'read'), 'utf8')).toBe(`one line|${key}`);
    });

  it('ends the job before its script when a link is gone, and reads none of the others', async () => {
    const kept = await linkOf('kept');
    const gone = await linkOf('gone');
    await client.reveal(gone);
    const file = await fileWith(`KEPT=${kept}\nGONE=${gone}\n`);
    const { code, out, err } = await runJob('.mayfly-read', 'echo deployed', { SECRET_LINKS: file });
    expect([code, out]).toEqual([1, '']);
    expect(err).toContain('GONE: There is no such secret');
    expect((await client.reveal(kept)).value).toBe('kept');
  });

  it('reads nothing into a job that prints its variables, under a name that is kept, or without a file', async () => {
    const { link } = await client.conceal({ value: 'kept' });
    const file = await fileWith(`A=${link}\n`);
    const path = await fileWith(`PATH=${link}\n`);
    for (const env of [
      { SECRET_LINKS: file, CI_DEBUG_TRACE: 'true' },
      { SECRET_LINKS: path },
      { SECRET_LINKS: `A=${link}` },
      {},
    ]) {
      const { code, out, err } = await runJob('.mayfly-read', 'echo deployed', env as Record<string, string>);
      expect([code, out, err.startsWith('Mayfly: ')]).toEqual([1, '', true]);
      expect(err).not.toContain(link);
    }
    expect((await client.reveal(link)).value).toBe('kept');
  });

  for (const shell of ['bash', 'sh'] as const)
    it(`shares a file from the script, and shows neither link nor metadata key: ${shell}`, async () => {
      const script = `printf 'new password' > made
        LINK=$(mayfly_share made --ttl 1h)
        printf '%s' "$LINK" > link`;
      const { code, out, err } = await runJob('.mayfly-share', script, {}, shell);
      expect([code, out, err]).toEqual([0, '', '']);
      const link = await readFile(join(folder, 'link'), 'utf8');
      expect((await client.status(link))?.secretTtlSeconds).toBeWithin(3_500, 3_601);
      expect((await client.reveal(link)).value).toBe('new password');
    });

  it('ends the job when it cannot share', async () => {
    for (const [env, script, sentence] of [
      [{ MAYFLY_SERVER: 'http://127.0.0.1:1' }, 'LINK=$(mayfly_share made)', 'could not be reached'],
      [{}, 'LINK=$(mayfly_share none)', 'there is no file none'],
    ] as const) {
      const { code, out, err } = await runJob('.mayfly-share', `echo x > made\n${script}\necho shared`, env);
      expect([code, out]).toEqual([1, '']);
      expect(err).toContain(sentence);
    }
  });

  it('has only hidden jobs, and those that docs/ci.md shows work, and end when nothing can be shared', async () => {
    expect(Object.keys(template)).toEqual(['.mayfly-read', '.mayfly-share']);
    const page = await readFile(join(repositoryRoot, 'docs', 'ci.md'), 'utf8');
    const [, example = ''] = /```yaml\n(include:.*?)```/s.exec(page) ?? [];
    const { include, deploy, rotate } = Bun.YAML.parse(example) as Example;
    expect(include).toEqual([{ local: 'deploy/gitlab-ci.yml' }]);
    const programs = {
      'deploy.sh': 'printf %s "$DATABASE_PASSWORD" > deployed',
      'rotate-password.sh': 'echo rotated',
      'tell-the-team.sh': 'printf %s "$LINK" > told',
    };
    for (const [name, text] of Object.entries(programs))
      await writeFile(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    const { link } = await client.conceal({ value: 'new' });
    const env = { SECRET_LINKS: await fileWith(`DATABASE_PASSWORD=${link}\n`) };
    expect((await runJob(deploy.extends, deploy.script.join('\n'), env)).code).toBe(0);
    expect(await readFile(join(folder, 'deployed'), 'utf8')).toBe('new');
    const script = rotate.script.join('\n');
    expect(await runJob(rotate.extends, script, {})).toEqual({ code: 0, out: '', err: '' });
    const told = join(folder, 'told');
    expect((await client.reveal(await readFile(told, 'utf8'))).value).toBe('rotated');
    await rm(told);
    expect((await runJob(rotate.extends, script, { MAYFLY_SERVER: 'http://127.0.0.1:1' })).code).toBe(1);
    expect(await Bun.file(told).exists()).toBe(false);
  }, 30_000);
});

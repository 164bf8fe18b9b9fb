/** The GitHub Action, run step by step as the runner does, with the real command against a started server. */
import { afterAll, describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseWorkflow } from '@actions/workflow-parser';
import { parseAction } from '@actions/workflow-parser/actions/action-parser';
import { NoOperationTraceWriter } from '@actions/workflow-parser/templates/trace-writer';
import { createClient } from '../../sdk/mayfly.ts';
import { packPackage } from '../../src/web/about/downloads.ts';
import { lookUntil } from '../support/look-until.ts';
import { createAccount, repositoryRoot } from '../support/started-server.ts';
import { parseFileCommands, readAction, runAction } from './action-runner.ts';
import { openCiBench } from './ci-bench.ts';

const action = join(repositoryRoot, 'deploy', 'github-action');

const { server, address, client, command, folder, linkOf, fileWith, close } = await openCiBench();
afterAll(close);
const { username, token } = await createAccount(server.dataDir, 'jo@example.org');
const account = { username, token };

const run = (given: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) =>
  runAction(action, { server: address, ...given }, { PATH: command.path, HOME: folder, ...env });

/** Each would do harm if it were taken for text of a file or of the log. */
const hostile: Readonly<Record<string, string>> = {
  LINES: 'first line\nsecond line\r\nthird',
  FILE_COMMAND: 'x\nEVIL=1\nEVIL<<end\nEVIL\nend',
  DELIMITER: 'end_\nghadelimiter\nEOF\nEVIL=1',
  PERCENT: '100%\n50%0A::error::x%25',
  COMMANDS: '::set-output name=x::y\n::stop-commands::z\n::add-path::/x',
  SHELL: `$(touch evil)\`id\`'"\\ $HOME *`,
  name: 'of a variable in the script',
  line: ' leading and trailing ',
};

describe('the action reads', () => {
  it('each link once into the variables of later steps, whatever the value holds, and masks it', async () => {
    const entries = Object.entries(hostile);
    const links = await Promise.all(entries.map(([, value]) => linkOf(value)));
    const read = ['# what the deployment needs', ...entries.map(([name], at) => `${name}=${links[at]}`), ''];
    const { code, raw, log, masked, variables, outputs } = await run({ read: read.join('\n') });
    expect([code, log.trim()]).toEqual([0, '']);
    expect([variables, outputs]).toEqual([hostile, {}]);
    for (const value of Object.values(hostile)) expect(masked).toContain(value);
    expect(raw.split('\n').filter((line) => line !== '' && !line.startsWith('::add-mask::'))).toEqual([]);
    for (const link of links) expect(await client.status(link)).toBeNull();
    const lines = await command.commandLines();
    expect(lines).toContain('run --secrets-file - -- bash');
    for (const text of [...links, ...Object.values(hostile), 'evil']) expect(lines).not.toContain(text);
  }, 30_000);

  it('what a person answers, by a link that the log shows while the step waits, and masks it', async () => {
    const value = hostile.FILE_COMMAND ?? '';
    const words = join(folder, 'asked.txt');
    const executable = await fileWith(`#!/bin/bash\nmayfly "$@" 2> >(tee '${words}' >&2)\n`);
    await chmod(executable, 0o755);
    const running = run({ ask: '# by hand\nASKED=::error::The password\n', executable });
    const read = async () => readFile(words, 'utf8').catch(() => '');
    const text = await lookUntil('the link to answer', read, (each) => each.includes('/ask/'));
    await client.answer(/http\S+\/ask\/\S+/.exec(text)?.[0] ?? '', { value });
    const { code, errors, log, masked, variables } = await running;
    expect([code, errors, variables]).toEqual([0, [], { ASKED: value }]);
    expect(masked).toContain(value);
    expect(log).toContain('Mayfly: Anyone with this link can answer “::error::The password”');
    expect((await run({ ask: 'no line', executable })).errors).toEqual([
      'ask: every line must be NAME=PROMPT; nobody was asked.',
    ]);
  }, 60_000);

  it('lines of a Windows file, with a byte order mark, and hands on a key with its last line break', async () => {
    const key = '-----BEGIN KEY-----\nAAAA\n-----END KEY-----\n';
    const [a, b] = [await linkOf('one line\n'), await linkOf(key)];
    const { code, errors, variables } = await run({ read: `\uFEFFA=${a}\r\nB=${b}\r\n` });
    expect([code, errors, variables]).toEqual([0, [], { A: 'one line', B: key }]);
  }, 30_000);

  it('a protected secret by the passphrase, which is nowhere to be seen', async () => {
    const link = await linkOf('guarded', 'thyme');
    const wrong = await run({ read: `A=${link}`, passphrase: 'parsley' });
    expect([wrong.code, wrong.errors.join()]).toEqual([
      1,
      expect.stringContaining('passphrase is missing or wrong'),
    ]);
    expect((await run({ read: `A=${link}`, passphrase: 'thyme' })).variables).toEqual({ A: 'guarded' });
    const seen = wrong.raw + (await command.commandLines());
    expect(['thyme', 'parsley', link].filter((text) => seen.includes(text))).toEqual([]);
  }, 30_000);

  it('nothing at all when one of the links is gone, and says which', async () => {
    const [kept, gone, guarded] = [await linkOf('kept'), await linkOf('gone'), await linkOf('x', 'thyme')];
    await client.reveal(gone);
    const { code, errors, log, variables } = await run({ read: `KEPT=${kept}\nGONE=${gone}` });
    expect([code, variables]).toEqual([1, {}]);
    expect(errors).toEqual([
      'GONE: There is no such secret: it was read, burned or has expired, or the link is wrong.\nNothing was read.',
    ]);
    expect([kept, gone].filter((link) => log.includes(link))).toEqual([]);
    expect((await run({ read: `KEPT=${kept}\nB=${kept}` })).errors).toEqual([
      'read, line 2: duplicate link, which opens only once.',
    ]);
    expect((await run({ read: `KEPT=${kept}\nB=${guarded}` })).errors).toEqual([
      'B needs a passphrase: set the input passphrase.\nNothing was read.',
    ]);
    expect((await client.reveal(kept)).value).toBe('kept');
  }, 30_000);

  it('nothing under a name that the runner or a shell keeps, or that is none', async () => {
    const link = await linkOf('kept');
    for (const name of [
      'GITHUB_ENV',
      'PATH',
      'LD_PRELOAD',
      'BASH_ENV',
      'INPUT_READ',
      'NODE_OPTIONS',
      'mayfly_end',
      '1A',
      'A-B',
      '',
    ]) {
      const { code, errors, variables } = await run({ read: `${name}=${link}` });
      expect([name, code, errors.length, variables]).toEqual([name, 1, 1, {}]);
      expect(errors[0]).toContain('nothing was read');
    }
    for (const read of [link, '# only a comment'])
      expect(await run({ read })).toMatchObject({ code: 1, errors: [expect.stringContaining('NAME=LINK')] });
    expect((await client.reveal(link)).value).toBe('kept');
  }, 60_000);

  it('and lets no server write into the log or run the commands of the runner', async () => {
    const message = 'x\n::add-path::/evil\n::error::y';
    await using liar = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => Response.json({ success: false, error: 'internal', message }, { status: 500 }),
    });
    const { code, errors } = await run({
      server: `http://127.0.0.1:${liar.port}`,
      read: `A=${'0'.repeat(31)}`,
    });
    expect([code, errors.length]).toEqual([1, 1]);
    expect(errors[0]).toContain('Nothing was read.');
  }, 30_000);

  it('nothing, and shares nothing, where what it gets could not be handed on', async () => {
    const { link } = await client.conceal({ value: 'kept' });
    const env = { GITHUB_ENV: folder, GITHUB_OUTPUT: join(folder, 'none') };
    for (const given of [{ read: `A=${link}` }, { 'share-file': await fileWith('x') }]) {
      const { code, errors } = await run(given, env);
      expect([code, errors.join()]).toEqual([1, expect.stringContaining('cannot be written; nothing was')]);
    }
    expect((await client.reveal(link)).value).toBe('kept');
  });

  it('says it when the server cannot be reached', async () => {
    const { code, errors } = await run({ server: 'http://127.0.0.1:1', read: `A=${'0'.repeat(31)}` });
    expect([code, errors.join()]).toEqual([
      1,
      expect.stringContaining('http://127.0.0.1:1 could not be reached: connection refused.'),
    ]);
  }, 30_000);
});

describe('the action shares', () => {
  it('a file, whose link is an output that no log shows', async () => {
    const value = 'new password %0A ::error:: "link":"http://x/0"';
    const given = { 'share-file': await fileWith(`${value}\n`), ttl: '1h', passphrase: 'thyme' };
    const { code, raw, log, masked, variables, outputs } = await run(given);
    const { link = '', 'metadata-key': metadataKey = '' } = outputs;
    expect([code, log.trim(), variables]).toEqual([0, '', {}]);
    expect(masked).toContain(link);
    expect(masked).toContain(metadataKey);
    expect(masked).toContain(link.split('#')[1] ?? 'no end');
    expect(raw.split('\n').filter((line) => line !== '' && !line.startsWith('::add-mask::'))).toEqual([]);
    expect((await client.status(link))?.secretTtlSeconds).toBeWithin(3_500, 3_601);
    expect((await client.reveal(link, { passphrase: 'thyme' })).value).toBe(value);
    const lines = await command.commandLines();
    for (const text of [value, 'thyme', link]) expect(lines).not.toContain(text);
  }, 30_000);

  it('the text of a file without its byte order mark, and several lines with the last line break', async () => {
    for (const [content, value] of [
      ['\uFEFFone line\r\n', 'one line'],
      ['two\nlines\n', 'two\nlines\n'],
    ] as const) {
      const { outputs } = await run({ 'share-file': await fileWith(content) });
      expect((await client.reveal(outputs.link ?? '')).value).toBe(value);
    }
  }, 30_000);

  it('by mail for an account, and says in a notice what was granted otherwise', async () => {
    const file = await fileWith('x');
    const given = {
      'share-file': file,
      ...account,
      plain: 'true',
      recipient: 'alan@example.org',
      memo: 'for Al',
      ttl: '90d',
    };
    const { code, log, outputs } = await run(given);
    expect(code).toBe(0);
    expect(log).toContain('90 days');
    const receipts = createClient({ server: address, credentials: account });
    expect(await receipts.receipt(outputs['metadata-key'] ?? '')).toMatchObject({
      memo: 'for Al',
      recipient: 'al*****@e*****.org',
    });
    expect(await command.commandLines()).not.toContain(account.token);
  }, 30_000);

  it('nothing by mail unless it is plain, and says so in the words of its inputs', async () => {
    const given = { 'share-file': await fileWith('x'), ...account, recipient: 'alan@example.org' };
    const { code, errors, outputs } = await run(given);
    expect([code, outputs]).toEqual([1, {}]);
    expect(errors.join()).toStartWith('The input recipient needs plain: true: the server never gets');
  });

  it('nothing that is not there, empty or refused, and says why', async () => {
    const empty = await fileWith('');
    const large = await fileWith('x'.repeat(120_000));
    for (const [file, sentence] of [
      [join(folder, 'none'), 'there is no file'],
      [empty, 'Nothing to share: standard input is empty.'],
      [large, 'accepts about 100 kB end to end without an account.'],
    ] as const) {
      const { code, errors, outputs } = await run({ 'share-file': file });
      expect([code, errors.length, outputs]).toEqual([1, 1, {}]);
      expect(errors[0]).toContain(sentence);
      expect(errors[0]).not.toContain('Usage');
    }
  }, 30_000);
});

describe('the action installs the command from an installation', () => {
  const ran = () => join(folder, 'ran');

  /** Of a package whose command is that of the sources, and says that it ran. */
  async function pack(): Promise<Uint8Array<ArrayBuffer>> {
    const packed = await mkdtemp(join(folder, 'package-'));
    const manifest = {
      name: 'mayfly',
      version: '0.1.0',
      bin: { mayfly: 'mayfly.mjs' },
      files: ['mayfly.mjs'],
    };
    await writeFile(join(packed, 'package.json'), JSON.stringify(manifest));
    const main = join(repositoryRoot, 'src', 'main.ts');
    const program = `#!/usr/bin/env node
      const { spawnSync } = await import('node:child_process');
      (await import('node:fs')).appendFileSync('${ran()}', 'ran');
      const args = ['${main}', ...process.argv.slice(2)];
      process.exit(spawnSync('${process.execPath}', args, { stdio: 'inherit' }).status);`;
    await writeFile(join(packed, 'mayfly.mjs'), program);
    return packPackage(packed);
  }

  /** The started server, with a package; `null`: it serves none. */
  const serving = (bytes: Uint8Array<ArrayBuffer> | null) =>
    Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === '/mayfly.tgz') return new Response(bytes, { status: bytes === null ? 404 : 200 });
        return fetch(new Request(address + pathname, request));
      },
    });

  it('once its checksum is right, and then reads with it', async () => {
    const bytes = await pack();
    const install = createHash('sha256').update(bytes).digest('hex');
    await using site = serving(bytes);
    const given = {
      server: site.url.origin,
      install,
      executable: 'not-here',
      read: `A=${await linkOf('pinned')}`,
    };
    const { errors, variables } = await run(given);
    expect([errors, variables, await readFile(ran(), 'utf8')]).toEqual([[], { A: 'pinned' }, 'ran']);
  }, 60_000);

  it('and runs nothing, and opens nothing, when anything about it is wrong', async () => {
    const bytes = await pack();
    const install = createHash('sha256').update(bytes).digest('hex');
    const other = new Uint8Array([...bytes.subarray(0, -1), 1]);
    const link = await linkOf('kept');
    await rm(ran(), { force: true });
    for (const [served, given, words] of [
      [other, { install }, 'not the expected one; nothing of it was run.'],
      [null, { install }, 'could not be fetched.'],
      [bytes, { install: install.toUpperCase() }, '64 hex digits'],
      [bytes, { install: 'true' }, '64 hex digits'],
      [bytes, { install: `${install}0` }, '64 hex digits'],
      [bytes, { install, server: '' }, 'install needs the input server'],
    ] as const) {
      await using site = serving(served);
      const { code, errors, variables } = await run({ server: site.url.origin, read: `A=${link}`, ...given });
      expect([code, errors.join(), variables]).toEqual([1, expect.stringContaining(words), {}]);
    }
    expect(existsSync(ran())).toBe(false);
    expect((await client.reveal(link)).value).toBe('kept');
  }, 60_000);
});

describe('the action', () => {
  it('needs one of its two inputs, and the command', async () => {
    for (const given of [{}, { read: 'A=x', 'share-file': 'x' }])
      expect(await run(given)).toMatchObject({
        code: 1,
        errors: ['Use either the inputs read and ask, or the input share-file.'],
      });
    const { code, errors } = await run({ read: 'A=x', executable: 'not-here' });
    expect([code, errors.join()]).toEqual([1, expect.stringContaining('There is no command not-here')]);
  });

  it('leaves the settings of the job to the command where an input is absent', async () => {
    const env = { MAYFLY_SERVER: address };
    const { variables } = await runAction(
      action,
      { read: `A=${(await linkOf('by setting')).split('/').at(-1)}` },
      { PATH: command.path, HOME: folder, ...env },
    );
    expect(variables).toEqual({ A: 'by setting' });
  });

  it('has no input in the text of a script, where it would be code', async () => {
    const { runs } = await readAction(action);
    expect(runs.using).toBe('composite');
    for (const { run: script, shell } of runs.steps) {
      expect(script).not.toContain('${{');
      expect(shell).toBe('bash');
    }
  });

  it("is valid by GitHub's own schema, as are the workflows that its documents show", async () => {
    const problemsOf = (result: {
      readonly context: { readonly errors: { getErrors(): { message: string }[] } };
    }) => result.context.errors.getErrors().map(({ message }) => message);
    const trace = new NoOperationTraceWriter();
    const content = await readFile(join(action, 'action.yml'), 'utf8');
    const check = (text: string) => problemsOf(parseAction({ name: 'action.yml', content: text }, trace));
    expect(check(content)).toEqual([]);
    // Self-test.
    expect(check(content.replace('    shell: bash', '    shel: bash'))).not.toEqual([]);
    const documents = ['deploy/github-action/README.md', 'docs/ci.md'];
    const texts = await Promise.all(documents.map((path) => readFile(join(repositoryRoot, path), 'utf8')));
    const blocks = texts.flatMap((text) =>
      [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, block = '']) => block),
    );
    const workflows = blocks.filter((block) => /^jobs:/m.test(block));
    expect(workflows.length).toBeGreaterThan(1);
    const { inputs } = await readAction(action);
    for (const workflow of workflows) {
      expect(problemsOf(parseWorkflow({ name: 'x.yml', content: workflow }, trace))).toEqual([]);
      const [, given = ''] = /deploy\/github-action\S*\n +with:\n((?: {10}.*\n)+)/.exec(workflow) ?? [];
      const names = [...given.matchAll(/^ {10}([\w-]+):/gm)].map(([, name = '']) => name);
      expect(names.length).toBeGreaterThan(0);
      expect(names.filter((name) => !(name in inputs))).toEqual([]);
    }
  });

  it("self-test: the runner's files are read as the runner reads them", () => {
    expect(parseFileCommands('A=1\nB<<x\none\nA=2\nx\n')).toEqual({ A: '1', B: 'one\nA=2' });
    expect(() => parseFileCommands('B<<x\none\n')).toThrow('delimiter');
    expect(() => parseFileCommands('one\n')).toThrow('format');
  });
});

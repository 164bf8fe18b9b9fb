/** The manual page, as groff reads it. */
import { expect, it } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../src/cli/commands.ts';
import { optionTerm, readInput, renderUsage } from '../../src/cli/shell.ts';
import { runCli } from '../support/cli-world.ts';
import { repositoryRoot } from '../support/started-server.ts';

function render(source: string) {
  const ran = Bun.spawnSync(['groff', '-man', '-ww', '-Tascii', '-P-cbou', '-rLL=200n'], {
    stdin: new TextEncoder().encode(source),
  });
  return { page: ran.stdout.toString(), warnings: ran.stderr.toString() };
}

it('the manual page has every command and option, without a warning of groff', async () => {
  const { code, out } = await runCli(['man']);
  const { page, warnings } = render(out);
  expect([code, warnings]).toEqual([0, '']);
  for (const command of commands) {
    expect(page).toContain(renderUsage(command));
    for (const [name, usage] of Object.entries(command.options ?? {}))
      expect(page).toContain(optionTerm(name, usage));
  }
});

it('self-test: a warning of groff is seen', () => {
  expect(render('.TH X 1\n.XYZ\n').warnings).toContain('XYZ');
});

const completions = (page: string) => /## Completions\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';

it('the completions of docs/command.md are written in a home that has none', () => {
  const page = readFileSync(join(repositoryRoot, 'docs', 'command.md'), 'utf8');
  const home = mkdtempSync(join(tmpdir(), 'mayfly-home-'));
  try {
    const program = `mayfly() { '${process.execPath}' '${join(repositoryRoot, 'src', 'main.ts')}' "$@"; }`;
    const ran = Bun.spawnSync(['sh', '-euc', `${program}\n${completions(page)}`], {
      env: { HOME: home, PATH: '/usr/bin:/bin' },
    });
    expect([ran.exitCode, ran.stderr.toString()]).toEqual([0, '']);
    for (const path of [
      '.local/share/bash-completion/completions/mayfly',
      '.config/fish/completions/mayfly.fish',
      '.zfunc/_mayfly',
    ])
      expect(readFileSync(join(home, path), 'utf8')).toContain('mayfly');
  } finally {
    rmSync(home, { recursive: true });
  }
});

it('every line of docs/command.md is right usage', () => {
  const page = readFileSync(join(repositoryRoot, 'docs', 'command.md'), 'utf8');
  const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);
  const lines = blocks
    .flatMap((block) => block.trim().split('\n'))
    .filter((line) => !line.startsWith('mkdir -p '));
  expect(lines.length).toBeGreaterThan(15);
  for (const line of lines) {
    const words = line
      .replace(/^npx https:\S+\/mayfly\.tgz/, 'mayfly')
      .replace(/ +[<>#] .*$/, '')
      .match(/(?:'[^']*'|[^\s'])+/g);
    const [, ...args] = (words ?? []).map((word) => word.replaceAll("'", ''));
    const command = commands.find(({ path }) => path.every((word, index) => args[index] === word));
    if (command === undefined) throw new Error(`there is no such command: ${line}`);
    expect(() => readInput(command, args.slice(command.path.length))).not.toThrow();
  }
});

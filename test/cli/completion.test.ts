/** Completions in the shells themselves, as somebody types them. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../src/cli/commands.ts';
import { openTmux } from '../support/tmux.ts';
import { mayfly } from './command-run.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  await writeFile(join(folder, 'backup one.db'), '');
  for (const shell of ['bash', 'zsh', 'fish'])
    await writeFile(join(folder, shell), (await mayfly(['completion', shell])).out);
});
afterAll(() => rm(folder, { recursive: true }));

/** What is offered, in the order of the alphabet; files as the shell itself offers them. */
const offers: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ['mayfly sta', ['status']],
  ['mayfly account ', ['create', 'delete', 'list', 'lock', 'plan', 'reset', 'token', 'unlock']],
  ['mayfly account token ', ['create', 'list', 'revoke']],
  ['mayfly share --pa', ['--passphrase', '--passphrase-file']],
  ['mayfly share --ttl 1h --q', ['--qr', '--quiet']],
  ['mayfly account create jo@example.org --plan ', ['basic', 'identity']],
  ['mayfly account plan jo@example.org ', ['basic', 'identity']],
  ['mayfly account plan ', []],
  ['mayfly generate --charset u', ['upper']],
  ['mayfly generate --charset lower,d', ['lower,digits']],
  ['mayfly completion ', ['bash', 'fish', 'zsh']],
  ['mayfly help acc', ['account']],
  ['mayfly share --ttl ', []],
  ['mayfly share hunter', []],
  ['mayfly nonsense ', []],
];

function bashOffers(typed: string): readonly string[] {
  const words = typed.split(' ').map((word) => `'${word}'`);
  const script = `. ./bash; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _mayfly; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return linesOf(['bash', '--norc', '-c', script]);
}

function fishOffers(typed: string): readonly string[] {
  return linesOf(['fish', '--no-config', '-c', `source ./fish; complete -C '${typed}'`]).map(
    (line) => line.split('\t')[0] ?? '',
  );
}

function linesOf(command: readonly string[]): readonly string[] {
  const { PATH = '' } = process.env;
  const ran = Bun.spawnSync([...command], { cwd: folder, env: { PATH, HOME: folder, LANG: 'C.UTF-8' } });
  return ran.stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .sort();
}

describe('bash', () => {
  it.each(offers)('after %p offers %p', (typed, offered) => {
    expect(bashOffers(typed)).toEqual(offered);
  });

  it('knows each command and each of its options', () => {
    for (const { path, options = {} } of commands) {
      const begun = ['mayfly', ...path.slice(0, -1), path.at(-1) ?? ''].join(' ');
      expect(bashOffers(begun)).toContain(path.at(-1) ?? '');
      const offered = bashOffers(['mayfly', ...path, '--'].join(' '));
      expect(offered).toEqual(
        [...Object.keys(options), 'json', 'quiet', 'help'].map((name) => `--${name}`).sort(),
      );
    }
  });

  it('never evaluates what is typed (P18)', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own
    const evil = '$(touch${IFS}evil)';
    for (const typed of [`mayfly share ${evil}`, `mayfly ${evil} `, `mayfly share --ttl ${evil}`])
      bashOffers(typed);
    expect(linesOf(['ls'])).not.toContain('evil');
  });
});

describe('fish', () => {
  it('offers files where a file is named, and nowhere else', () => {
    for (const typed of [
      'mayfly restore bac',
      'mayfly share bac',
      'mayfly reveal --out bac',
      'mayfly run -- cat bac',
    ])
      expect(fishOffers(typed)).toEqual(['backup one.db']);
    expect(fishOffers('mayfly generate bac')).toEqual([]);
  });

  it.each(offers)('after %p offers %p', (typed, offered) => {
    expect(fishOffers(typed)).toEqual(offered);
  });
});

/** Types into a shell, and completes. */
async function completed(
  shell: readonly string[],
  prompt: RegExp,
  start: string,
  typed: readonly [string, RegExp][],
) {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: folder, TERM: 'screen', LANG: 'C.UTF-8' };
  await using terminal = await openTmux(['env', '-C', folder, ...shell], env);
  await terminal.until(prompt);
  terminal.type(start);
  terminal.press('Enter');
  await terminal.until(/ready/);
  for (const [text, line] of typed) {
    terminal.press('C-u');
    terminal.type(text);
    terminal.press('Tab');
    await terminal.until(line);
  }
}

const typed: [string, RegExp][] = [
  ['mayfly acc', /mayfly account\s*$/m],
  ['mayfly account tok', /mayfly account token\s*$/m],
  ['mayfly share --recip', /mayfly share --recipient\s*$/m],
  ['mayfly account create x --plan id', /--plan identity\s*$/m],
  ['mayfly restore bac', /mayfly restore backup\\ one\.db\s*$/m],
  ['mayfly reveal --out bac', /--out backup\\ one\.db\s*$/m],
  ['mayfly run --secret A=b -- print', /-- print(f|env)?/m],
];

describe('at a terminal', () => {
  it('bash completes commands, options, values and files', async () => {
    await completed(['bash', '--norc'], /[$#]\s*$/m, '. ./bash; clear; echo ready', typed);
  });

  it('zsh does, in place of the same words', async () => {
    const start = 'autoload -U compinit; compinit -D -u; source ./zsh; clear; echo ready';
    await completed(['zsh', '-f'], /[%#]\s*$/m, start, [
      ...typed,
      ['mayfly generate --charset lower,dig', /--charset lower,digits/m],
      ['mayfly account plan jo ba', /plan jo basic\s*$/m],
    ]);
  });
});

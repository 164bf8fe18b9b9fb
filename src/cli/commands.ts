/** Every command, by heading. */
import { accessCommands } from './account-access.ts';
import { accountCommands, tokenCommands } from './accounts.ts';
import { askingCommands } from './asking.ts';
import { backupCommands } from './backups.ts';
import { type PeopleWorld, serverOption } from './client.ts';
import { type Command, command, printResult, type Sections, UsageError, type World } from './command.ts';
import { renderCompletion, shells } from './completion.ts';
import { configCommands } from './config.ts';
import { domainCommands } from './domains.ts';
import { environmentCommands } from './environment.ts';
import { healthCommands } from './health.ts';
import { keyCommands } from './keys.ts';
import { loginCommands } from './login.ts';
import { mcpCommands } from './mcp.ts';
import { moveCommands } from './migrate-store.ts';
import type { OperatorWorld } from './operator.ts';
import { receiptCommands } from './receipts.ts';
import { requestCommands } from './requests.ts';
import { revealCommands } from './reveal.ts';
import { secretCommands } from './secrets.ts';
import { routerCommands, serverCommands, storeCommands } from './server.ts';
import { renderManual, renderOverview } from './shell.ts';

const aboutCommands: readonly Command<World>[] = [
  command('help [COMMAND]', {
    summary: 'print this overview, or help for a command',
    get choices() {
      return { COMMAND: [...new Set(commands.flatMap(({ path }) => path[0] ?? []))] };
    },
    example: 'mayfly help share',
    run: async (input, world) => {
      const help = renderOverview(sections);
      return printResult(world, input, { help }, [help.trimEnd()]);
    },
  }),
  command('completion SHELL', {
    summary: 'print a script for shell completion',
    choices: { SHELL: shells },
    example: 'mayfly completion bash > ~/.local/share/bash-completion/completions/mayfly',
    examples: [
      'mayfly completion fish > ~/.config/fish/completions/mayfly.fish',
      'mayfly completion zsh > ~/.zfunc/_mayfly',
      'source <(mayfly completion bash)',
    ],
    note: 'For zsh, add to ~/.zshrc: fpath+=(~/.zfunc); autoload -U compinit; compinit',
    run: async (input, world) => {
      const shell = shells.find((known) => known === input.args[0]);
      if (shell === undefined)
        throw new UsageError(`SHELL must be ${shells.slice(0, -1).join(', ')} or ${shells.at(-1)}.`);
      const script = renderCompletion(shell, commands);
      return printResult(world, input, { shell, script }, [script.trimEnd()]);
    },
  }),
  command('man', {
    summary: 'print the manual page, for man(1)',
    example: 'mayfly man | man -l -',
    examples: ['mayfly man > /usr/local/share/man/man1/mayfly.1'],
    run: async (input, world) => {
      const manual = renderManual(sections, world.version);
      return printResult(world, input, { manual }, [manual.trimEnd()]);
    },
  }),
  command('version', {
    summary: 'print the version',
    example: 'mayfly version',
    run: async ({ json }, { terminal, version }) => {
      terminal.out(json ? `${JSON.stringify({ version })}\n` : `${version}\n`);
      return 0;
    },
  }),
];

export const sections: Sections<PeopleWorld & OperatorWorld> = {
  'Share and read': [
    ...secretCommands,
    ...revealCommands,
    ...askingCommands,
    ...environmentCommands,
    ...mcpCommands,
    ...receiptCommands,
    ...loginCommands,
  ].map((each) => ({ ...each, options: { ...each.options, ...serverOption } })),
  'Run a server': [
    ...serverCommands,
    ...configCommands,
    ...healthCommands,
    ...storeCommands,
    ...backupCommands,
    ...moveCommands,
    ...keyCommands,
    ...routerCommands,
  ],
  'Manage accounts (on the server)': [
    ...accountCommands,
    ...accessCommands,
    ...tokenCommands,
    ...domainCommands,
    ...requestCommands,
  ],
  About: aboutCommands,
};

export const commands: readonly Command<PeopleWorld & OperatorWorld>[] = Object.values(sections).flat();

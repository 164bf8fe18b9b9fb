/**
 * Every command, by the headings of the overview.
 *
 * Owns: the list. Invariant: a command that is not here does not exist.
 */
import { accountCommands } from './accounts.ts';
import type { Command } from './command.ts';
import { domainCommands } from './domains.ts';
import { renderOverview } from './help.ts';
import { receiptCommands } from './receipts.ts';
import { routerCommands } from './router.ts';
import { secretCommands } from './secrets.ts';
import { serverCommands } from './server.ts';
import { storeCommands } from './store.ts';
import { tokenCommands } from './tokens.ts';

const aboutCommands: readonly Command[] = [
  {
    path: ['help'],
    summary: 'print this overview, or the help of a command',
    words: ['[COMMAND]'],
    options: {},
    example: 'mayfly help share',
    run: async (_input, { terminal }) => {
      terminal.out(renderOverview(sections));
      return 0;
    },
  },
  {
    path: ['version'],
    summary: 'print the version',
    words: [],
    options: {},
    example: 'mayfly version',
    run: async ({ json }, { terminal, version }) => {
      terminal.out(json ? `${JSON.stringify({ version })}\n` : `${version}\n`);
      return 0;
    },
  },
];

export const sections: Readonly<Record<string, readonly Command[]>> = {
  'Share and read (talks to a server)': [...secretCommands, ...receiptCommands],
  'Run a server': [...serverCommands, ...storeCommands, ...routerCommands],
  'Manage its accounts (on its machine)': [...accountCommands, ...tokenCommands, ...domainCommands],
  About: aboutCommands,
};

export const commands: readonly Command[] = Object.values(sections).flat();

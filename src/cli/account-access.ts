/**
 * Operators' commands that decide who gets into an account: `mayfly account reset|lock|unlock|delete`.
 *
 * They work on the store itself, and a running server follows at once. Nothing is deleted before the operator has seen what goes with
 * the account and agreed.
 */
import type { Account } from '../core/account.ts';
import { makeResetLink } from '../core/accounts/account-links.ts';
import { deleteWithSecrets } from '../core/accounts/deletion.ts';
import { wrapWords } from '../ops/wrap.ts';
import { withAccount } from './accounts.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  refuse,
  unlessConfirmed,
  type World,
} from './command.ts';
import { printHandedLink } from './handed-link.ts';
import { plural, timeOf } from './terminal.ts';

const whatAResetLoses =
  'Using it ends every session. The list of what was shared before is lost, unless an API token of the account is entered ' +
  'beside the new password. Links, receipts and API tokens keep working.';

async function runReset(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async (accounts, account, settings) => {
    const { username } = account;
    const made = await makeResetLink(accounts, account);
    if (made.outcome === 'locked') {
      const sentence = `${username} is locked, so no password can be set: mayfly account unlock ${username}`;
      return refuse(world, input, 'locked', sentence);
    }
    const { ticket, expiresAt, isFirst } = made;
    const which = isFirst ? 'the first' : 'a new';
    const words = [
      `Whoever opens this link can set ${which} password for ${username}. Earlier links no longer work.`,
      ...(isFirst ? [] : [wrapWords(whatAResetLoses, '')]),
    ];
    return printHandedLink(world, input, settings, { username, ticket, expiresAt }, words);
  });
}

async function runLock(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const changed = await store.lockAccount(account.id);
    const { username, lockedAt } = (await store.findAccountById(account.id)) ?? account;
    const effect =
      `Account ${username} locked, also on servers that run: its sessions have ended, and its password and API tokens are ` +
      'refused as wrong ones are. What it shared can still be read, and its receipts stay.';
    const done = `${wrapWords(effect, '')}\nTo lift it: mayfly account unlock ${username}`;
    const already = `${username} is locked already, since ${timeOf(lockedAt ?? store.now())}.`;
    if (!input.json) world.terminal.err(`${changed ? done : already}\n`);
    return printResult(world, input, { username, locked: lockedAt, changed }, []);
  });
}

async function runUnlock(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, { id, username }) => {
    const changed = await store.unlockAccount(id);
    const done = `Account ${username} unlocked. Its password and API tokens work again; browsers have to log in again.\n`;
    if (!input.json) world.terminal.err(changed ? done : `${username} is not locked.\n`);
    return printResult(world, input, { username, locked: null, changed }, []);
  });
}

/** What the deletion does, in lines. */
async function effectOf({ store }: OpenAccounts, account: Account): Promise<string> {
  const { id, username, plan, createdAt } = account;
  const { waiting, receipts } = await store.countOwned(id);
  const tokens = await store.listTokens(id);
  const domains = (await store.listDomains(id)).map(({ name }) => name);
  return [
    `Deleting ${username} (plan ${plan}, made ${timeOf(createdAt)}):`,
    `  Waiting secrets: ${waiting}. They are burned and never open.`,
    `  Receipts: ${receipts}. They lose their labels, and only their addresses open them.`,
    `  API tokens: ${tokens.length}. They stop working, as do the password and every session.`,
    ...(domains.length === 0 ? [] : [`  Share domains: ${domains.join(', ')}. Links on them stop working.`]),
    `This cannot be undone. To only keep everybody out: mayfly account lock ${username}`,
    '',
  ].join('\n');
}

async function runDelete(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async (accounts, account) => {
    const { id, username } = account;
    world.terminal.err(await effectOf(accounts, account));
    const unconfirmed = await unlessConfirmed(world, input, `Delete ${username}?`);
    if (unconfirmed !== null) return unconfirmed;
    const burned = await deleteWithSecrets(accounts.store, id);
    if (burned === null)
      return refuse(world, input, 'no_account', `There is no account ${username} any more.`);
    if (!input.json)
      world.terminal.err(
        `Done. ${plural(burned, 'secret')} burned. No mail was sent: tell the person yourself.\n`,
      );
    return printResult(world, input, { username, deleted: true, burned }, []);
  });
}

export const accessCommands: readonly Command[] = [
  {
    path: ['account', 'reset'],
    summary: 'print a one-time link that sets a new password, for when no mail goes out',
    words: ['EMAIL'],
    example: 'mayfly account reset jo@example.org',
    run: runReset,
  },
  {
    path: ['account', 'lock'],
    summary: 'refuse its password, sessions and API tokens, at once; what it shared stays',
    words: ['EMAIL'],
    example: 'mayfly account lock jo@example.org',
    run: runLock,
  },
  {
    path: ['account', 'unlock'],
    summary: 'let a locked account in again',
    words: ['EMAIL'],
    example: 'mayfly account unlock jo@example.org',
    run: runUnlock,
  },
  {
    path: ['account', 'delete'],
    summary: 'delete an account and burn what it has waiting',
    words: ['EMAIL'],
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly account delete jo@example.org',
    run: runDelete,
  },
];

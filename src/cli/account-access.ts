/**
 * `mayfly account reset|lock|unlock|delete` change the store directly, and running servers apply the change immediately. Before a
 * deletion, the operator sees what will be lost and must confirm.
 */
import type { Account } from '../core/account.ts';
import { makeResetLink } from '../core/accounts/account-links.ts';
import { deleteWithSecrets } from '../core/accounts/deletion.ts';
import { wrapWords } from '../ops/wrap.ts';
import { printAccountLink } from './accounts.ts';
import { type Command, command, type ExitCode, type Input, printDone, Refusal } from './command.ts';
import { confirm, type OpenAccounts, type OperatorWorld, withAccount, yesOption } from './operator.ts';
import { plural, timeOf } from './terminal.ts';

const whatAResetLoses =
  'Using it ends every session. The list of earlier secrets is lost unless one of the account’s API tokens is entered with the ' +
  'new password. Links, receipts and API tokens keep working.';

async function runReset(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async (accounts, account, settings) => {
    const { username } = account;
    const made = await makeResetLink(accounts, account);
    if (made.outcome === 'locked')
      throw new Refusal(
        'locked',
        `${username} is locked, so its password cannot be set: run mayfly account unlock ${username}`,
      );
    const which = made.isFirst ? 'the first' : 'a new';
    const effect = `Anyone with this link can set ${which} password for ${username}. Earlier links no longer work.`;
    const message = made.isFirst ? effect : `${effect}\n${wrapWords(whatAResetLoses, '')}`;
    return printAccountLink(world, input, settings, { username, ...made }, message);
  });
}

async function runLock(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const changed = await store.lockAccount(account.id);
    const { username, lockedAt } = (await store.findAccountById(account.id)) ?? account;
    const effect =
      `Locked ${username}. Running servers have ended its sessions and refuse its password and API tokens. ` +
      'Its secrets can still be opened, and its receipts stay. Its requests for secrets are unknown until it is unlocked.';
    const done = `${wrapWords(effect, '')}\nTo unlock it: mayfly account unlock ${username}`;
    const since = timeOf(lockedAt ?? store.now(), world.terminal.isErrorSeen);
    const already = `${username} is already locked, since ${since}.`;
    return printDone(world, input, { username, locked: lockedAt, changed }, changed ? done : already);
  });
}

async function runUnlock(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, { id, username }) => {
    const changed = await store.unlockAccount(id);
    const done = `Unlocked ${username}. Its password and API tokens work again; browsers have to log in again.`;
    const json = { username, locked: null, changed };
    return printDone(world, input, json, changed ? done : `${username} is not locked.`);
  });
}

async function effectOf({ store }: OpenAccounts, account: Account, isSeen: boolean): Promise<string> {
  const { id, username, plan, createdAt } = account;
  const { waiting, receipts } = await store.countOwned(id);
  const tokens = await store.listTokens(id);
  const domains = (await store.listDomains(id)).map(({ name }) => name);
  return [
    `Deleting ${username} (plan ${plan}, created ${timeOf(createdAt, isSeen)}):`,
    `  Unread secrets: ${waiting}. They will be burned.`,
    '  Requests for secrets: they end, and their answers are lost.',
    `  Receipts: ${receipts}. They lose their labels and can be opened only by their addresses.`,
    `  API tokens: ${tokens.length}. They stop working, and so do the password and every session.`,
    ...(domains.length === 0 ? [] : [`  Share domains: ${domains.join(', ')}. Links on them stop working.`]),
    `This cannot be undone. To block access instead: mayfly account lock ${username}`,
    '',
  ].join('\n');
}

async function runDelete(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async (accounts, account) => {
    const { id, username } = account;
    world.terminal.err(await effectOf(accounts, account, world.terminal.isErrorSeen));
    await confirm(world, input, `Delete ${username}?`);
    const burned = await deleteWithSecrets(accounts.store, id);
    if (burned === null) throw new Refusal('no_account', `The account ${username} no longer exists.`);
    const done = `Deleted ${username} and burned ${plural(burned, 'secret')}. No email was sent: tell the person yourself.`;
    return printDone(world, input, { username, deleted: true, burned }, done);
  });
}

export const accessCommands: readonly Command<OperatorWorld>[] = [
  command('account reset EMAIL', {
    summary: 'print a password-reset link (when email is not set up)',
    example: 'mayfly account reset jo@example.org',
    run: runReset,
  }),
  command('account lock EMAIL', {
    summary: 'block an account; its secrets can still be opened',
    example: 'mayfly account lock jo@example.org',
    run: runLock,
  }),
  command('account unlock EMAIL', {
    summary: 'unblock a locked account',
    example: 'mayfly account unlock jo@example.org',
    run: runUnlock,
  }),
  command('account delete EMAIL', {
    summary: 'delete an account and burn its unread secrets',
    options: yesOption,
    example: 'mayfly account delete jo@example.org',
    run: runDelete,
  }),
];

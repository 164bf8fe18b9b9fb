/**
 * Operators' commands for accounts and their API tokens.
 *
 * They open the store directly, so they need the data folder but no credentials, and work while the server runs. A token is printed only
 * when it is created, and is read from standard input or a file, never from an argument (P18).
 */
import type { Settings } from '../config/read.ts';
import {
  type ListedAccount,
  type StoredToken,
  type Ticket,
  type TokenScope,
  tokenScopes,
} from '../core/account.ts';
import { inviteAccount } from '../core/accounts/account-links.ts';
import { createAccount, createToken } from '../core/accounts/admin.ts';
import { createLinks, isLoopbackUrl } from '../core/links.ts';
import { unseenWords, usernameOf } from '../core/mail/recipients.ts';
import type { PlanName } from '../core/plans.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { UnixSeconds } from '../core/time.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  readTextFrom,
  say,
  UsageError,
  type World,
  warn,
} from './command.ts';
import {
  type OpenAccounts,
  type OperatorWorld,
  unknownAccount,
  withAccount,
  withAccounts,
} from './operator.ts';
import { plural, timeOf } from './terminal.ts';

const accountPlans: readonly PlanName[] = ['basic', 'identity'];

function parsePlan(text: string): PlanName {
  const plan = accountPlans.find((known) => known === text);
  if (plan === undefined) throw new UsageError(`Unknown plan "${text}": use ${accountPlans.join(' or ')}.`);
  return plan;
}

/** Prints only the link on standard output, so that it can be piped into `mayfly share`; the rest goes to standard error. */
export function printAccountLink(
  world: World,
  input: Input,
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  link: { readonly username: string; readonly ticket: Sensitive<Ticket>; readonly expiresAt: UnixSeconds },
  message: string,
): ExitCode {
  const { username, ticket, expiresAt } = link;
  const address = createLinks(baseUrl).resetUrl(ticket.expose());
  if (isLoopbackUrl(baseUrl))
    warn(world, `The link points to ${baseUrl}, which only this machine can open: set MAYFLY_BASE_URL.`);
  const { terminal } = world;
  const until = timeOf(expiresAt, terminal.isErrorSeen);
  const expiry = `It works once. Expires in 24 hours (${until}). The link (shown once):`;
  say(world, input, `${message}\n${expiry}`);
  const shown = terminal.tint('out', 'link', address);
  return printResult(world, input, { username, link: address, expires: expiresAt }, [shown]);
}

async function runCreate(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const plan = parsePlan(input.texts.plan ?? 'basic');
  const email = input.args[0] ?? '';
  return withAccounts(world, async (accounts, settings) => {
    const made = await (input.flags.has('link') ? inviteAccount : createAccount)(accounts, { email, plan });
    if (made.outcome === 'exists') throw new Refusal('exists', `The account ${email} exists already.`);
    if (made.outcome === 'invalid_email')
      throw new Refusal('invalid_email', `"${email}" is not an email address${unseenWords(email)}.`);
    const { username } = made;
    if (made.outcome === 'invited') {
      const message = `Created ${username}. Anyone with this link can set its password.`;
      return printAccountLink(world, input, settings, made, message);
    }
    const token = made.token.expose();
    say(world, input, `Created ${username}. Its API token (shown once):`, true);
    return printResult(world, input, { username, token }, [token]);
  });
}

async function runList(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccounts(world, async ({ store }) => {
    const accounts = await store.listAccounts();
    if (accounts.length === 0) world.terminal.err('No accounts yet.\n');
    return printResult(world, input, accounts.map(jsonOfAccount), accounts.map(lineOfAccount(world)));
  });
}

function jsonOfAccount(account: ListedAccount) {
  const { id, username, plan, senderName, createdAt, lockedAt, hasPassword, tokens, lastUsedAt } = account;
  const access = { locked: lockedAt, has_password: hasPassword, tokens, last_used: lastUsedAt };
  return { id, username, plan, sender_name: senderName, created: createdAt, ...access };
}

const lineOfAccount = (world: World) => (account: ListedAccount) => {
  const time = (seconds: number) => timeOf(seconds, world.terminal.isOutputSeen);
  const { username, plan, createdAt, lockedAt, hasPassword, tokens, lastUsedAt } = account;
  const opens = `${hasPassword ? 'password' : 'no password'}, ${plural(tokens, 'token')}`;
  const used = lastUsedAt === null ? 'never used' : `used ${time(lastUsedAt)}`;
  const locked = lockedAt === null ? [] : [`LOCKED ${time(lockedAt)}`];
  return [username, plan, time(createdAt), opens, used, ...locked].join('\t');
};

async function runPlan(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const plan = parsePlan(input.args[1] ?? '');
  return withAccount(input, world, async ({ store }, account) => {
    const { id, username } = account;
    await store.setPlan(id, plan);
    return printDone(world, input, { username, plan }, `${username} now has the plan ${plan}.`);
  });
}

export const accountCommands: readonly Command<OperatorWorld>[] = [
  command('account create EMAIL', {
    summary: 'create an account and print its API token',
    options: {
      plan: { value: 'PLAN', choices: accountPlans, doc: 'basic (the default) or identity' },
      link: { doc: 'print a one-time link for setting a password instead of a token' },
    },
    example: 'mayfly account create jo@example.org --json',
    run: runCreate,
  }),
  command('account list', {
    summary: 'list accounts with their logins, last use and locks',
    example: 'mayfly account list',
    run: runList,
  }),
  command('account plan EMAIL PLAN', {
    summary: 'change an account’s plan',
    choices: { PLAN: accountPlans },
    example: 'mayfly account plan jo@example.org identity',
    run: runPlan,
  }),
];

const secondsInDay = 86_400;
/** A century; anything longer is a typo. */
const maxDays = 36_525;
const maxNameLength = 100;

function parseDays(text: string): number {
  const days = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > maxDays) throw new UsageError(`--expires takes a number of days, 1 to ${maxDays}.`);
  return days;
}

function parseName(text: string): string {
  // Control characters would let a name tamper with the terminal that lists it.
  if (text === '' || text.length > maxNameLength || /\p{Cc}/u.test(text)) {
    throw new UsageError(`--name takes 1 to ${maxNameLength} printable characters.`);
  }
  return text;
}

const listOfScopes = tokenScopes.join(', ');

/** Returns the scopes in the order of `tokenScopes`, without duplicates. */
export function parseScopes(text: string): readonly TokenScope[] {
  const asked = text.split(',').map((word) => word.trim());
  const known = tokenScopes.filter((scope) => asked.includes(scope));
  if (asked.every((word) => known.some((scope) => scope === word))) return known;
  throw new UsageError(`--scope takes one or more of ${listOfScopes}, separated by commas.`);
}

async function readExisting(input: Input, world: World): Promise<Sensitive<string> | null> {
  const source = input.texts['with-token'];
  return source === undefined ? null : new Sensitive(await readTextFrom(source, 'word', world));
}

function createInput(input: Input, accounts: OpenAccounts, existingToken: Sensitive<string> | null) {
  const { name = 'made by an operator', expires, scope } = input.texts;
  const days = expires === undefined ? null : parseDays(expires);
  return {
    email: input.args[0] ?? '',
    name: parseName(name),
    scopes: scope === undefined ? tokenScopes : parseScopes(scope),
    expiresAt: days === null ? null : accounts.store.now() + days * secondsInDay,
    existingToken,
  };
}

async function runTokenCreate(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const existing = await readExisting(input, world);
  return withAccounts(world, async (accounts) => {
    const wanted = createInput(input, accounts, existing);
    const made = await createToken(accounts, wanted);
    if (made.outcome === 'no_account') throw unknownAccount(wanted.email);
    if (made.outcome === 'invalid_token')
      throw new Refusal('invalid_token', 'The token from --with-token does not belong to this account.');
    const { tokenId, canListEarlier } = made;
    const token = made.token.expose();
    const { name, scopes } = wanted;
    const username = usernameOf(wanted.email);
    // Printed even with --json, because the server refuses a locked account's token as if it were wrong.
    const { lockedAt = null } = (await accounts.store.findAccount(username)) ?? {};
    if (lockedAt !== null)
      warn(world, `${username} is locked: the token works only after mayfly account unlock ${username}`);
    const reach = reachOf(scopes, canListEarlier);
    const what = `Created token ${tokenId}. Scopes: ${scopes.join(', ')}. ${reach}`;
    say(world, input, `${what}\nThe token (shown once):`);
    const json = { username, token, token_id: tokenId, name, scopes, can_list_earlier: canListEarlier };
    return printResult(world, input, json, [token]);
  });
}

function reachOf(scopes: readonly TokenScope[], canListEarlier: boolean): string {
  if (!scopes.includes('read-recent')) {
    return canListEarlier
      ? 'It cannot list secrets. Those it creates appear in the list of the other token.'
      : 'It cannot list secrets. Those it creates appear in no list; with --with-token they appear in that of an existing token.';
  }
  return canListEarlier
    ? 'It lists the same secrets as the other token.'
    : 'It lists only secrets that it creates; with --with-token it lists the same ones as an existing token.';
}

function jsonOf(token: StoredToken) {
  const { tokenId, name, scopes, createdAt, expiresAt, lastUsedAt } = token;
  return { token_id: tokenId, name, scopes, created: createdAt, expires: expiresAt, last_used: lastUsedAt };
}

const lineOf = (world: World) => (token: StoredToken) => {
  const time = (seconds: number) => timeOf(seconds, world.terminal.isOutputSeen);
  const expires = token.expiresAt === null ? 'never expires' : `expires ${time(token.expiresAt)}`;
  const used = token.lastUsedAt === null ? 'never used' : `used ${time(token.lastUsedAt)}`;
  const fields = [token.tokenId, token.name, `created ${time(token.createdAt)}`, expires, used];
  return [...fields, token.scopes.join(',')].join('\t');
};

async function runTokenList(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const tokens = await store.listTokens(account.id);
    if (tokens.length === 0) world.terminal.err('This account has no tokens.\n');
    return printResult(world, input, tokens.map(jsonOf), tokens.map(lineOf(world)));
  });
}

async function runTokenRevoke(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const text = input.args[1] ?? '';
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new UsageError('ID must be the number in the first column of mayfly account token list.');
  return withAccount(input, world, async ({ store }, account) => {
    const { id, username } = account;
    const tokenId = Number(text);
    if (!(await store.revokeToken(id, tokenId)))
      throw new Refusal('no_token', `${username} has no token ${tokenId}.`);
    const json = { username, revoked: tokenId };
    return printDone(world, input, json, `Revoked token ${tokenId} of ${username}.`);
  });
}

export const tokenCommands: readonly Command<OperatorWorld>[] = [
  command('account token create EMAIL', {
    summary: 'create another API token and print it',
    options: {
      name: { value: 'NAME', doc: 'a name for your list of tokens' },
      scope: {
        value: 'SCOPES',
        choices: tokenScopes,
        isList: true,
        doc: `what it may do, separated by commas: ${listOfScopes}; default: all`,
      },
      expires: { value: 'DAYS', doc: 'expire after this many days' },
      'with-token': {
        value: 'FILE',
        doc: 'a file with an existing token (-: standard input): the new one lists the same secrets',
      },
    },
    example: 'mayfly account token create jo@example.org --name backups --scope create,manage --expires 90',
    run: runTokenCreate,
  }),
  command('account token list EMAIL', {
    summary: 'list an account’s tokens with their scopes and last use, but not the tokens themselves',
    example: 'mayfly account token list jo@example.org',
    run: runTokenList,
  }),
  command('account token revoke EMAIL ID', {
    summary: 'revoke a token',
    example: 'mayfly account token revoke jo@example.org 3',
    run: runTokenRevoke,
  }),
];

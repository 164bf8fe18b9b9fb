/**
 * Operators' commands for accounts and their API tokens.
 *
 * They work on the store itself, so they need the data folder and no credentials, also while the server runs. A token is printed
 * once, when it is made, and read from standard input or a file, never from an argument (P18).
 */
import type { Settings } from '../config/read.ts';
import {
  type Account,
  type ListedAccount,
  type StoredToken,
  type TokenScope,
  tokenScopes,
} from '../core/account.ts';
import { inviteAccount } from '../core/accounts/account-links.ts';
import { createAccount, createToken } from '../core/accounts/admin.ts';
import { unseenWords, usernameOf } from '../core/mail/recipients.ts';
import type { PlanName } from '../core/plans.ts';
import { Sensitive } from '../core/sensitive.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  readSettings,
  readTextFrom,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { printHandedLink } from './handed-link.ts';
import { plural, timeOf } from './terminal.ts';

const accountPlans: readonly PlanName[] = ['basic', 'identity'];

function parsePlan(text: string): PlanName {
  const plan = accountPlans.find((known) => known === text);
  if (plan === undefined)
    throw new UsageError(`There is no plan "${text}": an account has ${accountPlans.join(' or ')}.`);
  return plan;
}

/** Opens the store, does the work and closes it again. */
export async function withAccounts(
  input: Input,
  world: World,
  work: (accounts: OpenAccounts, settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = await readSettings(world);
  const opened = await world.openAccounts(settings);
  if (opened.outcome === 'no_store') return refuse(world, input, 'no_store', opened.problem);
  if (opened.outcome === 'refused') return refuse(world, input, 'unavailable', opened.problem);
  try {
    return await work(opened.accounts, settings);
  } finally {
    await opened.accounts.close();
  }
}

/** As `withAccounts`, for the account that the first word names. */
export function withAccount(
  input: Input,
  world: World,
  work: (accounts: OpenAccounts, account: Account, settings: Settings) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withAccounts(input, world, async (accounts, settings) => {
    const email = input.words[0] ?? '';
    const account = await accounts.store.findAccount(usernameOf(email));
    if (account === null) return refuseUnknown(world, input, email);
    return work(accounts, account, settings);
  });
}

function refuseUnknown(world: World, input: Input, email: string): ExitCode {
  return refuse(world, input, 'no_account', `There is no account ${email}${unseenWords(email)}.`);
}

async function runCreate(input: Input, world: World): Promise<ExitCode> {
  const plan = parsePlan(input.texts.plan ?? 'basic');
  const email = input.words[0] ?? '';
  return withAccounts(input, world, async (accounts, settings) => {
    const made = await (input.flags.has('link') ? inviteAccount : createAccount)(accounts, { email, plan });
    if (made.outcome === 'exists')
      return refuse(world, input, 'exists', `There is already an account ${email}.`);
    if (made.outcome === 'invalid_email') {
      return refuse(
        world,
        input,
        'invalid_email',
        `"${email}" is not an e-mail address${unseenWords(email)}.`,
      );
    }
    if (made.outcome === 'invited') {
      const words = [`Account ${made.username} made. Whoever opens this link can set its password.`];
      return printHandedLink(world, input, settings, made, words);
    }
    const token = made.token.expose();
    if (!input.json) world.terminal.err(`Account ${made.username} made. Its API token is shown only now:\n`);
    return printResult(world, input, { username: made.username, token }, [token]);
  });
}

async function runList(input: Input, world: World): Promise<ExitCode> {
  return withAccounts(input, world, async ({ store }) => {
    const accounts = await store.listAccounts();
    if (accounts.length === 0) world.terminal.err('There are no accounts yet.\n');
    return printResult(world, input, accounts.map(jsonOfAccount), accounts.map(lineOfAccount));
  });
}

function jsonOfAccount(account: ListedAccount) {
  const { id, username, plan, senderName, createdAt, lockedAt, hasPassword, tokens, lastUsedAt } = account;
  const access = { locked: lockedAt, has_password: hasPassword, tokens, last_used: lastUsedAt };
  return { id, username, plan, sender_name: senderName, created: createdAt, ...access };
}

function lineOfAccount(account: ListedAccount): string {
  const { username, plan, createdAt, lockedAt, hasPassword, tokens, lastUsedAt } = account;
  const opens = `${hasPassword ? 'password' : 'no password'}, ${plural(tokens, 'token')}`;
  const used = lastUsedAt === null ? 'never used' : `used ${timeOf(lastUsedAt)}`;
  const locked = lockedAt === null ? [] : [`LOCKED ${timeOf(lockedAt)}`];
  return [username, plan, timeOf(createdAt), opens, used, ...locked].join('\t');
}

async function runPlan(input: Input, world: World): Promise<ExitCode> {
  const plan = parsePlan(input.words[1] ?? '');
  return withAccount(input, world, async ({ store }, account) => {
    await store.setPlan(account.id, plan);
    if (!input.json) world.terminal.err(`Account ${account.username} now has the plan ${plan}.\n`);
    return printResult(world, input, { username: account.username, plan }, []);
  });
}

export const accountCommands: readonly Command[] = [
  {
    path: ['account', 'create'],
    summary: 'make an account and print its API token, once',
    words: ['EMAIL'],
    options: {
      plan: { type: 'string', value: 'PLAN', choices: accountPlans, doc: 'basic (the default) or identity' },
      link: { type: 'boolean', doc: 'print a one-time link that sets its password, in place of a token' },
    },
    example: 'mayfly account create jo@example.org --json',
    run: runCreate,
  },
  {
    path: ['account', 'list'],
    summary: 'list the accounts: what opens them, when they were last used, which are locked',
    example: 'mayfly account list',
    run: runList,
  },
  {
    path: ['account', 'plan'],
    summary: "change an account's plan",
    words: ['EMAIL', 'PLAN'],
    choices: { PLAN: accountPlans },
    example: 'mayfly account plan jo@example.org identity',
    run: runPlan,
  },
];

const secondsInDay = 86_400;
/** A century: a larger number is a typo. */
const maxDays = 36_525;
const maxNameLength = 100;

function parseDays(text: string): number {
  const days = /^[1-9][0-9]{0,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > maxDays) throw new UsageError(`--expires takes whole days, 1 to ${maxDays}.`);
  return days;
}

function parseName(text: string): string {
  // Control characters would let a name rewrite the terminal that lists it.
  if (text === '' || text.length > maxNameLength || /\p{Cc}/u.test(text)) {
    throw new UsageError(`--name takes 1 to ${maxNameLength} printable characters.`);
  }
  return text;
}

const listOfScopes = tokenScopes.join(', ');

/** In the order of `tokenScopes`, without duplicates. */
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
    email: input.words[0] ?? '',
    name: parseName(name),
    scopes: scope === undefined ? tokenScopes : parseScopes(scope),
    expiresAt: days === null ? null : accounts.store.now() + days * secondsInDay,
    existingToken,
  };
}

async function runTokenCreate(input: Input, world: World): Promise<ExitCode> {
  const existing = await readExisting(input, world);
  return withAccounts(input, world, async (accounts) => {
    const wanted = createInput(input, accounts, existing);
    const made = await createToken(accounts, wanted);
    if (made.outcome === 'no_account') return refuseUnknown(world, input, wanted.email);
    if (made.outcome === 'invalid_token') {
      return refuse(
        world,
        input,
        'invalid_token',
        'The token given with --with-token is not one of this account.',
      );
    }
    const { tokenId, canListEarlier } = made;
    const token = made.token.expose();
    const { name, scopes } = wanted;
    const username = usernameOf(wanted.email);
    // With --json too: the token is refused as a wrong one is.
    if (await isLocked(accounts, username)) world.terminal.err(lockedWords(username));
    if (!input.json) world.terminal.err(wordsOfNew(tokenId, scopes, canListEarlier));
    const json = { username, token, token_id: tokenId, name, scopes, can_list_earlier: canListEarlier };
    return printResult(world, input, json, [token]);
  });
}

async function isLocked({ store }: OpenAccounts, username: string): Promise<boolean> {
  const account = await store.findAccount(username);
  return account !== null && account.lockedAt !== null;
}

function lockedWords(username: string): string {
  return `${username} is locked: the token works only after mayfly account unlock ${username}\n`;
}

function wordsOfNew(tokenId: number, scopes: readonly TokenScope[], canListEarlier: boolean): string {
  return `Token ${tokenId} made. Scopes: ${scopes.join(', ')}. ${reachOf(scopes, canListEarlier)} It is shown only now:\n`;
}

function reachOf(scopes: readonly TokenScope[], canListEarlier: boolean): string {
  if (!scopes.includes('read-recent')) {
    return canListEarlier
      ? 'It lists nothing; what is created with it is listed as what the other token creates is.'
      : 'It lists nothing, and what is created with it is in no list; --with-token puts it in that of an existing token.';
  }
  return canListEarlier
    ? 'It lists what the other token lists.'
    : 'It lists what is created with it from now on; --with-token lets it list what an existing token does.';
}

function jsonOf(token: StoredToken) {
  const { tokenId, name, scopes, createdAt, expiresAt, lastUsedAt } = token;
  return { token_id: tokenId, name, scopes, created: createdAt, expires: expiresAt, last_used: lastUsedAt };
}

function lineOf(token: StoredToken): string {
  const expires = token.expiresAt === null ? 'never expires' : `expires ${timeOf(token.expiresAt)}`;
  const used = token.lastUsedAt === null ? 'never used' : `used ${timeOf(token.lastUsedAt)}`;
  const fields = [token.tokenId, token.name, `made ${timeOf(token.createdAt)}`, expires, used];
  return [...fields, token.scopes.join(',')].join('\t');
}

async function runTokenList(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const tokens = await store.listTokens(account.id);
    if (tokens.length === 0) world.terminal.err('This account has no token.\n');
    return printResult(world, input, tokens.map(jsonOf), tokens.map(lineOf));
  });
}

async function runTokenRevoke(input: Input, world: World): Promise<ExitCode> {
  const text = input.words[1] ?? '';
  if (!/^[1-9][0-9]{0,14}$/.test(text))
    throw new UsageError('ID is the number that "mayfly account token list" shows first.');
  return withAccount(input, world, async ({ store }, account) => {
    const tokenId = Number(text);
    if (!(await store.revokeToken(account.id, tokenId))) {
      return refuse(world, input, 'no_token', `${account.username} has no token ${tokenId}.`);
    }
    if (!input.json) world.terminal.err(`Token ${tokenId} of ${account.username} no longer works.\n`);
    return printResult(world, input, { username: account.username, revoked: tokenId }, []);
  });
}

export const tokenCommands: readonly Command[] = [
  {
    path: ['account', 'token', 'create'],
    summary: 'make another API token and print it, once',
    words: ['EMAIL'],
    options: {
      name: { type: 'string', value: 'NAME', doc: 'what it is for' },
      scope: {
        type: 'string',
        value: 'SCOPES',
        choices: tokenScopes,
        isList: true,
        doc: `what it may do, separated by commas: ${listOfScopes}; all without it`,
      },
      expires: { type: 'string', value: 'DAYS', doc: 'stop working after so many days' },
      'with-token': {
        type: 'string',
        value: 'FILE',
        doc: 'a file with a live token of the account, - for standard input: the new one then lists what that one lists',
      },
    },
    example: 'mayfly account token create jo@example.org --name backups --scope create,manage --expires 90',
    run: runTokenCreate,
  },
  {
    path: ['account', 'token', 'list'],
    summary:
      "list an account's tokens, what they may do and when they were used, without the tokens themselves",
    words: ['EMAIL'],
    example: 'mayfly account token list jo@example.org',
    run: runTokenList,
  },
  {
    path: ['account', 'token', 'revoke'],
    summary: 'make a token useless, at once',
    words: ['EMAIL', 'ID'],
    example: 'mayfly account token revoke jo@example.org 3',
    run: runTokenRevoke,
  },
];

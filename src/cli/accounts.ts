/**
 * Operators' commands for accounts.
 *
 * Owns: `mayfly account create|list|plan`. Invariant: they work on the store itself, so they need the data folder and
 * no credentials, and they work while the server runs; a token is printed once, when it is made.
 */

import type { Account } from '../core/accounts/accounts.ts';
import { createAccount } from '../core/accounts/admin.ts';
import type { PlanName } from '../core/plans.ts';
import {
  type Command,
  configOrWords,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { timeOf } from './times.ts';

/** The plans an account can have. */
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
  work: (accounts: OpenAccounts) => Promise<ExitCode>,
): Promise<ExitCode> {
  const config = configOrWords(world);
  if (config === null) return 2;
  const opened = await world.openAccounts(config);
  if (opened.outcome === 'no_store') return refuse(world, input, 'no_store', opened.problem);
  if (opened.outcome === 'refused') return refuse(world, input, 'unavailable', opened.problem);
  try {
    return await work(opened.accounts);
  } finally {
    await opened.accounts.close();
  }
}

/** As `withAccounts`, for the account that the first word names. */
export function withAccount(
  input: Input,
  world: World,
  work: (accounts: OpenAccounts, account: Account) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withAccounts(input, world, async (accounts) => {
    const email = input.words[0] ?? '';
    const account = await accounts.store.findAccount(email.toLowerCase());
    if (account === null) return refuse(world, input, 'no_account', `There is no account ${email}.`);
    return work(accounts, account);
  });
}

async function runCreate(input: Input, world: World): Promise<ExitCode> {
  const plan = parsePlan(input.texts.plan ?? 'basic');
  const email = input.words[0] ?? '';
  return withAccounts(input, world, async (accounts) => {
    const made = await createAccount(accounts, { email, plan });
    if (made.outcome === 'exists')
      return refuse(world, input, 'exists', `There is already an account ${email}.`);
    if (made.outcome === 'invalid_email') {
      return refuse(world, input, 'invalid_email', `"${email}" is not an e-mail address.`);
    }
    const token = made.token.expose();
    if (!input.json) world.terminal.err(`Account ${made.username} made. Its API token is shown only now:\n`);
    printResult(world, input, { username: made.username, token }, [token]);
    return 0;
  });
}

async function runList(input: Input, world: World): Promise<ExitCode> {
  return withAccounts(input, world, async ({ store }) => {
    const accounts = await store.listAccounts();
    const json = accounts.map(({ id, username, plan, createdAt }) => ({
      id,
      username,
      plan,
      created: createdAt,
    }));
    const lines = accounts.map(
      ({ username, plan, createdAt }) => `${username}\t${plan}\t${timeOf(createdAt)}`,
    );
    if (lines.length === 0) world.terminal.err('There are no accounts yet.\n');
    printResult(world, input, json, lines);
    return 0;
  });
}

async function runPlan(input: Input, world: World): Promise<ExitCode> {
  const plan = parsePlan(input.words[1] ?? '');
  return withAccount(input, world, async ({ store }, account) => {
    await store.setPlan(account.id, plan);
    if (!input.json) world.terminal.err(`Account ${account.username} now has the plan ${plan}.\n`);
    printResult(world, input, { username: account.username, plan }, []);
    return 0;
  });
}

export const accountCommands: readonly Command[] = [
  {
    path: ['account', 'create'],
    summary: 'make an account and print its API token, once',
    words: ['EMAIL'],
    options: { plan: { type: 'string', value: 'PLAN', doc: 'basic (the default) or identity' } },
    example: 'mayfly account create jo@example.org --json',
    run: runCreate,
  },
  {
    path: ['account', 'list'],
    summary: 'list the accounts',
    words: [],
    options: {},
    example: 'mayfly account list',
    run: runList,
  },
  {
    path: ['account', 'plan'],
    summary: "change an account's plan",
    words: ['EMAIL', 'PLAN'],
    options: {},
    example: 'mayfly account plan jo@example.org identity',
    run: runPlan,
  },
];

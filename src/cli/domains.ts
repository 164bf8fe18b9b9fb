/**
 * Operators' commands for share domains.
 *
 * Owns: `mayfly domain add|list|remove`. Invariant: a domain is kept in one spelling (lower case, ASCII form), belongs to
 * one account, and is never the site's own host.
 */
import { domainToASCII } from 'node:url';
import { withAccount } from './accounts.ts';
import {
  type Command,
  configOrWords,
  type ExitCode,
  type Input,
  printResult,
  refuse,
  UsageError,
  type World,
} from './command.ts';

/** RFC 1035 §2.3.4 and RFC 1123 §2.1: labels of 1–63 letters, digits and inner hyphens, 253 in all, at least two labels. */
const domainForm = /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** The domain in its one spelling. */
export function parseDomain(text: string): string {
  // What belongs to a URL around the domain would be cut off in silence.
  const domain = /[\s/:?#@\\%]/.test(text) ? '' : domainToASCII(text).toLowerCase();
  if (!domainForm.test(domain))
    throw new UsageError(`"${text}" is not a domain: write it without https:// and without a path.`);
  return domain;
}

async function runAdd(input: Input, world: World): Promise<ExitCode> {
  const domain = parseDomain(input.words[1] ?? '');
  const config = configOrWords(world);
  if (config === null) return 2;
  if (new URL(config.baseUrl).hostname === domain) {
    return refuse(world, input, 'own_host', `${domain} is this site's own host: its links need no entry.`);
  }
  return withAccount(input, world, async ({ store }, account) => {
    // Whatever the plan: the operator's word is what a plan would otherwise stand for.
    if (!(await store.addShareDomain(account.id, domain))) {
      return refuse(world, input, 'taken', `${domain} belongs to another account.`);
    }
    if (!input.json) {
      world.terminal.err(
        `${account.username} may now use ${domain}. Let it lead here: links become https://${domain}/secret/…\n`,
      );
    }
    printResult(world, input, { username: account.username, domain }, []);
    return 0;
  });
}

async function runList(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const domains = await store.listShareDomains(account.id);
    if (domains.length === 0) world.terminal.err('This account has no share domain.\n');
    printResult(world, input, domains, domains);
    return 0;
  });
}

async function runRemove(input: Input, world: World): Promise<ExitCode> {
  const domain = parseDomain(input.words[1] ?? '');
  return withAccount(input, world, async ({ store }, account) => {
    if (!(await store.removeShareDomain(account.id, domain))) {
      return refuse(world, input, 'no_domain', `${account.username} has no share domain ${domain}.`);
    }
    if (!input.json) world.terminal.err(`${account.username} can no longer use ${domain} for new links.\n`);
    printResult(world, input, { username: account.username, removed: domain }, []);
    return 0;
  });
}

export const domainCommands: readonly Command[] = [
  {
    path: ['domain', 'add'],
    summary: 'let an account use a domain for its links',
    words: ['EMAIL', 'DOMAIN'],
    options: {},
    example: 'mayfly domain add jo@example.org secrets.example.org',
    run: runAdd,
  },
  {
    path: ['domain', 'list'],
    summary: "list an account's domains",
    words: ['EMAIL'],
    options: {},
    example: 'mayfly domain list jo@example.org',
    run: runList,
  },
  {
    path: ['domain', 'remove'],
    summary: 'take a domain away from an account',
    words: ['EMAIL', 'DOMAIN'],
    options: {},
    example: 'mayfly domain remove jo@example.org secrets.example.org',
    run: runRemove,
  },
];

/**
 * Operators' commands for share domains: `mayfly domain add|list|verify|remove`.
 *
 * A domain is kept in one spelling (lower case, ASCII) and is never the site's own host. One that an operator adds needs no plan, no
 * public suffix and no DNS record.
 */

import type { DomainFinding, StoredDomain } from '../core/share-domain.ts';
import { createDomainChecks } from '../core/share-domains/check.ts';
import { createResolver, toAsciiName } from '../ops/dns.ts';
import { withAccount } from './accounts.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  readSettings,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { timeOf } from './terminal.ts';

/** The domain in its one spelling; one label alone is nobody's. */
export function parseDomain(text: string): string {
  const name = toAsciiName(text);
  if (typeof name === 'string' && name.includes('.')) return name;
  throw new UsageError(
    `"${text}" is not a domain: write it as in secrets.example.org, without https:// and a path.`,
  );
}

/** Above what any account has: what a plan would otherwise say, the operator says. */
const anyNumber = 1_000_000;

async function runAdd(input: Input, world: World): Promise<ExitCode> {
  const name = parseDomain(input.words[1] ?? '');
  const settings = await readSettings(world);
  if (new URL(settings.baseUrl).hostname === name) {
    return refuse(world, input, 'own_host', `${name} is this site's own host: its links need no entry.`);
  }
  return withAccount(input, world, async ({ store }, { id: accountId, username }) => {
    const createdAt = store.now();
    const domain = { accountId, name, state: 'verified', challenge: null, createdAt } as const;
    const added = await store.addDomain(domain, anyNumber);
    if (added === 'taken') return refuse(world, input, 'taken', `${name} belongs to another account.`);
    if (added === 'exists') {
      const words = `${username} has ${name} already; remove it first to let your word stand for it.`;
      return refuse(world, input, 'exists', words);
    }
    if (added !== 'added') return refuse(world, input, 'no_account', `There is no account ${username}.`);
    if (!input.json) {
      world.terminal.err(
        `${username} may now use ${name}. Let it lead here: links become https://${name}/secret/…\n`,
      );
    }
    return printResult(world, input, { username, domain: name }, []);
  });
}

function jsonOf({ name, state, challenge, finding, checkedAt }: StoredDomain) {
  return { domain: name, state, by_operator: challenge === null, finding, checked: checkedAt };
}

function lineOf({ name, state, challenge, checkedAt }: StoredDomain): string {
  const checked = checkedAt === null ? 'not checked yet' : `checked ${timeOf(checkedAt)}`;
  return [name, state, challenge === null ? "by the operator's word" : checked].join('\t');
}

async function runList(input: Input, world: World): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const domains = await store.listDomains(account.id);
    if (domains.length === 0) world.terminal.err('This account has no share domain.\n');
    return printResult(world, input, domains.map(jsonOf), domains.map(lineOf));
  });
}

const findingWords: Readonly<Record<DomainFinding, string>> = {
  txt_missing: 'its TXT record is not there',
  txt_differs: 'its TXT record holds something else',
  not_pointing: 'it does not lead here',
  dns_failed: 'the DNS gave no usable answer',
};

async function runVerify(input: Input, world: World): Promise<ExitCode> {
  const name = parseDomain(input.words[1] ?? '');
  const settings = await readSettings(world);
  return withAccount(input, world, async ({ store }, { id, username }) => {
    const domain = await store.findDomain(id, name);
    const resolver = createResolver(settings.dnsServers);
    const checks = createDomainChecks({ store, resolver, target: settings.domainTarget, events: () => {} });
    const checked =
      domain === null ? null : await world.terminal.waiting('Asking the DNS', () => checks.check(domain));
    if (checked === null)
      return refuse(world, input, 'no_domain', `${username} has no share domain ${name}.`);
    if (checked === 'taken') return refuse(world, input, 'taken', `${name} belongs to another account.`);
    const { state, finding } = checked;
    if (!input.json) {
      world.terminal.err(`${name} is ${state}${finding === null ? '' : `: ${findingWords[finding]}`}.\n`);
    }
    printResult(world, input, jsonOf(checked), []);
    return state === 'verified' ? 0 : 1;
  });
}

async function runRemove(input: Input, world: World): Promise<ExitCode> {
  const name = parseDomain(input.words[1] ?? '');
  return withAccount(input, world, async ({ store }, account) => {
    if (!(await store.removeDomain(account.id, name))) {
      return refuse(world, input, 'no_domain', `${account.username} has no share domain ${name}.`);
    }
    if (!input.json) world.terminal.err(`${account.username} can no longer use ${name} for new links.\n`);
    return printResult(world, input, { username: account.username, removed: name }, []);
  });
}

export const domainCommands: readonly Command[] = [
  {
    path: ['domain', 'add'],
    summary: 'let an account use a domain for its links; asks neither the DNS nor the plan for room',
    words: ['EMAIL', 'DOMAIN'],
    example: 'mayfly domain add jo@example.org secrets.example.org',
    run: runAdd,
  },
  {
    path: ['domain', 'list'],
    summary: "list an account's domains and their states",
    words: ['EMAIL'],
    example: 'mayfly domain list jo@example.org',
    run: runList,
  },
  {
    path: ['domain', 'verify'],
    summary: 'check a domain that the account has registered',
    words: ['EMAIL', 'DOMAIN'],
    example: 'mayfly domain verify jo@example.org secrets.example.org',
    run: runVerify,
  },
  {
    path: ['domain', 'remove'],
    summary: 'take a domain away from an account',
    words: ['EMAIL', 'DOMAIN'],
    example: 'mayfly domain remove jo@example.org secrets.example.org',
    run: runRemove,
  },
];

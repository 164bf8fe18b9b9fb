/**
 * `mayfly domain add|list|verify|remove`, for share domains.
 *
 * Domains are stored in lower-case ASCII and never include the site’s own host. A domain that an operator adds needs no plan, public suffix
 * or DNS record.
 */
import type { DomainFinding, StoredDomain } from '../core/share-domain.ts';
import { createDomainChecks } from '../core/share-domains/check.ts';
import { createResolver, toAsciiName } from '../ops/dns.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  readSettings,
  UsageError,
} from './command.ts';
import { type OperatorWorld, unknownAccount, withAccount } from './operator.ts';
import { timeOf } from './terminal.ts';

/** Normalises a domain; refuses a single label. */
export function parseDomain(text: string): string {
  const name = toAsciiName(text);
  if (typeof name === 'string' && name.includes('.')) return name;
  throw new UsageError(
    `"${text}" is not a domain. Write it like secrets.example.org, without https:// or a path.`,
  );
}

/** Effectively unlimited: the operator decides, not the plan. */
const anyNumber = 1_000_000;

async function runAdd(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const name = parseDomain(input.args[1] ?? '');
  const settings = await readSettings(world);
  if (new URL(settings.baseUrl).hostname === name)
    throw new Refusal('own_host', `${name} is the site’s own host, which needs no entry.`);
  return withAccount(input, world, async ({ store }, { id: accountId, username }) => {
    const createdAt = store.now();
    const domain = { accountId, name, state: 'verified', challenge: null, createdAt } as const;
    const added = await store.addDomain(domain, anyNumber);
    if (added === 'taken') throw belongsToAnother(name);
    if (added === 'exists')
      throw new Refusal(
        'exists',
        `${username} already has ${name}. Remove it first to add it without a check.`,
      );
    if (added !== 'added') throw unknownAccount(username);
    const done = `${username} may now use ${name}. Point it to this server: links become https://${name}/secret/…`;
    return printDone(world, input, { username, domain: name }, done);
  });
}

const belongsToAnother = (name: string) => new Refusal('taken', `${name} belongs to another account.`);

const noSuchDomain = (username: string, name: string) =>
  new Refusal('no_domain', `${username} has no share domain ${name}.`);

function jsonOf({ name, state, challenge, finding, checkedAt }: StoredDomain) {
  return { domain: name, state, by_operator: challenge === null, finding, checked: checkedAt };
}

function lineOf({ name, state, challenge, checkedAt }: StoredDomain, isSeen: boolean): string {
  const checked = checkedAt === null ? 'not checked yet' : `checked ${timeOf(checkedAt, isSeen)}`;
  return [name, state, challenge === null ? 'added by an operator' : checked].join('\t');
}

async function runList(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withAccount(input, world, async ({ store }, account) => {
    const domains = await store.listDomains(account.id);
    if (domains.length === 0) world.terminal.err('This account has no share domains.\n');
    const lines = domains.map((domain) => lineOf(domain, world.terminal.isOutputSeen));
    return printResult(world, input, domains.map(jsonOf), lines);
  });
}

const findingWords: Readonly<Record<DomainFinding, string>> = {
  txt_missing: 'its TXT record is missing',
  txt_differs: 'its TXT record is wrong',
  not_pointing: 'it does not point here',
  dns_failed: 'the DNS gave no usable answer',
};

async function runVerify(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const name = parseDomain(input.args[1] ?? '');
  const settings = await readSettings(world);
  return withAccount(input, world, async ({ store }, { id, username }) => {
    const domain = await store.findDomain(id, name);
    const resolver = createResolver(settings.dnsServers);
    const checks = createDomainChecks({ store, resolver, target: settings.domainTarget, events: () => {} });
    const checked =
      domain === null ? null : await world.terminal.waiting('Asking the DNS', () => checks.check(domain));
    if (checked === null) throw noSuchDomain(username, name);
    if (checked === 'taken') throw belongsToAnother(name);
    const { state, finding } = checked;
    const why = finding === null ? '' : `: ${findingWords[finding]}`;
    const isVerified = state === 'verified';
    printDone(world, input, jsonOf(checked), `${name} is ${state}${why}.`, isVerified);
    return isVerified ? 0 : 1;
  });
}

async function runRemove(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const name = parseDomain(input.args[1] ?? '');
  return withAccount(input, world, async ({ store }, { id, username }) => {
    if (!(await store.removeDomain(id, name))) throw noSuchDomain(username, name);
    const done = `${username} can no longer use ${name} for new links.`;
    return printDone(world, input, { username, removed: name }, done);
  });
}

export const domainCommands: readonly Command<OperatorWorld>[] = [
  command('domain add EMAIL DOMAIN', {
    summary: 'let an account use a domain, without checking its DNS or plan',
    example: 'mayfly domain add jo@example.org secrets.example.org',
    run: runAdd,
  }),
  command('domain list EMAIL', {
    summary: 'list an account’s domains',
    example: 'mayfly domain list jo@example.org',
    run: runList,
  }),
  command('domain verify EMAIL DOMAIN', {
    summary: 'check the DNS records of a domain',
    example: 'mayfly domain verify jo@example.org secrets.example.org',
    run: runVerify,
  }),
  command('domain remove EMAIL DOMAIN', {
    summary: 'remove a domain from an account',
    example: 'mayfly domain remove jo@example.org secrets.example.org',
    run: runRemove,
  }),
];

/**
 * DNS names, DNS queries, and the content of DKIM records. A resolver contacts only the configured servers, regardless of what the answers
 * say. Every query has a time limit, answers are bounded, and nothing is cached between queries. Only the public half of a DKIM key is
 * compared, shown or looked up. Sources: RFC 1035 §2.3.4, RFC 1123 §2.1, RFC 5890, RFC 6376 §3.6.1, the WHATWG URL Standard (how browsers
 * read a host), publicsuffix.org.
 */

import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import { Resolver as DnsResolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import type { Sensitive } from '../core/sensitive.ts';
import type { DomainName, DomainNameProblem, ParseDomainName } from '../core/share-domain.ts';
import type { DnsAnswer, Resolver } from '../core/share-domains/check.ts';

export interface ResolverLimits {
  /** Time limit for all queries of a session together. */
  readonly limitMs: number;
  /** Time limit for a query's first try; the second gets twice as long. */
  readonly firstTryMs: number;
}

const usualLimits: ResolverLimits = { limitMs: 5_000, firstTryMs: 1_200 };
const tries = 2;

/** More values than any sane name has; the rest are ignored. */
const maxValues = 64;
const maxValueLength = 1_024;

/** A name that can be queried: labels without whitespace or dots (RFC 2181 §11), within the protocol's limits. */
const askable = /^(?=.{1,253}$)(?:[^\s.]{1,63}\.)*[^\s.]{1,63}$/;

/** The resolver's definite "no such record", as opposed to a failure. */
const nothingThere: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA']);

const none: DnsAnswer = { outcome: 'none' };
const failed: DnsAnswer = { outcome: 'failed' };

type Question = (dns: DnsResolver) => Promise<readonly string[]>;

function foundOrNone(values: readonly string[]): DnsAnswer {
  const kept = values.slice(0, maxValues).filter((value) => value.length <= maxValueLength);
  return kept.length === 0 ? none : { outcome: 'found', values: kept };
}

function toName(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/**
 * The runtime does not report which strings form one record, so all of them joined are also added, which finds a record that DNS has split.
 */
async function textsOf(dns: DnsResolver, name: string): Promise<readonly string[]> {
  const texts = (await dns.resolveTxt(name)).map((strings) => strings.join(''));
  return texts.length > 1 ? [...texts.slice(0, maxValues - 1), texts.join('')] : texts;
}

/** @param servers as in `MAYFLY_DNS_SERVERS`; if empty, the system's */
export function createResolver(servers: readonly string[], limits: ResolverLimits = usualLimits): Resolver {
  /** Uses a new resolver per query: a shared one would answer from its cache. */
  async function ask(question: Question, untilMs: number): Promise<DnsAnswer> {
    const leftMs = untilMs - performance.now();
    if (leftMs < 1) return failed;
    const dns = new DnsResolver({ timeout: limits.firstTryMs, tries });
    const timer = setTimeout(() => dns.cancel(), Math.ceil(leftMs));
    try {
      if (servers.length > 0) dns.setServers(servers);
      return foundOrNone(await question(dns));
    } catch (error) {
      return nothingThere.has(codeOf(error)) ? none : failed;
    } finally {
      clearTimeout(timer);
    }
  }

  async function addresses(name: string, untilMs: number): Promise<DnsAnswer> {
    if (isIP(name) !== 0) return { outcome: 'found', values: [name] };
    const both = [ask((dns) => dns.resolve4(name), untilMs), ask((dns) => dns.resolve6(name), untilMs)];
    const answers = await Promise.all(both);
    const found = foundOrNone(answers.flatMap((answer) => (answer.outcome === 'found' ? answer.values : [])));
    const isSilent = found.outcome === 'none' && answers.some(({ outcome }) => outcome === 'failed');
    return isSilent ? failed : found;
  }

  function session(untilMs: () => number): Resolver {
    const from = (name: string, answer: (untilMs: number) => Promise<DnsAnswer>) =>
      askable.test(name) ? answer(untilMs()) : Promise.resolve(failed);
    return {
      txt: (name) => from(name, (until) => ask((dns) => textsOf(dns, name), until)),
      cname: (name) =>
        from(name, (until) => ask(async (dns) => (await dns.resolveCname(name)).map(toName), until)),
      addresses: (name) => from(name, (until) => addresses(name, until)),
      forOneCheck: () => {
        const endMs = performance.now() + limits.limitMs;
        return session(() => endMs);
      },
    };
  }

  return session(() => performance.now() + limits.limitMs);
}

const maxNameLength = 253;
const maxLabels = 10;
const labelForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Characters that belong to a URL, pattern or sentence around the name, and would be silently cut off or resolved away. */
const strangeCharacters = /[\s/:?#@\\%*_[\]]/;
/** A host that ends in a number is read as an IPv4 address or fails (URL Standard, "ends in a number"). */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** Returns the canonical spelling of a name with any suffix, or why it is invalid. */
export function toAsciiName(text: string): string | { readonly problem: DomainNameProblem } {
  if (text === '') return { problem: 'missing' };
  if (isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0) return { problem: 'ip_address' };
  // A name may end with one dot, for the root.
  const bare = text.replace(/\.$/, '').toLowerCase();
  if (bare === '' || text.length > 4 * maxNameLength || strangeCharacters.test(bare))
    return { problem: 'malformed' };
  const name = domainToASCII(bare);
  if (isIP(name) !== 0 || endsInNumber.test(bare.normalize('NFKC'))) return { problem: 'ip_address' };
  const labels = name.split('.');
  const isWell = name.length <= maxNameLength && labels.length <= maxLabels;
  return isWell && labels.every((label) => labelForm.test(label)) ? name : { problem: 'malformed' };
}

/** Whether a suffix is listed but not on the web: Tor's (RFC 7686) and the DNS's own (RFC 3172). */
function isInfrastructure(publicSuffix: string): boolean {
  return publicSuffix === 'onion' || publicSuffix === 'arpa' || publicSuffix.endsWith('.arpa');
}

async function load() {
  return (await import('tldts')).parse;
}

let loading: ReturnType<typeof load> | null = null;

async function takeApart(name: string): Promise<DomainName | { readonly problem: DomainNameProblem }> {
  loading ??= load();
  const parse = await loading;
  const parsed = parse(name, { allowPrivateDomains: true, extractHostname: false });
  const { domain, publicSuffix, subdomain } = parsed;
  const isListed = parsed.isIcann === true || parsed.isPrivate === true;
  if (publicSuffix === null || !isListed || isInfrastructure(publicSuffix)) return { problem: 'not_public' };
  if (domain === null) return { problem: 'public_suffix' };
  return {
    name,
    unicodeName: domainToUnicode(name),
    baseDomain: domain,
    subdomain: subdomain ?? '',
    publicSuffix,
  };
}

export function createDomainNameParser(siteHost: string): ParseDomainName {
  return async (text) => {
    const name = toAsciiName(text);
    if (typeof name !== 'string') return name;
    return name === siteHost ? { problem: 'own_host' } : takeApart(name);
  };
}

export type DkimComparison =
  | { readonly outcome: 'fits' }
  | { readonly outcome: 'missing' | 'differs'; readonly record: string }
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'no_key' };

export async function compareDkimRecord(
  name: string,
  privateKey: Sensitive<string>,
  resolver: Pick<Resolver, 'txt'>,
): Promise<DkimComparison> {
  const key = publicHalf(privateKey);
  if (key === null) return { outcome: 'no_key' };
  const answer = await resolver.txt(name);
  if (answer.outcome === 'failed') return { outcome: 'unknown' };
  const own = key.export({ type: 'spki', format: 'der' }).toString('base64');
  const record = `v=DKIM1; k=rsa; p=${own}`;
  const published =
    answer.outcome === 'found' ? answer.values.map(keyIn).filter((text) => text !== null) : [];
  if (published.length === 0) return { outcome: 'missing', record };
  // Some domains publish the bare PKCS #1 key, as in RFC 6376, instead of the common form that wraps it.
  const forms = [own, key.export({ type: 'pkcs1', format: 'der' }).toString('base64')];
  return published.some((text) => forms.includes(text))
    ? { outcome: 'fits' }
    : { outcome: 'differs', record };
}

function publicHalf(privateKey: Sensitive<string>): KeyObject | null {
  try {
    const key = createPublicKey(createPrivateKey(privateKey.expose()));
    return key.asymmetricKeyType === 'rsa' ? key : null;
  } catch {
    return null;
  }
}

/** Returns the tag `p` of a record, base64 without its whitespace; `null` if it has no such tag. */
function keyIn(record: string): string | null {
  const tag = /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1];
  return tag === undefined ? null : tag.replace(/\s+/g, '');
}

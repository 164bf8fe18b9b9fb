/**
 * The DNS, asked through `node:dns`.
 *
 * Owns: how long, how often and how much is asked. Invariants: it speaks to the configured resolver and to nobody else,
 * whatever an answer says; a question ends within its limit of time; what is kept of an answer is bounded; nothing is
 * kept from one question to the next, so a check sees what the resolver says now.
 */
import { Resolver as DnsResolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { DnsAnswer, Resolver } from '../core/share-domains/check.ts';

export interface ResolverLimits {
  /** For all questions of one session together. */
  readonly limitMs: number;
  /** For the first try of a question; the second gets twice that. */
  readonly firstTryMs: number;
}

const usualLimits: ResolverLimits = { limitMs: 5_000, firstTryMs: 1_200 };
const tries = 2;

/** More than any sane name has; what is beyond is not looked at. */
const maxValues = 64;
const maxValueLength = 1_024;

/** A name that can be asked for: any label without blanks and dots (RFC 2181 §11), as the wire's limits have it. */
const askable = /^(?=.{1,253}$)(?:[^\s.]{1,63}\.)*[^\s.]{1,63}$/;

/** The resolver's word that there is nothing, as opposed to no usable word. */
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
 * The runtime tells the strings of one record apart as if each were a record of its own, so all of them joined stand
 * beside them: a record that somebody's DNS has cut in two is found as well.
 */
async function textsOf(dns: DnsResolver, name: string): Promise<readonly string[]> {
  const texts = (await dns.resolveTxt(name)).map((strings) => strings.join(''));
  return texts.length > 1 ? [...texts.slice(0, maxValues - 1), texts.join('')] : texts;
}

/** @param servers those of the system when empty; as `MAYFLY_DNS_SERVERS` */
export function createResolver(servers: readonly string[], limits: ResolverLimits = usualLimits): Resolver {
  /** A resolver of its own for each question: one that is kept would answer from memory. */
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

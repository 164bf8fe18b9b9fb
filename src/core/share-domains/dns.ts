/**
 * The port to the DNS: what share domains are checked by.
 *
 * Owns: the shape of an answer. Invariant: that no answer came is told apart from the answer that there is nothing, because
 * nothing may be concluded from the former.
 */

/** What the DNS says, from the configured resolver and nowhere else. Never rejects. */
export type DnsAnswer =
  | { readonly outcome: 'found'; readonly values: readonly string[] }
  /** There is no such name, or no such record. */
  | { readonly outcome: 'none' }
  /** No usable answer: a timeout, a refusal, a failing server. Says nothing about the record. */
  | { readonly outcome: 'failed' };

export interface Resolver {
  /** Each record's strings joined. */
  txt(name: string): Promise<DnsAnswer>;
  /** Lower case, without the last dot. */
  cname(name: string): Promise<DnsAnswer>;
  /** IPv4 and IPv6 together; `found` when one of them is. */
  addresses(name: string): Promise<DnsAnswer>;
  /** The same for the questions of one check, which together take no longer than one question may; absent: no such bound. */
  forOneCheck?(): Resolver;
}

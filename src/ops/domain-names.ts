/**
 * Domain names: one spelling, and taken apart by the public suffix list.
 *
 * Owns: which texts are names that links can be made on, and loading the list when a name is first asked about, so that
 * a start does not pay for it. Invariant: what is accepted is in lower case and ASCII form (RFC 5890), is no address in
 * any spelling, and cannot be anybody's to register from below. Sources: RFC 1035 §2.3.4, RFC 1123 §2.1, the WHATWG URL
 * Standard (how browsers read a host), publicsuffix.org.
 */
import { isIP } from 'node:net';
import { domainToASCII, domainToUnicode } from 'node:url';
import type { DomainName, DomainNameProblem, ParseDomainName } from '../core/share-domains/share-domains.ts';

const maxNameLength = 253;
const maxLabels = 10;
const labelForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** What belongs to a URL, a pattern or a sentence around a name: it would be cut off or resolved away in silence. */
const strangeCharacters = /[\s/:?#@\\%*_[\]]/;
/** A host that ends in a number is read as an IPv4 address, or as nothing (URL Standard, "ends in a number"). */
const endsInNumber = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/;

/** The one spelling of a name of any suffix, or why it is none. */
export function toAsciiName(text: string): string | { readonly problem: DomainNameProblem } {
  if (text === '') return { problem: 'missing' };
  if (isIP(text.replace(/^\[(.*)\]$/, '$1')) !== 0) return { problem: 'ip_address' };
  // Two points, no name; one is the root's, which a name may be written with.
  const bare = text.replace(/\.$/, '').toLowerCase();
  if (bare === '' || text.length > 4 * maxNameLength || strangeCharacters.test(bare))
    return { problem: 'malformed' };
  const name = domainToASCII(bare);
  if (isIP(name) !== 0 || endsInNumber.test(bare.normalize('NFKC'))) return { problem: 'ip_address' };
  const labels = name.split('.');
  const isWell = name.length <= maxNameLength && labels.length <= maxLabels;
  return isWell && labels.every((label) => labelForm.test(label)) ? name : { problem: 'malformed' };
}

/** In the list, but no place on the internet's web: Tor's names (RFC 7686) and the DNS's own (RFC 3172). */
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

/** @param siteHost the site's own host, which is no share domain */
export function createDomainNameParser(siteHost: string): ParseDomainName {
  return async (text) => {
    const name = toAsciiName(text);
    if (typeof name !== 'string') return name;
    return name === siteHost ? { problem: 'own_host' } : takeApart(name);
  };
}

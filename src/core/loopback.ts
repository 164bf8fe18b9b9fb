/**
 * Which host names lead to this machine alone.
 *
 * Owns: the rule (RFC 6761 §6.3 for `localhost`, RFC 1122 §3.2.1.3 and RFC 4291 §2.5.3 for the addresses). Invariant: a
 * name that only begins or ends like one is none.
 */

/** @param host in lower case; an IPv6 address with or without its brackets */
export function isLoopbackHost(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}

/** Whether a URL leads to this machine, whichever machine opens it. */
export function isLoopbackUrl(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

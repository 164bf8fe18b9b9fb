/**
 * Which client a request came from. An address is believed only from a configured proxy, reading `X-Forwarded-For` right to
 * left; otherwise the client is the socket's peer (P22). One client is one IPv4 /24 or IPv6 /56, because a site's hosts
 * share those.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { TrustedProxies } from '../config/addresses.ts';

/** What a server offers to ask for the socket's peer; Bun's server object is one, an empty environment has none. */
export interface PeerSource {
  requestIP?(request: Request): { readonly address: string } | null;
}

/** The client's address in plain spelling. `peer` is absent where there is no socket. */
export type ClientAddressOf = (request: Request, peer: PeerSource | undefined) => string;

/** Used where there is no socket: handlers called directly, or a unix socket. */
export const addressWithoutSocket = '127.0.0.1';

/** Entries of `X-Forwarded-For` looked at, from the right; more than any chain of proxies has. */
const maxHops = 32;

/** Where a proxy of one's own stands: loopback, link-local, and the ranges of RFC 1918, RFC 6598 and RFC 4193. */
const nearby = new BlockList();
const nearbyRanges =
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 100.64.0.0/10 ::1/128 fc00::/7 fe80::/10';
for (const range of nearbyRanges.split(' ')) {
  const [network = '', bits] = range.split('/');
  nearby.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
}

function isNearby(address: string): boolean {
  return nearby.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

function isForwarded({ headers }: Request): boolean {
  return headers.has('x-forwarded-for') || headers.has('forwarded');
}

/**
 * @param onUntrustedProxy called once, when a nearby peer that is not trusted forwards a request: then all of a proxy's
 * visitors count as one client
 */
export function createClientAddressOf(
  trusted: TrustedProxies,
  onUntrustedProxy: () => void = () => {},
): ClientAddressOf {
  let isTold = false;

  function socketClient(request: Request, socketAddress: string): string {
    if (!isTold && isForwarded(request) && isNearby(socketAddress)) {
      isTold = true;
      onUntrustedProxy();
    }
    return socketAddress;
  }

  return (request, peer) => {
    const socketAddress = socketAddressOf(request, peer);
    if (trusted.ranges.length === 0 || !trusted.has(socketAddress))
      return socketClient(request, socketAddress);
    const forwarded = request.headers.get('x-forwarded-for');
    return forwarded === null ? socketAddress : clientOf(forwarded, socketAddress, trusted);
  };
}

function socketAddressOf(request: Request, peer: PeerSource | undefined): string {
  const address = peer?.requestIP?.(request)?.address;
  return address === undefined ? addressWithoutSocket : (parseAddress(address) ?? addressWithoutSocket);
}

/** The rightmost address that is no proxy of ours; the leftmost when all are; the socket's when one is garbage. */
function clientOf(forwarded: string, socketAddress: string, trusted: TrustedProxies): string {
  const entries = forwarded.split(',');
  let client = socketAddress;
  for (let at = entries.length - 1; at >= Math.max(0, entries.length - maxHops); at--) {
    const address = parseForwardedEntry(entries[at] ?? '');
    if (address === null) return socketAddress;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}

/** `203.0.113.9`, `203.0.113.9:4711`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:4711`. */
function parseForwardedEntry(entry: string): string | null {
  const text = entry.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? parseAddress(bracketed) : null;
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1];
  return parseAddress(withPort ?? text);
}

/** The address in plain spelling: no zone, and IPv4 where IPv6 only wraps it. `null` for anything else. */
export function parseAddress(text: string): string | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return text;
  const zone = text.indexOf('%');
  const address = (zone === -1 ? text : text.slice(0, zone)).toLowerCase();
  // Only what begins with zeros can wrap IPv4; the addresses of clients never do.
  if (address[0] !== ':' && address[0] !== '0') return address;
  const groups = groupsOf(address);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? ipv4Of(groups[6] ?? 0, groups[7] ?? 0) : address;
}

/**
 * `203.0.113.0/24` or `2001:db8:0:100::/56`: one spelling for each prefix.
 * @param address as `parseAddress` or a `ClientAddressOf` gives it.
 */
export function clientPrefixOf(address: string): string {
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  const [first = 0, second = 0, third = 0, fourth = 0] = groupsOf(address);
  return `${hex(first)}:${hex(second)}:${hex(third)}:${hex(fourth & 0xff00)}::/56`;
}

/** The eight groups of a valid IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = withoutDottedPart(address).split('::');
  const left = parseGroups(head);
  const right = parseGroups(tail ?? '');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...new Array<number>(zeros).fill(0), ...right];
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/** `::ffff:203.0.113.9` with its last 32 bits as two groups. */
function withoutDottedPart(address: string): string {
  if (!address.includes('.')) return address;
  const start = address.lastIndexOf(':') + 1;
  const [a = 0, b = 0, c = 0, d = 0] = address.slice(start).split('.').map(Number);
  return `${address.slice(0, start)}${hex((a << 8) | b)}:${hex((c << 8) | d)}`;
}

function ipv4Of(high: number, low: number): string {
  return `${high >> 8}.${high & 0xff}.${low >> 8}.${low & 0xff}`;
}

function hex(group: number): string {
  return group.toString(16);
}

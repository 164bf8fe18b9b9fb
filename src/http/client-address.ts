/**
 * Finds the client that sent a request: the socket's peer or, behind a trusted proxy, an address in `X-Forwarded-For`, read from right to
 * left (P22). An IPv4 /24 or IPv6 /56 counts as one client, because the hosts of one site share it.
 */
import { BlockList, isIP, isIPv4 } from 'node:net';
import type { TrustedProxies } from '../config/addresses.ts';

export interface PeerSource {
  requestIP?(request: Request): { readonly address: string } | null;
}

export type ClientAddressOf = (request: Request, peer: PeerSource | undefined) => string;

/** Used for handlers that are called directly and for Unix sockets. */
export const addressWithoutSocket = '127.0.0.1';

const maxHops = 32;

/** Where an operator's own proxy usually runs: loopback, link-local, and the ranges of RFC 1918, RFC 6598 and RFC 4193. */
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
 * @param onUntrustedProxy called once, when an untrusted nearby peer first forwards a request: all visitors behind that proxy then count as
 *   one client
 */
export function createClientAddressOf(
  trusted: TrustedProxies,
  onUntrustedProxy: () => void = () => {},
): ClientAddressOf {
  let isReported = false;

  function socketClient(request: Request, socketAddress: string): string {
    if (!isReported && isForwarded(request) && isNearby(socketAddress)) {
      isReported = true;
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

/** Returns the rightmost address that is not a trusted proxy. If all are trusted: the leftmost; if one is malformed: the socket's. */
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

/** Accepts an optional port, and IPv6 with or without brackets. */
function parseForwardedEntry(entry: string): string | null {
  const text = entry.trim();
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? parseAddress(bracketed) : null;
  const withPort = /^([\d.]+):\d{1,5}$/.exec(text)?.[1];
  return parseAddress(withPort ?? text);
}

/** Returns the canonical form: no zone, IPv4-mapped IPv6 as IPv4. Returns `null` for anything else. */
export function parseAddress(text: string): string | null {
  const version = isIP(text);
  if (version === 0) return null;
  if (version === 4) return text;
  const zone = text.indexOf('%');
  const address = (zone === -1 ? text : text.slice(0, zone)).toLowerCase();
  // Only an address that begins with zeros can wrap an IPv4 address, and a client's own IPv6 address never begins that way.
  if (address[0] !== ':' && address[0] !== '0') return address;
  const groups = groupsOf(address);
  const isMapped = groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);
  return isMapped ? ipv4Of(groups[6] ?? 0, groups[7] ?? 0) : address;
}

/**
 * Returns `203.0.113.0/24` or `2001:db8:0:100::/56`: each prefix has one spelling.
 * @param address in canonical form
 */
export function clientPrefixOf(address: string): string {
  if (!address.includes(':')) return `${address.slice(0, address.lastIndexOf('.'))}.0/24`;
  const [first = 0, second = 0, third = 0, fourth = 0] = groupsOf(address);
  return `${hex(first)}:${hex(second)}:${hex(third)}:${hex(fourth & 0xff00)}::/56`;
}

/** @param address valid IPv6 */
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

/** Rewrites `::ffff:203.0.113.9` with its last 32 bits as two groups. */
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

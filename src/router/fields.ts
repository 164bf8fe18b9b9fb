/**
 * The fields of a request on its way to a region.
 *
 * Owns: what is left out and what is added (RFC 9110 §7.6). Invariant: the region sees exactly one `X-Forwarded-For`, the
 * address that the router itself found; nothing that a client says of addresses, hosts or the connection passes, and no
 * field that the region decides by can be made to disappear.
 */

/** Of one connection, or written anew for the next. */
const dropped = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'expect',
  'host',
  'content-length',
  'via',
  // Claims about who asks and for what: the region's proxies in front of it would be the ones to make them.
  'forwarded',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-host',
  'x-original-host',
  'x-original-url',
  'x-rewrite-url',
]);
const forwardedPrefix = 'x-forwarded';

/** What a region decides by: none of it may count as absent because `Connection` names it. */
export const decisiveFields: ReadonlySet<string> = new Set([
  'authorization',
  'content-type',
  'sec-fetch-site',
  'origin',
  'cookie',
  'secret-passphrase',
  'idempotency-key',
  'access-control-request-method',
]);

export type Fields = [name: string, value: string][];

/**
 * @param via the router's own name, for `Via`
 * @returns `null` when `Connection` names what must not disappear, see `decisiveFields`
 */
export function fieldsForRegion(headers: Headers, clientAddress: string, via: string): Fields | null {
  const options = connectionOptions(headers.get('connection'));
  if (options.some((name) => decisiveFields.has(name))) return null;
  const fields: Fields = [];
  headers.forEach((value, name) => {
    if (dropped.has(name) || name.startsWith(forwardedPrefix) || options.includes(name)) return;
    fields.push([name, value]);
  });
  const before = headers.get('via');
  fields.push(
    ['x-forwarded-for', clientAddress],
    ['via', `${before === null ? '' : `${before}, `}1.1 ${via}`],
  );
  return fields;
}

const noOptions: readonly string[] = [];

function connectionOptions(value: string | null): readonly string[] {
  if (value === null || value === 'keep-alive' || value === 'close') return noOptions;
  return value.toLowerCase().split(/[\t ]*,[\t ]*/);
}

/**
 * Kinds of settings: how a text becomes a checked value.
 *
 * Owns: the parsers that the option table is written with. Invariant: a kind either yields a value that is safe to use
 * or says in words what is allowed; it never repairs a text (design: an unsafe value stops the start).
 */
import { isIP } from 'node:net';
import { parseRegionLabel, type Region, type RegionLabel } from '../core/regions.ts';
import { Sensitive } from '../core/sensitive.ts';

export type Parsed<T> = { readonly value: T } | { readonly problem: string };

export interface OptionKind<T> {
  /** What is allowed, as the end of "it must be …". */
  readonly allowed: string;
  /** The text is never empty: empty means not given. */
  readonly parse: (text: string) => Parsed<T>;
  /** How a value is shown by `mayfly config`; `String` where absent. */
  readonly show?: (value: T) => string;
}

function kind<T>(
  allowed: string,
  parse: (text: string) => T | undefined,
  show?: (value: T) => string,
): OptionKind<T> {
  return {
    allowed,
    parse: (text) => {
      const value = parse(text);
      return value === undefined ? { problem: `it must be ${allowed}` } : { value };
    },
    ...(show === undefined ? {} : { show }),
  };
}

/** The same kind where the option may be left out altogether. */
export function optional<T>(of: OptionKind<T>, shownAs = 'none'): OptionKind<T | null> {
  const show = of.show ?? String;
  return { ...of, show: (value) => (value === null ? shownAs : show(value)) };
}

/** The same kind for a text that must never be printed. */
export function sensitive(of: OptionKind<string>): OptionKind<Sensitive<string>> {
  return {
    allowed: of.allowed,
    parse: (text) => {
      const parsed = of.parse(text);
      return 'problem' in parsed ? parsed : { value: new Sensitive(parsed.value) };
    },
    show: () => 'set, not shown',
  };
}

export function wholeNumber(min: number, max: number): OptionKind<number> {
  return kind(`a whole number from ${min} to ${max}`, (text) => {
    if (!/^(0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
    const value = Number(text);
    return value >= min && value <= max ? value : undefined;
  });
}

const unitBytes: Readonly<Record<string, number>> = {
  MB: 1e6,
  MiB: 2 ** 20,
  GB: 1e9,
  GiB: 2 ** 30,
  TB: 1e12,
  TiB: 2 ** 40,
};

function parseByteSize(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,5}) ?([MGT]i?B)$/.exec(text) ?? [];
  const bytes = Number(digits) * (unitBytes[unit] ?? Number.NaN);
  return Number.isNaN(bytes) ? undefined : bytes;
}

function showByteSize(bytes: number): string {
  const units = Object.entries(unitBytes).sort(([, one], [, other]) => other - one);
  const [unit, size] = units.find(([, each]) => bytes % each === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}

/** A size in bytes; `null` for none. */
export const byteLimit: OptionKind<number | null> = kind<number | null>(
  'a size in MB, MiB, GB, GiB, TB or TiB, such as 500MB or 10GiB, or "none"',
  (text) => (text === 'none' ? null : parseByteSize(text)),
  (bytes) => (bytes === null ? 'none' : showByteSize(bytes)),
);

export function oneOf<const T extends string>(...allowed: readonly T[]): OptionKind<T> {
  return kind(allowed.map((word) => `"${word}"`).join(' or '), (text) =>
    allowed.find((word) => word === text),
  );
}

export const filePath: OptionKind<string> = kind('a path', (text) =>
  text.includes('\0') ? undefined : text,
);

/** Anything at all, byte for byte. */
export const anyText: OptionKind<string> = { allowed: 'text', parse: (text) => ({ value: text }) };

export const plainText: OptionKind<string> = kind('text without line breaks', (text) =>
  /[\r\n\0]/.test(text) ? undefined : text,
);

/** An address to listen on: `node:net` decides what an address is; names are what people put in a host file. */
export const listenAddress: OptionKind<string> = kind(
  'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0',
  (text) => (isIP(text) !== 0 || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text) ? text : undefined),
);

function parseUrl(text: string, protocols: readonly string[]): URL | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return protocols.includes(url.protocol) && url.hostname !== '' ? url : undefined;
}

/** Origin and path of an installation, without a trailing slash. */
export const baseUrl: OptionKind<string> = kind(
  'an http or https address without user, query or fragment, such as https://secrets.example.org',
  (text) => {
    const url = parseUrl(text, ['http:', 'https:']);
    if (url === undefined || url.username !== '' || url.password !== '') return undefined;
    if (text.includes('?') || text.includes('#')) return undefined;
    return url.origin + url.pathname.replace(/\/+$/, '');
  },
);

/** Only the form: what the connection may do is judged where mail is sent. */
export const smtpUrl: OptionKind<string> = kind(
  'an address such as smtps://user:password@mail.example.org:465 or smtp://localhost:25',
  (text) => (parseUrl(text, ['smtp:', 'smtps:']) === undefined ? undefined : text),
);

/** RFC 5322 addr-spec in its usual form, alone or after a name: `Mayfly <mayfly@example.org>`. */
export const mailSender: OptionKind<string> = kind(
  'an address such as mayfly@example.org or "Mayfly <mayfly@example.org>"',
  (text) => {
    const plain = /^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/;
    const named = /^[^<>\r\n\0]{1,100}<([^<>]{3,320})>$/.exec(text)?.[1];
    if (text.length > 430) return undefined;
    return plain.test(named ?? text) ? text : undefined;
  },
);

function listOf<T>(allowed: string, parseOne: (text: string) => T | undefined): OptionKind<readonly T[]> {
  return kind<readonly T[]>(
    allowed,
    (text) => {
      const values = text.split(',').map((part) => parseOne(part.trim()));
      return values.every((value) => value !== undefined) ? (values as T[]) : undefined;
    },
    (values) => (values.length === 0 ? 'none' : values.join(', ')),
  );
}

function parseAddressRange(text: string): string | undefined {
  const [address = '', prefix, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return undefined;
  const bits = family === 4 ? 32 : 128;
  if (prefix === undefined) return `${address}/${bits}`;
  return /^(0|[1-9][0-9]{0,2})$/.test(prefix) && Number(prefix) <= bits ? text : undefined;
}

/** A lone address counts as a range of one. */
export const addressRanges = listOf(
  'addresses or ranges with commas between them, such as 10.0.0.0/8, ::1',
  parseAddressRange,
);

/** Origins as browsers send them: RFC 6454 §6.1, lower case, without a trailing slash. */
export const origins = listOf(
  'origins with commas between them, such as https://app.example.org, written as a browser sends them',
  (text) => {
    const url = parseUrl(text, ['http:', 'https:']);
    return url !== undefined && url.origin === text ? text : undefined;
  },
);

function parseLocale(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    // Intl throws RangeError for anything that is no language tag: the refusal says so in our words.
    return undefined;
  }
}

/** BCP 47 tags. Whether a language is shipped is judged where languages are loaded. */
export const locale: OptionKind<string> = kind('a language tag such as en or pt-BR', parseLocale);
export const locales = listOf('language tags with commas between them, such as en, fr', parseLocale);

/** Where values live. The other stores have addresses of their own. */
export const storeAddress: OptionKind<'sqlite'> = {
  allowed: '"sqlite"',
  parse: (text) => {
    if (text === 'sqlite') return { value: 'sqlite' };
    const scheme = /^(postgres|postgresql|redis|rediss|valkey):\/\//.exec(text)?.[1];
    if (scheme === undefined) return { problem: 'it must be "sqlite"' };
    return { problem: `a ${scheme} store is not part of this version; leave it out or set it to "sqlite"` };
  },
};

/** `on`, `off`, or the path of a table. */
export type RateLimitSetting =
  | { readonly mode: 'on' }
  | { readonly mode: 'off' }
  | { readonly mode: 'file'; readonly path: string };

export const rateLimits: OptionKind<RateLimitSetting> = kind(
  '"on", "off" or the path of a JSON file',
  (text) => {
    if (text === 'on' || text === 'off') return { mode: text };
    return text.includes('/') || text.endsWith('.json') ? { mode: 'file', path: text } : undefined;
  },
  (value) => (value.mode === 'file' ? value.path : value.mode),
);

/** A host name of letters, digits and inner hyphens (RFC 1123 §2.1); one label is enough. */
const hostNameForm =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/;

export const domainName: OptionKind<string> = kind('a host name such as mail.example.org', (text) =>
  hostNameForm.test(text.toLowerCase()) ? text.toLowerCase() : undefined,
);

export const mailAddress: OptionKind<string> = kind('one address such as bounces@example.org', (text) =>
  text.length <= 320 && /^[^\s<>@,;:"]+@[^\s<>@,;:"]+$/.test(text) ? text : undefined,
);

/** An IP address with a port perhaps: `192.0.2.53`, `127.0.0.1:5353`, `[::1]:5353`. */
function parseDnsServer(text: string): string | undefined {
  const [, bracketed, plain, port = '53'] =
    /^(?:\[([^\]]+)\]|([^:]+|.*:.*:.*?))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const address = bracketed ?? plain ?? '';
  return isIP(address) !== 0 && Number(port) >= 1 && Number(port) <= 65_535 ? text : undefined;
}

export const dnsServers = listOf(
  'IP addresses with commas between them, with ports perhaps, such as 192.0.2.53, [2001:db8::53]:5353',
  parseDnsServer,
);

export const regionLabel: OptionKind<RegionLabel> = kind(
  'two characters of a-z and 0-9, such as us or eu',
  (text) => parseRegionLabel(text) ?? undefined,
);

function parseRegionUrl(text: string): Region | undefined {
  const [, label = '', address = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  const parsed = baseUrl.parse(address.trim());
  const known = parseRegionLabel(label.trim());
  return known === null || 'problem' in parsed ? undefined : { label: known, baseUrl: parsed.value };
}

const regionsForm =
  'labels of two characters, each with an http or https address, such as us=https://us.example.com,eu=https://eu.example.com';

function showRegions(values: readonly Region[]): string {
  return values.length === 0 ? 'none' : values.map(({ label, baseUrl: url }) => `${label}=${url}`).join(',');
}

/** A label may stand several times. */
export const regionUrls: OptionKind<readonly Region[]> = {
  ...listOf(regionsForm, parseRegionUrl),
  show: showRegions,
};

/** No label and no address stands twice. */
export const regions: OptionKind<readonly Region[]> = {
  ...regionUrls,
  parse: (text) => {
    const parsed = regionUrls.parse(text);
    if ('problem' in parsed) return parsed;
    const isUnique = (values: readonly string[]) => new Set(values).size === values.length;
    const { value } = parsed;
    return isUnique(value.map(({ label }) => label)) && isUnique(value.map(({ baseUrl: url }) => url))
      ? parsed
      : { problem: 'no label and no address may stand in it twice' };
  },
};

/** `us=3,eu=1`: whole numbers from 0 to 1,000, one of them above 0. */
export const regionWeights: OptionKind<Readonly<Record<string, number>>> = kind(
  'labels of regions, each with a whole number from 0 to 1000, one of them above 0, such as us=3,eu=1',
  (text) => {
    const pairs = text.split(',').map((part) => /^\s*([0-9a-z]{2})=(\d{1,4})\s*$/.exec(part));
    if (!pairs.every((pair) => pair !== null && Number(pair[2]) <= 1_000)) return undefined;
    const weights = Object.fromEntries(pairs.map((pair) => [pair?.[1] ?? '', Number(pair?.[2])]));
    const isWell =
      Object.keys(weights).length === pairs.length && Object.values(weights).some((weight) => weight > 0);
    return isWell ? weights : undefined;
  },
  (value) =>
    Object.entries(value)
      .map(([label, weight]) => `${label}=${weight}`)
      .join(','),
);

/** A day that exists, as ISO 8601 writes it. */
export const httpDate: OptionKind<string> = kind('a day such as 2027-01-31', (text) => {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return Number.isNaN(time) || !new Date(time).toISOString().startsWith(text) ? undefined : text;
});

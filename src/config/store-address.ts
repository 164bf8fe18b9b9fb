/**
 * The store's address: the embedded database or a PostgreSQL server.
 *
 * An address may contain a password, so it is shown without one, and no message quotes the input. Connections to other machines use TLS
 * with a valid certificate unless the address says otherwise.
 */
import { isLoopbackHost } from '../core/links.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Kind, Parsed, ReadText } from './kinds.ts';
import { readAs, whyUnread } from './text.ts';

/** Certificates and keys, in PEM. */
export interface StoreTls {
  /** Whether the server's certificate must be valid for its name. */
  readonly isVerified: boolean;
  /** `null` for the system's CAs. */
  readonly ca: string | null;
  /** This node's client certificate and its key: both or neither. */
  readonly cert: string | null;
  readonly key: Sensitive<string> | null;
}

export interface PostgresServer {
  /** For the driver, with the password. */
  readonly url: Sensitive<string>;
  /** For display, without the password. */
  readonly shown: string;
  readonly isLocal: boolean;
  /** `null` if not encrypted. */
  readonly tls: StoreTls | null;
}

export type StoreAddress = 'sqlite' | PostgresServer;

const form = 'postgres://user:password@host:port/database';
const parameters = ['host', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'] as const;
type Parameter = (typeof parameters)[number];
type Given = Readonly<Partial<Record<Parameter, string>>>;

/** Its message follows the variable's name, says what to do, and never quotes the address. */
class Objection extends Error {}

function givenIn({ searchParams }: URL): Given {
  const names = [...searchParams.keys()];
  const isKnown = (name: string) => parameters.some((known) => known === name);
  if (!names.every(isKnown))
    throw new Objection(` has an unknown parameter: only ${parameters.join(', ')} are allowed.`);
  if (new Set(names).size < names.length) throw new Objection(' has a parameter twice.');
  return Object.fromEntries(searchParams) as Given;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Objection(' is not percent-encoded: write % as %25, and the same for any of :/?#[]@.');
  }
}

/** A placeholder for the missing host of `postgres://user@/database?host=…`: the URL standard requires a host after a user. */
const noHost = '-';

function hostOf(url: URL, { host }: Given): string {
  const named = url.hostname === noHost ? '' : decoded(url.hostname);
  if (named !== '' && host !== undefined) throw new Objection(' names two hosts: remove ?host=….');
  const found = host ?? named;
  if (found === '') throw new Objection(` names no server: it must be ${form}.`);
  if (host !== undefined && !host.startsWith('/'))
    throw new Objection(' has a ?host=… that is not a socket’s folder: write a host before the database.');
  if (!found.startsWith('/') && !/^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?)$/i.test(found))
    throw new Objection(` names no server: it must be ${form}.`);
  return found;
}

function readPem(what: Parameter, path: string | undefined, readText: ReadText): string | null {
  if (path === undefined) return null;
  try {
    const text = readAs('document', readText(path));
    if (text.includes('-----BEGIN ')) return text;
  } catch (error) {
    throw new Objection(` names a file that ${whyUnread(error)} (${what}): ${path}`);
  }
  throw new Objection(` names a file that is not in PEM (${what}): ${path}`);
}

const modes = ['verify-full', 'verify-ca', 'require', 'no-verify', 'disable'];

/**
 * `require` and `verify-ca` also verify the name, as in node-postgres; libpq's `require` trusts any server. `prefer` is not allowed,
 * because an attacker on the network path could then turn TLS off.
 */
function tlsOf(given: Given, isLocal: boolean, readText: ReadText): StoreTls | null {
  const { sslmode = isLocal && given.sslrootcert === undefined ? 'disable' : 'verify-full' } = given;
  if (!modes.includes(sslmode))
    throw new Objection(' has an invalid sslmode: use verify-full, no-verify or disable.');
  const { sslrootcert, sslcert, sslkey } = given;
  if (sslmode === 'disable') {
    if ([sslrootcert, sslcert, sslkey].some((path) => path !== undefined))
      throw new Objection(' has certificates and sslmode=disable: remove one of them.');
    return null;
  }
  if ((sslcert === undefined) !== (sslkey === undefined))
    throw new Objection(' needs both sslcert and sslkey, or neither.');
  const key = readPem('sslkey', sslkey, readText);
  return {
    isVerified: sslmode !== 'no-verify',
    ca: readPem('sslrootcert', sslrootcert, readText),
    cert: readPem('sslcert', sslcert, readText),
    key: key === null ? null : new Sensitive(key),
  };
}

const defaultPort = '5432';

function readPostgres(text: string, readText: ReadText): PostgresServer {
  if (/^[a-z]+:\/\/(?:[^/?#]*@)?[^@/?#]*,/.test(text))
    throw new Objection(
      ' names several servers: use one address that reaches the primary, also after a failover.',
    );
  const url = URL.parse(text) ?? URL.parse(text.replace(/^([a-z]+:\/\/[^/?#]*@)\//, `$1${noHost}/`));
  if (url === null || url.hash !== '') throw new Objection(` is not usable: it must be ${form}.`);
  const given = givenIn(url);
  const host = hostOf(url, given);
  const database = decoded(url.pathname.slice(1));
  if (database === '' || database.includes('/'))
    throw new Objection(` names no database: it must be ${form}.`);
  const [user, password] = [decoded(url.username), decoded(url.password)];
  if (user === '' && password !== '') throw new Objection(' has a password but no user.');
  if (url.port === '0') throw new Objection(' has port 0, which is not allowed.');
  const isSocket = host.startsWith('/');
  const isLocal = isSocket || isLoopbackHost(host.toLowerCase());
  const place = isSocket
    ? `/${encodeURIComponent(database)}?host=${host.split('/').map(encodeURIComponent).join('/')}`
    : `${host}:${url.port || defaultPort}/${encodeURIComponent(database)}`;
  const shownUser = user === '' ? '' : `${encodeURIComponent(user)}@`;
  const logIn = password === '' ? shownUser : shownUser.replace('@', `:${encodeURIComponent(password)}@`);
  return {
    url: new Sensitive(`postgres://${logIn}${place}`),
    shown: `postgres://${shownUser}${place}`,
    isLocal,
    tls: tlsOf(given, isLocal, readText),
  };
}

function parse(text: string, readText: ReadText): Parsed<StoreAddress> {
  if (text === 'sqlite') return { value: text };
  const scheme = /^([a-z]+):\/\//.exec(text)?.[1];
  if (['redis', 'rediss', 'valkey'].includes(scheme ?? ''))
    return { problem: `this version has no ${scheme} store; set it to "sqlite" or ${form}` };
  if (scheme !== 'postgres' && scheme !== 'postgresql')
    return { problem: `it must be ${storeAddress.allowed}` };
  try {
    return { value: readPostgres(text, readText) };
  } catch (error) {
    if (!(error instanceof Objection)) throw error;
    return { objections: [error.message], isForServer: false };
  }
}

export const storeAddress: Kind<StoreAddress> = {
  allowed: `"sqlite" or ${form}`,
  isSecret: true,
  form: 'word',
  parse,
  show: (value) => (value === 'sqlite' ? value : value.shown),
};

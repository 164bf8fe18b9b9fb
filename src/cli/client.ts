/**
 * What the commands for people share: choosing the server, prompting for input, and turning errors into sentences.
 *
 * Credentials from the settings go to the configured server or, without one, to the server that this call names; a login's
 * credentials go only to its own server. A link cannot send them anywhere else.
 */
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  createClient,
  type MayflyClient,
  MayflyError,
  type ParsedLink,
  parseLink,
} from '../../sdk/mayfly.ts';
import type { Settings } from '../config/read.ts';
import { readAs } from '../config/text.ts';
import type { Sensitive } from '../core/sensitive.ts';
import { sizeWords } from '../ops/start-words.ts';
import { receiptLink } from '../protocol/link.ts';
import type { Clipboard } from './clipboard.ts';
import {
  type ExitCode,
  type Input,
  type OptionUsage,
  Refusal,
  readSettings,
  readTextFrom,
  UsageError,
  type World,
} from './command.ts';
import type { LoginPlace, Logins, LoginsOutcome } from './logins.ts';
import type { OutputFileOutcome } from './output-file.ts';
import type { Programs } from './programs.ts';
import { durationWords } from './terminal.ts';

export interface PeopleWorld extends World {
  /** Normalises a server's address. */
  readonly parseServerAddress: (
    text: string,
  ) => Promise<{ readonly value: string } | { readonly problem: string }>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly programs: Programs;
  readonly openOutputFile: (path: string, isReplacing: boolean) => Promise<OutputFileOutcome>;
  readonly openLogins: () => Promise<LoginsOutcome>;
  /** The server that npm fetched this command from, if any. */
  readonly fetchedFrom: () => Promise<string | null>;
  readonly openClipboard: () => Promise<Clipboard | null>;
}

export const serverOption: Readonly<Record<string, OptionUsage>> = {
  server: {
    value: 'URL',
    doc: 'the server; default: MAYFLY_SERVER, the server npx fetched this from, the latest login, or http://localhost:3000',
  },
};

export const passphraseOptions: Readonly<Record<string, OptionUsage>> = {
  passphrase: {
    instead: 'it prompts for the passphrase; --passphrase-file reads it from a file',
    doc: 'prompt for a passphrase',
  },
  'passphrase-file': { value: 'FILE', doc: 'read the passphrase from a file (-: standard input)' },
};

const unitSeconds: Record<string, number> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

export function parseTtl(text: string, name: string): number {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,9})([smhdw]?)$/.exec(text) ?? [];
  const factor = unitSeconds[unit];
  if (digits === '' || factor === undefined)
    throw new UsageError(`${name} takes a time such as 90s, 30m, 12h, 7d or 2w.`);
  return Number(digits) * factor;
}

/** Returns the server that `--server` names, or `null`. */
export async function namedServer(input: Input, world: PeopleWorld): Promise<string | null> {
  const text = input.texts.server;
  if (text === undefined) return null;
  const parsed = await world.parseServerAddress(text);
  if ('problem' in parsed) throw new UsageError(`--server: ${parsed.problem}.`);
  return parsed.value;
}

/**
 * Returns the server that npm fetched this package from, or `null`. Except with `--global`, npm records every package's address in a
 * hidden lock file next to it.
 *
 * Source: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json#hidden-lockfiles
 * @param folder the package's folder, if this runs from a package
 */
export async function fetchedFrom(folder: string): Promise<string | null> {
  try {
    const lock = JSON.parse(readAs('document', await readFile(join(folder, '..', '.package-lock.json'))));
    const { origin, pathname } = new URL(lock.packages[`node_modules/${basename(folder)}`].resolved);
    return /^(https?:.+)\/mayfly\.tgz$/.exec(origin + pathname)?.[1] ?? null;
  } catch {
    return null;
  }
}

export interface Caller {
  readonly username: string;
  readonly token: Sensitive<string>;
  readonly from: 'settings' | LoginPlace;
}

interface Choice {
  readonly server: string;
  /** `null` if anonymous. */
  readonly caller: Caller | null;
}

/** @throws Refusal */
export async function openLoginsOrRefuse(world: PeopleWorld): Promise<Logins> {
  const opened = await world.openLogins();
  if (opened.outcome === 'open') return opened.logins;
  throw new Refusal('logins_unusable', opened.problem);
}

/** Returns `null` if this user cannot have logins. @throws Refusal if they cannot be read */
async function loginsIfAny(world: PeopleWorld): Promise<Logins | null> {
  const opened = await world.openLogins();
  if (opened.outcome === 'refused') throw new Refusal('logins_unusable', opened.problem);
  return opened.outcome === 'open' ? opened.logins : null;
}

/** @throws Refusal if a login's token is unavailable, because without it the call would be anonymous */
async function loginAt(server: string, logins: Logins): Promise<Caller | null> {
  const login = logins.all.find((each) => each.server === server);
  if (login === undefined) return null;
  const token = await logins.tokenOf(login);
  if (token !== null) return { username: login.username, token, from: login.place };
  throw new Refusal(
    'keyring_closed',
    `This system’s keyring does not release the token for ${server}: unlock it, or log in again.`,
  );
}

/**
 * Settings win over logins. Without a named or configured server, uses the server that the command was fetched from, or else the latest
 * login's.
 * @param link the link to open, if any
 */
export async function chooseCaller(
  named: string | null,
  settings: Settings,
  link: string | null,
  world: PeopleWorld,
): Promise<Choice> {
  const { username, token } = settings;
  const isConfigured = settings.given.has('server');
  if ((username === null) !== (token === null))
    throw new UsageError('Set both MAYFLY_USERNAME and MAYFLY_TOKEN, or neither.');
  const own = username === null || token === null ? null : ({ username, token, from: 'settings' } as const);
  const logins = own === null ? await loginsIfAny(world) : null;
  const usual = isConfigured ? null : ((await world.fetchedFrom()) ?? logins?.all.at(-1)?.server);
  const chosen = named ?? usual ?? settings.server;
  // A named or configured server wins over the link's, because share domains point to it too.
  const linked = named !== null || isConfigured || link === null ? null : (parseLink(link)?.server ?? null);
  const server = linked ?? chosen;
  if (own === null) return { server, caller: logins === null ? null : await loginAt(server, logins) };
  return { server, caller: server === (isConfigured ? settings.server : chosen) ? own : null };
}

export interface ChosenClient {
  readonly client: MayflyClient;
  readonly server: string;
  readonly isAnonymous: boolean;
  readonly target: ParsedLink | null;
}

function patientFetch(server: string, { fetch, terminal }: PeopleWorld): PeopleWorld['fetch'] {
  return (url, init) => terminal.waiting(`Waiting for ${server}`, () => fetch(url, init));
}

export async function clientChooser(
  input: Input,
  world: PeopleWorld,
): Promise<(link: string | null) => Promise<ChosenClient>> {
  const settings = await readSettings(world);
  const named = await namedServer(input, world);
  return async (link) => {
    const { server, caller } = await chooseCaller(named, settings, link, world);
    const fetch = patientFetch(server, world);
    return {
      client: createClient({ server, ...(caller && { credentials: credentialsOf(caller) }), fetch }),
      server,
      isAnonymous: caller === null,
      target: link === null ? null : parseLink(link),
    };
  };
}

const credentialsOf = ({ username, token }: Caller) => ({ username, token: token.expose() });

/** @throws Refusal if the server refuses */
export async function withClient(
  input: Input,
  world: PeopleWorld,
  link: string | null,
  work: (client: MayflyClient, chosen: ChosenClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  const chosen = await (await clientChooser(input, world))(link);
  try {
    return await work(chosen.client, chosen);
  } catch (error) {
    throw error instanceof MayflyError ? new Refusal(error.code, sentenceOf(error, chosen)) : error;
  }
}

const untrusted =
  'its certificate is not trusted (for a private CA, set NODE_EXTRA_CA_CERTS to the CA’s file)';
const reasons: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  ENOTFOUND: 'no such host',
  ECONNREFUSED: 'connection refused',
};

/** Uses only the error's code, because its message contains the request's address, and with it a key (P18). */
export function unreachableSentence(server: string, fault: unknown): string {
  const code = typeof fault === 'object' && fault !== null && 'code' in fault ? String(fault.code) : '';
  const reason = Object.hasOwn(reasons, code) ? `: ${reasons[code]}` : '';
  return `${server} could not be reached${reason}.`;
}

type Chosen = Omit<ChosenClient, 'client'>;

/** An unknown key may be of the other kind or from a different server, so the secret may still exist. */
function unknownSentence({ hint }: MayflyError, { server, isAnonymous, target }: Chosen): string {
  if (hint !== null) return `There is no such secret at ${server}. ${hint}.`;
  const { kind, key, server: own } = target ?? { kind: 'secret', key: '', server };
  if (kind === 'receipt')
    return `${server} has no such receipt, or it belongs to an account: log in to that account.`;
  if (kind === 'secret' && own !== server)
    return `There is no such secret at ${server}. The link points to ${own}: try --server ${own}.`;
  if (kind === 'secret')
    return 'There is no such secret: it was read, burned or has expired, or the link is wrong.';
  const way = isAnonymous ? 'log in, or open' : 'open';
  return `Unknown key: its secret may be gone, or it may be a metadata key. If it is one, ${way} ${receiptLink(key, server)}`;
}

const isOfRequest = (kind?: ParsedLink['kind']): boolean => kind === 'ask' || kind === 'answers';

const howToLogIn = 'run mayfly login, or set MAYFLY_USERNAME and MAYFLY_TOKEN.';

export function sentenceOf(error: MayflyError, chosen: Chosen): string {
  const { server, isAnonymous, target } = chosen;
  if (error.code === 'unknown_secret') return unknownSentence(error, chosen);
  if (error.code === 'incorrect_passphrase')
    return 'The passphrase is missing or wrong. The secret was not opened.';
  if (error.code === 'code_required')
    return 'Opening this takes a code that is emailed to its recipient: run mayfly reveal LINK at a terminal, or open the link in a browser. Nothing was opened.';
  if (error.code === 'unknown_request')
    return `There is no such request at ${server}: it is gone, or the link is wrong. ${error.hint ?? ''}`.trim();
  if (error.code === 'incomplete_link' && isOfRequest(target?.kind))
    return 'The link is incomplete: its end, after #, is missing or damaged.';
  if (error.code === 'incomplete_link')
    return 'The link is incomplete: the 22 characters after # are missing or damaged. The secret was not opened.';
  if (error.code === 'not_sealed')
    return `This is the link of an end-to-end secret, but ${server} says its secret is a plain one. Nothing was read.`;
  // The limit applies to the request's body; base64 and the other fields take up a third of it.
  if (error.code === 'too_large' && /^the body /i.test(error.message)) {
    const size = sizeWords(Math.floor((error.limitBytes ?? 0) / 15_000) * 10_000);
    return `Too large: ${server} accepts about ${size} end to end${isAnonymous ? ' without an account' : ''}.`;
  }
  if (error.code === 'too_large' && error.limitBytes !== null)
    return `Too large: the limit of ${server} is ${sizeWords(error.limitBytes)}.`;
  if (error.code === 'insecure_address')
    return `${server} does not use https, which sharing end to end requires. Nothing was shared. With --plain the secret would travel unencrypted.`;
  if (error.code === 'idempotency_mismatch')
    return 'This idempotency key was used in the last 24 hours for another secret, or for an end-to-end one. Nothing was shared.';
  if (error.code === 'unreachable') return unreachableSentence(server, error.cause);
  if (error.code === 'not_authorized' && !isAnonymous)
    return `${server} does not accept this account with this token: see mayfly whoami.`;
  if (error.code === 'not_authorized') {
    const page = target === null ? '' : ` Its page may work without one: ${receiptLink(target.key, server)}`;
    return `This needs an account: ${howToLogIn}${page}`;
  }
  if (error.code === 'account_required') return `${error.message.replace(/\.$/, '')}: ${howToLogIn}`;
  return serverSentence(error);
}

/** Returns the server's message; a known retry time replaces "please try again later". */
function serverSentence({ code, message, retryAfterSeconds }: MayflyError): string {
  const ended = (text: string) => `${text}${/[.!?]$/.test(text) ? '' : '.'}`;
  // Only the creator can lift this lock, so waiting does not help.
  const isLocked = code === 'too_many_attempts' && !/try again/i.test(message);
  if (retryAfterSeconds === null || isLocked) return ended(message);
  const reason = message.replace(/[;,.:] *(please )?try again( later| in \d+ minutes?)?[.]?$/i, '');
  return `${ended(reason)} Try again in ${durationWords(retryAfterSeconds)}.`;
}

async function askPassphrase(world: World): Promise<string> {
  const answer = await world.terminal.askHidden('Passphrase: ');
  if (answer === null)
    throw new UsageError(
      'No terminal to ask for the passphrase: use --passphrase-file or MAYFLY_PASSPHRASE.',
    );
  return answer;
}

/** Tries the prompt, the file and the setting, in this order. */
export async function readPassphrase(input: Input, world: World): Promise<string | undefined> {
  if (input.flags.has('passphrase')) return askPassphrase(world);
  const source = input.texts['passphrase-file'];
  if (source !== undefined) return readTextFrom(source, 'value', world);
  const reading = await world.readConfig();
  return reading.outcome === 'read' ? reading.settings.passphrase?.expose() : undefined;
}

async function readLinkText([argument = '-']: readonly string[], world: World): Promise<string> {
  const { terminal } = world;
  const asked = argument === '-' && terminal.isInteractive ? await terminal.ask('Link or key: ') : null;
  const given = asked ?? argument;
  return given === '-' ? readTextFrom('-', 'word', world) : readAs('word', given);
}

/** By the kind of the link. */
const otherLinks = {
  secret: 'This link opens a secret: use mayfly reveal, or the receipt’s address, shown when it was shared.',
  receipt: 'This is the address of a receipt, which does not open the secret.',
  ask: 'This link is for answering a request: use mayfly answer.',
  answers: 'This link reads the answers to a request: use mayfly answers.',
} as const;

/** Reads the link or key from the first argument or standard input. An argument is fine: a link opens only once. */
export async function readLink(
  input: Input,
  world: World,
  wanted: keyof typeof otherLinks | 'either' = 'either',
): Promise<string> {
  const text = await readLinkText(input.args, world);
  if (text === '') throw new UsageError('Missing link: pass it as an argument or on standard input.');
  const kind = parseLink(text)?.kind ?? 'unknown';
  const isFine = wanted === 'either' ? !isOfRequest(kind) : kind === wanted;
  if (kind !== 'unknown' && !isFine) throw new Refusal('invalid_key', otherLinks[kind]);
  return text;
}

/**
 * What the commands for people share: choosing the server, asking for texts, and errors as sentences.
 *
 * Credentials of the settings go to the configured server, or without one to the server that this call names; those of a login to the
 * server that they were kept for. None go to wherever a link points.
 */
import { basename } from 'node:path';
import {
  type ClientOptions,
  createClient,
  type MayflyClient,
  MayflyError,
  type ParsedLink,
  parseLink,
  type SharedFile,
} from '../../sdk/mayfly.ts';
import type { Settings } from '../config/read.ts';
import { readAs } from '../config/text.ts';
import type { Sensitive } from '../core/sensitive.ts';
import { receiptLink } from '../protocol/link.ts';
import {
  type ExitCode,
  type Input,
  type OptionUsage,
  Refusal,
  readSettings,
  readTextFrom,
  refuse,
  UsageError,
  valueIsNoWord,
  type World,
} from './command.ts';
import type { LoginPlace, Logins } from './logins.ts';
import { unreachableSentence } from './reach.ts';
import { durationWords } from './terminal.ts';

export const serverOption: Readonly<Record<string, OptionUsage>> = {
  server: {
    type: 'string',
    value: 'URL',
    doc: 'the installation; without it MAYFLY_SERVER, the one that npx fetched this from, the latest login, or http://localhost:3000',
  },
};

export const passphraseOptions: Readonly<Record<string, OptionUsage>> = {
  passphrase: {
    type: 'boolean',
    instead: 'it asks, so that the passphrase is not seen; --passphrase-file reads it from a file',
    doc: 'ask for a passphrase',
  },
  'passphrase-file': {
    type: 'string',
    value: 'FILE',
    doc: 'read the passphrase from a file, - for standard input',
  },
};

const unitSeconds: Record<string, number> = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** @param name of the option or word, for the refusal */
export function parseTtl(text: string, name: string): number {
  const [, digits = '', unit = ''] = /^([1-9][0-9]{0,9})([smhdw]?)$/.exec(text) ?? [];
  const factor = unitSeconds[unit];
  if (digits === '' || factor === undefined)
    throw new UsageError(`${name} takes a time such as 90s, 30m, 12h, 7d or 2w.`);
  return Number(digits) * factor;
}

/** The server that this call names; `null` when it names none. */
export async function namedServer(input: Input, world: World): Promise<string | null> {
  const text = input.texts.server;
  if (text === undefined) return null;
  const parsed = await world.parseServerAddress(text);
  if ('problem' in parsed) throw new UsageError(`--server: ${parsed.problem}.`);
  return parsed.value;
}

/** As whom a call is made. */
export interface Caller {
  readonly username: string;
  readonly token: Sensitive<string>;
  readonly from: 'settings' | LoginPlace;
}

interface Choice {
  readonly server: string;
  /** `null`: anonymous. */
  readonly caller: Caller | null;
}

/** @throws Refusal */
export async function openLoginsOrRefuse(world: World): Promise<Logins> {
  const opened = await world.openLogins();
  if (opened.outcome === 'open') return opened.logins;
  throw new Refusal('logins_unusable', opened.problem);
}

/** `null` where this user can have none. @throws Refusal when they cannot be read */
async function loginsIfAny(world: World): Promise<Logins | null> {
  const opened = await world.openLogins();
  if (opened.outcome === 'refused') throw new Refusal('logins_unusable', opened.problem);
  return opened.outcome === 'open' ? opened.logins : null;
}

/** @throws Refusal when there is a login whose token cannot be had: to go on without it would be another caller */
async function loginAt(server: string, logins: Logins): Promise<Caller | null> {
  const login = logins.all.find((each) => each.server === server);
  if (login === undefined) return null;
  const token = await logins.tokenOf(login);
  if (token !== null) return { username: login.username, token, from: login.place };
  throw new Refusal(
    'keyring_closed',
    `The keyring of this system does not give out the token for ${server}: unlock it, or log in again.`,
  );
}

/**
 * Settings win over logins. Without a server that is named or set: the one that the command was fetched from, or the latest login's.
 * @param link that is to be opened
 */
export async function chooseCaller(
  named: string | null,
  settings: Settings,
  link: string | null,
  world: World,
): Promise<Choice> {
  const { username, token } = settings;
  const isConfigured = settings.given.has('server');
  if ((username === null) !== (token === null))
    throw new UsageError('MAYFLY_USERNAME and MAYFLY_TOKEN go together: set both or neither.');
  const own = username === null || token === null ? null : ({ username, token, from: 'settings' } as const);
  const logins = own === null ? await loginsIfAny(world) : null;
  const usual = isConfigured ? null : ((await world.fetchedFrom()) ?? logins?.all.at(-1)?.server);
  const chosen = named ?? usual ?? settings.server;
  // A link names its server, but a chosen server wins, because share domains point to it too.
  const linked = named !== null || isConfigured || link === null ? null : (parseLink(link)?.server ?? null);
  const server = linked ?? chosen;
  if (own === null) return { server, caller: logins === null ? null : await loginAt(server, logins) };
  return { server, caller: server === (isConfigured ? settings.server : chosen) ? own : null };
}

export interface ChosenClient {
  readonly client: MayflyClient;
  /** Its server, for sentences. */
  readonly server: string;
  readonly isAnonymous: boolean;
  /** The link or key that it is about, in its parts; `null` without one. */
  readonly target: ParsedLink | null;
}

function patientFetch(server: string, { fetch, terminal }: World): World['fetch'] {
  return (url, init) => terminal.waiting(`Waiting for ${server}`, () => fetch(url, init));
}

/** The client for each link, or for none. */
export async function clientChooser(
  input: Input,
  world: World,
): Promise<(link: string | null) => Promise<ChosenClient>> {
  const settings = await readSettings(world);
  const named = await namedServer(input, world);
  return async (link) => {
    const { server, caller } = await chooseCaller(named, settings, link, world);
    const fetch = patientFetch(server, world);
    return {
      client: createClient({ server, ...credentialsOf(caller), fetch }),
      server,
      isAnonymous: caller === null,
      target: link === null ? null : parseLink(link),
    };
  };
}

function credentialsOf(caller: Caller | null): Pick<ClientOptions, 'credentials'> {
  if (caller === null) return {};
  return { credentials: { username: caller.username, token: caller.token.expose() } };
}

/** Runs the work with a client; a refusal by the server becomes a sentence and exit code 1. */
export async function withClient(
  input: Input,
  world: World,
  link: string | null,
  work: (client: MayflyClient, chosen: ChosenClient) => Promise<ExitCode>,
): Promise<ExitCode> {
  const choose = await clientChooser(input, world);
  const chosen = await choose(link);
  try {
    return await work(chosen.client, chosen);
  } catch (error) {
    if (error instanceof MayflyError) return refuse(world, input, error.code, sentenceOf(error, chosen));
    throw error;
  }
}

export function receiptAddress(server: string, metadataKey: string): string {
  return receiptLink(metadataKey, server);
}

type Chosen = Omit<ChosenClient, 'client'>;

/** What is not known here may be of another kind or place: that does not mean that its secret is gone. */
function unknownSentence({ hint }: MayflyError, { server, isAnonymous, target }: Chosen): string {
  if (hint !== null) return `There is no such secret at ${server}. ${hint}.`;
  const { kind, key, server: own } = target ?? { kind: 'secret', key: '', server };
  if (kind === 'receipt')
    return `${server} has no such receipt, or it belongs to an account: log in to that.`;
  if (kind === 'secret' && own !== server)
    return `There is no such secret at ${server}. The link leads to ${own}: for another installation, add --server ${own}.`;
  if (kind === 'secret')
    return 'There is no such secret: it was read, burned, has expired, or never existed.';
  const way = isAnonymous ? 'log in, or open' : 'open';
  return `Nothing here has this key: its secret may be gone, or it is a key of the other kind. If it is a metadata key, ${way} ${receiptAddress(server, key)}`;
}

export function sentenceOf(error: MayflyError, chosen: Chosen): string {
  const { server, isAnonymous, target } = chosen;
  if (error.code === 'unknown_secret') return unknownSentence(error, chosen);
  if (error.code === 'incorrect_passphrase')
    return 'The passphrase is missing or wrong. The secret was not consumed.';
  if (error.code === 'incomplete_link')
    return 'The link is not whole: the 22 characters after its # are missing, cut or changed. The secret was not consumed.';
  if (error.code === 'not_sealed')
    return `The link is that of an end-to-end secret, and ${server} says that it has a plain one. Nothing was read.`;
  // The limit is that of a body: base64 and the other fields take a third of it.
  if (error.code === 'too_large' && /^the body /i.test(error.message)) {
    const kilobytes = Math.floor((error.limitBytes ?? 0) / 15_000) * 10;
    return `This is more than ${server} takes${isAnonymous ? ' without an account' : ''}: about ${kilobytes} kB end to end.`;
  }
  if (error.code === 'insecure_address')
    return `${server} is not reached over https, so nothing is shared end to end with it, and nothing was shared. With --plain the server encrypts it, and sees it on its way.`;
  if (error.code === 'idempotency_mismatch')
    return 'This idempotency key was used for another secret in the last 24 hours, or for one that was shared end to end. Nothing was shared.';
  if (error.code === 'unreachable') return unreachableSentence(server, error.cause);
  if (error.code === 'not_authorized' && !isAnonymous)
    return `${server} does not take this account with this token: see mayfly whoami.`;
  if (error.code === 'not_authorized') {
    const page =
      target === null ? '' : ` Its page may do it without one: ${receiptAddress(server, target.key)}`;
    return `This needs an account: use mayfly login, or set MAYFLY_USERNAME and MAYFLY_TOKEN.${page}`;
  }
  return serverSentence(error);
}

/** What the server says, and when to try again where it says that: once, in place of its own "please try again later". */
function serverSentence({ code, message, retryAfterSeconds }: MayflyError): string {
  const ended = (text: string) => `${text}${/[.!?]$/.test(text) ? '' : '.'}`;
  // Only the creator lifts this lock: waiting does not help.
  const isLocked = code === 'too_many_attempts' && !/try again/i.test(message);
  if (retryAfterSeconds === null || isLocked) return ended(message);
  const reason = message.replace(/[;,.:] *(please )?try again( later| in \d+ minutes?)?[.]?$/i, '');
  return `${ended(reason)} Try again in ${durationWords(retryAfterSeconds)}.`;
}

async function askPassphrase(world: World): Promise<string> {
  const answer = await world.terminal.askHidden('Passphrase: ');
  if (answer === null)
    throw new UsageError(
      'Nobody can be asked for the passphrase here: use --passphrase-file or MAYFLY_PASSPHRASE.',
    );
  return answer;
}

/** The passphrase from prompt, file or setting, in this order. */
export async function readPassphrase(input: Input, world: World): Promise<string | undefined> {
  if (input.flags.has('passphrase')) return askPassphrase(world);
  const source = input.texts['passphrase-file'];
  if (source !== undefined) return readTextFrom(source, 'value', world);
  const reading = await world.readConfig();
  return reading.outcome === 'read' ? reading.settings.passphrase?.expose() : undefined;
}

/** As `readPassphrase` for a new secret: a prompt asks twice, because a typo could not be corrected later. */
export async function readNewPassphrase(input: Input, world: World): Promise<string | undefined> {
  const first = await readPassphrase(input, world);
  if (!input.flags.has('passphrase')) return first;
  const again = await world.terminal.askHidden('The same again: ');
  if (again !== first) throw new UsageError('The two passphrases differ.');
  return first;
}

/**
 * The file to share, byte for byte, and its name without its folder. Its type is for the reader to find out.
 * @throws UsageError that does not repeat the word: it could be a value, which the shell's history and other users would see
 */
export async function readSharedFile(input: Input, world: World): Promise<SharedFile> {
  const [path = ''] = input.words;
  if (input.flags.has('exact'))
    throw new UsageError('--exact has no meaning with a file, which is shared byte for byte.');
  if (input.flags.has('plain'))
    throw new UsageError(
      'A file is only shared end to end. With --plain, pipe its text in: mayfly share --plain < FILE',
    );
  try {
    return { name: basename(path), type: '', bytes: await world.readFile(path) };
  } catch (error) {
    const isFound = error instanceof Error && 'code' in error && error.code !== 'ENOENT';
    throw new UsageError(
      isFound ? `This file cannot be read (${error.code}).` : `There is no such file. ${valueIsNoWord}`,
    );
  }
}

/** The value to share, typed or piped. */
export async function readValue(input: Input, world: World): Promise<string> {
  if (world.terminal.isInteractive)
    world.terminal.err('Type the secret, then press Ctrl-D on a line of its own:\n');
  return readTextFrom('-', input.flags.has('exact') ? 'exact' : 'value', world);
}

async function readLinkText([word = '-']: readonly string[], world: World): Promise<string> {
  const { terminal } = world;
  const asked = word === '-' && terminal.isInteractive ? await terminal.ask('Link or key: ') : null;
  const given = asked ?? word;
  return given === '-' ? readTextFrom('-', 'word', world) : readAs('word', given);
}

const otherLinks = {
  secret: 'This is the link of a receipt: it shows what became of the secret, and does not open it.',
  receipt:
    "This is the link that opens the secret. The receipt's address is needed, which was shown when it was shared.",
} as const;

/**
 * The link or key in the first word; without it or for `-` on standard input: an argument is fine for what opens once.
 * @param wanted what only will do
 */
export async function readLink(
  input: Input,
  world: World,
  wanted: 'secret' | 'receipt' | 'either' = 'either',
): Promise<string> {
  const text = await readLinkText(input.words, world);
  if (text === '') throw new UsageError('There is no link or key: give it as a word, or pipe it in.');
  const kind = parseLink(text)?.kind;
  const isOther = wanted !== 'either' && kind !== undefined && kind !== 'unknown' && kind !== wanted;
  if (isOther) throw new Refusal('invalid_key', otherLinks[wanted]);
  return text;
}

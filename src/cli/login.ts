/**
 * `mayfly login|logout|whoami`: an account for the commands for people, checked against its server before it is kept.
 *
 * The token is typed unseen or read from a file, never from an argument (P18).
 */
import type { Settings } from '../config/read.ts';
import { readAs } from '../config/text.ts';
import { unseenIn, unseenWords, usernameOf } from '../core/mail/recipients.ts';
import { Sensitive } from '../core/sensitive.ts';
import { type Caller, chooseCaller, namedServer, openLoginsOrRefuse, serverOption } from './client.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  Refusal,
  readSettings,
  readTextFrom,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import type { LoginPlace, Logins } from './logins.ts';
import { unreachableSentence } from './reach.ts';
import { plain } from './receipts.ts';

const limitMs = 30_000;

/** Whether the server takes these credentials. @throws Refusal when it does not say */
async function isAccepted(
  server: string,
  username: string,
  token: Sensitive<string>,
  { fetch, terminal }: World,
): Promise<boolean> {
  const basic = Buffer.from(`${username}:${token.expose()}`, 'utf8').toString('base64');
  const init = {
    headers: { Accept: 'application/json', Authorization: `Basic ${basic}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(limitMs),
  } as const;
  const answer = await terminal
    .waiting(`Waiting for ${server}`, () => fetch(`${server}/api/v2/authcheck`, init))
    .catch((fault: unknown) => {
      throw new Refusal('unreachable', unreachableSentence(server, fault));
    });
  if (answer.status === 401) return false;
  const body: unknown = await answer.json().catch(() => null);
  const isAnswer = typeof body === 'object' && body !== null && 'success' in body && body.success === true;
  if (isAnswer) return true;
  throw new Refusal('unexpected_answer', `${server} answers ${answer.status}, and not as Mayfly does.`);
}

function isOwnMachine(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);
}

async function serverToLogIn(input: Input, settings: Settings, world: World): Promise<string> {
  const named = await namedServer(input, world);
  if (named !== null || settings.given.has('server')) return named ?? settings.server;
  const usual = (await world.fetchedFrom()) ?? settings.server;
  const asked = await world.terminal.ask(`Server [${usual}]: `);
  if (asked === null || asked.trim() === '') return usual;
  const parsed = await world.parseServerAddress(asked);
  if ('problem' in parsed) throw new UsageError(`The server: ${parsed.problem}.`);
  return parsed.value;
}

async function readUsername(input: Input, world: World): Promise<string> {
  const [word = await world.terminal.ask('E-mail address of the account: ')] = input.words;
  if (word === null) throw new UsageError('Nobody can be asked here: give EMAIL and --token-file FILE.');
  const username = usernameOf(readAs('word', word));
  // Not quoted: it may be the token.
  if (!/^[^\s:@]+@[^\s:@]+$/.test(username) || unseenIn(username) !== null)
    throw new UsageError(`EMAIL is the e-mail address of the account${unseenWords(username)}.`);
  return username;
}

async function readToken(input: Input, world: World): Promise<Sensitive<string>> {
  const source = input.texts['token-file'];
  const text =
    source === undefined
      ? await world.terminal.askHidden('API token (it is not shown): ')
      : await readTextFrom(source, 'word', world);
  if (text === null)
    throw new UsageError(
      'Nobody can be asked for the token here: use --token-file FILE, - for standard input.',
    );
  const token = readAs('word', text);
  if (token === '') throw new UsageError('The token is empty.');
  return new Sensitive(token);
}

function notWritten(error: unknown, { path }: Logins): never {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
  throw new Refusal('not_written', `${path} cannot be written (${code}).`);
}

function placeWords(place: LoginPlace, path: string): string {
  return place === 'keyring' ? 'the keyring of this system' : `${path}, which only you can read`;
}

async function runLogin(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const logins = await openLoginsOrRefuse(world);
  const server = await serverToLogIn(input, settings, world);
  if (server.startsWith('http:') && !isOwnMachine(server))
    return refuse(
      world,
      input,
      'plain_http',
      `${server} would get the token in plain text: use its https address.`,
    );
  const username = await readUsername(input, world);
  const token = await readToken(input, world);
  if (!(await isAccepted(server, username, token, world)))
    return refuse(
      world,
      input,
      'not_authorized',
      `${server} does not know this address with this token. It takes API tokens, not the password: make one on your account's page.`,
    );
  const place = await logins
    .keep(server, username, token)
    .catch((error: unknown) => notWritten(error, logins));
  if (!input.json)
    world.terminal.err(
      `Logged in to ${server} as ${username}. The token is kept in ${placeWords(place, logins.path)}.\n`,
    );
  if (!input.json && settings.token !== null) world.terminal.err('MAYFLY_TOKEN is set, and wins over it.\n');
  return printResult(world, input, { server, username, kept: place }, []);
}

async function runLogout(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const logins = await openLoginsOrRefuse(world);
  const named =
    (await namedServer(input, world)) ??
    (settings.given.has('server') ? settings.server : await world.fetchedFrom());
  const login = named === null ? logins.all.at(-1) : logins.all.find((each) => each.server === named);
  if (login === undefined) {
    const where = named === null ? '' : ` to ${named}`;
    return refuse(world, input, 'not_logged_in', `You are not logged in${where}.`);
  }
  const isGone = await logins.remove(login).catch((error: unknown) => notWritten(error, logins));
  const { server, username } = login;
  if (!input.json)
    world.terminal.err(
      `Logged out of ${server}. The token itself still works elsewhere: your account's page there can revoke it.\n`,
    );
  if (!isGone)
    world.terminal.err(
      'The keyring of this system did not open, and keeps the token: remove "mayfly" from it.\n',
    );
  return printResult(world, input, { server, username }, []);
}

const sources: Readonly<Record<Caller['from'], string>> = {
  settings: 'with the token of MAYFLY_TOKEN',
  keyring: 'with the token in the keyring of this system',
  file: 'with the token in the file of mayfly login',
};

async function runWhoami(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const { server, caller } = await chooseCaller(await namedServer(input, world), settings, null, world);
  if (caller === null)
    return refuse(
      world,
      input,
      'not_logged_in',
      `You are not logged in to ${server}: see mayfly login --help.`,
    );
  const { username, token, from } = caller;
  if (!(await isAccepted(server, username, token, world)))
    return refuse(
      world,
      input,
      'not_authorized',
      `${server} does not know ${plain(username)} ${sources[from]}.`,
    );
  if (!input.json) world.terminal.err(`At ${server}, ${sources[from]}.\n`);
  return printResult(world, input, { server, username, from }, [plain(username)]);
}

export const loginCommands: readonly Command[] = [
  {
    path: ['login'],
    summary: 'keep an account of a server for these commands',
    words: ['[EMAIL]'],
    options: {
      'token-file': {
        type: 'string',
        value: 'FILE',
        doc: 'read the API token from a file, - for standard input, instead of asking',
      },
      ...serverOption,
    },
    example: 'mayfly login --server https://secrets.example.org',
    examples: ['mayfly login jo@example.org --token-file token.txt'],
    run: runLogin,
  },
  {
    path: ['logout'],
    summary: 'forget the account of a server',
    options: serverOption,
    example: 'mayfly logout --server https://secrets.example.org',
    run: runLogout,
  },
  {
    path: ['whoami'],
    summary: 'say as whom these commands act, and whether the server still agrees',
    options: serverOption,
    example: 'mayfly whoami',
    run: runWhoami,
  },
];

/**
 * `mayfly login|logout|whoami`: an account for people's commands, checked with its server before it is saved.
 *
 * The token is typed without echo or read from a file, never from an argument (P18).
 */
import type { Settings } from '../config/read.ts';
import { readAs } from '../config/text.ts';
import { unseenIn, unseenWords, usernameOf } from '../core/mail/recipients.ts';
import { Sensitive } from '../core/sensitive.ts';
import {
  type Caller,
  chooseCaller,
  namedServer,
  openLoginsOrRefuse,
  type PeopleWorld,
  unreachableSentence,
} from './client.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  readSettings,
  readTextFrom,
  say,
  UsageError,
  warn,
} from './command.ts';
import type { Logins } from './logins.ts';
import { reasonOf } from './output-file.ts';
import { plain } from './receipts.ts';

const limitMs = 30_000;

/** @throws Refusal if the server gives no clear answer */
async function isAccepted(
  server: string,
  username: string,
  token: Sensitive<string>,
  { fetch, terminal }: PeopleWorld,
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
  throw new Refusal('unexpected_answer', `${server} answers ${answer.status}, and not like a Mayfly server.`);
}

function isOwnMachine(server: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(server).hostname);
}

async function serverToLogIn(input: Input, settings: Settings, world: PeopleWorld): Promise<string> {
  const named = await namedServer(input, world);
  if (named !== null || settings.given.has('server')) return named ?? settings.server;
  const usual = (await world.fetchedFrom()) ?? settings.server;
  const asked = await world.terminal.ask(`Server [${usual}]: `);
  if (asked === null || asked.trim() === '') return usual;
  const parsed = await world.parseServerAddress(asked);
  if ('problem' in parsed) throw new UsageError(`Server: ${parsed.problem}.`);
  return parsed.value;
}

async function readUsername(input: Input, world: PeopleWorld): Promise<string> {
  const [given = await world.terminal.ask('Email address of the account: ')] = input.args;
  if (given === null)
    throw new UsageError('No terminal to ask for the account: pass EMAIL and --token-file FILE.');
  const username = usernameOf(readAs('word', given));
  // Not quoted: it may be the token.
  if (!/^[^\s:@]+@[^\s:@]+$/.test(username) || unseenIn(username) !== null)
    throw new UsageError(`EMAIL must be the account’s email address${unseenWords(username)}.`);
  return username;
}

async function readToken(input: Input, world: PeopleWorld): Promise<Sensitive<string>> {
  const source = input.texts['token-file'];
  const text =
    source === undefined
      ? await world.terminal.askHidden('API token (not shown): ')
      : await readTextFrom(source, 'word', world);
  if (text === null)
    throw new UsageError('No terminal to ask for the token: use --token-file FILE (-: standard input).');
  const token = readAs('word', text);
  if (token === '') throw new UsageError('The token is empty.');
  return new Sensitive(token);
}

function notWritten(error: unknown, { path }: Logins): never {
  throw new Refusal('not_written', `${path} cannot be written (${reasonOf(error)}).`);
}

async function runLogin(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const logins = await openLoginsOrRefuse(world);
  const server = await serverToLogIn(input, settings, world);
  if (server.startsWith('http:') && !isOwnMachine(server))
    throw new Refusal(
      'plain_http',
      `The token would travel to ${server} unencrypted: use its https address.`,
    );
  const username = await readUsername(input, world);
  const token = await readToken(input, world);
  if (!(await isAccepted(server, username, token, world)))
    throw new Refusal(
      'not_authorized',
      `${server} does not accept this address with this token. Use an API token, not the password: create one on your account’s page.`,
    );
  const place = await logins
    .keep(server, username, token)
    .catch((error: unknown) => notWritten(error, logins));
  const kept = place === 'keyring' ? 'this system’s keyring' : `${logins.path}, readable only by you`;
  const done = `Logged in to ${server} as ${username}. The token is in ${kept}.`;
  printDone(world, input, { server, username, kept: place }, done);
  if (settings.token !== null) say(world, input, 'MAYFLY_TOKEN is set and overrides this login.');
  return 0;
}

async function runLogout(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const logins = await openLoginsOrRefuse(world);
  const named =
    (await namedServer(input, world)) ??
    (settings.given.has('server') ? settings.server : await world.fetchedFrom());
  const login = named === null ? logins.all.at(-1) : logins.all.find((each) => each.server === named);
  if (login === undefined) {
    const where = named === null ? '' : ` to ${named}`;
    throw new Refusal('not_logged_in', `You are not logged in${where}.`);
  }
  const isGone = await logins.remove(login).catch((error: unknown) => notWritten(error, logins));
  const { server, username } = login;
  const elsewhere = 'The token still works elsewhere: revoke it on your account’s page there.';
  printDone(world, input, { server, username }, `Logged out of ${server}. ${elsewhere}`);
  if (!isGone) warn(world, 'The keyring did not open and still has the token: remove "mayfly" from it.');
  return 0;
}

const sources: Readonly<Record<Caller['from'], string>> = {
  settings: 'with the token in MAYFLY_TOKEN',
  keyring: 'with the token in this system’s keyring',
  file: 'with the token in mayfly login’s file',
};

async function runWhoami(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const { server, caller } = await chooseCaller(await namedServer(input, world), settings, null, world);
  if (caller === null)
    throw new Refusal('not_logged_in', `You are not logged in to ${server}: see mayfly login --help.`);
  const { username, token, from } = caller;
  if (!(await isAccepted(server, username, token, world)))
    throw new Refusal('not_authorized', `${server} does not accept ${plain(username)} ${sources[from]}.`);
  say(world, input, `At ${server}, ${sources[from]}.`);
  return printResult(world, input, { server, username, from }, [plain(username)]);
}

export const loginCommands: readonly Command<PeopleWorld>[] = [
  command('login [EMAIL]', {
    summary: 'log in to a server',
    options: {
      'token-file': {
        value: 'FILE',
        doc: 'read the API token from a file (-: standard input) instead of asking',
      },
    },
    example: 'mayfly login --server https://secrets.example.org',
    examples: ['mayfly login jo@example.org --token-file token.txt'],
    run: runLogin,
  }),
  command('logout', {
    summary: 'log out of a server',
    example: 'mayfly logout --server https://secrets.example.org',
    run: runLogout,
  }),
  command('whoami', {
    summary: 'show the account in use, and check it with its server',
    example: 'mayfly whoami',
    run: runWhoami,
  }),
];

/**
 * `mayfly run` puts secrets into a program's environment, and nowhere else.
 *
 * A reveal cannot be undone, and people should not be asked in vain, so everything else is checked first: names, links, the program, whether every secret is still unread, and
 * every passphrase that the server can check. It cannot check the passphrase of an end-to-end secret, so those secrets are opened first.
 * Values appear in no message, argument or file, nor in this process's environment (P18).
 */
import { MayflyError, parseLink, type Revealed } from '../../sdk/mayfly.ts';
import { readAs } from '../config/text.ts';
import { nextAnswer, showAsked } from './asking.ts';
import {
  type ChosenClient,
  clientChooser,
  type PeopleWorld,
  passphraseOptions,
  readPassphrase,
  sentenceOf,
} from './client.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  Refusal,
  readTextFrom,
  UsageError,
  type World,
} from './command.ts';
import { contentLines, fileLabel, maxVariables, nameRule, splitAssignment } from './env-file.ts';
import type { ProgramExit } from './programs.ts';
import { plain } from './receipts.ts';
import { drawLook, endLook, isUnsure, revealWith } from './second-look.ts';

interface NamedLink {
  readonly name: string;
  readonly link: string;
  readonly key: string;
  /** Whether the link has a fragment, which opens an end-to-end secret. */
  readonly isWhole: boolean;
}

/** A variable whose value a person is asked for. */
interface NamedPrompt {
  readonly name: string;
  readonly prompt: string;
}

interface Entry {
  /** Identifies the entry without quoting it. */
  readonly label: string;
  readonly text: string;
}

async function readEntries(input: Input, world: World): Promise<Entry[]> {
  const { secret: given = [] } = input.lists;
  const file = input.texts['secrets-file'];
  if (file === '-' && input.texts['passphrase-file'] === '-')
    throw new UsageError('Links and passphrase cannot both come from standard input: put one in a file.');
  const entries = given.map((text, index) => ({ label: `--secret number ${index + 1}`, text }));
  if (file === undefined) return entries;
  const lines = contentLines(await readTextFrom(file, 'lines', world));
  return [
    ...entries,
    ...lines.map(({ number, text }) => ({ label: `${fileLabel(file)}, line ${number}`, text })),
  ];
}

function parseEntry(
  { text }: Entry,
  earlier: readonly NamedLink[],
): NamedLink | { readonly problem: string } {
  const split = splitAssignment(text);
  if (split === null) return { problem: `it is not NAME=LINK; ${nameRule}` };
  const [name, link] = split;
  const parsed = parseLink(link);
  if (parsed === null || parsed.kind === 'receipt')
    return { problem: 'the text after = is not a secret’s link or key' };
  if (earlier.some((other) => other.name === name)) return { problem: 'duplicate name' };
  if (earlier.some((other) => other.key === parsed.key))
    return { problem: 'duplicate link, which opens only once' };
  return { name, link, key: parsed.key, isWhole: parsed.fragment !== null };
}

/** @throws UsageError */
function parsePrompts(texts: readonly string[] = [], links: readonly NamedLink[]): NamedPrompt[] {
  const prompts = texts.map((text, index) => {
    const [name, prompt] = splitAssignment(text) ?? [];
    if (name === undefined || !prompt)
      throw new UsageError(`--ask number ${index + 1}: it is not NAME=PROMPT; ${nameRule}.`);
    return { name, prompt };
  });
  const names = new Set([...links, ...prompts].map(({ name }) => name));
  if (names.size < links.length + prompts.length) throw new UsageError('--ask: duplicate name.');
  return prompts;
}

/** @throws UsageError with a line for each wrong entry, up to ten */
function parseEntries(entries: readonly Entry[]): NamedLink[] {
  const links: NamedLink[] = [];
  const problems: string[] = [];
  for (const entry of entries) {
    const parsed = parseEntry(entry, links);
    if ('problem' in parsed) problems.push(`${entry.label}: ${parsed.problem}.`);
    else links.push(parsed);
  }
  if (problems.length > 0) throw new UsageError(problems.slice(0, 10).join('\n'));
  if (links.length > maxVariables) throw new UsageError(`Too many secrets: the limit is ${maxVariables}.`);
  return links;
}

/** Loaders, shells and runtimes find code through these variables, so the link's creator could choose what runs. */
const codeNames =
  /^(?:LD_.+|DYLD_.+|PATH|SHELL|ENV|BASH_ENV|PERL5(?:LIB|OPT|DB)|PYTHON(?:PATH|HOME|STARTUP)|RUBY(?:LIB|OPT)|NODE_(?:OPTIONS|PATH)|BUN_OPTIONS|(?:JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS|CLASSPATH|GIT_(?:SSH|SSH_COMMAND|ASKPASS|EXEC_PATH)|EDITOR|VISUAL|PAGER)$/;

function warnOfCode(links: readonly Pick<NamedLink, 'name'>[], world: World): void {
  const names = links.map(({ name }) => name).filter((name) => codeNames.test(name));
  if (names.length === 0) return;
  const sets = names.length === 1 ? 'decides' : 'decide';
  const warning = `${listed(names)} ${sets} which code COMMAND runs. Use such a link only if you trust its sender.`;
  world.terminal.err(`${world.terminal.tint('err', 'warning', warning)}\n`);
}

interface NamedSecret extends NamedLink, ChosenClient {}

class Stop extends Refusal {
  /** Names whose values were read and lost. */
  readonly lost: readonly string[];
  /** The name whose value may have been read. */
  readonly unsure: string | null;

  constructor(code: string, sentence: string, lost: readonly string[] = [], unsure: string | null = null) {
    super(code, sentence);
    this.lost = lost;
    this.unsure = unsure;
  }
}

/** Returns `A`, `A and B`, or `A, B and C`. */
function listed(names: readonly string[]): string {
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ');
}

function lossWords({ lost, unsure }: Stop): string {
  if (lost.length === 0 && unsure === null) return 'Nothing was read.';
  const gone =
    lost.length === 0 ? [] : [`${listed(lost)} ${lost.length === 1 ? 'was' : 'were'} read and lost.`];
  return [...gone, ...(unsure === null ? [] : [`${unsure} may have been read.`])].join(' ');
}

/** @param chosen the client that was refused */
function stopFor(
  name: string,
  chosen: ChosenClient,
  error: unknown,
  ...more: readonly [lost?: readonly string[], unsure?: string | null]
): Stop {
  if (error instanceof Refusal) return new Stop(error.code, `${name}: ${error.message}`);
  if (!(error instanceof MayflyError)) throw error;
  return new Stop(error.code, `${name}: ${sentenceOf(error, chosen)}`, ...more);
}

/** Returns the secrets that have a passphrase. @throws Stop, naming every secret that cannot be opened */
async function assertWaiting(secrets: readonly NamedSecret[]): Promise<ReadonlySet<NamedSecret>> {
  const protectedOnes = new Set<NamedSecret>();
  const stops: Stop[] = [];
  for (const secret of secrets) {
    try {
      const waiting = await secret.client.status(secret.link);
      if (waiting === null) throw new MayflyError('unknown_secret', '');
      if (waiting.isSealed && !secret.isWhole) throw new MayflyError('incomplete_link', '');
      if (!waiting.isSealed && secret.isWhole) throw new MayflyError('not_sealed', '');
      if (waiting.needsCode) throw new MayflyError('code_required', '');
      if (waiting.hasPassphrase) protectedOnes.add(secret);
    } catch (error) {
      stops.push(stopFor(secret.name, secret, error));
    }
  }
  const [first] = stops;
  if (first === undefined) return protectedOnes;
  throw new Stop(first.code, stops.map(({ message }) => message).join('\n'));
}

/** Returns passphrases by name, each checked if the server can check it. @throws Stop */
async function provePassphrases(
  protectedOnes: ReadonlySet<NamedSecret>,
  given: string | undefined,
  world: World,
): Promise<ReadonlyMap<string, string>> {
  const passphrases = new Map<string, string>();
  for (const secret of protectedOnes) {
    const passphrase = given ?? (await world.terminal.askHidden(`Passphrase for ${secret.name}: `));
    if (passphrase === null) {
      const sentence = `${secret.name} needs a passphrase: use --passphrase-file or MAYFLY_PASSPHRASE.`;
      throw new Stop('incorrect_passphrase', sentence);
    }
    try {
      if (!secret.isWhole) await secret.client.inspect(secret.link, { passphrase });
    } catch (error) {
      throw stopFor(secret.name, secret, error);
    }
    passphrases.set(secret.name, passphrase);
  }
  return passphrases;
}

/** @throws Stop if a variable cannot hold the value */
function textOf({ value, file }: Revealed, { name }: NamedSecret, lost: readonly string[]): string {
  const text = value ?? decodeOrNull(file?.bytes ?? new Uint8Array());
  if (text === null) throw new Stop('not_text', `${name} is a file that is not text.`, [...lost, name]);
  if (!text.includes('\0')) return text;
  const sentence = `${name} contains a NUL byte, which environment variables cannot hold.`;
  throw new Stop('nul_byte', sentence, [...lost, name]);
}

function decodeOrNull(bytes: Uint8Array): string | null {
  try {
    return readAs('exact', bytes);
  } catch {
    return null;
  }
}

async function reveal(secret: NamedSecret, passphrase: string | undefined, lost: readonly string[]) {
  const { name, client, link } = secret;
  const look = drawLook();
  try {
    const revealed = await revealWith(client, link, passphrase, look);
    await endLook(client, link, look);
    return textOf(revealed, secret, lost);
  } catch (error) {
    if (error instanceof Stop) throw error;
    throw stopFor(name, secret, error, lost, isUnsure(error) ? name : null);
  }
}

/** Returns the values by name. @throws Stop at the first secret that cannot be opened, leaving the rest unread */
async function revealAll(
  secrets: readonly NamedSecret[],
  passphrases: ReadonlyMap<string, string>,
  isExact: boolean,
): Promise<Map<string, string>> {
  const values = new Map<string, string>();
  // These are opened first, so that a wrong passphrase among them costs none of the other secrets.
  const isUnproven = ({ isWhole, name }: NamedSecret) => isWhole && passphrases.has(name);
  const inTurn = [...secrets.filter(isUnproven), ...secrets.filter((secret) => !isUnproven(secret))];
  for (const secret of inTurn) {
    const value = await reveal(secret, passphrases.get(secret.name), [...values.keys()]);
    values.set(secret.name, readAs(isExact ? 'exact' : 'value', value));
  }
  return values;
}

/** Sends all requests at once, so that people can answer in any order. @throws Stop if an answer cannot come */
async function askPeople(
  prompts: readonly NamedPrompt[],
  chosen: ChosenClient,
  world: PeopleWorld,
): Promise<NamedSecret[]> {
  const { client } = chosen;
  const asked: { readonly name: string; readonly answersLink: string }[] = [];
  const answered: NamedSecret[] = [];
  let current = '';
  try {
    for (const { name, prompt } of prompts) {
      current = name;
      const made = await client.ask({ prompt });
      await showAsked(made, world);
      asked.push({ name, answersLink: made.answersLink });
    }
    for (const { name, answersLink } of asked) {
      current = name;
      const link = await nextAnswer(client, answersLink, world);
      answered.push({ ...chosen, name, link, key: parseLink(link)?.key ?? '', isWhole: true });
    }
    return answered;
  } catch (error) {
    throw stopFor(current, chosen, error);
  }
}

async function runWith(
  secrets: readonly NamedSecret[],
  prompts: readonly NamedPrompt[],
  chosen: ChosenClient,
  input: Input,
  world: PeopleWorld,
): Promise<ProgramExit> {
  const [command = '', ...args] = input.rest;
  const file = await world.programs.find(command);
  if (file === null) throw new Stop('command_not_found', `Command not found: ${plain(command)}.`);
  const given = await readPassphrase(input, world);
  const protectedOnes = await assertWaiting(secrets);
  const passphrases = await provePassphrases(protectedOnes, given, world);
  const answered = await askPeople(prompts, chosen, world);
  const opened = [...secrets, ...answered];
  const variables = await revealAll(opened, passphrases, input.flags.has('exact'));
  const ended = await world.programs.run({ file, args, variables });
  if (ended.outcome === 'ended') return ended.exit;
  const sentence = `${plain(command)} could not be started (${ended.reason}).`;
  const lost = opened.map(({ name }) => name);
  throw new Stop('not_started', sentence, lost);
}

async function runRun(input: Input, world: PeopleWorld): Promise<ExitCode | ProgramExit> {
  const links = parseEntries(await readEntries(input, world));
  const prompts = parsePrompts(input.lists.ask, links);
  if (links.length + prompts.length === 0)
    throw new UsageError('Missing secrets: use --secret NAME=LINK, --secrets-file or --ask NAME=PROMPT.');
  warnOfCode([...links, ...prompts], world);
  const choose = await clientChooser(input, world);
  const secrets = await Promise.all(links.map(async (each) => ({ ...each, ...(await choose(each.link)) })));
  try {
    return await runWith(secrets, prompts, await choose(null), input, world);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const { code, lost, unsure, message } = error;
    if (input.json) world.terminal.out(`${JSON.stringify({ error: code, lost, unsure })}\n`);
    world.terminal.err(
      `${world.terminal.tint('err', 'refusal', message)}\nThe command was not started. ${lossWords(error)}\n`,
    );
    return 1;
  }
}

export const environmentCommands: readonly Command<PeopleWorld>[] = [
  command('run -- COMMAND [ARGS]', {
    summary: 'run a command with secrets in its environment',
    options: {
      secret: {
        value: 'NAME=LINK',
        isRepeatable: true,
        doc: 'open LINK into the variable NAME; repeatable; visible in ps and the shell history',
      },
      'secrets-file': {
        value: 'FILE',
        doc: 'read NAME=LINK lines from a file (-: standard input); not visible in ps',
      },
      ask: {
        value: 'NAME=PROMPT',
        isRepeatable: true,
        doc: 'ask a person, print a link to answer, wait, and put the answer into NAME; repeatable',
      },
      ...passphraseOptions,
      exact: {
        doc: 'pass values byte for byte; otherwise a byte order mark and the line break after a single line are dropped',
      },
    },
    example: 'mayfly run --secrets-file links.txt -- ./deploy.sh --to production',
    examples: ["mayfly run --ask DB_PASSWORD='The database password' -- ./deploy.sh"],
    run: runRun,
  }),
];

/**
 * `mayfly reveal` writes only the value to standard output, byte for byte, except for control characters on a terminal. A file goes to the
 * current folder, because its reader cannot know beforehand that it is a file.
 *
 * A reveal cannot be undone, so the output file or clipboard is opened first. If writing fails afterwards, a text is printed instead. The
 * second look ends only once the value is delivered.
 */
import { extname } from 'node:path';
import { cut } from '../../sdk/file-name.ts';
import type { MayflyClient, Revealed } from '../../sdk/mayfly.ts';
import { sixteenBytesForm } from '../protocol/base64url.ts';
import { type PeopleWorld, passphraseOptions, readLink, readPassphrase, withClient } from './client.ts';
import type { Clipboard } from './clipboard.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  type OptionUsage,
  printDone,
  printResult,
  Refusal,
  say,
  UsageError,
  type World,
  warn,
} from './command.ts';
import { type OutputFile, reasonOf } from './output-file.ts';
import { plain } from './receipts.ts';
import {
  drawLook,
  endLook,
  isUnsure,
  noteFor,
  noteWords,
  passphraseFor,
  readLook,
  repeatWords,
  revealWith,
  type SecondLook,
  withCode,
} from './second-look.ts';
import { escaped } from './terminal.ts';

export type Destination =
  /** Text goes to standard output, a file to the current folder. */
  | { readonly to: 'usual' }
  | { readonly to: 'output' }
  | { readonly to: 'file'; readonly path: string; readonly file: OutputFile }
  | { readonly to: 'clipboard'; readonly clipboard: Clipboard };

export function assertOneDestination({ texts, flags }: Input): void {
  const { out } = texts;
  if (out !== undefined && flags.has('copy')) throw new UsageError('Use either --out or --copy.');
  if ((out ?? '-') === '-' && flags.has('force')) throw new UsageError('--force needs --out FILE.');
  if (out === '') throw new UsageError('--out takes a file name, or - for standard output.');
}

export const noClipboard =
  'No clipboard found: it takes a terminal, or a desktop with wl-copy, xclip or xsel.';

export async function openDestination({ texts, flags }: Input, world: PeopleWorld): Promise<Destination> {
  const { out: path } = texts;
  if (path === '-') return { to: 'output' };
  if (path !== undefined) {
    const opened = await world.openOutputFile(path, flags.has('force'));
    if (opened.outcome === 'open') return { to: 'file', path, file: opened.file };
    throw new Refusal('not_written', `${opened.problem} Nothing was read.`);
  }
  if (!flags.has('copy')) return { to: 'usual' };
  const clipboard = await world.openClipboard();
  if (clipboard !== null) return { to: 'clipboard', clipboard };
  throw new Refusal('no_clipboard', `${noClipboard} Nothing was read.`);
}

/** The secret was read but could not be delivered. */
class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

export function contentOf({ value, file }: Revealed): string | Uint8Array {
  return value ?? file?.bytes ?? '';
}

function write(content: string | Uint8Array, { terminal }: World): void {
  try {
    terminal.out(content);
  } catch (error) {
    throw new NotDelivered(`The value could not be written (${reasonOf(error)}).`);
  }
}

/** Sanitises a value and ends it with a line break. Used only for a terminal, because either would corrupt a file. */
function forTerminal(value: string, world: World): string {
  const shown = escaped(value);
  if (shown !== value)
    warn(world, 'Control characters are shown escaped. Redirect the output to get them unchanged.');
  return value.endsWith('\n') ? shown : `${shown}\n`;
}

function print(revealed: Revealed, input: Input, world: World): ExitCode {
  const { secretKey, value } = revealed;
  if (value === null) write(contentOf(revealed), world);
  else if (input.json) write(`${JSON.stringify({ secret_key: secretKey, value })}\n`, world);
  else write(world.terminal.isOutputSeen ? forTerminal(value, world) : value, world);
  return 0;
}

/** Prints the value before the message, which may fail to print. */
function printInstead(revealed: Revealed, words: string, input: Input, world: World): ExitCode {
  if (revealed.value === null) throw new NotDelivered(words);
  print(revealed, input, world);
  world.terminal.err(`${words} The value was printed instead, because it opens only once.\n`);
  return 1;
}

async function keep(
  revealed: Revealed,
  { path, file }: { readonly path: string; readonly file: OutputFile },
  input: Input,
  world: World,
): Promise<ExitCode> {
  try {
    await file.keep(contentOf(revealed));
  } catch (error) {
    return printInstead(revealed, `${plain(path)} could not be written (${reasonOf(error)}).`, input, world);
  }
  const what = revealed.file === null ? 'the value' : 'the file';
  const json = { secret_key: revealed.secretKey, file: path };
  return printDone(world, input, json, `Saved ${what} in ${plain(path)}, readable only by you.`);
}

/** Leaves room for a number: file names are limited to 255 bytes. */
const maxStemBytes = 200;
const mostTries = 1_000;

/** Names of Windows devices, with any extension. */
const deviceForm = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Turns a stranger's file name into the name of a visible file in this folder, on every system: hidden files configure programs, and a
 * leading hyphen looks like an option.
 * @param name from the client, so without a folder and without control or direction characters
 */
export function localName(name: string): string {
  const kept = name
    .replace(/[<>:"/\\|?*]/g, '_')
    .replace(/^[-.\s]+/, '')
    .replace(/[.\s]+$/, '');
  if (kept === '') return 'file';
  return deviceForm.test(kept) ? `_${kept}` : kept;
}

/** Returns `report.pdf` for 1, `report-2.pdf` for 2 … */
export function numbered(name: string, number: number): string {
  const extension = cut(extname(name), 32);
  const stem = cut(name.slice(0, name.length - extname(name).length), maxStemBytes);
  return `${stem}${number === 1 ? '' : `-${number}`}${extension}`;
}

/** Opens the first free name, because the name is unknown until the file has been read. @throws NotDelivered */
async function openReceivedFile(name: string, { openOutputFile }: PeopleWorld) {
  const local = localName(name);
  for (let number = 1; ; number += 1) {
    const path = numbered(local, number);
    const opened = await openOutputFile(path, false);
    if (opened.outcome === 'open') return { path, file: opened.file };
    if (!opened.isTaken || number === mostTries) throw new NotDelivered(plain(opened.problem));
  }
}

/** A terminal's clipboard never confirms a copy, so this asks the person. */
async function hasArrived({ isSure }: Clipboard, { terminal }: World): Promise<boolean> {
  if (isSure) return true;
  const answer = await terminal.ask('Sent to your terminal’s clipboard. Did it arrive? [Y/n] ');
  return answer !== null && !/^n(o)?$/i.test(answer.trim());
}

async function copy(
  revealed: Revealed,
  value: string,
  clipboard: Clipboard,
  input: Input,
  world: World,
): Promise<ExitCode> {
  const isCopied = (await clipboard.copy(value)) && (await hasArrived(clipboard, world));
  if (!isCopied) return printInstead(revealed, 'The value could not be copied.', input, world);
  if (clipboard.isSure) say(world, input, 'Value copied.', true);
  return printResult(world, input, { secret_key: revealed.secretKey, copied: true }, []);
}

async function deliver(
  revealed: Revealed,
  destination: Destination,
  input: Input,
  world: PeopleWorld,
): Promise<ExitCode> {
  const { value, file } = revealed;
  if (destination.to === 'file') return keep(revealed, destination, input, world);
  if (destination.to === 'clipboard' && value !== null)
    return copy(revealed, value, destination.clipboard, input, world);
  if (destination.to === 'output' || file === null) return print(revealed, input, world);
  if (destination.to === 'clipboard') world.terminal.err('Files cannot be copied to the clipboard.\n');
  return keep(revealed, await openReceivedFile(file.name, world), input, world);
}

async function read(
  client: MayflyClient,
  link: string,
  given: string | undefined,
  look: SecondLook,
  world: World,
): Promise<Revealed> {
  // A person may want to know who asks for a passphrase.
  const note = world.terminal.isErrorSeen ? await noteFor(client, link) : null;
  if (note !== null) world.terminal.err(`${noteWords(note)}\n`);
  const passphrase = await passphraseFor(client, link, given, look, world);
  try {
    return await withCode(client, link, look, world, (code) =>
      revealWith(client, link, passphrase, look, code),
    );
  } catch (error) {
    if (isUnsure(error)) world.terminal.err(`The secret may have been read. ${repeatWords(look)}\n`);
    throw error;
  }
}

/** Opens a link into an open destination. @throws Refusal if the value could not be delivered */
export async function revealInto(
  destination: Destination,
  client: MayflyClient,
  link: string,
  input: Input,
  world: PeopleWorld,
  { look, passphrase }: { look: SecondLook; passphrase?: string | undefined } = { look: drawLook() },
): Promise<ExitCode> {
  // A failure after the reveal must not remove the file.
  const revealed = await read(client, link, passphrase, look, world).catch(async (error: unknown) => {
    if (destination.to === 'file') await destination.file.drop();
    throw error;
  });
  try {
    const code = await deliver(revealed, destination, input, world);
    await endLook(client, link, look);
    return code;
  } catch (error) {
    if (!(error instanceof NotDelivered)) throw error;
    throw new Refusal('not_written', `${error.message} It is not lost yet. ${repeatWords(look)}`);
  }
}

async function runReveal(input: Input, world: PeopleWorld): Promise<ExitCode> {
  assertOneDestination(input);
  const look = readLook(input);
  const link = await readLink(input, world, 'secret');
  const passphrase = await readPassphrase(input, world);
  return withClient(input, world, link, async (client) => {
    const destination = await openDestination(input, world);
    return revealInto(destination, client, link, input, world, { look, passphrase });
  });
}

export const outOptions: Readonly<Record<string, OptionUsage>> = {
  out: {
    short: 'o',
    value: 'FILE',
    doc: 'save it in a new file that only you can read (-: standard output, the default for a text)',
  },
  force: { doc: 'let --out replace a file' },
};

export const revealCommands: readonly Command<PeopleWorld>[] = [
  command('reveal [LINK]', {
    summary: 'open a secret, once: print a text, or save a file in this folder',
    options: {
      ...outOptions,
      copy: { doc: 'copy it to the clipboard instead of printing it' },
      look: {
        value: 'NONCE',
        form: sixteenBytesForm,
        doc: 'within a minute, get the answer again that an earlier call could not deliver',
      },
      ...passphraseOptions,
    },
    example: 'mayfly reveal $LINK > password.txt',
    examples: ['mayfly reveal --out id_ed25519 < link.txt', 'mayfly reveal --copy'],
    run: runReveal,
  }),
];

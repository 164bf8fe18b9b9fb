/**
 * `mayfly reveal`. What it writes to standard output is the value and nothing else, byte for byte, except for control characters on a
 * terminal. A file goes to the current folder, because only its sender knows that it is one.
 *
 * A reveal cannot be undone. So a named file or the clipboard is there before it, and where one fails after it, a text is printed; and
 * the second look ends only when the value is in its place.
 */
import type { MayflyClient, Revealed, SharedFile } from '../../sdk/mayfly.ts';
import { sixteenBytesForm } from '../protocol/base64url.ts';
import { passphraseOptions, readLink, readPassphrase, serverOption, withClient } from './client.ts';
import type { Clipboard } from './clipboard.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { type OutputFile, reasonOf } from './output-file.ts';
import { plain } from './receipts.ts';
import { openReceivedFile } from './received-file.ts';
import {
  endLook,
  isUnsure,
  passphraseFor,
  readLook,
  repeatWords,
  revealWith,
  type SecondLook,
} from './second-look.ts';
import { escaped } from './terminal.ts';

/** Where the value goes. */
type Destination =
  /** A text to standard output, a file to the current folder. */
  | { readonly to: 'usual' }
  | { readonly to: 'output' }
  | { readonly to: 'file'; readonly path: string; readonly file: OutputFile }
  | { readonly to: 'clipboard'; readonly clipboard: Clipboard };

function assertOneDestination({ texts, flags }: Input): void {
  const { out } = texts;
  if (out !== undefined && flags.has('copy')) throw new UsageError('--out and --copy do not go together.');
  if ((out ?? '-') === '-' && flags.has('force')) throw new UsageError('--force goes with --out FILE.');
  if (out === '') throw new UsageError('--out takes the name of a file, or - for standard output.');
}

export const noClipboard =
  'There is no clipboard here: neither a desktop with wl-copy, xclip or xsel, nor a terminal.';

/** An exit code: it was refused, in words. */
async function openDestination(input: Input, world: World): Promise<Destination | ExitCode> {
  const { out: path } = input.texts;
  if (path === '-') return { to: 'output' };
  if (path !== undefined) {
    const opened = await world.openOutputFile(path, input.flags.has('force'));
    if (opened.outcome === 'open') return { to: 'file', path, file: opened.file };
    return refuse(world, input, 'not_written', `${opened.problem} Nothing was read.`);
  }
  if (!input.flags.has('copy')) return { to: 'usual' };
  const clipboard = await world.openClipboard();
  if (clipboard !== null) return { to: 'clipboard', clipboard };
  return refuse(world, input, 'no_clipboard', `${noClipboard} Nothing was read.`);
}

/** The secret was read, and is not where it should be. */
class NotDelivered extends Error {
  override readonly name = 'NotDelivered';
}

/** What was shared, as it was. */
function contentOf({ value, file }: Revealed): string | Uint8Array {
  return value ?? file?.bytes ?? '';
}

/** @throws NotDelivered when nobody takes it */
function write(content: string | Uint8Array, { terminal }: World): void {
  try {
    terminal.out(content);
  } catch (error) {
    throw new NotDelivered(`It could not be written (${reasonOf(error)}).`);
  }
}

/** What a terminal may show. A line break after the value helps a person and would spoil a file. */
function seen(value: string, { terminal }: World): string {
  const shown = escaped(value);
  if (shown !== value)
    terminal.err(
      'Its control characters are shown escaped. Standard output that is no terminal gets them as they are.\n',
    );
  return value.endsWith('\n') ? shown : `${shown}\n`;
}

function print(revealed: Revealed, input: Input, world: World): ExitCode {
  const { secretKey, value } = revealed;
  if (value === null) write(contentOf(revealed), world);
  else if (input.json) write(`${JSON.stringify({ secret_key: secretKey, value })}\n`, world);
  else write(world.terminal.isOutputSeen ? seen(value, world) : value, world);
  return 0;
}

/** Printed rather than lost, and before the words, which may find nobody to take them. */
function printInstead(revealed: Revealed, words: string, input: Input, world: World): ExitCode {
  if (revealed.value === null) throw new NotDelivered(words);
  print(revealed, input, world);
  world.terminal.err(`${words} The value was printed instead, because it cannot be read again.\n`);
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
  const what = revealed.file === null ? 'The value' : 'The file';
  if (!input.json) world.terminal.err(`${what} is in ${plain(path)}, which only you can read.\n`);
  return printResult(world, input, { secret_key: revealed.secretKey, file: path }, []);
}

/** @throws NotDelivered */
async function keepHere(
  revealed: Revealed,
  { name }: SharedFile,
  input: Input,
  world: World,
): Promise<ExitCode> {
  const opened = await openReceivedFile(name, world);
  if (opened.outcome === 'refused') throw new NotDelivered(plain(opened.problem));
  return keep(revealed, opened, input, world);
}

/** The terminal's own clipboard never answers: only the person knows. */
async function hasArrived({ isSure }: Clipboard, { terminal }: World): Promise<boolean> {
  if (isSure) return true;
  const answer = await terminal.ask('Sent to the clipboard of your terminal. Has it arrived? [Y/n] ');
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
  if (!isCopied) return printInstead(revealed, 'It is not on the clipboard.', input, world);
  if (!input.json && clipboard.isSure) world.terminal.err('The value is on the clipboard.\n');
  return printResult(world, input, { secret_key: revealed.secretKey, copied: true }, []);
}

async function deliver(
  revealed: Revealed,
  destination: Destination,
  input: Input,
  world: World,
): Promise<ExitCode> {
  const { value, file } = revealed;
  if (destination.to === 'file') return keep(revealed, destination, input, world);
  if (destination.to === 'clipboard' && value !== null)
    return copy(revealed, value, destination.clipboard, input, world);
  if (destination.to === 'output' || file === null) return print(revealed, input, world);
  if (destination.to === 'clipboard') world.terminal.err('A file does not go on the clipboard.\n');
  return keepHere(revealed, file, input, world);
}

/** Reads it, and asks again when the answer is lost. @throws NotDelivered when nobody knows whether it was read */
async function read(
  client: MayflyClient,
  link: string,
  given: string | undefined,
  look: SecondLook,
  world: World,
): Promise<Revealed> {
  const passphrase = await passphraseFor(client, link, given, look, world);
  try {
    return await revealWith(client, link, passphrase, look);
  } catch (error) {
    if (isUnsure(error)) world.terminal.err(`It is unknown whether it was read. ${repeatWords(look)}\n`);
    throw error;
  }
}

async function runReveal(input: Input, world: World): Promise<ExitCode> {
  assertOneDestination(input);
  const look = readLook(input);
  const link = await readLink(input, world, 'secret');
  const passphrase = await readPassphrase(input, world);
  return withClient(input, world, link, async (client) => {
    const destination = await openDestination(input, world);
    if (typeof destination === 'number') return destination;
    // Nothing that fails after the reveal may take the file away.
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
      return refuse(world, input, 'not_written', `${error.message} It is not lost yet. ${repeatWords(look)}`);
    }
  });
}

export const revealCommands: readonly Command[] = [
  {
    path: ['reveal'],
    summary: 'read a secret, once: print a text, or write a file to this folder',
    words: ['[LINK]'],
    options: {
      out: {
        type: 'string',
        short: 'o',
        value: 'FILE',
        doc: 'write it to a new file that only you can read; - for standard output, where a text goes without it',
      },
      force: { type: 'boolean', doc: 'let --out replace a file' },
      copy: { type: 'boolean', doc: 'put it on the clipboard, instead of standard output' },
      look: {
        type: 'string',
        value: 'NONCE',
        form: sixteenBytesForm,
        doc: 'ask again for an answer that an earlier call could not write, within its minute',
      },
      ...passphraseOptions,
      ...serverOption,
    },
    example: 'mayfly reveal $LINK > password.txt',
    examples: ['mayfly reveal --out id_ed25519 < link.txt', 'mayfly reveal --copy'],
    run: runReveal,
  },
];

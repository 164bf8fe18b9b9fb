/**
 * `mayfly reveal`. What it writes to standard output is the value and nothing else, byte for byte, so that a file shared with `--exact`
 * comes out unchanged.
 *
 * A reveal cannot be undone. So the file or the clipboard is there before it, and where that fails after it, the value is printed.
 */
import { type MayflyClient, MayflyError, type Revealed } from '../../sdk/mayfly.ts';
import { passphraseOptions, readLink, readPassphrase, serverOption, withClient } from './client.ts';
import type { Clipboard } from './clipboard.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  printResult,
  Refusal,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import type { OutputFile } from './output-file.ts';

/** Where the value goes. */
type Destination =
  | { readonly to: 'output' }
  | { readonly to: 'file'; readonly path: string; readonly file: OutputFile }
  | { readonly to: 'clipboard'; readonly clipboard: Clipboard };

function assertOneDestination({ texts, flags }: Input): void {
  const { out } = texts;
  if (out !== undefined && flags.has('copy')) throw new UsageError('--out and --copy do not go together.');
  if (out === undefined && flags.has('force')) throw new UsageError('--force goes with --out FILE.');
  if (out === '-' || out === '')
    throw new UsageError('--out takes the name of a file. Without it, the value goes to standard output.');
}

export const noClipboard =
  'There is no clipboard here: neither a desktop with wl-copy, xclip or xsel, nor a terminal.';

/** An exit code: it was refused, in words. */
async function openDestination(input: Input, world: World): Promise<Destination | ExitCode> {
  const { out: path } = input.texts;
  if (path !== undefined) {
    const opened = await world.openOutputFile(path, input.flags.has('force'));
    if (opened.outcome === 'open') return { to: 'file', path, file: opened.file };
    return refuse(world, input, 'not_written', `${opened.problem} Nothing was read.`);
  }
  if (!input.flags.has('copy')) return { to: 'output' };
  const clipboard = await world.openClipboard();
  if (clipboard !== null) return { to: 'clipboard', clipboard };
  return refuse(world, input, 'no_clipboard', `${noClipboard} Nothing was read.`);
}

/** What was shared, as text. */
export function textOf({ value, file }: Revealed): string {
  return value ?? new TextDecoder().decode(file?.bytes);
}

/** A line break after the value helps a person and would spoil a file. */
function print(revealed: Revealed, input: Input, { terminal }: World): ExitCode {
  const [secretKey, value] = [revealed.secretKey, textOf(revealed)];
  if (input.json) terminal.out(`${JSON.stringify({ secret_key: secretKey, value })}\n`);
  else terminal.out(terminal.isOutputSeen && !value.endsWith('\n') ? `${value}\n` : value);
  return 0;
}

/** Printed rather than lost, and before the words, which may find nobody to take them. */
function printInstead(revealed: Revealed, words: string, input: Input, world: World): ExitCode {
  print(revealed, input, world);
  world.terminal.err(`${words} The value was printed instead, because it cannot be read again.\n`);
  return 1;
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}

async function keep(
  revealed: Revealed,
  { path, file }: Extract<Destination, { to: 'file' }>,
  input: Input,
  world: World,
): Promise<ExitCode> {
  try {
    await file.keep(textOf(revealed));
  } catch (error) {
    return printInstead(revealed, `${path} could not be written (${reasonOf(error)}).`, input, world);
  }
  if (!input.json) world.terminal.err(`The value is in ${path}, which only you can read.\n`);
  printResult(world, input, { secret_key: revealed.secretKey, file: path }, []);
  return 0;
}

/** The terminal's own clipboard never answers: only the person knows. */
async function hasArrived({ isSure }: Clipboard, { terminal }: World): Promise<boolean> {
  if (isSure) return true;
  const answer = await terminal.ask('Sent to the clipboard of your terminal. Has it arrived? [Y/n] ');
  return answer !== null && !/^n(o)?$/i.test(answer.trim());
}

async function copy(revealed: Revealed, clipboard: Clipboard, input: Input, world: World): Promise<ExitCode> {
  const isCopied = (await clipboard.copy(textOf(revealed))) && (await hasArrived(clipboard, world));
  if (!isCopied) return printInstead(revealed, 'It is not on the clipboard.', input, world);
  if (!input.json && clipboard.isSure) world.terminal.err('The value is on the clipboard.\n');
  printResult(world, input, { secret_key: revealed.secretKey, copied: true }, []);
  return 0;
}

function deliver(
  revealed: Revealed,
  destination: Destination,
  input: Input,
  world: World,
): ExitCode | Promise<ExitCode> {
  if (destination.to === 'file') return keep(revealed, destination, input, world);
  if (destination.to === 'clipboard') return copy(revealed, destination.clipboard, input, world);
  return print(revealed, input, world);
}

const missingPassphrase =
  'The passphrase is missing: use --passphrase-file or MAYFLY_PASSPHRASE. The secret was not consumed.';

/** Asks for the passphrase where it turns out that there is one. */
async function reveal(
  client: MayflyClient,
  link: string,
  passphrase: string | undefined,
  { terminal }: World,
): Promise<Revealed> {
  try {
    return await client.reveal(link, passphrase === undefined ? {} : { passphrase });
  } catch (error) {
    const isMissing =
      error instanceof MayflyError && error.code === 'incorrect_passphrase' && passphrase === undefined;
    if (!isMissing) throw error;
    if (!terminal.isInteractive) throw new Refusal('incorrect_passphrase', missingPassphrase);
    const asked = await terminal.askHidden('Passphrase: ');
    if (asked === null) throw error;
    return client.reveal(link, { passphrase: asked });
  }
}

async function runReveal(input: Input, world: World): Promise<ExitCode> {
  assertOneDestination(input);
  const link = await readLink(input, world, 'secret');
  const passphrase = await readPassphrase(input, world);
  return withClient(input, world, link, async (client) => {
    const destination = await openDestination(input, world);
    if (typeof destination === 'number') return destination;
    // Nothing that fails after the reveal may take the file away.
    const revealed = await reveal(client, link, passphrase, world).catch(async (error: unknown) => {
      if (destination.to === 'file') await destination.file.drop();
      throw error;
    });
    return deliver(revealed, destination, input, world);
  });
}

export const revealCommands: readonly Command[] = [
  {
    path: ['reveal'],
    summary: 'read a secret, once',
    words: ['[LINK]'],
    options: {
      out: {
        type: 'string',
        value: 'FILE',
        doc: 'write it to a new file that only you can read, instead of standard output',
      },
      force: { type: 'boolean', doc: 'let --out replace a file' },
      copy: { type: 'boolean', doc: 'put it on the clipboard, instead of standard output' },
      ...passphraseOptions,
      ...serverOption,
    },
    example:
      'mayfly reveal https://secrets.example.org/secret/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd > password.txt',
    examples: ['mayfly reveal --out id_ed25519 < link.txt', 'mayfly reveal --copy'],
    run: runReveal,
  },
];

/**
 * A reveal whose answer may be asked for again: for a minute, three times in all, by whoever has its nonce.
 *
 * The command draws the nonce, asks again when an answer is lost, and ends this once the value is where it should be. Where it is not,
 * the nonce is named, so that a person can repeat the command.
 */
import { askAgain, isLost } from '../../sdk/lost-answer.ts';
import { type MayflyClient, MayflyError, newLook, parseLink, type Revealed } from '../../sdk/mayfly.ts';
import { sixteenBytesForm } from '../protocol/base64url.ts';
import { type Input, Refusal, UsageError, type World } from './command.ts';

export interface SecondLook {
  readonly nonce: string;
  /** Given by the person, who repeats a command: its secret is gone to everybody else. */
  readonly isRepeated: boolean;
}

export function drawLook(): SecondLook {
  return { nonce: newLook(), isRepeated: false };
}

export function readLook({ texts: { look: given } }: Input): SecondLook {
  if (given === undefined) return drawLook();
  if (!sixteenBytesForm.test(given))
    throw new UsageError('--look takes the 22 characters that an earlier mayfly reveal named.');
  return { nonce: given, isRepeated: true };
}

/** How to ask again, for a person. */
export function repeatWords({ nonce }: SecondLook): string {
  return `Within a minute of its first try, this asks for the same answer: mayfly reveal --look=${nonce} LINK`;
}

const missingPassphrase =
  'The passphrase is missing: use --passphrase-file or MAYFLY_PASSPHRASE. The secret was not consumed.';

async function askPassphrase({ terminal }: World): Promise<string> {
  const asked = terminal.isInteractive ? await terminal.askHidden('Passphrase: ') : null;
  if (asked === null) throw new Refusal('incorrect_passphrase', missingPassphrase);
  return asked;
}

/**
 * What this secret needs of what was given: a passphrase that it does not have is not sent, and none where the link is not whole.
 * @throws MayflyError, before anything is consumed
 */
export async function passphraseFor(
  client: MayflyClient,
  link: string,
  given: string | undefined,
  look: Pick<SecondLook, 'isRepeated'>,
  world: World,
): Promise<string | undefined> {
  const waiting = await client.status(link);
  // To the holder of the nonce the answer may still be open.
  if (waiting === null && look.isRepeated) return given;
  // The refusal says where to ask if the key is another region's.
  if (waiting === null) await client.inspect(link);
  if (waiting === null) throw new MayflyError('unknown_secret', 'Unknown secret');
  const isWhole = (parseLink(link)?.fragment ?? null) !== null;
  if (waiting.isSealed && !isWhole) throw new MayflyError('incomplete_link', 'The link is incomplete.');
  if (!waiting.isSealed && isWhole) throw new MayflyError('not_sealed', 'The secret is a plain one.');
  return waiting.hasPassphrase ? (given ?? askPassphrase(world)) : undefined;
}

/** It is unknown whether the secret was read. */
export function isUnsure(error: unknown): boolean {
  return isLost(error) || (error instanceof MayflyError && error.code === 'timed_out');
}

export function revealWith(
  client: MayflyClient,
  link: string,
  passphrase: string | undefined,
  { nonce: look }: SecondLook,
): Promise<Revealed> {
  return askAgain(() => client.reveal(link, { look, ...(passphrase === undefined ? {} : { passphrase }) }));
}

const endMs = 2_000;

/** What was read is in its place, so it ends within the minute in any case. */
export async function endLook(client: MayflyClient, link: string, { nonce }: SecondLook): Promise<void> {
  await client.done(link, nonce, { timeoutMs: endMs }).catch(() => {});
}

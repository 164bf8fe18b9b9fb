/**
 * A reveal with a second look: for a minute, the nonce gets the same answer again, three times in all.
 *
 * The command draws the nonce, asks again when an answer is lost, and ends the look once the value is in its place. Otherwise it prints the
 * nonce, so that a person can repeat the command.
 */
import { askAgain, isLost } from '../../sdk/lost-answer.ts';
import { type MayflyClient, MayflyError, newLook, parseLink, type Revealed } from '../../sdk/mayfly.ts';
import { sixteenBytesForm } from '../protocol/base64url.ts';
import { type Input, Refusal, UsageError, type World } from './command.ts';

export interface SecondLook {
  readonly nonce: string;
  /** A person repeats a command: for everyone else the secret is gone. */
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
 * The passphrase to send: none if the secret has none or the link is not whole.
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
  // The nonce may still get an answer.
  if (waiting === null && look.isRepeated) return given;
  // If the key is another region's, the refusal says where to ask.
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

/** Without this, it ends within the minute. */
export async function endLook(client: MayflyClient, link: string, { nonce }: SecondLook): Promise<void> {
  await client.done(link, nonce, { timeoutMs: endMs }).catch(() => {});
}

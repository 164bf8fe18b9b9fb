/**
 * A reveal whose answer can be requested again with its nonce: up to three answers in total, within a minute.
 *
 * The command draws the nonce, retries when an answer is lost, and ends the second look once the value is delivered. If it cannot deliver
 * the value, it prints the nonce, so that a person can repeat the command.
 */
import { askAgain, isLost } from '../../sdk/lost-answer.ts';
import { type MayflyClient, MayflyError, newLook, parseLink, type Revealed } from '../../sdk/mayfly.ts';
import { sixteenBytesForm } from '../protocol/base64url.ts';
import { type Input, Refusal, UsageError, type World } from './command.ts';
import { escaped, plural, type Terminal } from './terminal.ts';

export interface SecondLook {
  readonly nonce: string;
  /** A person passed the nonce to repeat a command; for everyone else, the secret is gone. */
  readonly isRepeated: boolean;
}

export function drawLook(): SecondLook {
  return { nonce: newLook(), isRepeated: false };
}

export function readLook({ texts: { look: given } }: Input): SecondLook {
  if (given === undefined) return drawLook();
  if (!sixteenBytesForm.test(given))
    throw new UsageError('--look takes the 22 characters that an earlier mayfly reveal printed.');
  return { nonce: given, isRepeated: true };
}

export function repeatWords({ nonce }: SecondLook): string {
  return `To try again within a minute: mayfly reveal --look=${nonce} LINK`;
}

const missingPassphrase =
  'Missing passphrase: use --passphrase-file or MAYFLY_PASSPHRASE. The secret was not opened.';

async function askPassphrase({ terminal }: World): Promise<string> {
  const asked = terminal.isInteractive ? await terminal.askHidden('Passphrase: ') : null;
  if (asked === null) throw new Refusal('incorrect_passphrase', missingPassphrase);
  return asked;
}

/** Returns the sender's note, made safe for a terminal. `null` without one, and if it cannot be read, which must not stop a reveal. */
export async function noteFor(client: MayflyClient, link: string): Promise<string | null> {
  const note = await client.note(link).catch(() => null);
  return note === null ? null : escaped(note);
}

export const noteWords = (note: string): string => `The sender writes: “${note}”`;

/**
 * Returns the passphrase to send: none if the secret has none, so that the given one stays on this machine.
 * @throws MayflyError before anything is consumed
 */
export async function passphraseFor(
  client: MayflyClient,
  link: string,
  given: string | undefined,
  look: Pick<SecondLook, 'isRepeated'>,
  world: World,
): Promise<string | undefined> {
  const waiting = await client.status(link);
  // With the nonce, the answer may still be available.
  if (waiting === null && look.isRepeated) return given;
  // This call's refusal names the right server if the key belongs to another region.
  if (waiting === null) await client.inspect(link);
  if (waiting === null) throw new MayflyError('unknown_secret', 'Unknown secret');
  const isWhole = (parseLink(link)?.fragment ?? null) !== null;
  if (waiting.isSealed && !isWhole) throw new MayflyError('incomplete_link', 'The link is incomplete.');
  if (!waiting.isSealed && isWhole) throw new MayflyError('not_sealed', 'The secret is a plain one.');
  return waiting.hasPassphrase ? (given ?? askPassphrase(world)) : undefined;
}

/** Returns `true` if the secret may have been read. */
export function isUnsure(error: unknown): boolean {
  return isLost(error) || (error instanceof MayflyError && error.code === 'timed_out');
}

export function revealWith(
  client: MayflyClient,
  link: string,
  passphrase: string | undefined,
  { nonce: look }: SecondLook,
  code?: string,
): Promise<Revealed> {
  return askAgain(() => client.reveal(link, { look, passphrase, code }));
}

async function askCode(terminal: Terminal): Promise<string> {
  for (let question = 'Code: '; ; question = 'A code has six digits: ') {
    const code = (await terminal.ask(question))?.replace(/[\s\p{Cf}]/gu, '');
    if (code === undefined) throw new MayflyError('code_required', '');
    if (/^\d{6}$/.test(code)) return code;
  }
}

/** If the secret asks for a code, has one sent and asks for it: again after a wrong one, and for a new one after a late one. */
export async function withCode<Result>(
  client: MayflyClient,
  link: string,
  { nonce }: SecondLook,
  { terminal }: World,
  open: (code?: string) => Promise<Result>,
): Promise<Result> {
  for (let code: string | undefined; ; code = await askCode(terminal)) {
    try {
      return await open(code);
    } catch (error) {
      const { code: why, attemptsLeft: left = null } = error instanceof MayflyError ? error : {};
      if (why === 'code_required' && terminal.isInteractive) {
        const { sentTo } = await client.sendCode(link, nonce);
        const sent = code === undefined ? 'We sent a code' : 'This code has expired. We sent another';
        terminal.err(`${sent} to ${escaped(sentTo)}.\n`);
      } else if (why === 'incorrect_code' && left)
        terminal.err(`Wrong code: ${plural(left, 'attempt')} left.\n`);
      else throw error;
    }
  }
}

const endMs = 2_000;

/** Ignores errors: the value is delivered, and the second look ends within a minute anyway. */
export async function endLook(client: MayflyClient, link: string, { nonce }: SecondLook): Promise<void> {
  await client.done(link, nonce, { timeoutMs: endMs }).catch(() => {});
}

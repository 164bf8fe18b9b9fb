/**
 * How a command prints a one-time link that the operator hands over: the link alone on standard output, so that it can be piped
 * into `mayfly share`, and on standard error what it does and how long it works.
 */
import type { Settings } from '../config/read.ts';
import type { Ticket } from '../core/account.ts';
import { createLinks, isLoopbackUrl } from '../core/links.ts';
import type { Sensitive } from '../core/sensitive.ts';
import type { UnixSeconds } from '../core/time.ts';
import { type ExitCode, type Input, printResult, type World } from './command.ts';
import { timeOf } from './terminal.ts';

export interface LinkToHand {
  readonly username: string;
  readonly ticket: Sensitive<Ticket>;
  readonly expiresAt: UnixSeconds;
}

/** @param words what happened, and what the link does: whole lines */
export function printHandedLink(
  world: World,
  input: Input,
  { baseUrl }: Pick<Settings, 'baseUrl'>,
  { username, ticket, expiresAt }: LinkToHand,
  words: readonly string[],
): ExitCode {
  const link = createLinks(baseUrl).resetUrl(ticket.expose());
  if (isLoopbackUrl(baseUrl))
    world.terminal.err(`The link leads to ${baseUrl}, which is this machine alone: see MAYFLY_BASE_URL.\n`);
  const expiry = `The link works once, until ${timeOf(expiresAt)} (24 hours), and is shown only now:`;
  if (!input.json) world.terminal.err([...words, expiry, ''].join('\n'));
  return printResult(world, input, { username, link, expires: expiresAt }, [link]);
}

/**
 * Who can reach this server, as the start and the doctor say it.
 *
 * Owns: those sentences. Invariant: both say the same of the same settings.
 */
import { isLoopbackHost } from '../core/loopback.ts';
import type { Config } from './config.ts';

/** Whether nobody else can connect. */
function isPrivate({ host }: Pick<Config, 'host'>): boolean {
  return isLoopbackHost(host.toLowerCase());
}

/** Whether links lead to this machine, whichever one opens them. */
function isLocal({ baseUrl }: Pick<Config, 'baseUrl'>): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}

/** Whether it is being tried out: nobody else can connect, and links lead nobody else here. */
export function isForThisMachineAlone(config: Pick<Config, 'host' | 'baseUrl'>): boolean {
  return isPrivate(config) && isLocal(config);
}

/** How `links …` goes on where those who can connect cannot open them; `null` where they can, or the operator says so. */
export function unreachableLinks(config: Config): string | null {
  if (!isLocal(config) || isPrivate(config) || config.given.has('baseUrl')) return null;
  return `lead to ${config.baseUrl}, which is this machine alone, while others can connect (HOST is ${config.host}): set MAYFLY_BASE_URL to the address that they use`;
}

/** Whether sign-up is open, and why. */
export function signUpWords(config: Config): string {
  const isOpen = config.signUp === 'open';
  if (config.given.has('signUp'))
    return `${isOpen ? 'open to everybody who can connect' : 'closed'}, as MAYFLY_SIGNUP says`;
  if (isOpen) return 'open to everybody on this machine; MAYFLY_SIGNUP=closed closes it';
  return `closed, because ${closingReason(config)}; MAYFLY_SIGNUP=open opens it`;
}

function closingReason(config: Config): string {
  if (isLocal(config)) return `others can connect (HOST is ${config.host})`;
  return `${config.given.has('baseUrl') ? 'MAYFLY_BASE_URL' : 'the address of MAYFLY_REGION'} is not localhost`;
}

/**
 * Who can reach this server, as the start and the doctor say it.
 *
 * Owns: those sentences. Invariant: both say the same of the same settings.
 */
import type { Config } from '../config/read.ts';
import { isLoopbackHost, isLoopbackUrl } from '../core/links.ts';

type ReachSettings = Pick<Config, 'host' | 'baseUrl' | 'signUp' | 'given'>;

/** Whether nobody else can connect. */
function isPrivate({ host }: Pick<Config, 'host'>): boolean {
  return isLoopbackHost(host.toLowerCase());
}

/** How `links …` goes on where those who can connect cannot open them; `null` where they can, or the operator says so. */
export function unreachableLinks(config: ReachSettings): string | null {
  if (!isLoopbackUrl(config.baseUrl) || isPrivate(config) || config.given.has('baseUrl')) return null;
  return `lead to ${config.baseUrl}, which is this machine alone, while others can connect (HOST is ${config.host}): set MAYFLY_BASE_URL to the address that they use`;
}

/** Whether sign-up is open, and why. */
export function signUpWords(config: ReachSettings): string {
  const isOpen = config.signUp === 'open';
  if (config.given.has('signUp'))
    return `${isOpen ? 'open to everybody who can connect' : 'closed'}, as MAYFLY_SIGNUP says`;
  if (isOpen) return 'open to everybody on this machine; MAYFLY_SIGNUP=closed closes it';
  return `closed, because ${closingReason(config)}; MAYFLY_SIGNUP=open opens it`;
}

function closingReason(config: ReachSettings): string {
  if (isLoopbackUrl(config.baseUrl)) return `others can connect (HOST is ${config.host})`;
  return `${config.given.has('baseUrl') ? 'MAYFLY_BASE_URL' : 'the address of MAYFLY_REGION'} is not localhost`;
}

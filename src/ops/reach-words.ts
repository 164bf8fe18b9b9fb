/**
 * Who can reach this server, as the start and the doctor say it.
 *
 * Owns: those sentences. Invariant: both say the same of the same settings.
 */
import type { Settings } from '../config/read.ts';
import { isLoopbackHost, isLoopbackUrl } from '../core/links.ts';

type ReachSettings = Pick<Settings, 'host' | 'baseUrl' | 'signUpIsOpen' | 'given'>;

/** Whether nobody else can connect. */
function isPrivate({ host }: Pick<Settings, 'host'>): boolean {
  return isLoopbackHost(host.toLowerCase());
}

/** How `links …` goes on where those who can connect cannot open them; `null` where they can, or the operator says so. */
export function unreachableLinks(settings: ReachSettings): string | null {
  if (!isLoopbackUrl(settings.baseUrl) || isPrivate(settings) || settings.given.has('baseUrl')) return null;
  return `lead to ${settings.baseUrl}, which is this machine alone, while others can connect (HOST is ${settings.host}): set MAYFLY_BASE_URL to the address that they use`;
}

/** Whether sign-up is open, and why. */
export function signUpWords(settings: ReachSettings): string {
  const isOpen = settings.signUpIsOpen;
  if (settings.given.has('signUpIsOpen'))
    return `${isOpen ? 'open to everybody who can connect' : 'closed'}, as MAYFLY_SIGNUP says`;
  if (isOpen) return 'open to everybody on this machine; MAYFLY_SIGNUP=closed closes it';
  return `closed, because ${closingReason(settings)}; MAYFLY_SIGNUP=open opens it`;
}

function closingReason(settings: ReachSettings): string {
  if (isLoopbackUrl(settings.baseUrl)) return `others can connect (HOST is ${settings.host})`;
  return `${settings.given.has('baseUrl') ? 'MAYFLY_BASE_URL' : 'the address of MAYFLY_REGION'} is not localhost`;
}

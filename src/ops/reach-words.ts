/**
 * Who can reach this server, as the start and the doctor say it.
 *
 * Owns: those sentences. Invariant: both say the same of the same settings.
 */
import { isLoopbackHost } from '../core/loopback.ts';

/** The settings that decide it. */
interface Reach {
  readonly host: string;
  readonly baseUrl: string;
}

interface ReachSettings extends Reach {
  readonly signUp: 'open' | 'closed';
  /** The settings that were given rather than left to their default. */
  readonly given: ReadonlySet<string>;
}

/** Whether nobody else can connect. */
function isPrivate({ host }: Pick<Reach, 'host'>): boolean {
  return isLoopbackHost(host.toLowerCase());
}

/** Whether links lead to this machine, whichever one opens them. */
function isLocal({ baseUrl }: Pick<Reach, 'baseUrl'>): boolean {
  return isLoopbackHost(new URL(baseUrl).hostname);
}

/** Whether it is being tried out: nobody else can connect, and links lead nobody else here. */
export function isForThisMachineAlone(config: Reach): boolean {
  return isPrivate(config) && isLocal(config);
}

/** How `links …` goes on where those who can connect cannot open them; `null` where they can, or the operator says so. */
export function unreachableLinks(config: ReachSettings): string | null {
  if (!isLocal(config) || isPrivate(config) || config.given.has('baseUrl')) return null;
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
  if (isLocal(config)) return `others can connect (HOST is ${config.host})`;
  return `${config.given.has('baseUrl') ? 'MAYFLY_BASE_URL' : 'the address of MAYFLY_REGION'} is not localhost`;
}

/**
 * What is still open on a server that others are to use, said at each start until it is done, and by the doctor.
 *
 * The operator's own account is a command to run, not a link: a start is written to a log that others may read and that is kept,
 * and a live link in it would open the account to whoever reads it first (`docs/decisions/034-links-handed-over.md`).
 */
import { isIP } from 'node:net';
import type { Settings } from '../config/read.ts';
import { createLinks, isLoopbackHost, isLoopbackUrl } from '../core/links.ts';
import { wrapWords } from './wrap.ts';

export const stepNames = ['address', 'tls', 'proxy', 'mail', 'sender', 'keys', 'account'] as const;
export type StepName = (typeof stepNames)[number];

export interface NextStep {
  readonly name: StepName;
  readonly words: string;
  /** Follows the words, on a line of its own. */
  readonly command?: string;
}

export interface SetupFacts {
  readonly hasAccounts: boolean;
  /** Whether the key file was made at this start, so that there is no copy of it. */
  readonly hasNewKeys: boolean;
  readonly isService: boolean;
}

/** Whether only this machine can connect, and links lead nobody else here. */
function isTriedOut({ host, baseUrl }: Settings): boolean {
  return isLoopbackHost(host.toLowerCase()) && isLoopbackUrl(baseUrl);
}

/** Whether a proxy is likely, by the address, and none is named. */
export function lacksProxy({ baseUrl, trustedProxies }: Settings): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const isPublic = protocol === 'https:' && !isLoopbackHost(hostname) && isIP(hostname) === 0;
  return isPublic && trustedProxies.ranges.length === 0;
}

/** Whether it is for others, and what they send to it travels in the clear. */
export function lacksTls({ baseUrl }: Settings): boolean {
  return new URL(baseUrl).protocol === 'http:' && !isLoopbackUrl(baseUrl);
}

const proxyFiles = 'deploy/ has files for Caddy, nginx and HAProxy.';

/** Makes the operator's account. */
export const accountCommand = 'mayfly account create you@example.com --link';

type Step = Omit<NextStep, 'name'>;

function stepOf(name: StepName, { rootKeysFile }: Settings): Step {
  switch (name) {
    case 'address':
      return {
        words:
          'Set MAYFLY_BASE_URL to the address that people use, such as https://secrets.example.com: links are made of it.',
      };
    case 'tls':
      return {
        words: `Put a proxy with TLS in front, and let MAYFLY_BASE_URL begin with https. ${proxyFiles}`,
      };
    case 'proxy':
      return {
        words: `Set MAYFLY_TRUSTED_PROXIES to the address of the proxy in front, or all its visitors count as one. ${proxyFiles}`,
      };
    case 'mail':
      return {
        words: 'Have mail sent: set MAYFLY_SMTP_URL and MAYFLY_MAIL_FROM, and try it with',
        command: 'mayfly doctor --mail-to you@example.com',
      };
    case 'sender':
      return { words: 'Set MAYFLY_MAIL_FROM: mail from an address that does not exist is refused.' };
    case 'keys':
      return {
        words: `Copy ${rootKeysFile} to a place apart from the store and its backups: without it no stored secret opens.`,
      };
    case 'account':
      return {
        words: 'Make your account. This prints a one-time link that sets its password:',
        command: accountCommand,
      };
  }
}

/** In the order in which they are best done; empty where Mayfly is only tried out. */
export function nextSteps(settings: Settings, facts: SetupFacts): readonly NextStep[] {
  if (isTriedOut(settings) && !facts.isService) return [];
  const { baseUrl, given, smtpServer, mailFrom, signUpIsOpen } = settings;
  const isOpen: Readonly<Record<StepName, boolean>> = {
    address: isLoopbackUrl(baseUrl) && !given.has('baseUrl'),
    tls: lacksTls(settings),
    proxy: lacksProxy(settings),
    mail: smtpServer === null,
    sender: smtpServer !== null && mailFrom.endsWith('@mayfly.invalid'),
    // Nobody can tell whether there is a copy: an installation with accounts has been set up.
    keys: facts.hasNewKeys || !facts.hasAccounts,
    account: !facts.hasAccounts && !signUpIsOpen,
  };
  return stepNames.filter((name) => isOpen[name]).map((name) => ({ name, ...stepOf(name, settings) }));
}

/** Where load balancers ask. */
export function healthWords({ baseUrl, port }: Settings): string {
  const links = createLinks(baseUrl);
  const path = links.baseUrl.slice(new URL(links.baseUrl).origin.length);
  return `${path}/readyz answers 200 while it can serve, ${path}/healthz while the process lives (port ${port})`;
}

const indent = '     ';

/** `''` when nothing is open. */
export function renderNextSteps(
  settings: Settings,
  steps: readonly NextStep[],
  { isService }: Pick<SetupFacts, 'isService'>,
): string {
  if (steps.length === 0) return '';
  // The service's user owns the store: root runs commands as that user.
  const typed = (command: string) => (isService ? command.replace(/^mayfly/, 'mayfly-admin') : command);
  const numbered = steps.flatMap(({ words, command }, at) => [
    `  ${at + 1}. ${wrapWords(words, indent)}`,
    ...(command === undefined ? [] : [`${indent}  ${typed(command)}`]),
  ]);
  const rest = `For load balancers: ${healthWords(settings)}. ${typed('mayfly doctor')} checks all of this; the docs explain it (operating.md).`;
  return ['', 'Next:', ...numbered, '', `${indent}${wrapWords(rest, indent)}`, ''].join('\n');
}

/**
 * The steps left to do on a server meant for others, printed at each start until they are done, and by the doctor. For the operator's own
 * account, a command is printed, not a link: others may read the startup log, which is kept, and a live link in it would open the account
 * to the first reader (`docs/decisions/034-links-handed-over.md`).
 */
import { isIP } from 'node:net';
import type { Settings } from '../config/read.ts';
import { createLinks, isForThisMachineAlone, isLoopbackHost, isLoopbackUrl } from '../core/links.ts';
import { wrapWords } from './wrap.ts';

export const stepNames = ['address', 'tls', 'proxy', 'mail', 'sender', 'keys', 'account'] as const;
export type StepName = (typeof stepNames)[number];

export interface NextStep {
  readonly name: StepName;
  readonly words: string;
  readonly command?: string;
}

export interface SetupFacts {
  readonly hasAccounts: boolean;
  readonly hasNewKeys: boolean;
  readonly isService: boolean;
}

/** Whether the address suggests a proxy, but none is configured. */
export function lacksProxy({ baseUrl, trustedProxies }: Settings): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  const isPublic = protocol === 'https:' && !isLoopbackHost(hostname) && isIP(hostname) === 0;
  return isPublic && trustedProxies.ranges.length === 0;
}

export function lacksTls({ baseUrl }: Settings): boolean {
  return new URL(baseUrl).protocol === 'http:' && !isLoopbackUrl(baseUrl);
}

const proxyFiles = 'deploy/ has files for Caddy, nginx and HAProxy.';

export const accountCommand = 'mayfly account create you@example.com --link';

const stepsOf = ({ rootKeysFile }: Settings): Readonly<Record<StepName, Omit<NextStep, 'name'>>> => ({
  address: {
    words:
      'Set MAYFLY_BASE_URL to the address that people use, such as https://secrets.example.com: links start with it.',
  },
  tls: { words: `Put a TLS proxy in front, and use https in MAYFLY_BASE_URL. ${proxyFiles}` },
  proxy: {
    words: `Set MAYFLY_TRUSTED_PROXIES to the address of the proxy in front, or all visitors count as one client. ${proxyFiles}`,
  },
  mail: {
    words: 'To send mail, set MAYFLY_SMTP_URL and MAYFLY_MAIL_FROM, and test them with',
    command: 'mayfly doctor --mail-to you@example.com',
  },
  sender: { words: 'Set MAYFLY_MAIL_FROM: mail servers refuse a sender that does not exist.' },
  keys: {
    words: `Copy ${rootKeysFile} to a separate place from the store and its backups: without it no stored secret opens.`,
  },
  account: {
    words: 'Create your account. This prints a one-time link to set its password:',
    command: accountCommand,
  },
});

/** Returns the steps in the order to do them; none for a trial installation. */
export function nextSteps(settings: Settings, facts: SetupFacts): readonly NextStep[] {
  if (isForThisMachineAlone(settings) && !facts.isService) return [];
  const { baseUrl, given, smtpServer, mailFrom, signUpIsOpen } = settings;
  const isOpen: Readonly<Record<StepName, boolean>> = {
    address: isLoopbackUrl(baseUrl) && !given.has('baseUrl'),
    tls: lacksTls(settings),
    proxy: lacksProxy(settings),
    mail: smtpServer === null,
    sender: smtpServer !== null && mailFrom.endsWith('@mayfly.invalid'),
    // A backup of the keys cannot be detected, but an installation with accounts is taken to be fully set up.
    keys: facts.hasNewKeys || !facts.hasAccounts,
    account: !facts.hasAccounts && !signUpIsOpen,
  };
  const steps = stepsOf(settings);
  return stepNames.filter((name) => isOpen[name]).map((name) => ({ name, ...steps[name] }));
}

export function healthWords({ baseUrl, port }: Settings): string {
  const links = createLinks(baseUrl);
  const path = links.baseUrl.slice(new URL(links.baseUrl).origin.length);
  return `${path}/readyz answers 200 while it can serve, ${path}/healthz while the process is alive (port ${port})`;
}

const indent = '     ';

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
  const rest = `For load balancers: ${healthWords(settings)}. ${typed('mayfly doctor')} checks all of this; docs/operating.md explains it.`;
  return ['', 'Next:', ...numbered, '', `${indent}${wrapWords(rest, indent)}`, ''].join('\n');
}

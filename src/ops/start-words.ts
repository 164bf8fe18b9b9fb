/**
 * What a person reads when the server has started.
 *
 * Owns: those lines. Invariant: they say where to look, what holds the secrets, what to keep, and that kept mail holds
 * live links (the one exception to P9); no secret setting is in them.
 */
import { join } from 'node:path';
import type { Settings } from '../config/read.ts';
import type { ClockReport } from '../core/time.ts';
import { clockProblem } from './clock-words.ts';
import { signUpWords, unreachableLinks } from './reach-words.ts';

export interface StartFacts {
  readonly version: string;
  /** Whether the key file was made at this start. */
  readonly hasNewKeys: boolean;
  /** Whether another server runs on the data folder. */
  readonly isSecondServer: boolean;
  readonly clock: ClockReport;
}

/** What is said after a sender that no mail server can answer to; `''` where there is nothing to say. */
export function senderAdvice(mailFrom: string): string {
  return mailFrom.endsWith('@mayfly.invalid') ? ', which is nobody’s address: set MAYFLY_MAIL_FROM' : '';
}

function mailWords({ smtpServer, mailFrom, dataDir }: Settings): string {
  if (smtpServer !== null) return `sent as ${mailFrom}${senderAdvice(mailFrom)}`;
  return `kept in ${join(dataDir, 'outbox')}, for trying out: these files hold live links. MAYFLY_SMTP_URL sends it`;
}

/** Whether a signature is set up that no mail gets. */
export function isUnsigned({ dkimDomain, smtpServer }: Settings): boolean {
  return dkimDomain !== null && smtpServer === null;
}

export const unsigned =
  'nothing is signed: MAYFLY_DKIM_DOMAIN is set, and mail is kept instead of sent. Set MAYFLY_SMTP_URL too';

const secondServer =
  'another server runs on this data folder too. Both work; if you did not mean to start two, stop one of them';

export function renderStartWords(settings: Settings, facts: StartFacts): string {
  const { baseUrl, host, port, dataDir, rootKeysFile } = settings;
  const keys = facts.hasNewKeys
    ? `${rootKeysFile}, made just now: keep a copy, apart from the store's`
    : rootKeysFile;
  const problem = clockProblem(facts.clock);
  const links = unreachableLinks(settings);
  return [
    `Mayfly ${facts.version} is ready: ${baseUrl}`,
    `  listens  ${host}, port ${port}`,
    ...(links === null ? [] : [`  LINKS    ${links}`]),
    `  store    SQLite in ${dataDir}`,
    `  keys     ${keys}`,
    `  mail     ${mailWords(settings)}`,
    ...(isUnsigned(settings) ? [`  DKIM     ${unsigned}`] : []),
    `  sign-up  ${signUpWords(settings)}`,
    `  API      ${baseUrl}/api/docs`,
    ...(facts.isSecondServer ? [`  NOTE     ${secondServer}`] : []),
    ...(problem === null ? [] : [`  CLOCK    ${problem}`]),
    '',
  ].join('\n');
}

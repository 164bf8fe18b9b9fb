/**
 * What a person reads when a server or a router has started, and sentences the doctor shares with them.
 *
 * They say where to look, what holds the secrets, what to keep, and that kept mail holds live links (the one exception to P9). No secret
 * setting is in them.
 */

import { join } from 'node:path';
import type { Settings } from '../config/read.ts';
import { isLoopbackHost, isLoopbackUrl } from '../core/links.ts';
import type { ClockReport } from '../core/ports/clock.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** `30 days`, `8 hours`, `6 minutes`: in the largest unit that fits, rounded. */
export function spanWords(seconds: number): string {
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1];
  const count = Math.round(seconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** `30 days ahead`, `8 hours behind`. */
export function differenceWords(aheadSeconds: number): string {
  return `${spanWords(Math.abs(aheadSeconds))} ${aheadSeconds >= 0 ? 'ahead' : 'behind'}`;
}

/** Whose clock is the wall clock of the store. */
export const clockOwner = (isOnServer: boolean): string =>
  isOnServer ? 'the PostgreSQL server' : 'this machine';

/**
 * What is wrong and what to do; `null` when the clocks agree.
 * @param isOnServer whether the store is on a server, whose clock it goes by
 */
export function clockProblem({ verdict, aheadSeconds }: ClockReport, isOnServer: boolean): string | null {
  const owner = clockOwner(isOnServer);
  const difference =
    aheadSeconds >= 0 ? `${differenceWords(aheadSeconds)} of` : differenceWords(aheadSeconds);
  switch (verdict) {
    case 'agreed':
      return null;
    case 'disputed':
      return (
        `the clock of ${owner} is ${difference} the time that Mayfly has measured. Until they agree, nothing that has ` +
        'expired is erased, and a secret that has expired by one of them only is answered 503. Correct the clock, or, if ' +
        'it is right, run mayfly store set-time'
      );
    case 'unproven':
      return (
        `${isOnServer ? 'the clock of the PostgreSQL server' : 'this machine has restarted, and its clock'} is ${difference} the time at which Mayfly last ran. It is believed ` +
        'after 10 minutes; until then nothing is erased. If it is wrong, correct it now'
      );
  }
}

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

/** The server that holds the store, as it was found at the start. */
export interface StoreServer {
  /** Its address, without a password. */
  readonly shown: string;
  /** Where a commit is kept before it counts. */
  readonly durability: 'single' | 'synchronous' | 'engine';
  /** What is not safe and was allowed, each as a sentence. */
  readonly unsafe: readonly string[];
  readonly isEncrypted: boolean;
  readonly isLocal: boolean;
}

export interface StartFacts {
  readonly version: string;
  /** Whether the key file was made at this start. */
  readonly hasNewKeys: boolean;
  /** Whether another server ran on the data folder when this one came. */
  readonly isSecondServer: boolean;
  /** `null` for the embedded store. */
  readonly server: StoreServer | null;
  /** What the store makes of the wall clock. */
  readonly clock: ClockReport;
  /** Whether new secrets are refused for want of room. */
  readonly isStorageFull: boolean;
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

/** Goes on after what keeps the secrets. */
export const durabilityWords: Readonly<Record<StoreServer['durability'], string>> = {
  single: 'single: one server keeps every commit, and nothing may take over for it',
  synchronous: 'synchronous: a commit counts once a standby has it too',
  engine: 'engine: as you declare, it keeps every commit through its own failovers',
};

/** Bytes that a short secret takes in PostgreSQL, indexes included (docs/engines.md, “How much it carries”). */
const secretBytes = 1_050;

function roomLine(maxBytes: number | null): string[] {
  if (maxBytes === null) return [];
  const secrets = Number((maxBytes / secretBytes).toPrecision(2)).toLocaleString('en');
  return [
    `  room     for about ${secrets} short secrets, then new ones are refused; MAYFLY_MAX_STORAGE sets it`,
  ];
}

/** What holds the secrets, and what to know of it, by line. */
function storeLines({ dataDir, maxStorageBytes }: Settings, server: StoreServer | null): string[] {
  if (server === null) return [`  store    SQLite in ${dataDir}`];
  const { shown, durability, unsafe, isEncrypted, isLocal } = server;
  return [
    `  store    PostgreSQL at ${shown}`,
    `  keeps    ${durabilityWords[durability]}`,
    ...roomLine(maxStorageBytes),
    ...(isEncrypted || isLocal ? [] : ['  PLAIN    the connection to it is not encrypted (sslmode=disable)']),
    ...unsafe.map((sentence) => `  UNSAFE   ${sentence}`),
  ];
}

/** What to do where new secrets are refused for want of room. */
function roomCure({ store, dataDir, maxStorageBytes }: Settings): string {
  const disk = `make room on the disk of ${store === 'sqlite' ? dataDir : 'the PostgreSQL server'}`;
  return maxStorageBytes === null ? disk : `${disk}, or raise MAYFLY_MAX_STORAGE: mayfly doctor says which`;
}

export function renderStartWords(settings: Settings, facts: StartFacts): string {
  const { baseUrl, host, port, rootKeysFile } = settings;
  const keys = facts.hasNewKeys
    ? `${rootKeysFile}, made just now: ${facts.server === null ? '' : 'copy it to every other node before it starts, and '}keep a copy, apart from the store's`
    : rootKeysFile;
  const problem = clockProblem(facts.clock, facts.server !== null);
  const links = unreachableLinks(settings);
  return [
    `Mayfly ${facts.version} is ready: ${baseUrl}`,
    `  listens  ${host}, port ${port}`,
    ...(links === null ? [] : [`  LINKS    ${links}`]),
    ...storeLines(settings, facts.server),
    `  keys     ${keys}`,
    `  mail     ${mailWords(settings)}`,
    ...(isUnsigned(settings) ? [`  DKIM     ${unsigned}`] : []),
    `  sign-up  ${signUpWords(settings)}`,
    `  API      ${baseUrl}/api/docs`,
    ...(facts.isSecondServer ? [`  NOTE     ${secondServer}`] : []),
    ...(facts.isStorageFull
      ? [
          `  STORAGE  too little room: new secrets are refused, the others open as usual; ${roomCure(settings)}`,
        ]
      : []),
    ...(problem === null ? [] : [`  CLOCK    ${problem}`]),
    '',
  ].join('\n');
}

function choiceWords({ routerWeights, regions }: Settings): string {
  if (routerWeights === null)
    return `to the first region that is well: ${regions.map(({ label }) => label).join(', then ')}`;
  return `spread by weight: ${Object.entries(routerWeights)
    .map(([label, weight]) => `${label} ${weight}`)
    .join(', ')}`;
}

export function renderRouterWords(settings: Settings, version: string): string {
  const { host, port, regions, routerUpstreams, routerDeprecation } = settings;
  const lines = regions.map(({ label, baseUrl }) => {
    const servers = routerUpstreams
      .filter((server) => server.label === label)
      .map((server) => server.baseUrl);
    return `  ${label.padEnd(8)} ${baseUrl}${servers.length === 0 ? '' : `, reached at ${servers.join(' and ')}`}`;
  });
  return [
    `Mayfly ${version} routes on ${host}, port ${port}`,
    ...lines,
    `  new      ${choiceWords(settings)}`,
    ...(routerDeprecation === null
      ? []
      : [
          `  says     that its address is deprecated since ${new Date(routerDeprecation * 1_000).toISOString().slice(0, 10)}`,
        ]),
    '',
  ].join('\n');
}

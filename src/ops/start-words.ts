/**
 * The words that a server or router prints once started, and sentences shared with the doctor: where to open it, where the secrets are,
 * what to back up, and that saved mail contains live links (the only exception to P9). No secret setting is included.
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

/** Returns a span such as `30 days`, `8 hours` or `6 minutes`, rounded, in the largest unit that fits. */
export function spanWords(seconds: number): string {
  const [name, size] = units.find(([, unit]) => seconds >= unit) ?? ['second', 1];
  const count = Math.round(seconds / size);
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

const sizes = Object.entries({ GB: 1e9, MB: 1e6, kB: 1e3 });

/** Returns a size such as `10.7 GB`, `100 kB` or `12 bytes`, rounded down, so that no limit is overstated. */
export function sizeWords(bytes: number): string {
  const [unit, size] = sizes.find(([, least]) => bytes >= least) ?? ['bytes', 1];
  return `${Math.floor((10 * bytes) / size) / 10} ${unit}`;
}

export function differenceWords(aheadSeconds: number): string {
  return `${spanWords(Math.abs(aheadSeconds))} ${aheadSeconds >= 0 ? 'ahead' : 'behind'}`;
}

export const clockOwner = (isOnServer: boolean): string =>
  isOnServer ? 'the PostgreSQL server' : 'this machine';

/**
 * Returns what is wrong and what to do; `null` if the clocks agree.
 * @param isOnServer whether the store uses the clock of a database server
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
        `the clock of ${owner} is ${difference} the time that Mayfly has measured. Until they agree, nothing ` +
        'expired is erased, and a secret that has expired by only one of them answers 503. Correct the clock or, if ' +
        'it is right, run mayfly store set-time'
      );
    case 'unproven':
      return (
        `${isOnServer ? 'the clock of the PostgreSQL server' : 'this machine has restarted, and its clock'} is ${difference} the time at which Mayfly last ran. Mayfly trusts it ` +
        'after 10 minutes; until then nothing is erased. If it is wrong, correct it now'
      );
  }
}

type ReachSettings = Pick<Settings, 'host' | 'baseUrl' | 'signUpIsOpen' | 'given'>;

function isPrivate({ host }: Pick<Settings, 'host'>): boolean {
  return isLoopbackHost(host.toLowerCase());
}

/** Returns what follows `links` if people who can connect cannot open them; `null` if they can, or if the operator has set the base URL. */
export function unreachableLinks(settings: ReachSettings): string | null {
  if (!isLoopbackUrl(settings.baseUrl) || isPrivate(settings) || settings.given.has('baseUrl')) return null;
  return `point to ${settings.baseUrl}, which is only this machine, but others can connect (HOST is ${settings.host}): set MAYFLY_BASE_URL to the address that they use`;
}

export function signUpWords(settings: ReachSettings): string {
  const isOpen = settings.signUpIsOpen;
  if (settings.given.has('signUpIsOpen'))
    return `${isOpen ? 'open to everyone who can connect' : 'closed'}, as MAYFLY_SIGNUP says`;
  if (isOpen) return 'open to everyone on this machine; MAYFLY_SIGNUP=closed closes it';
  return `closed, because ${closingReason(settings)}; MAYFLY_SIGNUP=open opens it`;
}

function closingReason(settings: ReachSettings): string {
  if (isLoopbackUrl(settings.baseUrl)) return `others can connect (HOST is ${settings.host})`;
  return `${settings.given.has('baseUrl') ? 'MAYFLY_BASE_URL' : 'the address of MAYFLY_REGION'} is not localhost`;
}

/** The database server, as found at startup. */
export interface StoreServer {
  /** The server's address without the password. */
  readonly shown: string;
  /** Where a commit must be before it counts. */
  readonly durability: 'single' | 'synchronous' | 'engine';
  /** Unsafe settings that the operator allowed, each as a sentence. */
  readonly unsafe: readonly string[];
  readonly isEncrypted: boolean;
  readonly isLocal: boolean;
}

export interface StartFacts {
  readonly version: string;
  /** Whether this start created the key file. */
  readonly hasNewKeys: boolean;
  /** Whether another server was already using the data folder. */
  readonly isSecondServer: boolean;
  /** `null` for the embedded store. */
  readonly server: StoreServer | null;
  readonly clock: ClockReport;
  readonly isStorageFull: boolean;
}

/** Returns words to append to a sender that no mail server can answer; otherwise `''`. */
export function senderAdvice(mailFrom: string): string {
  return mailFrom.endsWith('@mayfly.invalid') ? ', which does not exist: set MAYFLY_MAIL_FROM' : '';
}

function mailWords({ smtpServer, mailFrom, dataDir }: Settings): string {
  if (smtpServer !== null) return `sent as ${mailFrom}${senderAdvice(mailFrom)}`;
  return `saved in ${join(dataDir, 'outbox')}, for trials: the files contain live links. Set MAYFLY_SMTP_URL to send it`;
}

export function isUnsigned({ dkimDomain, smtpServer }: Settings): boolean {
  return dkimDomain !== null && smtpServer === null;
}

export const unsigned =
  'nothing is signed: MAYFLY_DKIM_DOMAIN is set, but mail is saved instead of sent. Set MAYFLY_SMTP_URL too';

const secondServer =
  'another server also uses this data folder. Both work; if you did not mean to start two, stop one of them';

export const durabilityWords: Readonly<Record<StoreServer['durability'], string>> = {
  single: 'single: one server has every commit, without failover',
  synchronous: 'synchronous: a commit counts once a standby has it',
  engine: 'engine: as you declare, its failovers lose no commit',
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

function storeLines({ dataDir, maxStorageBytes }: Settings, server: StoreServer | null): string[] {
  if (server === null) return [`  store    SQLite in ${dataDir}`];
  const { shown, durability, unsafe, isEncrypted, isLocal } = server;
  return [
    `  store    PostgreSQL at ${shown}`,
    `  keeps    ${durabilityWords[durability]}`,
    ...roomLine(maxStorageBytes),
    ...(isEncrypted || isLocal ? [] : ['  PLAIN    the connection is not encrypted (sslmode=disable)']),
    ...unsafe.map((sentence) => `  UNSAFE   ${sentence}`),
  ];
}

function roomCure({ store, dataDir, maxStorageBytes }: Settings): string {
  const disk = `make room on the disk of ${store === 'sqlite' ? dataDir : 'the PostgreSQL server'}`;
  return maxStorageBytes === null ? disk : `${disk}, or raise MAYFLY_MAX_STORAGE: mayfly doctor says which`;
}

export function renderStartWords(settings: Settings, facts: StartFacts): string {
  const { baseUrl, host, port, rootKeysFile } = settings;
  const keys = facts.hasNewKeys
    ? `${rootKeysFile}, created just now: ${facts.server === null ? '' : 'copy it to every other node before it starts, and '}keep a copy, separate from the store’s`
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
      ? [`  STORAGE  too little room: new secrets are refused, others open as usual; ${roomCure(settings)}`]
      : []),
    ...(problem === null ? [] : [`  CLOCK    ${problem}`]),
    '',
  ].join('\n');
}

function choiceWords({ routerWeights, regions }: Settings): string {
  if (routerWeights === null)
    return `to the first healthy region: ${regions.map(({ label }) => label).join(', then ')}`;
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

/** The checks of `mayfly doctor`. They change nothing: a missing folder, key file or check value stays missing. */
import { existsSync, statfsSync, statSync } from 'node:fs';
import type { SmtpServer } from '../config/addresses.ts';
import type { Settings } from '../config/read.ts';
import { ServiceError } from '../core/errors.ts';
import { isForThisMachineAlone, isLoopbackUrl } from '../core/links.ts';
import type { AccountStore } from '../core/ports/accounts.ts';
import type { ClockReport, StoreClock } from '../core/ports/clock.ts';
import type { RootStore } from '../core/ports/roots.ts';
import type { Sensitive } from '../core/sensitive.ts';
import type { Resolver } from '../core/share-domains/check.ts';
import type { KeyRing } from '../crypto/keyring.ts';
import { compareDkimRecord } from './dns.ts';
import { accountCommand, healthWords, lacksProxy, lacksTls } from './next-steps.ts';
import { readRootKeys } from './root-key-file.ts';
import { compareRootsToServe } from './root-keys.ts';
import {
  clockProblem,
  durabilityWords,
  isUnsigned,
  type StoreServer,
  senderAdvice,
  signUpWords,
  sizeWords,
  unreachableLinks,
  unsigned,
} from './start-words.ts';

export interface Finding {
  readonly what: string;
  /** `advice`: it works, but could be better. */
  readonly verdict: 'ok' | 'advice' | 'fault';
  readonly words: string;
}

export interface CheckStore extends RootStore, Pick<AccountStore, 'hasAccounts'>, Pick<StoreClock, 'clock'> {
  usedBytes(): Promise<number>;
}

export type OpenCheckStore =
  | {
      readonly outcome: 'open';
      readonly store: CheckStore;
      /** `null` for the embedded store. */
      readonly server: StoreServer | null;
      readonly close: () => Promise<void>;
    }
  | { readonly outcome: 'no_store'; readonly problem: string }
  | { readonly outcome: 'refused'; readonly problem: string };

export interface MailAnswer {
  /** `later`: nothing is wrong, but the mail server asks for a retry. */
  readonly outcome: 'well' | 'later' | 'failed';
  /** The result and, unless all is well, what to do. */
  readonly words: string;
}

export interface DoctorDeps {
  readonly openStore: () => Promise<OpenCheckStore>;
  /** Tests the mail server without sending. With a recipient, also sends a test email; `testMail` is `null` if no test email was tried. */
  readonly probeMail: (
    server: SmtpServer,
    recipient: Sensitive<string> | null,
  ) => Promise<{ readonly server: MailAnswer; readonly testMail: MailAnswer | null }>;
  readonly resolver: Pick<Resolver, 'txt'>;
  readonly hashOnce: () => Promise<unknown>;
}

const ok = (what: string, words: string): Finding => ({ what, verdict: 'ok', words });
const advice = (what: string, words: string): Finding => ({ what, verdict: 'advice', words });
const fault = (what: string, words: string): Finding => ({ what, verdict: 'fault', words });

/** Room for the store's own reserve and a few hundred thousand secrets. */
const scarceBytes = 2 ** 30;
const tooFewBytes = 2 ** 26;

function examineFolder({ dataDir }: Settings): Finding {
  if (!existsSync(dataDir)) return ok('folder', `${dataDir} will be created at the first start`);
  const { mode } = statSync(dataDir);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return advice('folder', `${dataDir} is open to other users of this machine: run chmod 700 ${dataDir}`);
  }
  return ok('folder', dataDir);
}

function examineDisk({ dataDir }: Settings): Finding {
  const { bavail, bsize } = statfsSync(existsSync(dataDir) ? dataDir : '.');
  const freeBytes = bavail * bsize;
  const words = `${sizeWords(freeBytes)} free on the disk of ${dataDir}`;
  if (freeBytes < tooFewBytes)
    return fault('disk', `${words}: new secrets are about to be refused; make room`);
  return freeBytes < scarceBytes ? advice('disk', `${words}: make room soon`) : ok('disk', words);
}

/** Returns a `ring` of `null` if the file will be created, or `undefined` if it cannot be read. */
function examineKeys({ rootKeysFile, store }: Settings): {
  finding: Finding;
  ring: KeyRing | null | undefined;
} {
  const reading = readRootKeys(rootKeysFile);
  if (reading.outcome === 'refused') return { finding: fault('keys', reading.problem), ring: undefined };
  if (reading.outcome === 'missing') {
    const maker =
      store === 'sqlite' ? 'at the first start' : 'by the first node; every other node needs a copy';
    return { finding: ok('keys', `${rootKeysFile} will be created ${maker}`), ring: null };
  }
  const count = reading.ring.all.length;
  const words = `${rootKeysFile}, ${count} root${count === 1 ? '' : 's'}. Keep a copy, separate from the store’s.`;
  return { finding: ok('keys', words), ring: reading.ring };
}

const nearlyFull = 0.8;

function examineStorage({ maxStorageBytes }: Settings, usedBytes: number): Finding {
  const used = sizeWords(usedBytes);
  if (maxStorageBytes === null)
    return ok('storage', `${used} in use; MAYFLY_MAX_STORAGE sets no limit except the disk`);
  const part = usedBytes / maxStorageBytes;
  const words = `${used} of ${sizeWords(maxStorageBytes)} in use (MAYFLY_MAX_STORAGE)`;
  const cure = 'raise it, or shorten the longest ttl (MAYFLY_PLANS_FILE)';
  if (part >= 1) return fault('storage', `${words}: new secrets are refused; ${cure}`);
  return part >= nearlyFull
    ? advice('storage', `${words}: new secrets will be refused soon; ${cure}`)
    : ok('storage', words);
}

async function examineStore(
  settings: Settings,
  ring: KeyRing | null | undefined,
  deps: DoctorDeps,
): Promise<readonly Finding[]> {
  const opened = await deps.openStore();
  if (opened.outcome === 'no_store') return [ok('store', 'will be created at the first start')];
  if (opened.outcome === 'refused') return [fault('store', opened.problem)];
  try {
    const roots = await examineRoots(ring, settings.rootKeysFile, opened.store);
    const storage = examineStorage(settings, await opened.store.usedBytes());
    const accounts = examineAccounts(settings, await opened.store.hasAccounts());
    const server = examineServer(opened.server);
    return [
      ...roots,
      ...server,
      storage,
      accounts,
      examineClock(opened.store.clock(), opened.server !== null),
    ];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return [fault('store', 'opens, but does not answer in time: check the server, its disk and its standby')];
  } finally {
    await opened.close();
  }
}

function examineServer(server: StoreServer | null): readonly Finding[] {
  if (server === null) return [];
  const { shown, durability, unsafe, isEncrypted, isLocal } = server;
  const words = `PostgreSQL at ${shown}; ${durabilityWords[durability]}`;
  return [
    ...unsafe.map((sentence) => advice('server', `UNSAFE, but allowed: ${sentence}`)),
    isEncrypted || isLocal
      ? ok('server', words)
      : advice('server', `${words}. The connection is not encrypted: remove sslmode=disable`),
  ];
}

function examineAccounts({ signUpIsOpen }: Settings, hasAccounts: boolean): Finding {
  if (hasAccounts) return ok('accounts', 'mayfly account list shows them');
  if (signUpIsOpen) return ok('accounts', 'none yet; sign-up is open');
  return advice('accounts', `none yet: ${accountCommand}`);
}

/** A missing key file is reported only here, so that it appears once. */
async function examineRoots(
  ring: KeyRing | null | undefined,
  path: string,
  store: CheckStore,
): Promise<readonly Finding[]> {
  const opens = ok('store', 'opens with safe settings');
  if (ring === undefined) return [opens];
  const compared = await compareRootsToServe(ring, path, store);
  if (compared.outcome === 'same') return [ok('store', 'opens with safe settings and matches the keys')];
  return ring === null ? [fault('keys', compared.problem), opens] : [fault('store', compared.problem)];
}

function examineClock(report: ClockReport, isOnServer: boolean): Finding {
  const problem = clockProblem(report, isOnServer);
  if (problem === null) return ok('clock', 'agrees with the store’s time');
  return report.verdict === 'disputed' ? fault('clock', problem) : advice('clock', problem);
}

function examineAddress(settings: Settings): Finding {
  const { baseUrl } = settings;
  const links = unreachableLinks(settings);
  if (links !== null) return advice('address', `links ${links}`);
  if (isLoopbackUrl(baseUrl)) return ok('address', `${baseUrl}, for this machine only`);
  if (lacksTls(settings))
    return advice(
      'address',
      `${baseUrl} is not encrypted: put a TLS proxy in front and use https in MAYFLY_BASE_URL`,
    );
  if (lacksProxy(settings)) {
    return advice(
      'address',
      `${baseUrl}; behind a proxy, set MAYFLY_TRUSTED_PROXIES to its address, or all visitors count as one client`,
    );
  }
  return ok('address', baseUrl);
}

/** The executable unpacks the hash's native code into a file in /tmp, and some machines forbid running it. */
const tmpAdvice =
  'the runtime must run native code from a file in /tmp: allow that, or set TMPDIR to a folder that allows it';

async function examinePassphrases({ hashOnce }: DoctorDeps): Promise<Finding> {
  try {
    await hashOnce();
    return ok('passphrases', 'can be checked');
  } catch {
    return fault(
      'passphrases',
      `cannot be checked, so every secret with a passphrase answers 500: ${tmpAdvice}`,
    );
  }
}

const verdictOf: Readonly<Record<MailAnswer['outcome'], Finding['verdict']>> = {
  well: 'ok',
  later: 'advice',
  failed: 'fault',
};

function toFinding(what: string, { outcome, words }: MailAnswer): Finding {
  return { what, verdict: verdictOf[outcome], words };
}

function withSender(found: string, mailFrom: string): Finding {
  const problem = senderAdvice(mailFrom);
  const words = `${found}; the sender is ${mailFrom}${problem}`;
  return problem === '' ? ok('mail', words) : advice('mail', words);
}

async function examineMail(
  settings: Settings,
  deps: DoctorDeps,
  recipient: Sensitive<string> | null,
): Promise<readonly Finding[]> {
  const { smtpServer, mailFrom, dataDir, serverFaults, verify } = settings;
  const wrong = serverFaults.find(({ setting }) => setting === 'smtpServer');
  if (wrong !== undefined) return [fault('mail', wrong.sentence)];
  if (smtpServer === null) {
    const codes =
      verify && !isForThisMachineAlone(settings) ? '; until then no secret can ask for a code' : '';
    const kept = `saved as files in ${dataDir}/outbox, which contain live links: set MAYFLY_SMTP_URL to send mail${codes}`;
    const unsent = fault('test mail', 'not sent, because there is no mail server: set MAYFLY_SMTP_URL');
    return [advice('mail', kept), ...(recipient === null ? [] : [unsent])];
  }
  const { server, testMail } = await deps.probeMail(smtpServer, recipient);
  return [
    server.outcome === 'well' ? withSender(server.words, mailFrom) : toFinding('mail', server),
    ...(testMail === null ? [] : [toFinding('test mail', testMail)]),
  ];
}

async function examineSignature(settings: Settings, { resolver }: DoctorDeps): Promise<readonly Finding[]> {
  const { dkimDomain, dkimSelector, dkimKey } = settings;
  if (dkimDomain === null || dkimSelector === null || dkimKey === null) return [];
  if (isUnsigned(settings)) return [advice('signature', unsigned)];
  const name = `${dkimSelector}._domainkey.${dkimDomain}`;
  const compared = await compareDkimRecord(name, dkimKey, resolver);
  switch (compared.outcome) {
    case 'fits':
      return [ok('signature', `${name} has the public key of MAYFLY_DKIM_KEY`)];
    case 'missing':
      return [
        fault(
          'signature',
          `${name} does not exist, so recipients cannot verify mail: publish ${compared.record}`,
        ),
      ];
    case 'differs':
      return [
        fault(
          'signature',
          `${name} has a different key from MAYFLY_DKIM_KEY, so mail looks forged: publish ${compared.record}`,
        ),
      ];
    case 'unknown':
      return [advice('signature', `${name} could not be looked up: no name server answers`)];
    case 'no_key':
      // Without the key no email is sent, and the mail server's own finding reports that.
      return [];
  }
}

export async function examine(
  settings: Settings,
  deps: DoctorDeps,
  recipient: Sensitive<string> | null,
): Promise<readonly Finding[]> {
  const keys = examineKeys(settings);
  const store = await examineStore(settings, keys.ring, deps);
  return [
    examineFolder(settings),
    ...(settings.store === 'sqlite' ? [examineDisk(settings)] : []),
    ...(store.some(({ what }) => what === 'keys') ? [] : [keys.finding]),
    ...store,
    await examinePassphrases(deps),
    examineAddress(settings),
    ok('health', healthWords(settings)),
    ok('sign-up', signUpWords(settings)),
    ...(await examineMail(settings, deps, recipient)),
    ...(await examineSignature(settings, deps)),
  ];
}

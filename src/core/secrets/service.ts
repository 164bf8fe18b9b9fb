/**
 * The service: ports bound to use cases. The object that API, pages and commands call.
 *
 * Owns: the binding, and the work that outlives a call (a mail or a notice being handed over, a token's last use). Invariant: a
 * failure of that work never fails the call it followed.
 */

import type { KeyRing } from '../../crypto/keyring.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { Caller } from '../accounts/accounts.ts';
import { authenticate } from '../accounts/tokens.ts';
import { createBackground } from '../background.ts';
import type { Events } from '../events.ts';
import { parseSecretKey, secretIdOf } from '../keys.ts';
import type { Links } from '../links.ts';
import { deliver } from '../mail/link-mail.ts';
import { sendDueNotices } from '../mail/notices.ts';
import { obfuscate } from '../mail/recipients.ts';
import type { Plans } from '../plans.ts';
import type {
  AccountStore,
  AttemptStore,
  DomainStore,
  Mailer,
  MailFaceOf,
  MailLocaleOf,
  MailQuota,
  PassphraseHasher,
  SecretStore,
  WordList,
} from '../ports.ts';
import type { RegionLabel } from '../regions.ts';
import { secretViewOf } from './access.ts';
import { burn } from './burn.ts';
import { conceal, generate } from './conceal.ts';
import { suggest } from './generated-value.ts';
import { setMemo } from './memos.ts';
import type { SecretService, StatusOutcome } from './outcomes.ts';
import { findReceipt, viewReceipt } from './receipts.ts';
import { recent } from './recent.ts';
import { inspect, reveal } from './reveal.ts';

export interface ServiceDeps {
  readonly store: SecretStore & AttemptStore & AccountStore & DomainStore;
  readonly mailer: Mailer;
  readonly mailQuota: MailQuota;
  readonly mailFaceOf: MailFaceOf;
  readonly mailLocaleOf: MailLocaleOf;
  /** This installation's; `null` where there are no regions. */
  readonly region: RegionLabel | null;
  readonly hasher: PassphraseHasher;
  readonly ring: KeyRing;
  readonly random: RandomBytes;
  readonly plans: Plans;
  readonly links: Links;
  readonly events: Events;
  /** Whether callers without an account may create; everyone may reveal. */
  readonly anonymousMayCreate: boolean;
  readonly words: WordList;
}

export interface RunningService extends SecretService {
  /** Resolves when no mail is being handed over. */
  settled(): Promise<void>;
}

export function createService(ports: ServiceDeps): RunningService {
  const background = createBackground();
  // A store that cannot note it now will not be asked again: the receipt then says what it last knew.
  const deps = { ...ports, inBackground: background.begin, aboutToMail: new Set<string>() };
  return {
    conceal: (input, caller) => conceal(deps, input, caller),
    generate: (input, caller) => generate(deps, input, caller),
    reveal: (input, caller) => reveal(deps, input, caller),
    inspect: (input, caller) => inspect(deps, input, caller),
    secretStatus: (input, caller) => secretStatus(deps.store, input.secretKey, caller),
    findReceipt: (input, caller) => findReceipt(deps, input, caller),
    viewReceipt: (input, caller) => viewReceipt(deps, input, caller),
    burn: (input, caller) => burn(deps, input, caller),
    setMemo: (input, caller) => setMemo(deps, input, caller),
    deliver: (input, caller) => deliver(deps, input, caller),
    sendDueNotices: () => sendDueNotices(deps),
    suggest: (input) => suggest(deps, input),
    recent: (input, caller) => recent(deps, input, caller),
    authenticate: (username, token) => authenticate(deps, username, token),
    settled: background.settled,
  };
}

async function secretStatus(
  store: SecretStore & AccountStore,
  text: string,
  caller: Caller,
): Promise<StatusOutcome> {
  const secretKey = parseSecretKey(text);
  const stored = secretKey === null ? null : await store.findSecret(secretIdOf(secretKey));
  if (secretKey === null || stored === null) return { outcome: 'unknown' };
  const account = stored.owner === null ? null : await store.findAccountById(stored.owner);
  return {
    outcome: 'waiting',
    secret: secretViewOf(stored, secretKey, 'new', caller, store.now()),
    sender: account === null ? null : obfuscate(account.username),
  };
}

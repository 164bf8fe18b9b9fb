/** Everything that the use cases work with, wired once in `app.ts`. A function that needs only part of it names that part. */
import type { KeyRing } from '../../crypto/keyring.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import type { InBackground } from '../background.ts';
import type { Events } from '../events.ts';
import type { RegionLabel } from '../keys.ts';
import type { Links } from '../links.ts';
import type { AccountMailer, MailBrandOf, Mailer, MailLocaleOf, MailQuota } from '../mailer.ts';
import type { Plans } from '../plans.ts';
import type { AccountStore } from './accounts.ts';
import type { AttemptStore } from './attempts.ts';
import type { StoreNow } from './clock.ts';
import type { CodeStore } from './codes.ts';
import type { CreationStore } from './creations.ts';
import type { DomainStore } from './domains.ts';
import type { EpochStore } from './epochs.ts';
import type { SharedLimits } from './limits.ts';
import type { IsCommonPassword, PassphraseHasher, WordList } from './passphrases.ts';
import type { RequestStore } from './requests.ts';
import type { SecretStore } from './secrets.ts';

/** Dependencies of the use cases for secrets. */
export interface Core {
  readonly store: SecretStore &
    AttemptStore &
    CodeStore &
    AccountStore &
    DomainStore &
    CreationStore &
    RequestStore &
    EpochStore;
  readonly mailer: Mailer;
  readonly mailQuota: MailQuota;
  readonly limits: SharedLimits;
  /** Whether secrets may ask for a code from an email, and whether the mail's subject has it. */
  readonly mayVerify: boolean;
  readonly codeIsInSubject: boolean;
  readonly mailBrandOf: MailBrandOf;
  readonly mailLocaleOf: MailLocaleOf;
  /** This installation's region; `null` without regions. */
  readonly region: RegionLabel | null;
  readonly hasher: PassphraseHasher;
  readonly ring: KeyRing;
  readonly random: RandomBytes;
  readonly plans: Plans;
  readonly links: Links;
  readonly events: Events;
  /** Whether callers without an account may create secrets; anyone may reveal. */
  readonly anonymousMayCreate: boolean;
  readonly words: WordList;
  readonly inBackground: InBackground;
}

/** Dependencies of the use cases for requests. */
export interface RequestCore extends Core {
  /** Who may ask for secrets. */
  readonly mayAsk: 'accounts' | 'anyone' | 'off';
  /** Whether strangers may sign up here. */
  readonly strangersSignUp: boolean;
}

/** Dependencies of the use cases for accounts. Their store can neither show nor take a secret. */
export interface AccountCore extends Pick<Core, 'hasher' | 'random' | 'links' | 'events' | 'inBackground'> {
  readonly store: AccountStore & DomainStore & StoreNow;
  readonly mailer: AccountMailer;
  /** Waits for an unpredictable time. */
  readonly pauseBeforeSending: () => Promise<void>;
  readonly isCommonPassword: IsCommonPassword;
}

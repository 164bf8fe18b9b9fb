/**
 * What the use cases work with, wired once in `app.ts`, and work that outlives the call that started it. A function that takes less
 * than all of it names what it takes.
 */
import type { KeyRing } from '../crypto/keyring.ts';
import type { RandomBytes } from '../crypto/random.ts';
import type { AttemptStore } from './attempt-store.ts';
import type { CreationStore } from './creation-store.ts';
import type { EpochStore } from './epoch-store.ts';
import type { Events } from './events.ts';
import type { RegionLabel } from './keys.ts';
import type { Links } from './links.ts';
import type { AccountMailer, MailBrandOf, Mailer, MailLocaleOf, MailQuota } from './mailer.ts';
import type { Plans } from './plans.ts';
import type {
  AccountStore,
  DomainStore,
  IsCommonPassword,
  PassphraseHasher,
  SecretStore,
  WordList,
} from './ports.ts';

/** For secrets. */
export interface Core {
  readonly store: SecretStore & AttemptStore & AccountStore & DomainStore & CreationStore & EpochStore;
  readonly mailer: Mailer;
  readonly mailQuota: MailQuota;
  readonly mailBrandOf: MailBrandOf;
  readonly mailLocaleOf: MailLocaleOf;
  /** This installation's; `null` where there are no regions. */
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

/** For accounts: their store shows and takes no secret. */
export interface AccountCore extends Pick<Core, 'hasher' | 'random' | 'links' | 'events' | 'inBackground'> {
  readonly store: AccountStore & DomainStore & Pick<SecretStore, 'now'>;
  readonly mailer: AccountMailer;
  /** Waits for an unpredictable time. */
  readonly pauseBeforeSending: () => Promise<void>;
  readonly isCommonPassword: IsCommonPassword;
}

/**
 * Work that outlives the call that started it: mails being handed over, last uses being noted. It starts after the current
 * turn of the event loop, so an answer given in that turn takes the same time with or without it (P17), and its failure
 * never fails the call that it followed.
 */
interface Background {
  begin(work: () => Promise<void>): void;
  /** Resolves when no work is running. */
  settled(): Promise<void>;
}

type InBackground = Background['begin'];

export function createBackground(): Background {
  const running = new Set<Promise<void>>();
  return {
    begin(work) {
      const settled = new Promise<void>((turn) => setImmediate(turn))
        .then(work)
        // No caller is left to handle it; the work itself reports what people need to know.
        .catch(() => undefined)
        .finally(() => running.delete(settled));
      running.add(settled);
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

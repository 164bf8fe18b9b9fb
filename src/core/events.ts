/** Events for logs and counters, never with a key, a value or an address (P18). */
import type { Burner, DeliveryState } from '../protocol/vocabulary.ts';
import type { AccountId } from './account.ts';
import type { AccountMail } from './mailer.ts';
import type { StoredDomain } from './share-domain.ts';

/** @see tagOf for how `tag` is derived */
export type ServiceEvent =
  | {
      readonly event: 'concealed';
      readonly tag: string;
      readonly kind: 'conceal' | 'generate' | 'answer';
      readonly account: AccountId | null;
    }
  | { readonly event: 'revealed'; readonly tag: string }
  /** The same opener got the same answer again. */
  | { readonly event: 'revealed_again'; readonly tag: string }
  | { readonly event: 'reveal_forfeited'; readonly tag: string }
  | { readonly event: 'burned'; readonly tag: string; readonly by: Burner }
  | { readonly event: 'lifetime_changed'; readonly tag: string }
  | { readonly event: 'passphrase_refused' | 'code_refused'; readonly tag: string }
  | { readonly event: 'attempts_exhausted'; readonly tag: string }
  /** The creator allowed more guesses. */
  | { readonly event: 'attempts_allowed'; readonly tag: string }
  | { readonly event: 'record_damaged'; readonly tag: string }
  /** The server's key file lacks a secret's root. */
  | { readonly event: 'root_missing'; readonly kid: number }
  | { readonly event: 'mail_ended'; readonly tag: string; readonly state: DeliveryState }
  | {
      readonly event: 'domain_checked';
      readonly account: AccountId;
      readonly domainState: StoredDomain['state'];
    }
  | { readonly event: 'request_created'; readonly tag: string; readonly account: AccountId | null }
  | { readonly event: 'request_answered' | 'request_ended' | 'request_reported'; readonly tag: string }
  /** An answer without a place, or too late. */
  | { readonly event: 'request_refused'; readonly tag: string; readonly why: 'full' | 'ended' }
  | { readonly event: 'signed_up'; readonly account: AccountId }
  | { readonly event: 'logged_in'; readonly account: AccountId }
  /** A wrong password, an unknown address or a locked account. */
  | { readonly event: 'log_in_refused' }
  /** A correct password or token for a locked account. */
  | { readonly event: 'locked_out'; readonly account: AccountId; readonly by: 'password' | 'token' }
  | { readonly event: 'password_changed'; readonly account: AccountId; readonly by: 'password' | 'reset' }
  | { readonly event: 'account_deleted'; readonly account: AccountId; readonly burned: number }
  | {
      readonly event: 'account_mail_ended';
      readonly kind: AccountMail['kind'];
      readonly state: DeliveryState;
    };

export type Events = (event: ServiceEvent) => void;

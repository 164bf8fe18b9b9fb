import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { AccountStore } from '../../core/ports/accounts.ts';
import type { AttemptLimits, CountedId, Reservation } from '../../core/ports/attempts.ts';
import type { CodeStore, NewCode } from '../../core/ports/codes.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { DomainStore } from '../../core/ports/domains.ts';
import type { Epoch } from '../../core/ports/epochs.ts';
import type { NewLook } from '../../core/ports/looks.ts';
import type { DueNotice } from '../../core/ports/mail.ts';
import type { RequestStore } from '../../core/ports/requests.ts';
import type { RootStore, RotationStore } from '../../core/ports/roots.ts';
import type { RoomStore, SecretStore } from '../../core/ports/secrets.ts';
import type { NewAnswer, NewRequest, StoredAnswer } from '../../core/request.ts';
import type { NewRecord } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { TimeAnchor } from '../store-time.ts';

/** Where a row with this id was found; the decision checks the id again. */
export interface Located<Id> {
  readonly id: Id;
  readonly position: number;
}

export interface LocatedClaim {
  readonly secretId: SecretId;
  readonly position: number;
  readonly rowVersion: number;
  readonly look?: NewLook;
}

type StorePorts = AccountStore &
  DomainStore &
  RootStore &
  RotationStore &
  RoomStore &
  CreationStore &
  CodeStore &
  RequestStore;

/** Port writes that become decisions with the same name, arguments and answer. */
export const forwarded = [
  'createAccount',
  'inviteAccount',
  'setPlan',
  'setLocale',
  'setNotify',
  'setSenderName',
  'lockAccount',
  'unlockAccount',
  'deleteAccount',
  'continueDeletion',
  'addToken',
  'addOwnToken',
  'revokeToken',
  'noteTokenUse',
  'addTicket',
  'replaceResetTickets',
  'redeemSignUp',
  'redeemReset',
  'changePassword',
  'addSession',
  'noteSessionUse',
  'endSession',
  'addDomain',
  'noteDomainCheck',
  'setDomainBrand',
  'setDomainLogo',
  'removeDomain',
  'takeDomainsToCheck',
  'addRootCheck',
  'closeRootsBefore',
  'forgetRoots',
  'assertRoom',
  'reserveCreation',
  'takeOverCreation',
  'releaseCreation',
  'countMismatch',
  'setCodeState',
  'changeRequest',
  'discardAnswer',
  'takeRequestNotice',
  'reportRequest',
  'endRequest',
  'endRequests',
] as const satisfies readonly (keyof StorePorts)[];

export type Forwarded = Pick<StorePorts, (typeof forwarded)[number]>;

/** Port writes that are decided at the receipt's row. */
type AtReceipt = Pick<SecretStore, 'markViewed' | 'setExpiry' | 'setMemo' | 'queueDelivery' | 'setDelivery'>;
export type WritesAtReceipt = {
  [N in keyof AtReceipt]: AtReceipt[N] extends (id: ReceiptId, ...given: infer Given) => infer Answer
    ? (at: Located<ReceiptId>, ...given: Given) => Answer
    : never;
};

type Taken<Port> = {
  [N in keyof Port]: Port[N] extends (...args: infer Given) => Promise<infer Answer>
    ? (...args: Given) => Answer
    : never;
};

export interface Decisions extends Taken<Forwarded>, Taken<WritesAtReceipt> {
  /** Returns `null`, and stores nothing, if its account is missing, its root is closed or its reservation is lost. */
  put(record: NewRecord): number | null;
  /** `refused`: its owner is missing or locked. */
  putRequest(request: NewRequest, maxPlaces: number | null): 'stored' | 'too_many_places' | 'refused';
  /** Returns the new record's position. `refused`: as `put`. */
  putAnswer(
    answer: NewAnswer,
  ): { position: number } | 'full' | 'ended' | 'unknown' | 'refused' | StoredAnswer;
  /** `refused`: the secret is waiting, but the look does not fit it; nothing changed. */
  claim(target: LocatedClaim): 'won' | 'gone' | 'refused';
  burn(at: Located<ReceiptId>): UnixSeconds | null;
  burnFound(at: Located<SecretId>, rowVersion: number): UnixSeconds | null;
  /** @param earliest anything that has expired by this time has expired by every clock */
  burnAll(after: number, limit: number, earliest: UnixSeconds): { burned: number; next: number | null };
  takeAnswer(at: Located<SecretId>, tag: Uint8Array): boolean;
  endLook(at: Located<SecretId>, tag: Uint8Array): void;
  /** Replaces a decision whose client has left. */
  withdrawn(): 'abandoned';
  /** Returns `null` if the new root is closed. */
  replaceWrapping(at: Located<SecretId>, from: Uint8Array, to: Uint8Array): boolean | null;
  takeDueNotices(limit: number): DueNotice[];
  sweep(limit: number): number;
  holdEpoch(epoch: number, freshKey: Uint8Array): Epoch;
  destroyPastEpochs(): boolean;
  /** @param position of the secret */
  reserve(id: CountedId, position: number | null, client: Uint8Array, limits: AttemptLimits): Reservation;
  refund(id: CountedId, attempt: number): void;
  allowMore(id: CountedId): void;
  putCode(at: Located<SecretId>, code: NewCode): UnixSeconds | null;
  /** Only saves the batch's store time. */
  keepTime(): void;
  setTime(anchor: TimeAnchor): void;
}

/** Some of the decisions, as a batch calls them: with the store time first. */
export type Deciding<Names extends keyof Decisions> = {
  [N in Names]: (now: UnixSeconds, ...args: Parameters<Decisions[N]>) => ReturnType<Decisions[N]>;
};

/** The decisions of a port. */
export type WritesOf<Port> = Deciding<keyof Port & keyof Decisions>;

export type DecisionName = keyof Decisions | 'scrub';
export type DecisionArguments<N extends DecisionName> = N extends keyof Decisions
  ? Parameters<Decisions[N]>
  : [];
export type DecisionAnswer<N extends DecisionName> = N extends keyof Decisions
  ? ReturnType<Decisions[N]>
  : boolean;

export interface Ask {
  readonly name: DecisionName;
  readonly args: readonly unknown[];
}

export interface Batch {
  /** Decisions use the later of this and the saved time. */
  readonly time: BatchTime;
  readonly asks: readonly Ask[];
  readonly bytes: number;
}

/** `refused`: this decision alone failed and changed nothing. `full`: there is no room for what it adds. */
export type Answer = { readonly answer: unknown } | { readonly refused: string } | { readonly full: true };

const additions: readonly string[] = ['put', 'assertRoom', 'reserveCreation', 'putRequest', 'putAnswer'];

/** Returns whether a full store refuses the decision, as it does a put. Reads and burns need no room. */
export const wantsRoom = ({ name, args }: Ask): boolean =>
  additions.includes(name) || (name === 'setMemo' && args[1] !== null);

export interface BatchAnswers {
  readonly now: UnixSeconds;
  readonly answers: readonly Answer[];
}

export interface BatchTime {
  readonly now: UnixSeconds;
  readonly sinceBoot: number;
  readonly timesSet: number;
  /** `null` while the wall clock is unproven. */
  readonly anchor: TimeAnchor | null;
}

export interface BatchClock {
  read(): BatchTime;
  raiseTo(seconds: UnixSeconds): void;
}

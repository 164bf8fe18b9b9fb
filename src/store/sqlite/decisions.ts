/** What can be decided, one batch at a time: the name of each decision, its arguments and its answer. */

import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { AccountStore } from '../../core/ports/accounts.ts';
import type { AttemptLimits, Reservation } from '../../core/ports/attempts.ts';
import type { CreationStore } from '../../core/ports/creations.ts';
import type { DomainStore } from '../../core/ports/domains.ts';
import type { Epoch } from '../../core/ports/epochs.ts';
import type { NewLook } from '../../core/ports/looks.ts';
import type { DueNotice } from '../../core/ports/mail.ts';
import type { RootStore, RotationStore } from '../../core/ports/roots.ts';
import type { NewExpiry, RoomStore } from '../../core/ports/secrets.ts';
import type { NewRecord, StoredDelivery } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { TimeMark } from '../store-time.ts';

/** An id and where its row was found; the decision compares the id once more. */
export interface Located<Id> {
  readonly id: Id;
  readonly position: number;
}

/** A claim, and where its row is. */
export interface LocatedClaim {
  readonly secretId: SecretId;
  readonly position: number;
  readonly rowVersion: number;
  /** What it leaves for the opener; absent when nothing. */
  readonly look?: NewLook;
}

type StorePorts = AccountStore & DomainStore & RootStore & RotationStore & RoomStore & CreationStore;

/** Writes of the ports that are decided as they are asked: the same name, arguments and answer. */
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
] as const satisfies readonly (keyof StorePorts)[];

export type Forwarded = Pick<StorePorts, (typeof forwarded)[number]>;

/** A port's methods as they are decided: within the transaction, so without a promise. */
type Taken<Port> = {
  [N in keyof Port]: Port[N] extends (...args: infer Given) => Promise<infer Answer>
    ? (...args: Given) => Answer
    : never;
};

/** Each is taken whole inside its batch's transaction. */
export interface Decisions extends Taken<Forwarded> {
  /** The position of the new row; `null`, and nothing stored, when its account is not there, its root was closed or its reservation lost. */
  put(record: NewRecord): number | null;
  /** `refused`: the secret waits, and the look does not fit it; nothing changed. */
  claim(target: LocatedClaim): 'won' | 'gone' | 'refused';
  burn(at: Located<ReceiptId>): UnixSeconds | null;
  burnFound(at: Located<SecretId>, rowVersion: number): UnixSeconds | null;
  /** @param earliest what has expired by this has expired by every clock */
  burnAll(after: number, limit: number, earliest: UnixSeconds): { burned: number; next: number | null };
  /** Whether an answer was left. */
  takeAnswer(at: Located<SecretId>, tag: Uint8Array): boolean;
  endLook(at: Located<SecretId>, tag: Uint8Array): void;
  /** In the place of a decision whose client left before its batch was committed. */
  withdrawn(): 'abandoned';
  markViewed(at: Located<ReceiptId>): UnixSeconds | null;
  setExpiry(at: Located<ReceiptId>, from: UnixSeconds, to: NewExpiry): boolean;
  /** `null`: its root is closed. */
  replaceWrapping(at: Located<SecretId>, from: Uint8Array, to: Uint8Array): boolean | null;
  setMemo(at: Located<ReceiptId>, memoBox: Uint8Array | null): boolean;
  queueDelivery(
    at: Located<ReceiptId>,
    queued: Pick<StoredDelivery, 'staleAt' | 'noteBox' | 'addressBox'>,
  ): 'queued' | 'in_flight' | 'gone';
  setDelivery(at: Located<ReceiptId>, delivery: Omit<StoredDelivery, 'at'>): void;
  takeDueNotices(limit: number): DueNotice[];
  sweep(limit: number): number;
  holdEpoch(epoch: number, freshKey: Uint8Array): Epoch;
  destroyPastEpochs(): boolean;
  reserve(id: SecretId, position: number | null, client: Uint8Array, limits: AttemptLimits): Reservation;
  refund(id: SecretId, attempt: number): void;
  allowMore(id: SecretId): void;
  /** Keeps the batch's store time, nothing else. */
  keepTime(): void;
  setTime(mark: TimeMark): void;
}

/** Some of the decisions as a batch takes them: at store time. */
export type Deciding<Names extends keyof Decisions> = {
  [N in Names]: (now: UnixSeconds, ...args: Parameters<Decisions[N]>) => ReturnType<Decisions[N]>;
};

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
  /** As this process knows it; decided is by the later of this and what is kept. */
  readonly time: BatchTime;
  readonly asks: readonly Ask[];
  /** Of all that it is to store. */
  readonly bytes: number;
}

/** `refused`: this decision alone failed and changed nothing. `full`: there is no room for what it adds. */
export type Answer = { readonly answer: unknown } | { readonly refused: string } | { readonly full: true };

/** Whether it adds what nobody needs to read or burn a secret, so that a full store refuses it as it refuses a put. */
export function wantsRoom({ name, args }: Ask): boolean {
  return (
    name === 'put' ||
    name === 'assertRoom' ||
    name === 'reserveCreation' ||
    (name === 'setMemo' && args[1] !== null)
  );
}

export interface BatchAnswers {
  /** Persisted store time, at which the batch was decided. */
  readonly now: UnixSeconds;
  readonly answers: readonly Answer[];
}

/** What a batch knows of the time. */
export interface BatchTime {
  readonly now: UnixSeconds;
  readonly sinceBoot: number;
  readonly timesSet: number;
  /** To be kept; `null` while the wall clock is unproven. */
  readonly mark: TimeMark | null;
}

/** What batches are stamped with. */
export interface BatchClock {
  read(): BatchTime;
  /** A batch was decided by a later time. */
  raiseTo(seconds: UnixSeconds): void;
}

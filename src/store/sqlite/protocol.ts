/** The messages between the event loop and the writer thread. An answer is posted only after its batch's COMMIT returned. */
import type { AttemptLimits, Reservation } from '../../core/attempt-store.ts';
import type { CreationStore } from '../../core/creation-store.ts';
import type { Epoch } from '../../core/epoch-store.ts';
import type { ReceiptId, SecretId } from '../../core/keys.ts';
import type { AccountStore, DomainStore, DueNotice, NewExpiry, RoomStore } from '../../core/ports.ts';
import type { RootStore, RotationStore } from '../../core/root-store.ts';
import type { StoredDelivery } from '../../core/secret.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { RefusalReason } from '../store.ts';
import type { TimeMark } from '../store-time.ts';
import type { ConnectionSettings } from './database.ts';

/** An id and where its row stands, found by the asking side; the writer compares the id once more. */
export interface Located<Id> {
  readonly id: Id;
  readonly position: number;
}

type StorePorts = AccountStore & DomainStore & RootStore & RotationStore & RoomStore & CreationStore;

/** Writes of the ports that reach the writer as they are: the same name, arguments and answer. */
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

/** A port's methods as the writer takes them: within the transaction, so without a promise. */
type Taken<Port> = {
  [N in keyof Port]: Port[N] extends (...args: infer Given) => Promise<infer Answer>
    ? (...args: Given) => Answer
    : never;
};

/** The rarer writes, each taken whole inside its batch's transaction. Puts and claims travel as frames. */
export interface Decisions extends Taken<Forwarded> {
  burn(at: Located<ReceiptId>): UnixSeconds | null;
  burnFound(at: Located<SecretId>, rowVersion: number): UnixSeconds | null;
  /** @param earliest what has expired by this has expired by every clock */
  burnAll(after: number, limit: number, earliest: UnixSeconds): { burned: number; next: number | null };
  /** Whether an answer was left. */
  takeAnswer(at: Located<SecretId>, tag: Uint8Array): boolean;
  endLook(at: Located<SecretId>, tag: Uint8Array): void;
  /** In the place of a decision whose client left before its batch was sent. */
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

/** Some of the decisions as the writer takes them: at store time. */
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
  /** As the asking side knows it; the writer judges by the later of this and what is kept. */
  readonly time: BatchTime;
  readonly frames: ArrayBuffer;
  readonly frameCount: number;
  readonly asks: readonly Ask[];
}

/** What became of a put or a claim, as one byte. `refused`: it failed alone and changed nothing. */
export const frameOutcome = { done: 0, gone: 1, full: 2, refused: 3, withdrawn: 4 } as const;

/** `refused`: this decision alone failed and changed nothing. `full`: there is no room for what it adds. */
export type Answer = { readonly answer: unknown } | { readonly refused: string } | { readonly full: true };

/** Whether it adds what nobody needs to read or burn a secret, so that a full store refuses it as it refuses a put. */
export function wantsRoom({ name, args }: Ask): boolean {
  return name === 'assertRoom' || name === 'reserveCreation' || (name === 'setMemo' && args[1] !== null);
}

export interface BatchAnswers {
  /** Persisted store time, at which the batch was decided. */
  readonly now: UnixSeconds;
  readonly frameOutcomes: Uint8Array;
  /** Of the batch's first stored record; the others follow without a gap. 0 when none was stored. */
  readonly firstPosition: number;
  /** Rows up to here are in the index. */
  readonly indexedUpto: number;
  readonly answers: readonly Answer[];
}

export interface OpenRequest {
  readonly directory: string;
  readonly settings: ConnectionSettings;
  /** Twice the length at which the log is written out, so that the ballast's room always suffices for that. */
  readonly ballastBytes: number;
  /** What the database may hold before new secrets are refused; `null`: as much as the disk. */
  readonly maxStorageBytes: number | null;
}

export type ToWriter =
  | ({ readonly kind: 'open' } & OpenRequest)
  | ({ readonly kind: 'batch' } & Batch)
  | { readonly kind: 'close' };

export type FromWriter =
  | { readonly kind: 'opened' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason | null; readonly message: string }
  | ({ readonly kind: 'answers' /** Given back for reuse. */; readonly frames: ArrayBuffer } & BatchAnswers)
  /**
   * The whole batch is of unknown outcome. While `broken`, no further batch is accepted. `moved`: the open files are not
   * those of the folder, so nothing was begun, and what is read from them does not count either.
   */
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** SQLite's or the system's, such as `SQLITE_IOERR_FSYNC`; `''` if there is none. */
      readonly code: string;
      readonly broken: boolean;
      readonly moved: boolean;
    }
  /** The database was reopened and verified: batches are accepted again. */
  | { readonly kind: 'recovered' }
  | { readonly kind: 'closed' };

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
  /** The writer has judged by a later time. */
  raiseTo(seconds: UnixSeconds): void;
}

/** Copies of a whole store, as operators ask for them: backups, and moves to another store. */
import type { UnixSeconds } from './time.ts';

/** What a backup of a store holds. */
export interface BackupFacts {
  /** Store time at which it was taken. */
  readonly takenAt: UnixSeconds;
  /** Secrets that waited then. */
  readonly waiting: number;
  readonly accounts: number;
}

export type BackupOutcome =
  | { readonly outcome: 'done'; readonly facts: BackupFacts }
  /** A sentence for the operator; nothing was written. */
  | { readonly outcome: 'refused'; readonly problem: string };

/** Called now and then with how much of the file is written, and how much the source takes. */
export type OnProgress = (writtenBytes: number, sourceBytes: number) => void;

export interface StoreMove {
  /** Stores, named as in the command's help. */
  readonly from: string;
  readonly to: string;
  /** Whether to close the first at the end and open the other. */
  readonly isFinishing: boolean;
  readonly onProgress: (copiedRows: number, allRows: number) => void;
}

export type StoreMoveOutcome =
  /** The places have no passwords. */
  | {
      readonly outcome: 'copied' | 'moved';
      readonly rows: number;
      readonly from: string;
      readonly to: string;
    }
  /** A sentence for the operator. */
  | { readonly outcome: 'refused'; readonly problem: string };

export type CancelOutcome =
  /** `none`: there was no move. */
  { readonly outcome: 'cancelled' | 'none' } | { readonly outcome: 'refused'; readonly problem: string };

export type MigrateOutcome =
  | { readonly outcome: 'made' | 'updated' | 'up_to_date'; readonly where: string }
  | { readonly outcome: 'refused'; readonly problem: string };

/** Copies of a whole store, made for operators: backups, and moves to another store. */
import type { UnixSeconds } from './time.ts';

/** The contents of a store's backup. */
export interface BackupFacts {
  /** Store time when the backup was taken. */
  readonly takenAt: UnixSeconds;
  /** Number of secrets waiting at that time. */
  readonly waiting: number;
  readonly accounts: number;
}

export type BackupOutcome =
  | { readonly outcome: 'done'; readonly facts: BackupFacts }
  /** `problem` is a sentence for the operator; nothing was written. */
  | { readonly outcome: 'refused'; readonly problem: string };

/** Called periodically with the bytes written so far and the size of the source. */
export type OnProgress = (writtenBytes: number, sourceBytes: number) => void;

export interface StoreMove {
  /** The two stores, named as in the command's help. */
  readonly from: string;
  readonly to: string;
  /** Whether to close `from` at the end and open `to`. */
  readonly isFinishing: boolean;
  readonly onProgress: (copiedRows: number, allRows: number) => void;
}

export type StoreMoveOutcome =
  /** `from` and `to` contain no passwords. */
  | {
      readonly outcome: 'copied' | 'moved';
      readonly rows: number;
      readonly from: string;
      readonly to: string;
    }
  /** `problem` is a sentence for the operator. */
  | { readonly outcome: 'refused'; readonly problem: string };

export type CancelOutcome =
  /** `none`: there was no move to cancel. */
  { readonly outcome: 'cancelled' | 'none' } | { readonly outcome: 'refused'; readonly problem: string };

export type MigrateOutcome =
  | { readonly outcome: 'made' | 'updated' | 'up_to_date'; readonly where: string }
  | { readonly outcome: 'refused'; readonly problem: string };

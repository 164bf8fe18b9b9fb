/**
 * What a client knows for certain: which creates were acknowledged and which values were released.
 *
 * An entry is written before its request is sent, so a missing answer leaves the entry in doubt. Checks that a value is
 * released at most once (P1), acknowledged means stored (P5), and the receipt is right (P6).
 */
import type { Made, Reading } from './calls.ts';

export interface Entry {
  readonly value: string;
  /** `null` until the create was acknowledged. */
  made: Made | null;
  /** Reveals and burns that were sent. */
  attempts: number;
  /** How often the value was released, in whole or partial answers. */
  releases: number;
  burns: number;
  /** Somebody was answered that it is gone. */
  wasGone: boolean;
  /** Nothing more can happen to it. */
  isSettled: boolean;
}

export interface Ledger {
  /** Call before sending a create. The value is unique and recognisable in any bytes. */
  open(): Entry;
  acknowledge(entry: Entry, made: Made): void;
  /** Call before sending a reveal or a burn. */
  attempt(entry: Entry): void;
  /** Records the answer to an attempt, which was sent when the entry was already gone, or before. */
  note(entry: Entry, reading: Reading, wasGone?: boolean): void;
  /** Records the bytes of a cut answer: any value in them has been released. */
  noteFragment(text: string): void;
  /** Compares the receipt's state after a restart. Unless it is `new`, one more reveal should follow: see `settle`. */
  compare(entry: Entry, receiptState: string): void;
  /** Acknowledged but not settled: still to be watched. */
  unsettled(): Entry[];
  readonly entries: readonly Entry[];
  /** Broken promises, in words. */
  readonly faults: readonly string[];
}

const valueForm = /ledger-[0-9a-z]+-\d+/g;

export function createLedger(runName: string): Ledger {
  const entries: Entry[] = [];
  const byValue = new Map<string, Entry>();
  const faults: string[] = [];

  const release = (entry: Entry, value: string) => {
    if (value !== entry.value) faults.push(`${entry.value}: another value was released: ${value}`);
    entry.releases += 1;
    if (entry.releases > 1) faults.push(`${entry.value}: released ${entry.releases} times`);
    if (entry.burns > 0) faults.push(`${entry.value}: released although a burn was confirmed`);
  };
  const burn = (entry: Entry) => {
    entry.burns += 1;
    if (entry.burns > 1) faults.push(`${entry.value}: burned ${entry.burns} times`);
    if (entry.releases > 0) faults.push(`${entry.value}: burned although it was released`);
  };

  return {
    entries,
    faults,
    open() {
      const value = `ledger-${runName}-${entries.length}`;
      const entry: Entry = {
        value,
        made: null,
        attempts: 0,
        releases: 0,
        burns: 0,
        wasGone: false,
        isSettled: false,
      };
      entries.push(entry);
      byValue.set(value, entry);
      return entry;
    },
    acknowledge(entry, made) {
      entry.made = made;
    },
    attempt(entry) {
      entry.attempts += 1;
    },
    note(entry, reading, wasGone = false) {
      if (wasGone && (reading.is === 'released' || reading.is === 'burned'))
        faults.push(`${entry.value}: ${reading.is} after it was answered as gone`);
      if (reading.is === 'lost') entry.wasGone = true;
      if (reading.is === 'released') release(entry, reading.value);
      else if (reading.is === 'burned') burn(entry);
      else if (reading.is === 'strange') faults.push(`${entry.value}: ${JSON.stringify(reading.answer)}`);
      else if (reading.is === 'lost' && entry.attempts <= 1)
        faults.push(`${entry.value}: acknowledged, never attempted before, and gone`);
    },
    noteFragment(text) {
      for (const [value] of text.matchAll(valueForm)) {
        const entry = byValue.get(value);
        if (entry !== undefined) release(entry, value);
      }
    },
    compare(entry, receiptState) {
      const fault = contradiction(entry, receiptState);
      if (fault !== null) faults.push(`${entry.value}: ${fault}`);
      entry.isSettled = receiptState !== 'new';
    },
    unsettled: () => entries.filter(({ made, isSettled }) => made !== null && !isSettled),
  };
}

/** How the receipt contradicts what the client knows; `null` when it does not. */
function contradiction(entry: Entry, receiptState: string): string | null {
  if (!['new', 'received', 'burned'].includes(receiptState)) return `the receipt says ${receiptState}`;
  if (entry.releases > 0 && receiptState !== 'received')
    return `released, and the receipt says ${receiptState}`;
  if (entry.burns > 0 && receiptState !== 'burned') return `burned, and the receipt says ${receiptState}`;
  if (entry.attempts === 0 && receiptState !== 'new')
    return `never attempted, and the receipt says ${receiptState}`;
  return null;
}

/** A ledger to which an answer of 503 to a reveal or burn is a fault, too. */
export function createStrictLedger(runName: string): { ledger: Ledger; refused: readonly string[] } {
  const ledger = createLedger(runName);
  const refused: string[] = [];
  const strict: Ledger = {
    ...ledger,
    note(entry, reading, wasGone) {
      if (reading.is === 'unavailable') refused.push(entry.value);
      ledger.note(entry, reading, wasGone);
    },
  };
  return { ledger: strict, refused };
}

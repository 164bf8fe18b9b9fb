/**
 * What a client knows for certain: the creates that were acknowledged and the values that came out.
 *
 * An entry is written before its request is sent, so an answer that never came leaves a doubt and never a certainty.
 * Promises judged: at most one release (P1), acknowledged means stored (P5), the receipt tells the truth (P6).
 */
import type { Made, Reading } from './calls.ts';

export interface Entry {
  readonly value: string;
  /** `null` until the create was acknowledged. */
  made: Made | null;
  /** Reveals and burns that were sent. */
  attempts: number;
  /** How often the value came out, in whole answers and in pieces. */
  releases: number;
  burns: number;
  /** Nothing more can happen to it. */
  isSettled: boolean;
}

export interface Ledger {
  /** Before a create is sent. The value is unique and can be recognised in any bytes. */
  open(): Entry;
  acknowledge(entry: Entry, made: Made): void;
  /** Before a reveal or a burn is sent. */
  attempt(entry: Entry): void;
  /** What the answer of an attempt said. */
  note(entry: Entry, reading: Reading): void;
  /** Bytes of an answer that was cut: a value among them has been released. */
  noteFragment(text: string): void;
  /** What the server says after a restart, by receipt and by one more reveal if it is not known to wait. */
  compare(entry: Entry, receiptState: string): void;
  /** Acknowledged and not settled: what is still to be watched. */
  unsettled(): Entry[];
  readonly entries: readonly Entry[];
  /** What was not as promised, in words. */
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
      const entry: Entry = { value, made: null, attempts: 0, releases: 0, burns: 0, isSettled: false };
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
    note(entry, reading) {
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

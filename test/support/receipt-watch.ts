/**
 * Creators who look at their receipts while secrets are read and burned: none may say that a secret waits which was read before, nor
 * that one has ended which is read later.
 */
import { readReceiptState, receiptRequest } from './calls.ts';
import type { Ledger } from './ledger.ts';
import { openPool } from './started-server.ts';

export interface ReceiptWatch {
  /** Answers that were not 503. */
  readonly told: () => number;
  /** What a receipt said that was not so. */
  readonly untrue: readonly string[];
  stop(): Promise<void>;
}

const ended = ['received', 'burned'];
const pauseMs = 10;

/** At each of the ports one creator, who looks at one receipt after the other, in random order. */
export async function watchReceipts(
  ports: readonly number[],
  {
    ledger,
    basic,
    random,
  }: { readonly ledger: Ledger; readonly basic: string; readonly random: () => number },
): Promise<ReceiptWatch> {
  const untrue: string[] = [];
  let [told, isOn] = [0, true];
  const watch = async (port: number) => {
    using pool = await openPool(port, 1);
    const [connection] = pool.connections;
    while (isOn && connection?.isOpen()) {
      await new Promise((resume) => setTimeout(resume, pauseMs));
      const known = ledger.entries.filter(({ made }) => made !== null).slice(-100);
      const entry = known[Math.floor(random() * known.length)];
      if (entry?.made == null) continue;
      const hadEnded = entry.releases + entry.burns > 0;
      const answer = await connection.send(receiptRequest(entry.made, basic));
      if (answer.status === 503) continue;
      told += 1;
      const state = readReceiptState(answer);
      if (hadEnded && !ended.includes(state))
        untrue.push(`${entry.value}: read or burned, and then the receipt said ${state}`);
      // The ledger finds a fault in whoever reads it from now on.
      if (ended.includes(state)) entry.wasGone = true;
    }
  };
  const watches = ports.map(watch);
  return {
    told: () => told,
    untrue,
    async stop() {
      isOn = false;
      await Promise.all(watches);
    },
  };
}

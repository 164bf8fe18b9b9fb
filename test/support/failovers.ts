/**
 * Failovers under load, with a ledger at the client: the standby stops hearing, secrets are shared and read meanwhile, the primary dies
 * with what only it had, and the standby takes over.
 */
import type { Ledger } from './ledger.ts';
import type { Mailboxes } from './mailboxes.ts';
import type { Nodes } from './nodes.ts';
import type { PostgresPair } from './postgres.ts';
import { readAll, runLoad, settleMailboxes } from './storm.ts';

export interface FailoverRun {
  readonly pair: PostgresPair;
  readonly nodes: Pick<Nodes, 'servers' | 'owner'>;
  readonly ledger: Ledger;
  readonly mailboxes?: Mailboxes;
  readonly random: () => number;
  readonly cycles: number;
  readonly onCycle?: (cycle: FailoverCycle) => void;
}

export interface FailoverCycle {
  readonly answersWhileFrozen: number;
  /** Of statements that waited for the standby when the primary died. */
  readonly waitingAtDeath: number;
  /** From the promotion, a new standby included, until every node has stored a secret. */
  readonly recoveryMs: number;
}

export interface FailoverSum {
  readonly acknowledged: number;
  readonly released: number;
  readonly burned: number;
  /** Of what waited at the end, and was read then. */
  readonly stillWaited: number;
  /** Attempts were made and nobody got it: lost in doubt, never twice. */
  readonly forfeited: number;
  /** Released more than once. */
  readonly doubles: number;
  /** Acknowledged, and not there. */
  readonly lost: number;
}

const connectionsPerNode = 8;
const betweenMs = 10;
const pause = () => new Promise((resume) => setTimeout(resume, betweenMs));

const waiting = "SELECT count(*)::int AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

/** Load on every node, and what it has done so far. */
export function startLoad(run: Pick<FailoverRun, 'nodes' | 'ledger' | 'mailboxes' | 'random'>) {
  const { nodes, ledger, mailboxes, random } = run;
  let isOn = true;
  let answers = 0;
  const acknowledgedBy = nodes.servers.map(() => 0);
  const loads = nodes.servers.map(({ port }, at) => {
    const counting: Ledger = {
      ...ledger,
      acknowledge(entry, made) {
        acknowledgedBy[at] = (acknowledgedBy[at] ?? 0) + 1;
        ledger.acknowledge(entry, made);
      },
    };
    return runLoad({
      ...(mailboxes !== undefined && { mailboxes }),
      port,
      ledger: counting,
      basic: nodes.owner.basic,
      random,
      connectionCount: connectionsPerNode,
      onAnswer: () => {
        answers += 1;
      },
      goesOn: () => isOn,
      between: pause,
    });
  });
  const until = async (what: string, isSo: () => boolean) => {
    const startMs = performance.now();
    while (!isSo()) {
      if (performance.now() - startMs > 60_000) throw new Error(`waited in vain: ${what}`);
      await pause();
    }
  };
  return {
    answers: () => answers,
    untilAnswers(more: number) {
      const goal = answers + more;
      return until(`${more} more answers`, () => answers >= goal);
    },
    /** @param nodes places of those that count; all if absent */
    untilEachHasStored(nodes = [...acknowledgedBy.keys()]) {
      const before = [...acknowledgedBy];
      const hasStored = () => nodes.every((at) => (acknowledgedBy[at] ?? 0) > (before[at] ?? 0));
      return until('every node to store a secret', hasStored);
    },
    async stop() {
      isOn = false;
      await Promise.all(loads);
    },
  };
}

export async function playFailovers(run: FailoverRun): Promise<FailoverSum> {
  const { pair, ledger, nodes, random } = run;
  const load = startLoad(run);
  try {
    for (let cycle = 0; cycle < run.cycles; cycle += 1) {
      await load.untilAnswers(100);
      pair.freezeStandby();
      const before = load.answers();
      await load.untilAnswers(5 + Math.floor(random() * 40));
      const answersWhileFrozen = load.answers() - before;
      const [{ n: waitingAtDeath } = { n: 0 }] = await pair.primary.ask<{ n: number }>(waiting);
      await pair.killPrimary();
      const diedAt = performance.now();
      await pair.promote();
      await pair.addStandby();
      await load.untilEachHasStored();
      run.onCycle?.({ answersWhileFrozen, waitingAtDeath, recoveryMs: performance.now() - diedAt });
    }
  } finally {
    await load.stop();
  }
  const [node] = nodes.servers;
  const stillWaited = await readAll(node?.port ?? 0, { ledger, basic: nodes.owner.basic });
  if (run.mailboxes !== undefined) await settleMailboxes(node?.port ?? 0, run.mailboxes, nodes.owner.basic);
  const known = ledger.entries.filter(({ made }) => made !== null);
  return {
    acknowledged: known.length,
    released: known.filter(({ releases }) => releases > 0).length,
    burned: known.filter(({ burns }) => burns > 0).length,
    stillWaited,
    forfeited: known.filter(({ releases, burns }) => releases + burns === 0).length,
    doubles: known.filter(({ releases }) => releases > 1).length,
    lost: ledger.faults.filter((fault) =>
      /the receipt says missing$|never attempted before, and gone$/.test(fault),
    ).length,
  };
}

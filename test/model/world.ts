/** What the model of the claim is made of: servers with their logs, readers, and what is between them. */

/** The rules that keep the promises. Without any one of them there must be a trail to a fault. */
export interface Rules {
  /** A commit waits until the standby has it (`synchronous_commit`). */
  readonly waits: boolean;
  /** A notice, as a cancelled wait gives it, means that nothing is confirmed. */
  readonly heedsNotices: boolean;
  /** After the commit: the standbys are named as at the boot check, and the configuration was not loaded since. */
  readonly checksNames: boolean;
  /** An undo asks for its own claim's token. */
  readonly undoesByToken: boolean;
  /** "Gone" is answered only after a confirmed write that began after the row was seen. */
  readonly proves: boolean;
  /** That write ends the claim's right to be undone. */
  readonly settles: boolean;
  /** A claim after which the configuration was loaded is won only if one more write is confirmed since. */
  readonly writesAgain: boolean;
  /** After the commit, and at the boot check: the tables are those that the node has served from. */
  readonly checksTables: boolean;
}

export const allRules: Rules = {
  waits: true,
  heedsNotices: true,
  checksNames: true,
  undoesByToken: true,
  proves: true,
  settles: true,
  writesAgain: true,
  checksTables: true,
};

/** How much can go wrong in one history. */
export interface Bounds {
  readonly readers: number;
  readonly promotions: number;
  readonly crashes: number;
  readonly nameChanges: number;
  /** Dumps that are loaded over the tables, of when the secret waited. */
  readonly restores: number;
  readonly cuts: number;
  readonly cancels: number;
  readonly undoTries: number;
}

export type Kind = 'claim' | 'undo' | 'settle' | 'proof' | 'restore';
export interface Entry {
  readonly kind: Kind;
  readonly by: number;
}

export interface Server {
  readonly isUp: boolean;
  readonly log: readonly Entry[];
  /** Places in the log of what waits. */
  readonly hidden: readonly number[];
  readonly hasNames: boolean;
  /** How often the configuration was loaded. */
  readonly loads: number;
}

export interface Statement extends Entry {
  readonly server: number;
  /** In the log, where it waits; `null` until it is executed. */
  readonly place: number | null;
  /** Its connection is gone, and its answer reaches nobody. */
  readonly isOrphan: boolean;
}

export type Phase =
  | 'new'
  | 'found' // it has read that the secret waits
  | 'claiming'
  | 'claimed' // the commit succeeded
  | 'writing' // and one more write is under way
  | 'released'
  | 'doubt' // answered 503: may be undone
  | 'ended' // it has read that the secret was claimed
  | 'proving'
  | 'proved'
  | 'gone'
  | 'refused'; // answered 503: nothing to undo

export interface Reader {
  readonly phase: Phase;
  readonly server: number;
  /** The server's `loads` at the boot check. */
  readonly loads: number;
  /** Whose claim it has seen. */
  readonly claimant: number | null;
  readonly undoTries: number;
}

export interface World {
  /** In the order in which they become primary. The one after `primary` is its standby, if it is there. */
  readonly servers: readonly Server[];
  readonly primary: number;
  readonly readers: readonly Reader[];
  readonly statements: readonly Statement[];
  readonly left: Readonly<Record<'crashes' | 'nameChanges' | 'restores' | 'cuts' | 'cancels', number>>;
  /** Whose claim was answered as "gone" to somebody. */
  readonly goneBy: number | null;
  /** A value was released although the secret was gone. */
  readonly isResurrected: boolean;
}

export interface Claimed {
  readonly claimant: number;
  readonly isSettled: boolean;
}
export type Row = Claimed | 'waiting';

export function rowAfter(log: readonly Entry[], rules: Rules): Row {
  let row: Row = 'waiting';
  for (const { kind, by } of log) {
    if (kind === 'restore') row = 'waiting';
    else if (kind === 'claim') row = { claimant: by, isSettled: false };
    else if (kind === 'undo' && row !== 'waiting' && (row.claimant === by || !rules.undoesByToken))
      row = 'waiting';
    else if (kind === 'settle' && row !== 'waiting') row = { claimant: row.claimant, isSettled: true };
  }
  return row;
}

export const visibleRow = ({ log, hidden }: Server, rules: Rules): Row =>
  rowAfter(
    log.filter((_, place) => !hidden.includes(place)),
    rules,
  );

export const replaceAt = <Item>(items: readonly Item[], at: number, change: Partial<Item>): Item[] =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item));

export const withServer = (world: World, at: number, change: Partial<Server>): World => ({
  ...world,
  servers: replaceAt(world.servers, at, change),
});
/** What is over for a reader makes no difference any more. */
export const forgotten = { server: 0, loads: 0, claimant: null, undoTries: 0 };
export const isOver = (phase: Phase | undefined) =>
  phase === 'released' || phase === 'gone' || phase === 'refused';
export const withReader = (world: World, at: number, change: Partial<Reader>): World => ({
  ...world,
  readers: replaceAt(world.readers, at, isOver(change.phase) ? { ...change, ...forgotten } : change),
});
export const spend = (world: World, what: keyof World['left']): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

/** What a reader knows once its connection is gone or its answer is in doubt. */
export const afterDoubt = (phase: Phase): Phase => {
  if (phase === 'claiming' || phase === 'claimed' || phase === 'writing') return 'doubt';
  return phase === 'found' || phase === 'ended' || phase === 'proving' || phase === 'proved'
    ? 'refused'
    : phase;
};

/** The server's answer to a reader's statement. */
export function answer(world: World, { by, kind, isOrphan }: Statement, phase: Phase): World {
  return isOrphan || kind === 'undo' ? world : withReader(world, by, { phase });
}

export const without = (world: World, statement: Statement): World => ({
  ...world,
  statements: world.statements.filter((each) => each !== statement),
});

export const name = (server: number) => `server ${'ABC'[server]}`;

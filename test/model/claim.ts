/**
 * The claim of one secret as a model: what readers' nodes, a primary and its standbys can do, in every order.
 *
 * A server's log holds what it has flushed. An entry that waits for the standby is hidden from everybody's reads and keeps the row
 * locked. A standby has a beginning of its primary's log, and shows all of it once promoted. An old primary may live on,
 * and nodes that have not heard of the promotion still use it.
 *
 * A node's crash is a cut connection after which nobody undoes anything; undoing is never certain here.
 */
import type { Model, Step } from './explore.ts';

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
}

export const allRules: Rules = {
  waits: true,
  heedsNotices: true,
  checksNames: true,
  undoesByToken: true,
  proves: true,
  settles: true,
};

/** How much can go wrong in one history. */
export interface Bounds {
  readonly readers: number;
  readonly promotions: number;
  readonly crashes: number;
  readonly nameChanges: number;
  readonly cuts: number;
  readonly cancels: number;
  readonly undoTries: number;
}

type Kind = 'claim' | 'undo' | 'settle' | 'proof';
interface Entry {
  readonly kind: Kind;
  readonly by: number;
}

interface Server {
  readonly isUp: boolean;
  readonly log: readonly Entry[];
  /** Places in the log of what waits. */
  readonly hidden: readonly number[];
  readonly hasNames: boolean;
  /** How often the configuration was loaded. */
  readonly loads: number;
}

interface Statement extends Entry {
  readonly server: number;
  /** In the log, where it waits; `null` until it is executed. */
  readonly place: number | null;
  /** Its connection is gone, and its answer reaches nobody. */
  readonly isOrphan: boolean;
}

type Phase =
  | 'new'
  | 'found' // it has read that the secret waits
  | 'claiming'
  | 'claimed' // the commit succeeded
  | 'released'
  | 'doubt' // answered 503: may be undone
  | 'ended' // it has read that the secret was claimed
  | 'proving'
  | 'proved'
  | 'gone'
  | 'refused'; // answered 503: nothing to undo

interface Reader {
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
  readonly left: Readonly<Record<'crashes' | 'nameChanges' | 'cuts' | 'cancels', number>>;
  /** Whose claim was answered as "gone" to somebody. */
  readonly goneBy: number | null;
  /** A value was released although the secret was gone. */
  readonly isResurrected: boolean;
}

interface Claimed {
  readonly claimant: number;
  readonly isSettled: boolean;
}
type Row = Claimed | 'waiting';

function rowAfter(log: readonly Entry[], rules: Rules): Row {
  let row: Row = 'waiting';
  for (const { kind, by } of log) {
    if (kind === 'claim') row = { claimant: by, isSettled: false };
    else if (kind === 'undo' && row !== 'waiting' && (row.claimant === by || !rules.undoesByToken))
      row = 'waiting';
    else if (kind === 'settle' && row !== 'waiting') row = { claimant: row.claimant, isSettled: true };
  }
  return row;
}

const visibleRow = ({ log, hidden }: Server, rules: Rules): Row =>
  rowAfter(
    log.filter((_, place) => !hidden.includes(place)),
    rules,
  );

const replaceAt = <Item>(items: readonly Item[], at: number, change: Partial<Item>): Item[] =>
  items.map((item, index) => (index === at ? { ...item, ...change } : item));

const withServer = (world: World, at: number, change: Partial<Server>): World => ({
  ...world,
  servers: replaceAt(world.servers, at, change),
});
/** What is over for a reader makes no difference any more. */
const forgotten = { server: 0, loads: 0, claimant: null, undoTries: 0 };
const isOver = (phase: Phase | undefined) => phase === 'released' || phase === 'gone' || phase === 'refused';
const withReader = (world: World, at: number, change: Partial<Reader>): World => ({
  ...world,
  readers: replaceAt(world.readers, at, isOver(change.phase) ? { ...change, ...forgotten } : change),
});
const spend = (world: World, what: keyof World['left']): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

/** What a reader knows once its connection is gone or its answer is in doubt. */
const afterDoubt = (phase: Phase): Phase => {
  if (phase === 'claiming' || phase === 'claimed') return 'doubt';
  return phase === 'found' || phase === 'ended' || phase === 'proving' || phase === 'proved'
    ? 'refused'
    : phase;
};

/** The server's answer to a reader's statement. */
function answer(world: World, { by, kind, isOrphan }: Statement, phase: Phase): World {
  return isOrphan || kind === 'undo' ? world : withReader(world, by, { phase });
}

const without = (world: World, statement: Statement): World => ({
  ...world,
  statements: world.statements.filter((each) => each !== statement),
});

const name = (server: number) => `server ${'ABC'[server]}`;

/** Servers that take a node's writes: up, no standby, and with names, which the boot check demands. */
function usable(world: World): number[] {
  return world.servers.flatMap((server, at) =>
    at <= world.primary && server.isUp && server.hasNames ? [at] : [],
  );
}

function readerSteps(world: World, at: number, rules: Rules, bounds: Bounds): Step<World>[] {
  const reader = world.readers[at];
  if (reader === undefined) return [];
  const who = `reader ${at + 1}`;
  const send = (kind: Kind, server: number, isOrphan: boolean, to: World): World => ({
    ...to,
    statements: [...to.statements, { kind, by: at, server, place: null, isOrphan }].sort(
      (one, other) => one.by - other.by || one.kind.localeCompare(other.kind),
    ),
  });
  const server = world.servers[reader.server];
  switch (reader.phase) {
    case 'new': {
      // Readers are alike, so they may as well begin in their order.
      if (at > 0 && world.readers[at - 1]?.phase === 'new') return [];
      return usable(world).map((place) => {
        const found = world.servers[place] as Server;
        const row = visibleRow(found, rules);
        const seen = row === 'waiting' ? null : row.claimant;
        const change = { server: place, loads: found.loads, claimant: seen };
        return {
          name: `${who} looks at ${name(place)}: ${seen === null ? 'it waits' : `claimed by reader ${seen + 1}`}`,
          next: withReader(world, at, { ...change, phase: seen === null ? 'found' : 'ended' }),
        };
      });
    }
    case 'found':
      return [
        {
          name: `${who} claims`,
          next: send('claim', reader.server, false, withReader(world, at, { phase: 'claiming' })),
        },
      ];
    case 'ended': {
      if (!rules.proves) return [{ name: `${who} hears "gone"`, next: answerGone(world, at) }];
      const kind = rules.settles ? 'settle' : 'proof';
      return [
        {
          name: `${who} asks for proof`,
          next: send(kind, reader.server, false, withReader(world, at, { phase: 'proving' })),
        },
      ];
    }
    case 'claimed':
    case 'proved': {
      if (server === undefined || !server.isUp) return [];
      const isConfirmed = !rules.checksNames || (server.loads === reader.loads && server.hasNames);
      if (!isConfirmed) {
        const next = withReader(world, at, { phase: afterDoubt(reader.phase) });
        return [{ name: `${who} is answered 503: the names have changed`, next }];
      }
      if (reader.phase === 'proved') return [{ name: `${who} hears "gone"`, next: answerGone(world, at) }];
      const isResurrected = world.isResurrected || (world.goneBy !== null && world.goneBy !== at);
      const next = withReader({ ...world, isResurrected }, at, { phase: 'released' });
      return [{ name: `${who} is given the value`, next }];
    }
    case 'doubt': {
      const isUnderWay = world.statements.some(({ kind, by }) => kind === 'undo' && by === at);
      if (isUnderWay || reader.undoTries >= bounds.undoTries) return [];
      return usable(world).map((place) => ({
        name: `the node of ${who} undoes at ${name(place)}`,
        next: send('undo', place, true, withReader(world, at, { undoTries: reader.undoTries + 1 })),
      }));
    }
    default:
      return [];
  }
}

function answerGone(world: World, at: number): World {
  return withReader({ ...world, goneBy: world.readers[at]?.claimant ?? null }, at, { phase: 'gone' });
}

/** What a server makes of a statement that nothing blocks. */
function execute(world: World, statement: Statement, rules: Rules): World | null {
  const { kind, by } = statement;
  const server = world.servers[statement.server] as Server;
  const isLocked = server.hidden.some((place) => server.log[place]?.kind !== 'proof');
  if (kind !== 'proof' && isLocked) return null;
  const row = visibleRow(server, rules);
  const claimant = world.readers[by]?.claimant;
  let entry: Kind = kind;
  if (kind === 'claim' && row !== 'waiting')
    return answer(withReader(without(world, statement), by, { claimant: row.claimant }), statement, 'ended');
  if (kind === 'undo') {
    const isMine = row !== 'waiting' && (row.claimant === by || !rules.undoesByToken);
    if (!isMine || row.isSettled) return without(world, statement);
  }
  if (kind === 'settle') {
    if (row === 'waiting' || row.claimant !== claimant)
      return answer(without(world, statement), statement, 'refused');
    if (row.isSettled) entry = 'proof';
  }
  const place = server.log.length;
  const log = [...server.log, { kind: entry, by }];
  if (!rules.waits || !server.hasNames) {
    const done = withServer(without(world, statement), statement.server, { log });
    return answer(done, statement, kind === 'claim' ? 'claimed' : 'proved');
  }
  const waiting = withServer(world, statement.server, { log, hidden: [...server.hidden, place] });
  return {
    ...waiting,
    statements: world.statements.map((each) => (each === statement ? { ...each, kind: entry, place } : each)),
  };
}

function statementSteps(world: World, statement: Statement, rules: Rules): Step<World>[] {
  const { kind, by, place } = statement;
  const server = world.servers[statement.server] as Server;
  const what = `the ${kind} of reader ${by + 1}`;
  if (!server.isUp) return [];
  const steps: Step<World>[] = [];
  const success: Phase = kind === 'claim' ? 'claimed' : 'proved';
  const failure: Phase = kind === 'claim' ? 'doubt' : 'refused';
  if (place === null) {
    const next = execute(world, statement, rules);
    if (next !== null) steps.push({ name: `${name(statement.server)} executes ${what}`, next });
    if (world.left.cancels > 0)
      steps.push({
        name: `${what} is cancelled before it is executed`,
        next: answer(spend(without(world, statement), 'cancels'), statement, failure),
      });
    return steps;
  }
  const shown = withServer(without(world, statement), statement.server, {
    hidden: server.hidden.filter((each) => each !== place),
  });
  const standby = statement.server === world.primary ? world.servers[world.primary + 1] : undefined;
  if (standby !== undefined && standby.log.length > place)
    steps.push({ name: `the standby has ${what}`, next: answer(shown, statement, success) });
  else if (!server.hasNames)
    steps.push({
      name: `${what} waits no more, as there are no names`,
      next: answer(shown, statement, success),
    });
  if (world.left.cancels > 0)
    steps.push({
      name: `the wait of ${what} is cancelled`,
      next: answer(spend(shown, 'cancels'), statement, rules.heedsNotices ? failure : success),
    });
  return steps;
}

/** Every connection of a reader, or all of them to a server. */
function cutConnections(world: World, isCut: (reader: Reader, at: number) => boolean): World {
  const cut = world.readers.map(isCut);
  return {
    ...world,
    readers: world.readers.map((reader, at) =>
      cut[at] ? { ...reader, phase: afterDoubt(reader.phase) } : reader,
    ),
    statements: world.statements.map((each) => (cut[each.by] ? { ...each, isOrphan: true } : each)),
  };
}

const isConnected = ({ phase }: Reader) =>
  phase === 'claiming' || phase === 'claimed' || phase === 'proving' || phase === 'proved';

function serverSteps(world: World, at: number, bounds: Bounds): Step<World>[] {
  const server = world.servers[at] as Server;
  const steps: Step<World>[] = [];
  if (at > world.primary) {
    const source = world.servers[world.primary] as Server;
    const [next] = source.log.slice(server.log.length);
    if (source.isUp && next !== undefined)
      steps.push({
        name: `${name(at)} hears the ${next.kind} of reader ${next.by + 1}`,
        next: withServer(world, at, { log: [...server.log, next] }),
      });
    if (world.primary < bounds.promotions)
      steps.push({ name: `${name(at)} is promoted`, next: { ...world, primary: at } });
    return steps;
  }
  if (at === world.primary && world.servers.length === at + 1 && at <= bounds.promotions && server.isUp) {
    const copy: Server = { isUp: true, log: server.log, hidden: [], hasNames: true, loads: 0 };
    steps.push({
      name: `${name(at)} is given a standby`,
      next: { ...world, servers: [...world.servers, copy] },
    });
  }
  if (server.isUp && world.left.crashes > 0) {
    const down = cutConnections(
      withServer(spend(world, 'crashes'), at, { isUp: false, hidden: [] }),
      (reader) => reader.server === at,
    );
    const statements = down.statements.filter((each) => each.server !== at);
    steps.push({ name: `${name(at)} crashes`, next: { ...down, statements } });
  }
  if (!server.isUp)
    steps.push({ name: `${name(at)} is started again`, next: withServer(world, at, { isUp: true }) });
  if (server.isUp && world.left.nameChanges > 0) {
    const change = { hasNames: !server.hasNames, loads: server.loads + 1 };
    steps.push({
      name: `the names at ${name(at)} are ${server.hasNames ? 'emptied' : 'set again'}`,
      next: withServer(spend(world, 'nameChanges'), at, change),
    });
  }
  return steps;
}

export function claimModel(rules: Rules, bounds: Bounds): Model<World> {
  const fresh: Server = { isUp: true, log: [], hidden: [], hasNames: true, loads: 0 };
  const reader: Reader = { phase: 'new', server: 0, loads: 0, claimant: null, undoTries: 0 };
  const { crashes, nameChanges, cuts, cancels } = bounds;
  const count = (world: World, phase: Phase) => world.readers.filter((each) => each.phase === phase).length;
  return {
    start: {
      servers: [fresh, fresh],
      primary: 0,
      readers: Array.from({ length: bounds.readers }, () => reader),
      statements: [],
      left: { crashes, nameChanges, cuts, cancels },
      goneBy: null,
      isResurrected: false,
    },
    stepsFrom: (world) => [
      ...world.readers.flatMap((_, at) => readerSteps(world, at, rules, bounds)),
      ...world.statements.flatMap((statement) => statementSteps(world, statement, rules)),
      ...world.servers.flatMap((_, at) => serverSteps(world, at, bounds)),
      ...world.readers.flatMap((each, at) =>
        world.left.cuts > 0 && isConnected(each)
          ? [
              {
                name: `the connection of reader ${at + 1} is cut`,
                next: cutConnections(spend(world, 'cuts'), (_, index) => index === at),
              },
            ]
          : [],
      ),
    ],
    faultIn(world) {
      if (count(world, 'released') > 1) return 'the value was released twice';
      return world.isResurrected ? 'the value was released after it was gone' : null;
    },
    landmarks: {
      'a release after a promotion': (world) => world.primary > 0 && count(world, 'released') > 0,
      'a release after an undo': (world) =>
        count(world, 'released') > 0 &&
        world.servers[world.primary]?.log.some(({ kind }) => kind === 'undo') === true,
      '"gone" after a release': (world) => count(world, 'gone') > 0 && count(world, 'released') > 0,
      'a claim that an old primary alone has': (world) =>
        world.primary > 0 && (world.servers[0]?.log.length ?? 0) > (world.servers[1]?.log.length ?? 0),
    },
  };
}

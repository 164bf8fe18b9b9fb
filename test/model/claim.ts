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
import {
  afterDoubt,
  answer,
  type Bounds,
  type Kind,
  name,
  type Phase,
  type Reader,
  type Rules,
  type Server,
  type Statement,
  spend,
  visibleRow,
  type World,
  without,
  withReader,
  withServer,
} from './world.ts';

/** Servers that take a node's writes: up, no standby, and with names, which the boot check demands. */
function usable(world: World, rules: Rules): number[] {
  return world.servers.flatMap((server, at) =>
    at <= world.primary && server.isUp && server.hasNames && isAsServed(server, rules) ? [at] : [],
  );
}

/** A restore shows to each that asks for its tables. */
const isAsServed = ({ log }: Server, rules: Rules): boolean =>
  !rules.checksTables || !log.some(({ kind }) => kind === 'restore');

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
      return usable(world, rules).map((place) => {
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
      if (!isConfirmed || !isAsServed(server, rules)) {
        const next = withReader(world, at, { phase: afterDoubt(reader.phase) });
        const refusal = { name: `${who} is answered 503: the server has changed`, next };
        if (reader.phase === 'proved' || !server.hasNames || !isAsServed(server, rules)) return [refusal];
        const checked = withReader(world, at, { loads: server.loads });
        const writing = () =>
          send('proof', reader.server, false, withReader(checked, at, { phase: 'writing' }));
        return [refusal, { name: `${who} is checked again`, next: rules.writesAgain ? writing() : checked }];
      }
      if (reader.phase === 'proved') return [{ name: `${who} hears "gone"`, next: answerGone(world, at) }];
      const isResurrected = world.isResurrected || (world.goneBy !== null && world.goneBy !== at);
      const next = withReader({ ...world, isResurrected }, at, { phase: 'released' });
      return [{ name: `${who} is given the value`, next }];
    }
    case 'doubt': {
      const isUnderWay = world.statements.some(({ kind, by }) => kind === 'undo' && by === at);
      if (isUnderWay || reader.undoTries >= bounds.undoTries) return [];
      return usable(world, rules).map((place) => ({
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
    return answer(done, statement, successOf(world, statement));
  }
  const waiting = withServer(world, statement.server, { log, hidden: [...server.hidden, place] });
  return {
    ...waiting,
    statements: world.statements.map((each) => (each === statement ? { ...each, kind: entry, place } : each)),
  };
}

/** What a reader has after its statement. */
const successOf = (world: World, { kind, by }: Statement): Phase =>
  kind === 'claim' || world.readers[by]?.phase === 'writing' ? 'claimed' : 'proved';

function statementSteps(world: World, statement: Statement, rules: Rules): Step<World>[] {
  const { kind, by, place } = statement;
  const server = world.servers[statement.server] as Server;
  const what = `the ${kind} of reader ${by + 1}`;
  if (!server.isUp) return [];
  const steps: Step<World>[] = [];
  const success = successOf(world, statement);
  const failure: Phase = success === 'claimed' ? 'doubt' : 'refused';
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
  phase === 'claiming' ||
  phase === 'claimed' ||
  phase === 'writing' ||
  phase === 'proving' ||
  phase === 'proved';

function serverSteps(world: World, at: number, bounds: Bounds): Step<World>[] {
  const server = world.servers[at] as Server;
  const steps: Step<World>[] = [];
  if (at > world.primary) {
    const source = world.servers[world.primary] as Server;
    const [next] = source.log.slice(server.log.length);
    if (source.isUp && next !== undefined)
      steps.push({
        name: `${name(at)} hears ${next.kind === 'restore' ? 'the restore' : `the ${next.kind} of reader ${next.by + 1}`}`,
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
  // It waits for whoever holds a row, and its own commit for nobody who asks.
  if (server.isUp && world.left.restores > 0 && server.hidden.length === 0)
    steps.push({
      name: `a dump is loaded over the tables of ${name(at)}`,
      next: withServer(spend(world, 'restores'), at, {
        log: [...server.log, { kind: 'restore', by: -1 }],
      }),
    });
  return steps;
}

export function claimModel(rules: Rules, bounds: Bounds): Model<World> {
  const fresh: Server = { isUp: true, log: [], hidden: [], hasNames: true, loads: 0 };
  const reader: Reader = { phase: 'new', server: 0, loads: 0, claimant: null, undoTries: 0 };
  const { crashes, nameChanges, restores, cuts, cancels } = bounds;
  const count = (world: World, phase: Phase) => world.readers.filter((each) => each.phase === phase).length;
  return {
    start: {
      servers: [fresh, fresh],
      primary: 0,
      readers: Array.from({ length: bounds.readers }, () => reader),
      statements: [],
      left: { crashes, nameChanges, restores, cuts, cancels },
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

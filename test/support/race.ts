/**
 * One secret, many readers at once: runs the race and judges it.
 *
 * Exactly one attempt wins, every other gets the exact answer for a gone secret, and the receipt names the winner
 * (P1, P6, P7).
 */
import type { Burner } from '../../src/protocol/vocabulary.ts';
import {
  type Attempt,
  attemptRequest,
  createV1,
  createV2,
  type Door,
  doors,
  type Made,
  type Reading,
  readAttempt,
  readBurner,
  readMade,
  readReceiptState,
  receiptRequest,
  recordRequest,
} from './calls.ts';
import { openConnection, type RawAnswer, type RawConnection, sendTogether } from './raw-client.ts';
import { openPool, type StartedServer } from './started-server.ts';

export interface RaceTrack {
  /** One connection per reader, to one or more processes. */
  readonly readers: readonly RawConnection[];
  /** Makes the secret and reads the receipt. */
  readonly creator: RawConnection;
  /** An account that may burn. */
  readonly basic: string;
  readonly random: () => number;
  /** Whether an answer of 503 is as good as any other, as where a busy store answers within two seconds or not at all. */
  readonly mayRefuse?: boolean;
}

/** Spreads the readers over the processes, in turn. The first makes the secrets. */
export async function layTrack(
  servers: readonly Pick<StartedServer, 'port'>[],
  readerCount: number,
  basic: string,
  random: () => number,
) {
  const [first] = servers;
  if (first === undefined) throw new Error('a race needs a server');
  const each = Math.ceil(readerCount / servers.length);
  const pools = await Promise.all(servers.map(({ port }) => openPool(port, each)));
  const readers = Array.from({ length: each }, (_, index) =>
    pools.flatMap(({ connections }) => connections.slice(index, index + 1)),
  ).flat();
  const creator = await openConnection(first.port);
  const track: RaceTrack = { readers: readers.slice(0, readerCount), creator, basic, random };
  return {
    track,
    [Symbol.dispose]() {
      creator.destroy();
      for (const pool of pools) pool[Symbol.dispose]();
    },
  };
}

/** Who got it, or who burned it. */
type Winner = 'reader' | Burner;

export interface RaceResult {
  readonly winners: number;
  readonly winner: Winner | null;
  /** Attempts that were answered with 503. */
  readonly refused: number;
  /** Broken promises, in words; empty when there are none. */
  readonly faults: readonly string[];
}

/**
 * Mostly readers with a few burners; sometimes the other way round, because a burn has more to look up first and rarely
 * wins against many readers; sometimes only burners, half of the time without recipients, who have less to look up than creators.
 */
function drawBurnShare(random: () => number): number {
  const draw = random();
  if (draw < 0.65) return 0.1;
  return draw < 0.8 ? 0.9 : 1;
}

/** A door for each reader, over both versions. In half of the races the burners' bytes leave first. */
function drawDoors(count: number, random: () => number): Door[] {
  const share = drawBurnShare(random);
  const withRecipients = random() < 0.5;
  const isBurn = (door: Door) => door.endsWith('burn');
  const entered = doors.filter((door) => share < 1 || withRecipients || door !== 'v2.link.burn');
  const drawn = Array.from({ length: count }, (): Door => {
    const burns = random() < share;
    const some = entered.filter((door) => isBurn(door) === burns);
    return some[Math.floor(random() * some.length)] ?? 'v1.reveal';
  });
  return random() < 0.5 ? drawn : drawn.sort((a, b) => Number(isBurn(b)) - Number(isBurn(a)));
}

async function makeSecret(track: RaceTrack, value: string): Promise<Made> {
  const { basic, random } = track;
  const owner = random() < 0.5 ? { basic } : {};
  const request = random() < 0.5 ? createV1({ value, ...owner }) : createV2({ value, ...owner });
  const answer = await sendUntilAnswered(track, request);
  const made = readMade(answer);
  if (made === null) throw new Error(`a create answered ${answer.status}: ${answer.body}`);
  return made;
}

function judge(
  value: string,
  readings: readonly { attempt: Attempt; reading: Reading }[],
  mayRefuse: boolean,
): RaceResult {
  const faults: string[] = [];
  let refused = 0;
  let winner: RaceResult['winner'] = null;
  let winners = 0;
  for (const { attempt, reading } of readings) {
    if (reading.is === 'lost') continue;
    if (reading.is === 'unavailable') refused += 1;
    if (reading.is === 'unavailable' && mayRefuse) continue;
    if (reading.is === 'released' || reading.is === 'burned') {
      winners += 1;
      winner = reading.is === 'released' ? 'reader' : reading.by;
      if (reading.is === 'released' && reading.value !== value) faults.push('another value was released');
    } else {
      faults.push(`${attempt.door} answered ${JSON.stringify(reading)}`);
    }
  }
  const isInDoubt = winners === 0 && refused > 0 && mayRefuse;
  if (winners !== 1 && !isInDoubt) faults.push(`${winners} attempts won`);
  return { winners, winner, refused, faults };
}

const mostTries = 20;

/** Where 503 is an answer, it is asked again: each answer takes up to two seconds of its own. */
async function sendUntilAnswered({ creator, mayRefuse }: RaceTrack, request: Buffer): Promise<RawAnswer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await creator.send(request);
    if (answer.status !== 503 || !mayRefuse || tries === mostTries) return answer;
  }
}

/** Makes a secret and lets every reader try to end it in the same instant. */
export async function race(track: RaceTrack, value: string): Promise<RaceResult> {
  const made = await makeSecret(track, value);
  const drawn = drawDoors(track.readers.length, track.random);
  const attempts = track.readers.map((connection, index) => {
    const attempt: Attempt = { door: drawn[index] ?? 'v1.reveal', made, basic: track.basic };
    return { connection, attempt, request: attemptRequest(attempt) };
  });
  const answers = await sendTogether(attempts);
  const result = judge(
    value,
    answers.flatMap((answer, index) => {
      const entry = attempts[index];
      return entry === undefined
        ? []
        : [{ attempt: entry.attempt, reading: readAttempt(entry.attempt, answer) }];
    }),
    track.mayRefuse ?? false,
  );
  if (result.winners === 0 && result.faults.length === 0) return result;
  const state = readReceiptState(await sendUntilAnswered(track, receiptRequest(made, track.basic)));
  const burner = readBurner(await sendUntilAnswered(track, recordRequest(made, track.basic)));
  const { winner } = result;
  const [expected, by] =
    winner === 'creator' || winner === 'recipient' ? ['burned', winner] : ['received', null];
  return state === expected && burner === by
    ? result
    : { ...result, faults: [...result.faults, `the receipt says ${state} by ${burner} after ${winner}`] };
}

/**
 * What a reader is told of one secret, as a model: a primary that may live on after its standby was promoted, a reader who asks either of
 * them, and whose connection may move between what it read and the proof.
 *
 * A log holds what a server has committed, and all of it shows: also what waits for a standby that never has it, once the wait was
 * cancelled. The reader asks after the secret was stored.
 */
import type { Model, Step } from './explore.ts';

export interface AnswerRules {
  /** What is absent or has ended is told only after a write that was confirmed since. */
  readonly provesWhatIsGone: boolean;
  /** And so is what is there. */
  readonly provesWhatIsThere: boolean;
  /** That write counts only on the server that was read. */
  readonly provesWhereItRead: boolean;
}

export const allAnswerRules: AnswerRules = {
  provesWhatIsGone: true,
  provesWhatIsThere: true,
  provesWhereItRead: true,
};

type Entry = 'put' | 'end' | 'proof';
type Seen = 'absent' | 'waiting' | 'ended';

interface Answers {
  /** Their logs, in the order in which they become primary. The one after `primary` is its standby. */
  readonly servers: readonly (readonly Entry[])[];
  readonly primary: number;
  readonly isStored: boolean;
  /** Somebody was answered that it is over. */
  readonly hasEnded: boolean;
  readonly reader: {
    readonly phase: 'new' | 'seen' | 'proving' | 'told' | 'refused';
    readonly seen: Seen;
    /** What was read, and what it is connected to. */
    readonly readFrom: number;
    readonly server: number;
    /** Of its write in that server's log. */
    readonly place: number;
    /** It had ended before the reader looked. */
    readonly cameLate: boolean;
  };
  readonly left: { readonly moves: number; readonly doubtfulEnds: number };
}

const stateIn = (log: readonly Entry[]): Seen =>
  !log.includes('put') ? 'absent' : log.includes('end') ? 'ended' : 'waiting';

const name = (server: number) => `server ${'ABC'[server]}`;
const promotions = 1;

/** An entry that the primary's standby has, too: it was confirmed. */
function confirmed(state: Answers, entry: Entry): readonly (readonly Entry[])[] | null {
  const [primary, standby] = [state.servers[state.primary], state.servers[state.primary + 1]];
  if (primary === undefined || standby?.length !== primary.length) return null;
  return state.servers.map((log, at) =>
    at === state.primary || at === state.primary + 1 ? [...log, entry] : log,
  );
}

function serverSteps(state: Answers): Step<Answers>[] {
  const { servers, primary, left, isStored, hasEnded } = state;
  const steps: Step<Answers>[] = [];
  const [log = [], standby] = [servers[primary], servers[primary + 1]];
  const add = (at: number, ...more: readonly Entry[]) =>
    servers.map((each, index) => (index === at ? [...each, ...more] : each));
  const [next] = standby === undefined ? [] : log.slice(standby.length);
  if (next !== undefined)
    steps.push({
      name: `${name(primary + 1)} hears the ${next}`,
      next: { ...state, servers: add(primary + 1, next) },
    });
  if (standby !== undefined && primary < promotions)
    steps.push({ name: `${name(primary + 1)} is promoted`, next: { ...state, primary: primary + 1 } });
  if (standby === undefined)
    steps.push({
      name: `${name(primary)} is given a standby`,
      next: { ...state, servers: [...servers, log] },
    });
  const put = isStored ? null : confirmed(state, 'put');
  if (put !== null)
    steps.push({
      name: `it is stored at ${name(primary)}`,
      next: { ...state, servers: put, isStored: true },
    });
  const end = hasEnded || stateIn(log) !== 'waiting' ? null : confirmed(state, 'end');
  if (end !== null)
    steps.push({ name: `it is ended at ${name(primary)}`, next: { ...state, servers: end, hasEnded: true } });
  for (let at = 0; at <= primary && left.doubtfulEnds > 0; at += 1)
    if (stateIn(servers[at] ?? []) === 'waiting')
      steps.push({
        name: `an end at ${name(at)} is in doubt`,
        next: { ...state, servers: add(at, 'end'), left: { ...left, doubtfulEnds: left.doubtfulEnds - 1 } },
      });
  return steps;
}

function readerSteps(state: Answers, rules: AnswerRules): Step<Answers>[] {
  const { servers, primary, reader, left } = state;
  const withReader = (change: Partial<Answers['reader']>): Answers => ({
    ...state,
    reader: { ...reader, ...change },
  });
  const places = servers.flatMap((_, at) => (at <= primary ? [at] : []));
  if (reader.phase === 'new')
    return places
      .filter(() => state.isStored)
      .map((at) => {
        const seen = stateIn(servers[at] ?? []);
        const change = { phase: 'seen', seen, readFrom: at, server: at, cameLate: state.hasEnded } as const;
        return { name: `the reader looks at ${name(at)}: ${seen}`, next: withReader(change) };
      });
  if (reader.phase === 'seen') {
    const mustProve = reader.seen === 'waiting' ? rules.provesWhatIsThere : rules.provesWhatIsGone;
    if (!mustProve) return [{ name: 'the reader is told', next: withReader({ phase: 'told' }) }];
    const log = servers[reader.server] ?? [];
    const written = servers.map((each, at) => (at === reader.server ? [...each, 'proof' as const] : each));
    return [
      {
        name: `the proof is written at ${name(reader.server)}`,
        next: { ...withReader({ phase: 'proving', place: log.length }), servers: written },
      },
      ...places
        .filter((at) => left.moves > 0 && at !== reader.server)
        .map((at) => ({
          name: `the reader's connection moves to ${name(at)}`,
          next: { ...withReader({ server: at }), left: { ...left, moves: left.moves - 1 } },
        })),
    ];
  }
  if (reader.phase !== 'proving') return [];
  const isConfirmed = reader.server === primary && (servers[primary + 1]?.length ?? 0) > reader.place;
  if (!isConfirmed) return [{ name: 'the reader is answered 503', next: withReader({ phase: 'refused' }) }];
  const counts = !rules.provesWhereItRead || reader.server === reader.readFrom;
  return [
    {
      name: `the reader is ${counts ? 'told' : 'answered 503'}, as the proof is confirmed`,
      next: withReader({ phase: counts ? 'told' : 'refused' }),
    },
  ];
}

export function answersModel(rules: AnswerRules, left: Answers['left']): Model<Answers> {
  const reader = {
    phase: 'new',
    seen: 'absent',
    readFrom: 0,
    server: 0,
    place: 0,
    cameLate: false,
  } as const;
  const isTold = ({ reader: { phase, seen } }: Answers, what: Seen) => phase === 'told' && seen === what;
  return {
    start: { servers: [[], []], primary: 0, isStored: false, hasEnded: false, reader, left },
    stepsFrom: (state) => [...serverSteps(state), ...readerSteps(state, rules)],
    faultIn(state) {
      const isWaiting = stateIn(state.servers[state.primary] ?? []) === 'waiting';
      if (isTold(state, 'absent')) return 'what is stored was called absent';
      if (isTold(state, 'ended') && isWaiting) return 'what waits was called ended';
      return isTold(state, 'waiting') && state.reader.cameLate ? 'what had ended was said to wait' : null;
    },
    landmarks: {
      'a secret that is told to wait': (state) => isTold(state, 'waiting'),
      'a secret that is told to have ended': (state) => isTold(state, 'ended'),
      'an end that an old primary alone has': ({ servers, primary }) =>
        primary > 0 && stateIn(servers[0] ?? []) === 'ended' && stateIn(servers[1] ?? []) === 'waiting',
      'a refusal after a promotion': ({ primary, reader: { phase } }) => primary > 0 && phase === 'refused',
    },
  };
}

/**
 * `mayfly keys create|list|add|rotate|retire`, for the wrapping roots.
 *
 * A rotation takes three repeatable steps: add a root, re-wrap waiting secrets under it, and retire the old one. Servers keep running, and
 * no step leaves a secret under a root that the file no longer contains (P12).
 */
import { type RewrapReport, rewrapOlder } from '../core/secrets/rewrap.ts';
import { ageOfFileMs, type RootKeysReading, readRootKeys } from '../ops/root-key-file.ts';
import { rootKeysTakenMs } from '../ops/root-key-watch.ts';
import { addRoot, compareRoots, createRoots, retireRoots, verifyRoots } from '../ops/root-keys.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  readSettings,
  say,
} from './command.ts';
import {
  confirm,
  type OpenAccounts,
  type OperatorWorld,
  perSecrets,
  withAccounts,
  yesOption,
} from './operator.ts';
import { plural, timeOf } from './terminal.ts';

type KeyFile = Extract<RootKeysReading, { outcome: 'read' }>;

interface OpenKeys extends Pick<OpenAccounts, 'store' | 'random'>, Pick<KeyFile, 'ring' | 'roots'> {
  readonly path: string;
}

/** @throws Refusal unless the store and the key file belong together */
async function withKeys(
  world: OperatorWorld,
  work: (keys: OpenKeys) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withAccounts(world, async ({ store, random }, { rootKeysFile: path }) => {
    const file = readRootKeys(path);
    const ring = file.outcome === 'read' ? file.ring : null;
    assertNotRefused(file.outcome === 'refused' ? file : await compareRoots(ring, path, store));
    if (file.outcome !== 'read')
      throw new Refusal('keys', `There is no key file ${path} yet: start Mayfly once.`);
    return work({ path, ring: file.ring, roots: file.roots, store, random });
  });
}

/** @throws Refusal */
function assertNotRefused<Outcome extends { readonly outcome: string }>(
  result: Outcome | { readonly outcome: 'refused'; readonly problem: string },
): asserts result is Exclude<Outcome, { readonly outcome: 'refused' }> {
  if ('problem' in result) throw new Refusal('keys', result.problem);
}

/** Needs no store, because all nodes need the same file before the first one starts. */
async function runCreate(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const settings = await readSettings(world);
  const path = settings.rootKeysFile;
  const opened = await world.openAccounts(settings);
  if (opened.outcome === 'refused') throw new Refusal('unavailable', opened.problem);
  const accounts = opened.outcome === 'open' ? opened.accounts : null;
  try {
    const deps = { random: world.random, wallClockMs: world.wallClockMs };
    assertNotRefused(await createRoots(path, accounts?.store ?? null, deps));
  } finally {
    await accounts?.close();
  }
  const done = `Created ${path}. Copy it to every node that shares the store, and back it up separately from the store.`;
  return printDone(world, input, { created: path }, done);
}

/** Returns `root 1`, `roots 1 and 2`, or `roots 1, 2 and 3`. */
function rootsWords(kids: readonly number[]): string {
  const last = kids.at(-1);
  return kids.length === 1 ? `root ${last}` : `roots ${kids.slice(0, -1).join(', ')} and ${last}`;
}

async function runList(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withKeys(world, async ({ ring, roots, store }) => {
    const inUse = await store.rootKidsInUse();
    const rows = roots.map(({ kid, created = null }) => ({
      kid,
      created,
      current: kid === ring.current.kid,
      in_use: inUse.includes(kid),
    }));
    const lines = rows.map(({ kid, created, current, in_use }) => {
      // People may edit the file, so this may be missing or no time.
      const seconds = Date.parse(created ?? '') / 1000;
      const time = seconds > 0 ? timeOf(seconds, world.terminal.isOutputSeen) : (created ?? '-');
      return [kid, time, current ? 'current' : 'older', in_use ? 'in use' : 'not in use'].join('\t');
    });
    return printResult(world, input, rows, lines);
  });
}

async function runAdd(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withKeys(world, async ({ path, store, random }) => {
    const added = await addRoot(path, store, { random, wallClockMs: world.wallClockMs });
    assertNotRefused(added);
    const kids = added.roots.map(({ kid }) => kid);
    const kid = Math.max(...kids);
    const done =
      `Added root ${kid} to ${path}. Back up the file, separately from the store.\n` +
      `Running servers wrap new secrets under it within ${rootKeysTakenMs / 1_000} seconds.\n` +
      'Next: mayfly keys rotate re-wraps the secrets under older roots.';
    return printDone(world, input, { added: kid, roots: kids }, done);
  });
}

/** Waits until every server uses the newest root, so that closing the older ones rejects nothing that a server stores. */
async function untilTaken({ path, ring }: OpenKeys, input: Input, world: OperatorWorld): Promise<void> {
  const waitMs = rootKeysTakenMs - ageOfFileMs(path, world.wallClockMs);
  if (waitMs <= 0) return;
  const seconds = rootKeysTakenMs / 1_000;
  say(world, input, `Waiting up to ${seconds} seconds for servers to use root ${ring.current.kid}.`);
  await world.sleep(waitMs);
}

const nothingOlder: RewrapReport = { rewrapped: 0, fixed: 0, fixedUntil: null, damaged: 0 };

/** Re-wraps everything, closes the older roots, and re-wraps what was stored in the meantime. */
async function rotate(keys: OpenKeys, input: Input, world: OperatorWorld): Promise<RewrapReport> {
  const { store, ring } = keys;
  const waiting = await store.countExpiringBy(Number.MAX_SAFE_INTEGER);
  const first = await rewrapOlder(keys, perSecrets(20_000, waiting, input, world));
  await untilTaken(keys, input, world);
  await store.closeRootsBefore(ring.current.kid);
  const last = await rewrapOlder(keys, () => {});
  // Afterwards, servers that reread the key file need not search the store for these roots.
  const inUse = await store.rootKidsInUse();
  await store.forgetRoots(ring.all.map(({ kid }) => kid).filter((kid) => !inUse.includes(kid)));
  // If a reader blocks this scrub, the server's own scrub will follow.
  await store.scrub();
  return { ...last, rewrapped: first.rewrapped + last.rewrapped };
}

/** Explains what is still under older roots, and why. */
function remainsOf({ fixed, fixedUntil, damaged }: RewrapReport, isSeen: boolean): string[] {
  const are = (count: number) => (count === 1 ? 'it is' : 'they are');
  return [
    ...(fixed === 0
      ? []
      : [
          `${plural(fixed, 'secret')} from an earlier version of Mayfly cannot be re-wrapped. Keep the older roots until ` +
            `${are(fixed)} read, burned or expired: ${timeOf(fixedUntil ?? 0, isSeen)} at the latest.`,
        ]),
    ...(damaged === 0
      ? []
      : [`${plural(damaged, 'damaged secret')} cannot be opened under any root and will expire unread.`]),
  ];
}

function rotatedWords(report: RewrapReport, { ring }: OpenKeys, isSeen: boolean): string {
  const { kid } = ring.current;
  if (ring.all.length === 1) return `Root ${kid} is the only one: run mayfly keys add first.`;
  const done =
    report.rewrapped > 0
      ? `Done. ${plural(report.rewrapped, 'secret')} re-wrapped under root ${kid}.`
      : `Nothing to re-wrap under root ${kid}.`;
  const remains = remainsOf(report, isSeen);
  const next = 'Next: mayfly keys retire removes the older roots from the key file.';
  return [done, ...(remains.length > 0 ? remains : [next])].join('\n');
}

async function runRotate(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withKeys(world, async (keys) => {
    // Even a root added by hand must not wrap anything before the store has its check.
    assertNotRefused(await verifyRoots(keys.ring, keys.path, keys.store));
    const hasOlder = keys.ring.all.length > 1;
    const report = hasOlder ? await rotate(keys, input, world) : nothingOlder;
    const { rewrapped, fixed, fixedUntil, damaged } = report;
    const json = { root: keys.ring.current.kid, rewrapped, fixed, fixed_until: fixedUntil, damaged };
    const words = rotatedWords(report, keys, world.terminal.isErrorSeen);
    return printDone(world, input, json, words, hasOlder);
  });
}

function stillInUse(kids: readonly number[]): Refusal {
  return new Refusal(
    'in_use',
    `Secrets are stored under ${rootsWords(kids)}: mayfly keys rotate re-wraps them or says when they expire. ` +
      'A secret created with an Idempotency-Key needs its root for 24 hours.',
  );
}

async function runRetire(input: Input, world: OperatorWorld): Promise<ExitCode> {
  return withKeys(world, async (keys) => {
    const { path, ring, store, random } = keys;
    const older = ring.all.filter(({ kid }) => kid !== ring.current.kid).map(({ kid }) => kid);
    const { kid: current } = ring.current;
    if (older.length === 0)
      return printDone(
        world,
        input,
        { retired: [], roots: [current] },
        `Root ${current} is the only one: nothing to do.`,
      );
    const inUse = await store.rootKidsInUse();
    const unused = older.filter((kid) => !inUse.includes(kid));
    if (unused.length === 0) throw stillInUse(older);
    world.terminal.err(
      `No secret is stored under ${rootsWords(unused)}. Once removed from ${path}, ` +
        `${unused.length === 1 ? 'it exists' : 'they exist'} only in your copies of the file.\n`,
    );
    await confirm(world, input, `Remove ${rootsWords(unused)}?`);
    await untilTaken(keys, input, world);
    const retired = await retireRoots(path, store, { random });
    assertNotRefused(retired);
    const kept = retired.roots.map(({ kid }) => kid);
    const gone = older.filter((kid) => !kept.includes(kid));
    // A server that was still using an older root has stored something under it in the meantime.
    if (gone.length === 0) throw stillInUse(older);
    const done = `Done. ${path} now has ${rootsWords(kept)}. Replace your copies of it.`;
    return printDone(world, input, { retired: gone, roots: kept }, done);
  });
}

export const keyCommands: readonly Command<OperatorWorld>[] = [
  command('keys create', {
    summary: 'create the key file for nodes that share a store',
    example: 'mayfly keys create',
    note: 'A server with an embedded store creates its own at its first start.',
    run: runCreate,
  }),
  command('keys list', {
    summary: 'list the wrapping roots, and which are in use',
    example: 'mayfly keys list',
    run: runList,
  }),
  command('keys add', {
    summary: 'add a wrapping root, even while the server runs',
    example: 'mayfly keys add',
    run: runAdd,
  }),
  command('keys rotate', {
    summary: 're-wrap all stored secrets under the newest root',
    example: 'mayfly keys rotate',
    run: runRotate,
  }),
  command('keys retire', {
    summary: 'remove unused older roots from the key file',
    options: yesOption,
    example: 'mayfly keys retire',
    run: runRetire,
  }),
];

/**
 * Operators' commands for the wrapping roots: `mayfly keys create|list|add|rotate|retire`.
 *
 * Three steps, each of which may be repeated: a new root, what waits under it, and the old one out of the key file. Servers go on
 * serving; no step leaves a secret under a root that the file no longer has (P12).
 */
import { type RewrapReport, rewrapOlder } from '../core/secrets/rewrap.ts';
import { ageOfFileMs, type RootKeysReading, readRootKeys } from '../ops/root-key-file.ts';
import { rootKeysTakenMs } from '../ops/root-key-watch.ts';
import { addRoot, compareRoots, createRoots, retireRoots, verifyRoots } from '../ops/root-keys.ts';
import { withAccounts } from './accounts.ts';
import {
  type Command,
  type ExitCode,
  type Input,
  type OpenAccounts,
  printResult,
  readSettings,
  refuse,
  unlessConfirmed,
  type World,
} from './command.ts';
import { perSecrets } from './progress.ts';
import { plural, timeOf } from './terminal.ts';

type KeyFile = Extract<RootKeysReading, { outcome: 'read' }>;

interface OpenKeys extends Pick<OpenAccounts, 'store' | 'random'>, Pick<KeyFile, 'ring' | 'roots'> {
  readonly path: string;
}

/** Opens the store and the key file, and does the work if they belong together. */
async function withKeys(
  input: Input,
  world: World,
  work: (keys: OpenKeys) => Promise<ExitCode>,
): Promise<ExitCode> {
  const settings = await readSettings(world);
  const path = settings.rootKeysFile;
  return withAccounts(input, world, async ({ store, random }) => {
    const file = readRootKeys(path);
    const ring = file.outcome === 'read' ? file.ring : null;
    const compared = file.outcome === 'refused' ? file : await compareRoots(ring, path, store);
    if (compared.outcome === 'refused') return refuse(world, input, 'keys', compared.problem);
    if (file.outcome !== 'read')
      return refuse(world, input, 'keys', `There is no key file ${path} yet: start Mayfly once.`);
    return work({ path, ring: file.ring, roots: file.roots, store, random });
  });
}

/** Needs no store yet: several nodes have to have the same file before the first of them starts. */
async function runCreate(input: Input, world: World): Promise<ExitCode> {
  const settings = await readSettings(world);
  const path = settings.rootKeysFile;
  const opened = await world.openAccounts(settings);
  if (opened.outcome === 'refused') return refuse(world, input, 'unavailable', opened.problem);
  const accounts = opened.outcome === 'open' ? opened.accounts : null;
  try {
    const deps = { random: world.random, wallClockMs: world.wallClockMs };
    const made = await createRoots(path, accounts?.store ?? null, deps);
    if (made.outcome === 'refused') return refuse(world, input, 'keys', made.problem);
  } finally {
    await accounts?.close();
  }
  if (!input.json)
    world.terminal.err(
      `Made ${path}. Every node that shares the store needs this file, and you a copy of it, apart from the store’s backups.\n`,
    );
  return printResult(world, input, { created: path }, []);
}

/** `root 1`, `roots 1 and 2`, `roots 1, 2 and 3`. */
function rootsWords(kids: readonly number[]): string {
  const last = kids.at(-1);
  return kids.length === 1 ? `root ${last}` : `roots ${kids.slice(0, -1).join(', ')} and ${last}`;
}

async function runList(input: Input, world: World): Promise<ExitCode> {
  return withKeys(input, world, async ({ ring, roots, store }) => {
    const inUse = await store.rootKidsInUse();
    const rows = roots.map(({ kid, created = null }) => ({
      kid,
      created,
      current: kid === ring.current.kid,
      in_use: inUse.includes(kid),
    }));
    const lines = rows.map(({ kid, created, current, in_use }) =>
      [kid, created ?? '-', current ? 'current' : 'older', in_use ? 'in use' : 'not in use'].join('\t'),
    );
    return printResult(world, input, rows, lines);
  });
}

async function runAdd(input: Input, world: World): Promise<ExitCode> {
  return withKeys(input, world, async ({ path, store, random }) => {
    const added = await addRoot(path, store, { random, wallClockMs: world.wallClockMs });
    if (added.outcome === 'refused') return refuse(world, input, 'keys', added.problem);
    const kids = added.roots.map(({ kid }) => kid);
    const kid = Math.max(...kids);
    if (!input.json)
      world.terminal.err(
        `Added root ${kid} to ${path}. Keep a copy of the file, apart from the store’s backups.\n` +
          `Running servers wrap new secrets under it within ${rootKeysTakenMs / 1_000} seconds.\n` +
          'Next: mayfly keys rotate re-wraps what waits under the older roots.\n',
      );
    return printResult(world, input, { added: kid, roots: kids }, []);
  });
}

/** Until every server has taken the file's newest root, so that nothing they store is refused once the older ones are closed. */
async function untilTaken({ path, ring }: OpenKeys, input: Input, world: World): Promise<void> {
  const waitMs = rootKeysTakenMs - ageOfFileMs(path, world.wallClockMs);
  if (waitMs <= 0) return;
  if (!input.json)
    world.terminal.err(
      `Waiting up to ${rootKeysTakenMs / 1_000} seconds for servers to take root ${ring.current.kid}.\n`,
    );
  await world.sleep(waitMs);
}

const nothingOlder: RewrapReport = { rewrapped: 0, fixed: 0, fixedUntil: null, damaged: 0 };

/** Re-wraps everything, closes the older roots, and re-wraps what was stored under them in between. */
async function rotate(keys: OpenKeys, input: Input, world: World): Promise<RewrapReport> {
  const { store, ring } = keys;
  const waiting = await store.countExpiringBy(Number.MAX_SAFE_INTEGER);
  const first = await rewrapOlder(keys, perSecrets(20_000, waiting, input, world));
  await untilTaken(keys, input, world);
  await store.closeRootsBefore(ring.current.kid);
  const last = await rewrapOlder(keys, () => {});
  // Servers that look at the file again need not search the store for them.
  const inUse = await store.rootKidsInUse();
  await store.forgetRoots(ring.all.map(({ kid }) => kid).filter((kid) => !inUse.includes(kid)));
  // Where a reader is in the way, the server's own scrub follows.
  await store.scrub();
  return { ...last, rewrapped: first.rewrapped + last.rewrapped };
}

/** What is still under older roots, and why. */
function remainsWords({ fixed, fixedUntil, damaged }: RewrapReport): string {
  const ofVersion1 =
    fixed === 0
      ? ''
      : `${plural(fixed, 'secret')} from an earlier version of Mayfly cannot be re-wrapped. The older roots are needed until ` +
        `${fixed === 1 ? 'it is' : 'they are'} read, burned or expired: ${timeOf(fixedUntil ?? 0)} at the latest.\n`;
  return damaged === 0
    ? ofVersion1
    : `${ofVersion1}${plural(damaged, 'damaged secret')} cannot be opened under any root and will expire as ${damaged === 1 ? 'it is' : 'they are'}.\n`;
}

function rotatedWords(report: RewrapReport, { ring }: OpenKeys): string {
  const { kid } = ring.current;
  if (ring.all.length === 1) return `Root ${kid} is the only one: run mayfly keys add first.\n`;
  const remains = remainsWords(report);
  const done =
    report.rewrapped > 0
      ? `Done. ${plural(report.rewrapped, 'secret')} re-wrapped under root ${kid}.\n`
      : `Nothing to re-wrap under root ${kid}.\n`;
  const next = 'Next: mayfly keys retire removes the older roots from the key file.\n';
  return `${done}${remains}${remains === '' ? next : ''}`;
}

async function runRotate(input: Input, world: World): Promise<ExitCode> {
  return withKeys(input, world, async (keys) => {
    // A root that was put into the file by hand wraps nothing before the store keeps its check, either.
    const verified = await verifyRoots(keys.ring, keys.path, keys.store);
    if (verified.outcome === 'refused') return refuse(world, input, 'keys', verified.problem);
    const hasOlder = keys.ring.all.length > 1;
    const report = hasOlder ? await rotate(keys, input, world) : nothingOlder;
    const { rewrapped, fixed, fixedUntil, damaged } = report;
    if (!input.json) world.terminal.err(rotatedWords(report, keys));
    const json = { root: keys.ring.current.kid, rewrapped, fixed, fixed_until: fixedUntil, damaged };
    return printResult(world, input, json, []);
  });
}

function refuseInUse(world: World, input: Input, kids: readonly number[]): ExitCode {
  return refuse(
    world,
    input,
    'in_use',
    `Secrets wait under ${rootsWords(kids)}: mayfly keys rotate re-wraps them, or says until when they wait. ` +
      'What was created with an Idempotency-Key keeps its root for 24 hours.',
  );
}

async function runRetire(input: Input, world: World): Promise<ExitCode> {
  return withKeys(input, world, async (keys) => {
    const { path, ring, store, random } = keys;
    const older = ring.all.filter(({ kid }) => kid !== ring.current.kid).map(({ kid }) => kid);
    if (older.length === 0) return nothingToRetire(input, world, ring.current.kid);
    const inUse = await store.rootKidsInUse();
    const unused = older.filter((kid) => !inUse.includes(kid));
    if (unused.length === 0) return refuseInUse(world, input, older);
    world.terminal.err(
      `No secret waits under ${rootsWords(unused)}. Once removed from ${path}, ` +
        `${unused.length === 1 ? 'it is' : 'they are'} only in your copies of the file.\n`,
    );
    const unconfirmed = await unlessConfirmed(world, input, `Remove ${rootsWords(unused)}?`);
    if (unconfirmed !== null) return unconfirmed;
    await untilTaken(keys, input, world);
    const retired = await retireRoots(path, store, { random });
    if (retired.outcome === 'refused') return refuse(world, input, 'keys', retired.problem);
    const kept = retired.roots.map(({ kid }) => kid);
    const gone = older.filter((kid) => !kept.includes(kid));
    // A server that had not taken the current root yet has stored something meanwhile.
    if (gone.length === 0) return refuseInUse(world, input, older);
    if (!input.json)
      world.terminal.err(`Done. ${path} has ${rootsWords(kept)}. Replace the copies that you keep of it.\n`);
    return printResult(world, input, { retired: gone, roots: kept }, []);
  });
}

function nothingToRetire(input: Input, world: World, kid: number): ExitCode {
  if (!input.json) world.terminal.err(`Root ${kid} is the only one: nothing to do.\n`);
  return printResult(world, input, { retired: [], roots: [kid] }, []);
}

export const keyCommands: readonly Command[] = [
  {
    path: ['keys', 'create'],
    summary: 'make the key file for nodes that are to share a store',
    example: 'mayfly keys create',
    note: 'A server with an embedded store makes its own at its first start.',
    run: runCreate,
  },
  {
    path: ['keys', 'list'],
    summary: 'list the wrapping roots: which one wraps new secrets, and which are in use',
    example: 'mayfly keys list',
    run: runList,
  },
  {
    path: ['keys', 'add'],
    summary: 'add a wrapping root to the key file, also while the server runs',
    example: 'mayfly keys add',
    run: runAdd,
  },
  {
    path: ['keys', 'rotate'],
    summary: 're-wrap all waiting secrets under the newest root',
    example: 'mayfly keys rotate',
    run: runRotate,
  },
  {
    path: ['keys', 'retire'],
    summary: 'remove the older roots from the key file, once nothing waits under them',
    options: { yes: { type: 'boolean', doc: 'do not ask' } },
    example: 'mayfly keys retire',
    run: runRetire,
  },
];

/**
 * Idempotent creation: however often a request is sent, concurrently or after a lost response, one secret is created, and
 * every response contains its keys.
 *
 * The row is reserved first. The step that stores the record marks the row done, before any response or email, and a row that
 * is done never creates again. A refused request leaves nothing behind. A repetition derives the keys again from the token,
 * the idempotency key and the row's seed, and sends no email.
 */
import {
  creationMac,
  creationMaterial,
  creationRandom,
  isSameRequest,
  seedBytes,
  unwrapSeed,
  wrapSeed,
} from '../../crypto/creation.ts';
import { type CreationLabel, deriveCreationId } from '../../crypto/derive.ts';
import type { AccountCaller, CallerToken } from '../account.ts';
import { ServiceError } from '../errors.ts';
import { generateMetadataKey, generateSecretKey } from '../keys.ts';
import type { Core } from '../ports/core.ts';
import {
  type IdempotentCreation,
  maxMismatches,
  type NewIdempotentCreation,
  takeOverSeconds,
} from '../ports/creations.ts';
import type { CreationHold, CreationId } from '../secret.ts';
import { type CreationSources, conceal, drawValue, generate } from './conceal.ts';
import type {
  ConcealInput,
  CreationOutcome,
  GenerateInput,
  Idempotency,
  RepeatableOutcome,
} from './outcomes.ts';
import { findReceipt } from './receipts.ts';

export interface TokenCaller extends AccountCaller {
  readonly apiToken: CallerToken;
}

/** Works like `conceal`; identical requests with one token and one key within 24 hours create one secret. */
export function concealOnce(
  deps: Core,
  input: ConcealInput,
  idempotency: Idempotency,
  caller: TokenCaller,
): Promise<RepeatableOutcome> {
  return once(deps, idempotency, caller, {
    create: (sources) => conceal(deps, input, caller, sources),
    drawnValue: () => null,
  });
}

export function generateOnce(
  deps: Core,
  input: GenerateInput,
  idempotency: Idempotency,
  caller: TokenCaller,
): Promise<RepeatableOutcome> {
  return once(deps, idempotency, caller, {
    create: (sources) => generate(deps, input, caller, sources),
    drawnValue: (sources) => drawValue(input, sources),
  });
}

interface Making {
  readonly create: (sources: CreationSources) => Promise<CreationOutcome>;
  readonly drawnValue: (sources: CreationSources) => ReturnType<typeof drawValue> | null;
}

async function once(
  deps: Core,
  idempotency: Idempotency,
  caller: TokenCaller,
  making: Making,
): Promise<RepeatableOutcome> {
  const material = creationMaterial(caller.apiToken.bytes.expose(), idempotency.key, idempotency.index);
  const known = await reserveOrFind(deps, material, idempotency, caller);
  if (known.outcome === 'done') return repeat(deps, known.sources, caller, making);
  if (known.outcome !== 'held') return known;
  return createHeld(deps, known, idempotency, making);
}

type Held = { readonly outcome: 'held'; readonly hold: CreationHold; readonly sources: CreationSources };
type Known =
  | Held
  | { readonly outcome: 'done'; readonly sources: CreationSources }
  | Extract<RepeatableOutcome, { outcome: 'in_flight' | 'idempotency_mismatch' }>;

async function createHeld(
  deps: Core,
  { hold, sources }: Held,
  { mayCreate }: Idempotency,
  { create }: Making,
): Promise<RepeatableOutcome> {
  const waitSeconds = mayCreate?.() ?? null;
  try {
    const outcome: RepeatableOutcome =
      waitSeconds === null
        ? await create(sources)
        : { outcome: 'rate_limited', retryAfterSeconds: waitSeconds };
    if (outcome.outcome !== 'created') await release(deps, hold);
    return outcome;
  } catch (error) {
    await release(deps, hold);
    throw error;
  }
}

/** Releases the row, unless the record was stored after all: then the next request gets it. If this fails, the row is taken over later. */
async function release({ store }: Core, hold: CreationHold): Promise<void> {
  await store.releaseCreation(hold).catch(() => {});
}

async function reserveOrFind(
  deps: Core,
  material: Uint8Array,
  idempotency: Idempotency,
  { apiToken }: TokenCaller,
): Promise<Known> {
  const id = deriveCreationId(material) as CreationId;
  const known = await deps.store.findCreation(id);
  if (known !== null) return judge(deps, material, { id, ...known }, idempotency);
  const fresh = draw(deps, material, id, idempotency);
  const reserved = await deps.store.reserveCreation({ ...fresh.row, tokenId: apiToken.tokenId });
  if (reserved === 'reserved') return heldWith(material, fresh);
  return judge(deps, material, { id, ...reserved }, idempotency);
}

interface Drawn {
  readonly row: Omit<NewIdempotentCreation, 'tokenId'>;
  readonly seed: Uint8Array;
}

function draw({ random, ring }: Core, material: Uint8Array, id: CreationId, { request }: Idempotency): Drawn {
  const seed = random(seedBytes);
  const wrappedSeed = wrapSeed(ring.current, id, seed, random);
  return { seed, row: { id, wrappedSeed, bodyMac: creationMac(material, seed, request) } };
}

function sourcesOf(material: Uint8Array, seed: Uint8Array, hold: CreationHold | null): CreationSources {
  const drawing = (label: CreationLabel) => creationRandom(label, material, seed);
  return {
    secret: drawing('creationSecret'),
    receipt: drawing('creationReceipt'),
    value: drawing('creationValue'),
    hold,
  };
}

const heldWith = (material: Uint8Array, { row, seed }: Drawn): Held => ({
  outcome: 'held',
  hold: row,
  sources: sourcesOf(material, seed, row),
});

type KnownRow = IdempotentCreation & Pick<NewIdempotentCreation, 'id'>;

/** Compares a request with the row that an earlier request reserved, and decides what to do next. */
async function judge(
  deps: Core,
  material: Uint8Array,
  row: KnownRow,
  idempotency: Idempotency,
): Promise<Known> {
  if (row.mismatches >= maxMismatches) return { outcome: 'idempotency_mismatch' };
  const seed = unwrapSeed(deps.ring, row.id, row.wrappedSeed);
  // This server lacks the root. Creating again would make a second secret.
  if (seed === null) throw new ServiceError('unavailable', 'The seed of a creation does not open.');
  if (!isSameRequest(material, seed, idempotency.request, row.bodyMac)) {
    await deps.store.countMismatch(row.id);
    return { outcome: 'idempotency_mismatch' };
  }
  if (row.isDone) return { outcome: 'done', sources: sourcesOf(material, seed, null) };
  const leftSeconds = row.reservedAt + takeOverSeconds - deps.store.now();
  if (leftSeconds > 0) return { outcome: 'in_flight', retryAfterSeconds: retryAfter(leftSeconds) };
  const fresh = draw(deps, material, row.id, idempotency);
  const isTaken = await deps.store.takeOverCreation(row, fresh.row);
  return isTaken ? heldWith(material, fresh) : { outcome: 'in_flight', retryAfterSeconds: 1 };
}

/** Most creations finish faster; a slower one was interrupted, or waits in the hash queue. */
const usualSeconds = 5;

function retryAfter(leftSeconds: number): number {
  return takeOverSeconds - leftSeconds < usualSeconds ? 1 : leftSeconds;
}

/** Returns an earlier creation; while its secret waits, also the value, which is derived again, not opened. */
async function repeat(
  deps: Core,
  sources: CreationSources,
  caller: TokenCaller,
  { drawnValue }: Making,
): Promise<RepeatableOutcome> {
  const secretKey = generateSecretKey(sources.secret, deps.region);
  const metadataKey = generateMetadataKey(sources.receipt, deps.region);
  const found = await findReceipt(deps, { metadataKey, authority: 'owner' }, caller);
  if (found.outcome === 'unknown') return { outcome: 'repeated_gone', secretKey, metadataKey };
  const { receipt } = found;
  const waits = receipt.state === 'new' || receipt.state === 'viewed';
  return { outcome: 'repeated', secretKey, receipt, value: waits ? drawnValue(sources) : null };
}

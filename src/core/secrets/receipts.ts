/**
 * Receipts: what the creator may know, the boxes that contain it, and who may manage a record.
 *
 * Another account's metadata key gets exactly the same answer as an unknown one (P16), and the secret key is shown only while
 * the secret waits. A recipient's plain address opens only with the secret key, so it is erased with the secret (P11). A memo
 * lives as long as the receipt.
 */

import { type BoxInput, openBox, sealBox } from '../../crypto/box.ts';
import { FieldReader, FieldWriter, utf8 } from '../../crypto/bytes.ts';
import { expiryLimitOf, openCreatorKey, unwrapSecret } from '../../crypto/envelope.ts';
import type { KeyRing } from '../../crypto/keyring.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { unwrapCreatorBox } from '../../crypto/version-1.ts';
import { type AccountCaller, type Caller, noAccountId } from '../account.ts';
import {
  type MetadataKey,
  parseMetadataKey,
  parseSecretKey,
  type ReceiptId,
  receiptIdOf,
  type SecretKey,
} from '../keys.ts';
import { obfuscate } from '../mail/recipients.ts';
import type { Core } from '../ports/core.ts';
import { epochKeyOf } from '../ports/epochs.ts';
import {
  isWaiting,
  type ReceiptRecord,
  receiptFactsOf,
  receiptStateAt,
  type StoredDelivery,
  type StoredReceipt,
  shortkeyOf,
  splitDetails,
  updatedAtOf,
  withShortkey,
} from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import type { UnixSeconds } from '../time.ts';
import { type Locks, locksOf } from './attempts.ts';
import type { MemoRefusal, ReceiptInput, ReceiptOutcome, ReceiptView } from './outcomes.ts';

export const anonymousCustid = 'anon';
const secretKeyLength = 31;

export interface Boxes {
  readonly detailsBox: Uint8Array;
  readonly recentBox: Uint8Array | null;
  readonly memoBox: Uint8Array | null;
}

interface BoxesInput extends Pick<ReceiptView, 'metadataKey' | 'recipient' | 'memo'> {
  readonly secretKey: SecretKey;
  readonly receiptId: ReceiptId;
  readonly caller: Caller;
}

/** Seals what the creator may see later, under keys that only the creator holds. */
export function sealBoxes(random: RandomBytes, input: BoxesInput): Boxes {
  const { receiptId, metadataKey, recipient, caller } = input;
  const details =
    recipient === null ? null : sealText(random, boxOf('details', receiptId, metadataKey), recipient);
  return {
    detailsBox: withShortkey(details, metadataKey, input.secretKey),
    recentBox: caller.kind === 'anonymous' ? null : sealRecent(caller, input, random),
    memoBox: sealMemo(random, receiptId, metadataKey, input.memo),
  };
}

/** @param key a metadata key; for an address both keys, whose fixed lengths need no separator */
const boxOf = (label: BoxInput['label'], receiptId: ReceiptId, key: string): BoxInput => ({
  label,
  keyMaterial: utf8(key),
  binding: receiptId,
});

const recentBoxOf = ({ dataKey }: AccountCaller, receiptId: ReceiptId): BoxInput => ({
  label: 'recent',
  keyMaterial: dataKey.expose(),
  binding: receiptId,
});

const sealText = (random: RandomBytes, box: BoxInput, text: string): Uint8Array =>
  sealBox({ ...box, content: utf8(text), random });

/** Keeps a byte order mark, which a memo may begin with. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

function openText(
  sealed: Uint8Array | null,
  label: BoxInput['label'],
  receiptId: ReceiptId,
  key: string,
): string | null {
  const content = sealed === null ? null : openBox(sealed, boxOf(label, receiptId, key));
  return content === null ? null : decoder.decode(content);
}

function sealRecent(caller: AccountCaller, input: BoxesInput, random: RandomBytes): Uint8Array {
  const { receiptId, metadataKey, secretKey, recipient } = input;
  const content = fieldsOf(metadataKey, shortkeyOf(secretKey), recipient ?? '');
  return sealBox({ ...recentBoxOf(caller, receiptId), content, random });
}

/** Concatenates the texts, each with a length prefix. */
function fieldsOf(...texts: readonly string[]): Uint8Array {
  const fields = texts.map(utf8);
  const writer = new FieldWriter(fields.reduce((size, field) => size + 4 + field.length, 0));
  for (const field of fields) writer.field(field);
  return writer.bytes;
}

function textsOf(content: Uint8Array): () => string {
  const reader = new FieldReader(content);
  return () => decoder.decode(reader.field());
}

interface RecentContent {
  readonly metadataKey: MetadataKey;
  readonly secretShortkey: string;
  readonly recipient: string | null;
}

/** Returns `null` if the box is damaged, or was sealed under an earlier data key, whose tokens are all gone. */
function openRecent(caller: AccountCaller, { recentBox, receiptId }: ReceiptRecord): RecentContent | null {
  const content = recentBox === null ? null : openBox(recentBox, recentBoxOf(caller, receiptId));
  if (content === null) return null;
  const next = textsOf(content);
  const metadataKey = parseMetadataKey(next());
  const secretShortkey = next();
  const recipient = next() || null;
  return metadataKey === null ? null : { metadataKey, secretShortkey, recipient };
}

interface CreatorContent {
  readonly secretKey: SecretKey;
  /** `null` without a recipient, or if the box was sealed before boxes contained addresses. */
  readonly address: string | null;
}

/** Opens what the creator may read of a waiting secret, which never includes its value. */
async function openCreator(
  { ring, store }: Pick<Core, 'ring' | 'store'>,
  { metadataKey, stored }: ManagedReceipt,
): Promise<CreatorContent | null> {
  if (stored.sealedSecret === null) return null;
  const epochKey = await epochKeyOf(store, stored.sealedSecret);
  const unwrapped = unwrapSecret(stored.sealedSecret, stored, ring, epochKey);
  if (unwrapped.outcome !== 'unwrapped') return null;
  const { creator } = unwrapped.secret;
  if (creator === null) return openCreatorBox(ring, stored, metadataKey);
  const key = openCreatorKey(unwrapped.secret, metadataKey);
  const secretKey = key === null ? null : parseSecretKey(key);
  if (secretKey === null) return null;
  const address = openText(creator.addressBox, 'address', stored.receiptId, metadataKey + secretKey);
  return { secretKey, address };
}

/** Opens the same content from the separate box of version 1 of the envelope. */
function openCreatorBox(
  ring: KeyRing,
  { creatorBox, receiptId }: StoredReceipt,
  metadataKey: MetadataKey,
): CreatorContent | null {
  const box = creatorBox === null ? null : unwrapCreatorBox(creatorBox, receiptId, ring);
  const content = box === null ? null : openBox(box, boxOf('creator', receiptId, metadataKey));
  if (content === null) return null;
  const text = decoder.decode(content);
  content.fill(0);
  const secretKey = parseSecretKey(text.slice(0, secretKeyLength));
  return secretKey === null ? null : { secretKey, address: text.slice(secretKeyLength) || null };
}

/** Everything needed to write the recipient's email and record its delivery. */
export interface Mailing {
  readonly metadataKey: MetadataKey;
  readonly secretKey: SecretKey;
  readonly to: Sensitive<string>;
  /** Whether `to` differs from the address given at creation. */
  readonly isElsewhere: boolean;
}

/** Prepares an email to the given address, or else the last one. Returns `null` if the secret is gone or there is no address. */
export async function openMailing(
  deps: Core,
  managed: ManagedReceipt,
  given: string | null,
): Promise<Mailing | null> {
  const { stored, metadataKey } = managed;
  if (!isWaiting(stored, deps.store.now())) return null;
  const content = await openCreator(deps, managed);
  if (content === null) return null;
  const { secretKey } = content;
  const { delivery, receiptId } = stored;
  const last = openText(delivery?.addressBox ?? null, 'address', receiptId, metadataKey + secretKey);
  const address = given ?? last ?? content.address;
  if (address === null) return null;
  return { metadataKey, secretKey, to: new Sensitive(address), isElsewhere: address !== content.address };
}

/** Seals a recipient's address under both keys, and the secret key is erased with the secret (P11). */
export function sealAddress(
  random: RandomBytes,
  receiptId: ReceiptId,
  { metadataKey, secretKey }: Pick<Mailing, 'metadataKey' | 'secretKey'>,
  address: string,
): Uint8Array {
  return sealText(random, boxOf('address', receiptId, metadataKey + secretKey), address);
}

/**
 * Seals the notes about an email. The server's reply may quote the email, so only the creator may read it (P9).
 * @param reply one line
 */
export function sealNote(
  random: RandomBytes,
  receiptId: ReceiptId,
  mailing: Mailing,
  reply: string | null,
): Pick<StoredDelivery, 'noteBox' | 'addressBox'> {
  const { to, isElsewhere, metadataKey } = mailing;
  if (!isElsewhere && reply === null) return { noteBox: null, addressBox: null };
  const content = fieldsOf(isElsewhere ? obfuscate(to.expose()) : '', reply ?? '');
  return {
    noteBox: sealBox({ ...boxOf('note', receiptId, metadataKey), content, random }),
    addressBox: isElsewhere ? sealAddress(random, receiptId, mailing, to.expose()) : null,
  };
}

/** @param recipient the one given at creation; the last email's recipient takes precedence */
function openNotes(
  { receiptId, delivery, memoBox }: ReceiptRecord,
  metadataKey: MetadataKey,
  recipient: string | null,
): Pick<OpenedFields, 'recipient' | 'reply' | 'memo'> {
  const memo = openText(memoBox, 'memo', receiptId, metadataKey) ?? '';
  const noteBox = delivery?.noteBox ?? null;
  const content = noteBox === null ? null : openBox(noteBox, boxOf('note', receiptId, metadataKey));
  if (content === null) return { recipient, reply: null, memo };
  const next = textsOf(content);
  return { recipient: next() || recipient, reply: next() || null, memo };
}

/** In code points. */
const maxMemoCharacters = 500;

export function checkMemo(memo: string): MemoRefusal | null {
  if (!memo.isWellFormed()) return { outcome: 'ill_formed', field: 'memo' };
  // A code point is one or two UTF-16 units, so most memos need no counting.
  const isTooLong =
    memo.length > maxMemoCharacters &&
    (memo.length > 2 * maxMemoCharacters || [...memo].length > maxMemoCharacters);
  return isTooLong ? { outcome: 'memo_too_long', maxCharacters: maxMemoCharacters } : null;
}

/** Returns `null` for an empty memo. */
export function sealMemo(
  random: RandomBytes,
  receiptId: ReceiptId,
  metadataKey: MetadataKey,
  memo: string,
): Uint8Array | null {
  return memo === '' ? null : sealText(random, boxOf('memo', receiptId, metadataKey), memo);
}

/** A record that the caller may manage, with its key. */
export interface ManagedReceipt {
  readonly metadataKey: MetadataKey;
  readonly stored: StoredReceipt;
}

/** Returns the record, or `null` if it is unknown to this caller. */
export async function findManaged(
  deps: Core,
  { metadataKey: text, authority }: ReceiptInput,
  caller: Caller,
): Promise<ManagedReceipt | null> {
  const metadataKey = parseMetadataKey(text);
  if (metadataKey === null) return null;
  const account = caller.kind === 'account' ? caller.account.id : noAccountId;
  const manager = authority === 'holder' ? undefined : account;
  const stored = await deps.store.findReceipt(receiptIdOf(metadataKey), manager);
  if (stored === null) return null;
  const isOwners =
    stored.owner === null ? authority === 'creator' || account !== noAccountId : stored.owner === account;
  return authority === 'holder' || isOwners ? { metadataKey, stored } : null;
}

/** Opens as much of a managed record as its state allows. */
export async function viewOf(deps: Core, managed: ManagedReceipt, caller: Caller): Promise<ReceiptView> {
  const { stored, metadataKey } = managed;
  const now = deps.store.now();
  const creator = isWaiting(stored, now) ? await openCreator(deps, managed) : null;
  const secretKey = creator?.secretKey ?? null;
  const limit =
    secretKey === null || stored.sealedSecret === null ? null : expiryLimitOf(stored.sealedSecret);
  const { box, shortkey: kept } = splitDetails(stored.detailsBox, metadataKey);
  const shortkey = secretKey === null ? kept : shortkeyOf(secretKey);
  // For records made before shortkeys were kept with the details.
  const recent = shortkey === null && caller.kind === 'account' ? openRecent(caller, stored) : null;
  const opened = {
    custid: await custidOf(deps, stored, caller),
    metadataKey,
    secretKey,
    secretShortkey: shortkey ?? recent?.secretShortkey ?? '',
    longestTtlSeconds: limit === null ? null : limit - now,
    codes: stored.verify ? await deps.store.listCodes(stored.secretId) : [],
    ...openNotes(stored, metadataKey, openText(box, 'details', stored.receiptId, metadataKey)),
  };
  return receiptView(stored, now, opened, await locksOf(deps.store, [stored]));
}

async function custidOf(deps: Core, stored: StoredReceipt, caller: Caller): Promise<string> {
  if (stored.owner === null) return anonymousCustid;
  if (caller.kind === 'account' && caller.account.id === stored.owner) return caller.account.username;
  return (await deps.store.findAccountById(stored.owner))?.username ?? anonymousCustid;
}

interface OpenedFields
  extends Pick<ReceiptView, 'custid' | 'metadataKey' | 'secretKey' | 'secretShortkey' | 'recipient'>,
    Pick<ReceiptView, 'longestTtlSeconds' | 'memo' | 'codes'> {
  /** @see Delivery.reply */
  readonly reply: string | null;
}

/** Builds the view of a stored receipt at store time `now`, with its boxes' content. */
export function receiptView(
  stored: ReceiptRecord,
  now: UnixSeconds,
  opened: OpenedFields,
  locks: Locks = new Map(),
): ReceiptView {
  const state = receiptStateAt(stored, now);
  const { delivery, createdAt, expiresAt, endedAt } = stored;
  const { reply, ...shown } = opened;
  return {
    ...receiptFactsOf(stored),
    ...shown,
    state,
    ttlSeconds: expiresAt - createdAt,
    secretTtlSeconds: isWaiting(stored, now) ? expiresAt - now : null,
    metadataTtlSeconds: Math.max(0, stored.receiptExpiresAt - now),
    updatedAt: updatedAtOf(stored, now),
    receivedAt: state === 'received' ? endedAt : null,
    burnedAt: state === 'burned' ? endedAt : null,
    delivery: delivery && { state: delivery.state, at: delivery.at, reply },
    locked: locks.get(stored) ?? null,
  };
}

export async function findReceipt(deps: Core, input: ReceiptInput, caller: Caller): Promise<ReceiptOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  return { outcome: 'found', receipt: await viewOf(deps, managed, caller) };
}

/** Works like `findReceipt`, and records that the creator has looked. */
export async function viewReceipt(deps: Core, input: ReceiptInput, caller: Caller): Promise<ReceiptOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const { metadataKey, stored } = managed;
  const viewedAt = stored.viewedAt ?? (await deps.store.markViewed(stored.receiptId));
  // The secret no longer waits, so the record read above may be out of date (P6).
  if (viewedAt === null) return findReceipt(deps, input, caller);
  const viewed = { metadataKey, stored: { ...stored, viewedAt } };
  return { outcome: 'found', receipt: await viewOf(deps, viewed, caller) };
}

/** Builds a list's entry, without the secret key; empty if `openRecent` returns `null`. */
export function listedView(
  caller: AccountCaller,
  stored: ReceiptRecord,
  now: UnixSeconds,
  locks: Locks,
): ReceiptView[] {
  const recent = openRecent(caller, stored);
  if (recent === null) return [];
  const { metadataKey, secretShortkey, recipient } = recent;
  const opened = {
    custid: caller.account.username,
    metadataKey,
    secretKey: null,
    secretShortkey,
    longestTtlSeconds: null,
    codes: null,
    ...openNotes(stored, metadataKey, recipient),
  };
  return [receiptView(stored, now, opened, locks)];
}

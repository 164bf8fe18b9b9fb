/**
 * Receipts: what the creator may know, the boxes that hold it, and who may manage a record.
 *
 * Another account's metadata key gets exactly the answer of an unknown one (P16), and the secret key is shown only while
 * the secret waits. A recipient's plain address is only ever in a box that opens only with the secret key, which goes with
 * the secret (P11). A memo lives as long as the receipt, whatever happens
 * to the secret.
 */

import { openBox, sealBox } from '../../crypto/box.ts';
import { FieldReader, FieldWriter, utf8 } from '../../crypto/bytes.ts';
import { expiryLimitOf, openCreatorKey, unwrapSecret } from '../../crypto/envelope.ts';
import type { KeyRing } from '../../crypto/keyring.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { unwrapCreatorBox } from '../../crypto/version-1.ts';
import type { ReceiptState } from '../../protocol/vocabulary.ts';
import { type AccountCaller, type AccountId, type Caller, noAccountId } from '../account.ts';
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
import { type Locks, locksOf } from './access.ts';
import type { ReceiptInput, ReceiptOutcome, ReceiptView } from './outcomes.ts';

export const anonymousCustid = 'anon';
const secretKeyLength = 31;

export interface Boxes {
  readonly detailsBox: Uint8Array;
  readonly recentBox: Uint8Array | null;
  readonly memoBox: Uint8Array | null;
}

interface BoxesInput {
  readonly secretKey: SecretKey;
  readonly metadataKey: MetadataKey;
  readonly receiptId: ReceiptId;
  /** Obfuscated. */
  readonly recipient: string | null;
  readonly memo: string;
  readonly caller: Caller;
}

/** Seals what the creator may see later, under keys that only the creator holds. */
export function sealBoxes(random: RandomBytes, input: BoxesInput): Boxes {
  const { receiptId: binding, recipient, caller } = input;
  const keyMaterial = utf8(input.metadataKey);
  const details =
    recipient === null
      ? null
      : sealBox({ label: 'details', keyMaterial, binding, content: utf8(recipient), random });
  return {
    detailsBox: withShortkey(details, input.metadataKey, input.secretKey),
    recentBox: caller.kind === 'anonymous' ? null : sealRecent(caller, input, random),
    memoBox: sealMemo(random, binding, input.metadataKey, input.memo),
  };
}

function sealRecent(caller: AccountCaller, input: BoxesInput, random: RandomBytes): Uint8Array {
  return sealBox({
    label: 'recent',
    keyMaterial: caller.dataKey.expose(),
    binding: input.receiptId,
    content: fieldsOf(input.metadataKey, shortkeyOf(input.secretKey), input.recipient ?? ''),
    random,
  });
}

/** Length-prefixed, one after the other. */
function fieldsOf(...texts: readonly string[]): Uint8Array {
  const fields = texts.map(utf8);
  const writer = new FieldWriter(fields.reduce((size, field) => size + 4 + field.length, 0));
  for (const field of fields) writer.field(field);
  return writer.bytes;
}

function textsOf(content: Uint8Array): () => string {
  const reader = new FieldReader(content);
  return () => new TextDecoder().decode(reader.field());
}

interface RecentContent {
  readonly metadataKey: MetadataKey;
  readonly secretShortkey: string;
  readonly recipient: string | null;
}

/** `null` when the box was sealed under an earlier data key (all its tokens are gone) or is damaged. */
function openRecent(caller: AccountCaller, stored: ReceiptRecord): RecentContent | null {
  if (stored.recentBox === null) return null;
  const content = openBox(stored.recentBox, {
    label: 'recent',
    keyMaterial: caller.dataKey.expose(),
    binding: stored.receiptId,
  });
  if (content === null) return null;
  const next = textsOf(content);
  const metadataKey = parseMetadataKey(next());
  const secretShortkey = next();
  const recipient = next();
  return metadataKey === null
    ? null
    : { metadataKey, secretShortkey, recipient: recipient === '' ? null : recipient };
}

interface CreatorContent {
  readonly secretKey: SecretKey;
  /** `null` without a recipient, and in boxes sealed before they held addresses. */
  readonly address: string | null;
}

/** What the creator may read of a waiting secret: never its value. */
async function openCreator(
  { ring, store }: Pick<Core, 'ring' | 'store'>,
  stored: StoredReceipt,
  metadataKey: MetadataKey,
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
  return { secretKey, address: openAddress(creator.addressBox, stored.receiptId, metadataKey, secretKey) };
}

/** The same from the box that version 1 of the envelope keeps beside the row. */
function openCreatorBox(
  ring: KeyRing,
  { creatorBox, receiptId }: StoredReceipt,
  metadataKey: MetadataKey,
): CreatorContent | null {
  const box = creatorBox === null ? null : unwrapCreatorBox(creatorBox, receiptId, ring);
  const content =
    box === null
      ? null
      : openBox(box, { label: 'creator', keyMaterial: utf8(metadataKey), binding: receiptId });
  if (content === null) return null;
  const text = new TextDecoder().decode(content);
  content.fill(0);
  const secretKey = parseSecretKey(text.slice(0, secretKeyLength));
  const address = text.slice(secretKeyLength);
  return secretKey === null ? null : { secretKey, address: address === '' ? null : address };
}

/** What it takes to write the recipient's mail and to note what became of it. */
export interface Mailing {
  readonly metadataKey: MetadataKey;
  readonly secretKey: SecretKey;
  readonly to: Sensitive<string>;
  /** Whether `to` differs from the address given at creation. */
  readonly isElsewhere: boolean;
}

/** To the address given, else to the last one. `null` once the secret is gone, or without any address. */
export async function openMailing(
  deps: Core,
  { stored, metadataKey }: ManagedReceipt,
  given: Sensitive<string> | null,
): Promise<Mailing | null> {
  if (!isWaiting(stored, deps.store.now())) return null;
  const content = await openCreator(deps, stored, metadataKey);
  if (content === null) return null;
  const { secretKey } = content;
  const { delivery, receiptId } = stored;
  const last = openAddress(delivery?.addressBox ?? null, receiptId, metadataKey, secretKey);
  const address = given?.expose() ?? last ?? content.address;
  if (address === null) return null;
  return { metadataKey, secretKey, to: new Sensitive(address), isElsewhere: address !== content.address };
}

/** Keys have a fixed length, so no separator is needed. */
function addressKey(metadataKey: MetadataKey, secretKey: SecretKey): Uint8Array {
  return utf8(metadataKey + secretKey);
}

/** Seals a recipient's address so that it opens only with what is erased with the secret (P11). */
export function sealAddress(
  random: RandomBytes,
  binding: ReceiptId,
  { metadataKey, secretKey }: Pick<Mailing, 'metadataKey' | 'secretKey'>,
  address: string,
): Uint8Array {
  const keyMaterial = addressKey(metadataKey, secretKey);
  return sealBox({ label: 'address', keyMaterial, binding, content: utf8(address), random });
}

function openAddress(
  box: Uint8Array | null,
  binding: ReceiptId,
  metadataKey: MetadataKey,
  secretKey: SecretKey,
): string | null {
  if (box === null) return null;
  const content = openBox(box, {
    label: 'address',
    keyMaterial: addressKey(metadataKey, secretKey),
    binding,
  });
  return content === null ? null : new TextDecoder().decode(content);
}

/**
 * Seals what is noted about a mail. The server's reply may quote the mail, so only the creator may read it (P9).
 * @param reply one line
 */
export function sealNote(
  random: RandomBytes,
  binding: ReceiptId,
  mailing: Mailing,
  reply: string | null,
): Pick<StoredDelivery, 'noteBox' | 'addressBox'> {
  const { to, isElsewhere } = mailing;
  const keyMaterial = utf8(mailing.metadataKey);
  const note = fieldsOf(isElsewhere ? obfuscate(to.expose()) : '', reply ?? '');
  return {
    noteBox:
      isElsewhere || reply !== null
        ? sealBox({ label: 'note', keyMaterial, binding, content: note, random })
        : null,
    addressBox: isElsewhere ? sealAddress(random, binding, mailing, to.expose()) : null,
  };
}

interface NoteContent {
  /** Obfuscated; `null` if the mail went to the address given at creation. */
  readonly recipient: string | null;
  readonly reply: string | null;
}

function openNote({ receiptId, delivery }: ReceiptRecord, metadataKey: MetadataKey): NoteContent {
  const noteBox = delivery?.noteBox ?? null;
  const at = { label: 'note', keyMaterial: utf8(metadataKey), binding: receiptId } as const;
  const content = noteBox === null ? null : openBox(noteBox, at);
  if (content === null) return { recipient: null, reply: null };
  const next = textsOf(content);
  const [recipient, reply] = [next(), next()];
  return { recipient: recipient === '' ? null : recipient, reply: reply === '' ? null : reply };
}

/** `null` for an empty memo. */
export function sealMemo(
  random: RandomBytes,
  binding: ReceiptId,
  metadataKey: MetadataKey,
  memo: string,
): Uint8Array | null {
  if (memo === '') return null;
  return sealBox({ label: 'memo', keyMaterial: utf8(metadataKey), binding, content: utf8(memo), random });
}

/** Exactly as given, including a byte order mark. */
const memoDecoder = new TextDecoder('utf-8', { ignoreBOM: true });

function openMemo({ receiptId, memoBox }: ReceiptRecord, metadataKey: MetadataKey): string {
  if (memoBox === null) return '';
  const at = { label: 'memo', keyMaterial: utf8(metadataKey), binding: receiptId } as const;
  const content = openBox(memoBox, at);
  return content === null ? '' : memoDecoder.decode(content);
}

interface DetailsContent {
  /** Obfuscated. */
  readonly recipient: string | null;
  readonly shortkey: string | null;
}

function openDetails(stored: ReceiptRecord, metadataKey: MetadataKey): DetailsContent {
  const { box, shortkey } = splitDetails(stored.detailsBox, metadataKey);
  const at = { label: 'details', keyMaterial: utf8(metadataKey), binding: stored.receiptId } as const;
  const content = box === null ? null : openBox(box, at);
  return { recipient: content === null ? null : new TextDecoder().decode(content), shortkey };
}

/** A record that the caller may manage, with its key. */
export interface ManagedReceipt {
  readonly metadataKey: MetadataKey;
  readonly stored: StoredReceipt;
}

/** The record, or `null` when it is unknown to this caller. */
export async function findManaged(
  deps: Core,
  input: ReceiptInput,
  caller: Caller,
): Promise<ManagedReceipt | null> {
  const metadataKey = parseMetadataKey(input.metadataKey);
  if (metadataKey === null) return null;
  const account = caller.kind === 'account' ? caller.account.id : noAccountId;
  const manager = input.authority === 'holder' ? undefined : account;
  const stored = await deps.store.findReceipt(receiptIdOf(metadataKey), manager);
  return stored !== null && mayManage(stored, input.authority, account) ? { metadataKey, stored } : null;
}

function mayManage(
  { owner }: StoredReceipt,
  authority: ReceiptInput['authority'],
  account: AccountId,
): boolean {
  if (authority === 'holder') return true;
  return owner === null ? authority === 'creator' || account !== noAccountId : owner === account;
}

/** Opens as much of a managed record as its state allows. */
export async function viewOf(deps: Core, managed: ManagedReceipt, caller: Caller): Promise<ReceiptView> {
  const { stored, metadataKey } = managed;
  const now = deps.store.now();
  const creator = isWaiting(stored, now) ? await openCreator(deps, stored, metadataKey) : null;
  const secretKey = creator?.secretKey ?? null;
  const limit =
    secretKey === null || stored.sealedSecret === null ? null : expiryLimitOf(stored.sealedSecret);
  const { recipient, shortkey: kept } = openDetails(stored, metadataKey);
  const shortkey = secretKey === null ? kept : shortkeyOf(secretKey);
  // Records made before shortkeys were kept with the details.
  const recent = shortkey === null && caller.kind === 'account' ? openRecent(caller, stored) : null;
  const opened = {
    custid: await custidOf(deps, stored, caller),
    metadataKey,
    secretKey,
    secretShortkey: shortkey ?? recent?.secretShortkey ?? '',
    recipient,
    longestTtlSeconds: limit === null ? null : limit - now,
  };
  return receiptView(stored, now, opened, await locksOf(deps.store, [stored]));
}

async function custidOf(deps: Core, stored: StoredReceipt, caller: Caller): Promise<string> {
  if (stored.owner === null) return anonymousCustid;
  if (caller.kind === 'account' && caller.account.id === stored.owner) return caller.account.username;
  return (await deps.store.findAccountById(stored.owner))?.username ?? anonymousCustid;
}

type OpenedFields = Pick<
  ReceiptView,
  'custid' | 'metadataKey' | 'secretKey' | 'secretShortkey' | 'recipient' | 'longestTtlSeconds'
>;

/** A stored receipt at store time `now`, with what its boxes held; the last mail's recipient wins. */
export function receiptView(
  stored: ReceiptRecord,
  now: UnixSeconds,
  opened: OpenedFields,
  locks: Locks = new Map(),
): ReceiptView {
  const state: ReceiptState = receiptStateAt(stored, now);
  const note = openNote(stored, opened.metadataKey);
  const { delivery } = stored;
  return {
    ...opened,
    recipient: note.recipient ?? opened.recipient,
    state,
    ttlSeconds: stored.expiresAt - stored.createdAt,
    secretTtlSeconds: isWaiting(stored, now) ? stored.expiresAt - now : null,
    metadataTtlSeconds: Math.max(0, stored.receiptExpiresAt - now),
    shareDomain: stored.shareDomain,
    hasPassphrase: stored.hasPassphrase,
    sealed: stored.sealed,
    createdAt: stored.createdAt,
    updatedAt: updatedAtOf(stored, now),
    viewedAt: stored.viewedAt,
    receivedAt: state === 'received' ? stored.endedAt : null,
    burnedAt: state === 'burned' ? stored.endedAt : null,
    burnedBy: stored.burnedBy,
    delivery: delivery === null ? null : { state: delivery.state, at: delivery.at, reply: note.reply },
    notify: stored.notify,
    memo: openMemo(stored, opened.metadataKey),
    locked: locks.get(stored) ?? null,
  };
}

export async function findReceipt(deps: Core, input: ReceiptInput, caller: Caller): Promise<ReceiptOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  return { outcome: 'found', receipt: await viewOf(deps, managed, caller) };
}

/** As `findReceipt`, and the creator has now looked. */
export async function viewReceipt(deps: Core, input: ReceiptInput, caller: Caller): Promise<ReceiptOutcome> {
  const managed = await findManaged(deps, input, caller);
  if (managed === null) return { outcome: 'unknown' };
  const { metadataKey, stored } = managed;
  const viewedAt = stored.viewedAt ?? (await deps.store.markViewed(stored.receiptId));
  // Not marked because it no longer waits, so what was read may be out of date (P6).
  if (viewedAt === null) return findReceipt(deps, input, caller);
  const viewed = { metadataKey, stored: { ...stored, viewedAt } };
  return { outcome: 'found', receipt: await viewOf(deps, viewed, caller) };
}

/** What takes more than the account's key to tell. */
const unlisted = { secretKey: null, longestTtlSeconds: null } as const;

/** As a list shows it, without the secret key; empty if the box was sealed under an earlier data key or is damaged. */
export function listedView(
  caller: AccountCaller,
  stored: ReceiptRecord,
  now: UnixSeconds,
  locks: Locks,
): ReceiptView[] {
  const content = openRecent(caller, stored);
  return content === null
    ? []
    : [receiptView(stored, now, { ...unlisted, custid: caller.account.username, ...content }, locks)];
}

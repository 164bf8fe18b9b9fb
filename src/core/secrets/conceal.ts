/**
 * Conceal and generate store a secret, in the order check → seal → store → announce.
 *
 * A refusal stores nothing. Keys are returned only after the store has confirmed (P5). The plain value, passphrase and
 * recipient leave this file only sealed, except in the mail that goes out after the secret is stored (P9).
 */

import { utf8 } from '../../crypto/bytes.ts';
import { derivePassphraseSalt, derivePassphraseVerifierInput } from '../../crypto/derive.ts';
import { sealSecret } from '../../crypto/envelope.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { allCharacterSets, generatedLength } from '../../protocol/drawing.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import type { NoticeKind } from '../../protocol/vocabulary.ts';
import { type Caller, clientOf, type HashPlace, planOf } from '../account.ts';
import type { ServiceEvent } from '../events.ts';
import {
  generateMetadataKey,
  generateSecretKey,
  type MetadataKey,
  receiptIdOf,
  type SecretKey,
  secretIdOf,
} from '../keys.ts';
import { noticeDueAt, noticesFor } from '../mail/notices.ts';
import { obfuscate, parseRecipient, withParsedRecipient } from '../mail/recipients.ts';
import { firstTrySeconds } from '../mailer.ts';
import { grantTtl } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import type { PassphraseHasher } from '../ports/passphrases.ts';
import type { CreationHold } from '../secret.ts';
import { type NewRecord, type ReceiptRecord, shortkeyOf } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import { chooseShareDomain } from '../share-domains/choose.ts';
import type { UnixSeconds } from '../time.ts';
import { tagOf } from './access.ts';
import { flawOf, maxCiphertextBytes, type SealedInput } from './end-to-end.ts';
import { generateValue } from './generated-value.ts';
import { sendLink } from './link-mail.ts';
import { checkMemo } from './memo.ts';
import type { ConcealInput, CreationOptions, CreationOutcome, GenerateInput } from './outcomes.ts';
import { anonymousCustid, type Boxes, receiptView, sealAddress, sealBoxes } from './receipts.ts';

type Refusal = Exclude<CreationOutcome, { outcome: 'created' }>;
type CreationKind = Extract<ServiceEvent, { event: 'concealed' }>['kind'];

/** Checked, ready to be sealed and stored. */
interface Checked {
  /** Of an end-to-end secret the ciphertext. */
  readonly value: Uint8Array;
  readonly passphrase: { readonly bytes: Uint8Array; readonly place: HashPlace } | null;
  readonly sealed: SealedInput | null;
  readonly ttlSeconds: number;
  /** From its creation on: what the plan allows at the time of it. */
  readonly longestTtlSeconds: number;
  readonly recipient: string | null;
  readonly shareDomain: string;
  readonly notify: readonly NoticeKind[];
  /** `''` for none. */
  readonly memo: string;
}

/** What a creation draws its keys and its value from, and the reservation that it is stored for. */
export interface CreationSources {
  readonly secret: RandomBytes;
  readonly receipt: RandomBytes;
  readonly value: RandomBytes;
  readonly hold: CreationHold | null;
}

const freshSources = ({ random }: Pick<Core, 'random'>): CreationSources => ({
  secret: random,
  receipt: random,
  value: random,
  hold: null,
});

export function conceal(
  deps: Core,
  input: ConcealInput,
  caller: Caller,
  sources = freshSources(deps),
): Promise<CreationOutcome> {
  return concealValue(
    deps,
    input,
    { text: input.value, sealed: input.sealed },
    { kind: 'conceal', caller, sources },
  );
}

export async function generate(
  deps: Core,
  input: GenerateInput,
  caller: Caller,
  sources = freshSources(deps),
): Promise<CreationOutcome> {
  const value = drawValue(input, sources);
  const creating = { kind: 'generate', caller, sources } as const;
  const outcome = await concealValue(deps, input, { text: value, sealed: null }, creating);
  return outcome.outcome === 'created' ? { ...outcome, value } : outcome;
}

export function drawValue(
  { length, charset }: GenerateInput,
  { value }: Pick<CreationSources, 'value'>,
): Sensitive<string> {
  return new Sensitive(generateValue(length ?? generatedLength.default, charset ?? allCharacterSets, value));
}

/** One of the two; `text` is empty beside `sealed`. */
interface Content {
  readonly text: Sensitive<string>;
  readonly sealed: SealedInput | null;
}

async function concealValue(
  deps: Core,
  given: CreationOptions,
  { text, sealed }: Content,
  creating: Creating,
): Promise<CreationOutcome> {
  const { caller } = creating;
  const input = withParsedRecipient(given);
  const value = text.expose();
  const refusal =
    checkMayCreate(deps, caller) ??
    (sealed === null
      ? checkTexts(deps, input, value, caller)
      : checkSealed(deps, input, value, sealed, caller)) ??
    checkMemo(input.memo?.expose() ?? '') ??
    checkRecipient(input, caller) ??
    checkNotify(input, caller);
  if (refusal !== null) return refusal;
  const choice = await chooseShareDomain(deps, input, caller);
  if (choice.outcome !== 'chosen') return choice;
  const { recipient } = input;
  const tooMany = recipient === null ? null : await countMail(deps, recipient, caller);
  if (tooMany !== null) return tooMany;
  const plan = planOf(deps.plans, caller);
  const passphrase = input.passphrase?.expose() ?? '';
  const place: HashPlace = { client: clientOf(caller, input.clientPrefix ?? ''), purpose: 'create' };
  return sealAndStore(deps, input, creating, {
    value: sealed?.ciphertext ?? utf8(value),
    passphrase: passphrase === '' ? null : { bytes: utf8(passphrase), place },
    sealed,
    ttlSeconds: grantTtl(plan, input.ttlSeconds),
    longestTtlSeconds: plan.ttlMaxSeconds,
    recipient: input.recipient?.expose() ?? null,
    shareDomain: choice.shareDomain,
    notify: noticesFor(input.notify, caller),
    memo: input.memo?.expose() ?? '',
  });
}

function checkMayCreate({ anonymousMayCreate }: Core, caller: Caller): Refusal | null {
  return caller.kind === 'anonymous' && !anonymousMayCreate ? { outcome: 'account_required' } : null;
}

/** What a client has sealed, and that nothing beside it would show the server what is in it. */
function checkSealed(
  { plans }: Core,
  { passphrase, recipient }: CreationOptions,
  value: string,
  sealed: SealedInput,
  caller: Caller,
): Refusal | null {
  if (value !== '') return { outcome: 'sealed_beside', field: 'secret' };
  if ((passphrase?.expose() ?? '') !== '') return { outcome: 'sealed_beside', field: 'passphrase' };
  if ((recipient?.expose() ?? '') !== '') return { outcome: 'sealed_beside', field: 'recipient' };
  const plan = planOf(plans, caller);
  const flaw = flawOf(sealed);
  if (flaw !== null) return { outcome: 'sealed_wrongly', flaw };
  const isTooLarge = sealed.ciphertext.length > maxCiphertextBytes(plan);
  return isTooLarge ? { outcome: 'sealed_too_large', maxBytes: plan.maxSealedBytes } : null;
}

function checkTexts(deps: Core, input: CreationOptions, value: string, caller: Caller): Refusal | null {
  if (value === '') return { outcome: 'nothing_to_share' };
  if (!value.isWellFormed()) return { outcome: 'ill_formed', field: 'secret' };
  const { maxValueBytes } = planOf(deps.plans, caller);
  if (isLongerThan(value, maxValueBytes)) return { outcome: 'value_too_large', maxBytes: maxValueBytes };
  const passphrase = input.passphrase?.expose() ?? '';
  if (!passphrase.isWellFormed()) return { outcome: 'ill_formed', field: 'passphrase' };
  if (isLongerThan(passphrase, maxPassphraseBytes))
    return { outcome: 'passphrase_too_long', maxBytes: maxPassphraseBytes };
  return null;
}

/** In bytes of UTF-8, of which a UTF-16 unit takes at most three. */
function isLongerThan(text: string, maxBytes: number): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

function checkRecipient(input: CreationOptions, caller: Caller): Refusal | null {
  if (input.recipient === null) return null;
  if (caller.kind === 'anonymous') return { outcome: 'recipient_needs_account' };
  const recipient = input.recipient.expose();
  return parseRecipient(recipient) !== null ? null : { outcome: 'undeliverable_recipient', recipient };
}

function checkNotify(input: CreationOptions, caller: Caller): Refusal | null {
  const isAsked = input.notify !== null && input.notify.length > 0;
  return isAsked && caller.kind === 'anonymous' ? { outcome: 'notify_needs_account' } : null;
}

/** The last check, so that what is refused for another reason is not counted. */
async function countMail(
  { mailQuota }: Core,
  recipient: NonNullable<CreationOptions['recipient']>,
  caller: Caller,
): Promise<Refusal | null> {
  if (caller.kind === 'anonymous') return null;
  const quota = await mailQuota.take(caller.account.id, recipient);
  return quota.outcome === 'allowed' ? null : { ...quota, outcome: 'too_many_mails' };
}

interface Creating {
  readonly kind: CreationKind;
  readonly caller: Caller;
  readonly sources: CreationSources;
}

async function sealAndStore(
  deps: Core,
  input: CreationOptions,
  { kind, caller, sources }: Creating,
  checked: Checked,
): Promise<CreationOutcome> {
  const secretKey = generateSecretKey(sources.secret, deps.region);
  const metadataKey = generateMetadataKey(sources.receipt, deps.region);
  const now = deps.store.now();
  const base = recordBase(secretIdOf(secretKey), receiptIdOf(metadataKey), checked, caller, now);
  const sealedSecret = await sealValue(deps, { secretKey, metadataKey }, checked, base);
  const recipient = checked.recipient === null ? null : obfuscate(checked.recipient);
  const boxes = sealBoxes(deps.random, {
    secretKey,
    metadataKey,
    receiptId: base.receiptId,
    recipient,
    memo: checked.memo,
    caller,
  });
  const record: NewRecord = { ...base, sealedSecret, ...boxes, hold: sources.hold };
  await deps.store.put(record);
  const account = caller.kind === 'account' ? caller.account : null;
  deps.events({ event: 'concealed', tag: tagOf(record.secretId), kind, account: account?.id ?? null });
  if (checked.recipient !== null && account !== null) {
    const to = new Sensitive(checked.recipient);
    const mailing = { metadataKey, secretKey, to, isElsewhere: false };
    deps.inBackground(() => sendLink(deps, record, mailing, account, input.locale));
  }
  const custid = account?.username ?? anonymousCustid;
  const { longestTtlSeconds } = checked;
  const secretShortkey = shortkeyOf(secretKey);
  const opened = { custid, metadataKey, secretKey, secretShortkey, recipient, longestTtlSeconds };
  return { outcome: 'created', receipt: receiptView(freshReceipt(record, now), now, opened), value: null };
}

type RecordBase = Omit<NewRecord, 'sealedSecret' | 'hold' | keyof Boxes>;

function recordBase(
  secretId: NewRecord['secretId'],
  receiptId: NewRecord['receiptId'],
  checked: Checked,
  caller: Caller,
  now: UnixSeconds,
): RecordBase {
  const expiresAt = now + checked.ttlSeconds;
  return {
    secretId,
    receiptId,
    owner: caller.kind === 'account' ? caller.account.id : null,
    createdAt: now,
    expiresAt,
    receiptExpiresAt: now + 2 * checked.ttlSeconds,
    hasPassphrase: checked.sealed?.hasPassphrase ?? checked.passphrase !== null,
    sealed: checked.sealed !== null,
    shareDomain: checked.shareDomain,
    deliveryStaleAt: checked.recipient === null ? null : now + firstTrySeconds,
    notify: checked.notify,
    noticeDueAt: noticeDueAt(checked.notify, { createdAt: now, expiresAt }),
  };
}

interface Keys {
  readonly secretKey: SecretKey;
  readonly metadataKey: MetadataKey;
}

async function sealValue(
  deps: Core,
  { secretKey, metadataKey }: Keys,
  checked: Checked,
  context: RecordBase,
): Promise<Uint8Array> {
  const salt = deps.random(32);
  const { value, recipient, longestTtlSeconds } = checked;
  const passphrase =
    checked.passphrase === null ? null : await stretch(deps.hasher, secretKey, salt, checked.passphrase);
  const epoch = await deps.store.epochFor(context.expiresAt);
  const sealed = sealSecret({
    value,
    secretKey,
    metadataKey,
    addressBox:
      recipient === null
        ? null
        : sealAddress(deps.random, context.receiptId, { secretKey, metadataKey }, recipient),
    salt,
    passphrase,
    proofs: checked.sealed,
    context,
    expiryLimit: context.createdAt + longestTtlSeconds,
    root: deps.ring.current,
    epoch,
    random: deps.random,
  });
  value.fill(0);
  passphrase?.key.fill(0);
  return sealed;
}

async function stretch(
  hasher: PassphraseHasher,
  secretKey: SecretKey,
  salt: Uint8Array,
  { bytes, place }: NonNullable<Checked['passphrase']>,
) {
  const key = await hasher.stretch(bytes, derivePassphraseSalt(secretKey, salt), place);
  bytes.fill(0);
  return { key, verifierHash: await hasher.hashVerifier(derivePassphraseVerifierInput(key, salt)) };
}

/** What the store would return for a record just put. */
function freshReceipt(record: NewRecord, now: UnixSeconds): ReceiptRecord {
  return {
    ...record,
    state: 'waiting',
    viewedAt: null,
    endedAt: null,
    burnedBy: null,
    delivery:
      record.deliveryStaleAt === null
        ? null
        : { state: 'queued', at: now, staleAt: record.deliveryStaleAt, noteBox: null, addressBox: null },
  };
}

/**
 * Conceal and generate store a secret: check → seal → store → announce.
 *
 * A refusal stores nothing. Keys are returned only after the store has confirmed (P5). The plain value, passphrase and
 * recipient leave this file only sealed, except in the mail that follows (P9).
 */

import { utf8 } from '../../crypto/bytes.ts';
import { derivePassphraseSalt, derivePassphraseVerifierInput } from '../../crypto/derive.ts';
import { sealSecret } from '../../crypto/envelope.ts';
import type { RandomBytes } from '../../crypto/random.ts';
import { allCharacterSets, generatedLength } from '../../protocol/drawing.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import { type AccountId, anonymous, type Caller, clientOf, type HashPlace, planOf } from '../account.ts';
import type { ServiceEvent } from '../events.ts';
import {
  generateMetadataKey,
  generateSecretKey,
  type MetadataKey,
  receiptIdOf,
  type SecretKey,
  secretIdOf,
  tagOf,
} from '../keys.ts';
import { noticeDueAt, noticesFor } from '../mail/notices.ts';
import { obfuscate, parseRecipient } from '../mail/recipients.ts';
import { firstTrySeconds } from '../mailer.ts';
import { grantTtl, type Plan } from '../plans.ts';
import type { Core } from '../ports/core.ts';
import type { PassphraseHasher } from '../ports/passphrases.ts';
import { type CreationHold, freshReceipt, type NewRecord, shortkeyOf } from '../secret.ts';
import { Sensitive } from '../sensitive.ts';
import { chooseShareDomain } from '../share-domains/choose.ts';
import { flawOf, maxCiphertextBytes, type SealedInput } from './end-to-end.ts';
import { generateValue } from './generated-value.ts';
import { checkRecipient, sendLink } from './link-mail.ts';
import { checkNote, noteIn } from './note.ts';
import type { ConcealInput, CreationOptions, CreationOutcome, GenerateInput } from './outcomes.ts';
import { anonymousCustid, type Boxes, checkMemo, receiptView, sealAddress, sealBoxes } from './receipts.ts';

type Refusal = Exclude<CreationOutcome, { outcome: 'created' }>;

/** The randomness for a creation's keys and value, and its reservation if it is idempotent. */
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

/** Passed from step to step. `text` is empty if `sealed` is given. */
interface Creation {
  readonly kind: Extract<ServiceEvent, { event: 'concealed' }>['kind'];
  readonly text: Sensitive<string>;
  readonly sealed: SealedInput | null;
  readonly input: CreationOptions;
  readonly caller: Caller;
  readonly sources: CreationSources;
}

export function conceal(
  deps: Core,
  input: ConcealInput,
  caller: Caller,
  sources = freshSources(deps),
): Promise<CreationOutcome> {
  const { value: text, sealed } = input;
  return create(deps, { kind: 'conceal', text, sealed, input, caller, sources });
}

export async function generate(
  deps: Core,
  input: GenerateInput,
  caller: Caller,
  sources = freshSources(deps),
): Promise<CreationOutcome> {
  const value = drawValue(input, sources);
  const creation = { kind: 'generate', text: value, sealed: null, input, caller, sources } as const;
  const outcome = await create(deps, creation);
  return outcome.outcome === 'created' ? { ...outcome, value } : outcome;
}

export function drawValue(
  { length, charset }: GenerateInput,
  { value }: Pick<CreationSources, 'value'>,
): Sensitive<string> {
  return new Sensitive(generateValue(length ?? generatedLength.default, charset ?? allCharacterSets, value));
}

async function create(deps: Core, creation: Creation): Promise<CreationOutcome> {
  const { sealed, input, caller } = creation;
  const to = input.recipient === null ? null : parseRecipient(input.recipient.expose());
  const codeTo = parseRecipient(textOf(input.verify));
  if (caller.kind === 'anonymous' && !deps.anonymousMayCreate) return { outcome: 'account_required' };
  const refusal =
    (sealed === null ? checkTexts(deps, creation) : checkSealed(deps, creation, sealed)) ??
    checkMemo(textOf(input.memo)) ??
    checkNote(input) ??
    (input.recipient === null ? null : checkRecipient(input.recipient, to, caller)) ??
    checkVerify(deps, creation, codeTo) ??
    checkNotify(creation);
  if (refusal !== null) return refusal;
  const choice = await chooseShareDomain(deps, input, caller);
  if (choice.outcome !== 'chosen') return choice;
  const mailTo = to === null ? null : new Sensitive(to);
  // Last, so that a creation refused for another reason does not count as an email.
  const tooMany = mailTo === null ? null : await countMail(deps, mailTo, caller);
  if (tooMany !== null) return tooMany;
  const owner = caller.kind === 'account' ? caller.account.id : null;
  const plan = planOf(deps.plans, caller);
  const checked = { ...creation, mailTo, codeTo, shareDomain: choice.shareDomain, owner, plan };
  const { keys, record } = await sealRecord(deps, checked);
  await deps.store.put(record);
  return announce(deps, checked, keys, record);
}

const textOf = (text: Sensitive<string> | null): string => text?.expose() ?? '';

/** Checks a sealed secret: the server must not be able to read any of it. */
function checkSealed(
  { plans }: Core,
  { text, input, caller }: Creation,
  sealed: SealedInput,
): Refusal | null {
  if (text.expose() !== '') return { outcome: 'sealed_beside', field: 'secret' };
  for (const field of ['passphrase', 'recipient', 'note'] as const)
    if (textOf(input[field]) !== '') return { outcome: 'sealed_beside', field };
  const plan = planOf(plans, caller);
  const flaw = flawOf(sealed);
  if (flaw !== null) return { outcome: 'sealed_wrongly', flaw };
  const isTooLarge = sealed.ciphertext.length > maxCiphertextBytes(plan);
  return isTooLarge ? { outcome: 'sealed_too_large', maxBytes: plan.maxSealedBytes } : null;
}

function checkTexts({ plans }: Core, { text, input, caller }: Creation): Refusal | null {
  const value = text.expose();
  if (value === '') return { outcome: 'nothing_to_share' };
  if (!value.isWellFormed()) return { outcome: 'ill_formed', field: 'secret' };
  const { maxValueBytes } = planOf(plans, caller);
  if (isLongerThan(value, maxValueBytes)) return { outcome: 'value_too_large', maxBytes: maxValueBytes };
  const passphrase = textOf(input.passphrase);
  if (!passphrase.isWellFormed()) return { outcome: 'ill_formed', field: 'passphrase' };
  return isLongerThan(passphrase, maxPassphraseBytes)
    ? { outcome: 'passphrase_too_long', maxBytes: maxPassphraseBytes }
    : null;
}

/** Compares lengths in bytes of UTF-8. A UTF-16 unit takes at most three bytes. */
function isLongerThan(text: string, maxBytes: number): boolean {
  return text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes);
}

function checkNotify({ input: { notify }, caller }: Creation): Refusal | null {
  const isAsked = notify !== null && notify.length > 0;
  return isAsked && caller.kind === 'anonymous' ? { outcome: 'notify_needs_account' } : null;
}

/** @param parsed the address for codes, or `null` if it is not deliverable */
function checkVerify(deps: Core, { input, caller }: Creation, parsed: string | null): Refusal | null {
  if (textOf(input.verify) === '') return null;
  // Somebody must be able to lift a lock.
  if (caller.kind === 'anonymous') return { outcome: 'recipient_needs_account' };
  if (!deps.mayVerify) return { outcome: 'verify_refused', why: 'off' };
  return parsed === null ? { outcome: 'verify_refused', why: 'undeliverable' } : null;
}

async function countMail(
  { mailQuota }: Core,
  recipient: Sensitive<string>,
  caller: Caller,
): Promise<Refusal | null> {
  if (caller.kind === 'anonymous') return null;
  const quota = await mailQuota.take(caller.account.id, recipient);
  return quota.outcome === 'allowed' ? null : { ...quota, outcome: 'too_many_mails' };
}

/** A creation that passed every check. */
interface Checked extends Creation {
  readonly mailTo: Sensitive<string> | null;
  /** Where codes go. */
  readonly codeTo: string | null;
  readonly shareDomain: string;
  /** The caller, except for an answer to a request. */
  readonly owner: AccountId | null;
  readonly plan: Plan;
}

const noOptions: CreationOptions = {
  passphrase: null,
  ttlSeconds: null,
  recipient: null,
  shareDomain: null,
  arrivedOn: null,
  clientPrefix: null,
  locale: null,
  notify: null,
  memo: null,
  note: null,
  verify: null,
};

/** Seals an answer for the account that asked. It is in no list, sends no notice, and its metadata key is dropped. */
export async function sealAnswer(
  deps: Core,
  sealed: SealedInput,
  { ttlSeconds, ...asked }: Pick<Checked, 'owner' | 'plan' | 'shareDomain'> & { readonly ttlSeconds: number },
): Promise<{ readonly secretKey: SecretKey; readonly record: NewRecord }> {
  const creation = { kind: 'answer', text: new Sensitive(''), sealed, caller: anonymous } as const;
  const input = { ...noOptions, ttlSeconds };
  const checked = { ...creation, ...asked, input, sources: freshSources(deps), mailTo: null, codeTo: null };
  const { keys, record } = await sealRecord(deps, checked);
  return { secretKey: keys.secretKey, record };
}

async function sealRecord(deps: Core, checked: Checked): Promise<{ keys: Keys; record: NewRecord }> {
  const { sealed, input, caller, sources, mailTo, codeTo, shareDomain, owner, plan } = checked;
  const secretKey = generateSecretKey(sources.secret, deps.region);
  const metadataKey = generateMetadataKey(sources.receipt, deps.region);
  const createdAt = deps.store.now();
  const ttlSeconds = grantTtl(plan, input.ttlSeconds);
  const expiresAt = createdAt + ttlSeconds;
  const notify = caller.kind === 'anonymous' ? [] : noticesFor(input.notify, caller);
  const facts: Facts = {
    secretId: secretIdOf(secretKey),
    receiptId: receiptIdOf(metadataKey),
    owner,
    createdAt,
    expiresAt,
    receiptExpiresAt: createdAt + 2 * ttlSeconds,
    hasPassphrase: sealed?.hasPassphrase ?? textOf(input.passphrase) !== '',
    sealed: sealed !== null,
    verify: codeTo !== null,
    shareDomain,
    deliveryStaleAt: mailTo === null ? null : createdAt + firstTrySeconds,
    notify,
    noticeDueAt: notify.length === 0 ? null : noticeDueAt(notify, { createdAt, expiresAt }),
  };
  const keys: Keys = { secretKey, metadataKey };
  const sealedSecret = await sealContent(deps, checked, keys, facts);
  const boxes = sealBoxes(deps.random, {
    secretKey,
    metadataKey,
    receiptId: facts.receiptId,
    recipient: shownRecipient(checked),
    memo: textOf(input.memo),
    caller,
  });
  return { keys, record: { ...facts, sealedSecret, ...boxes, hold: sources.hold } };
}

type Facts = Omit<NewRecord, 'sealedSecret' | 'hold' | keyof Boxes>;

interface Keys {
  readonly secretKey: SecretKey;
  readonly metadataKey: MetadataKey;
}

/** Seals the value, then wipes it and the stretched passphrase. */
async function sealContent(
  deps: Core,
  { text, sealed, input, caller, mailTo, codeTo, plan }: Checked,
  keys: Keys,
  facts: Facts,
): Promise<Uint8Array> {
  const { random, store, ring } = deps;
  const salt = random(32);
  const given = textOf(input.passphrase);
  const place: HashPlace = { client: clientOf(caller, input.clientPrefix ?? ''), purpose: 'create' };
  const passphrase = given === '' ? null : await stretch(deps.hasher, keys.secretKey, salt, given, place);
  const epoch = await store.epochFor(facts.expiresAt);
  const value = sealed?.ciphertext ?? utf8(text.expose());
  const note = sealed === null ? noteIn(input) : sealed.note;
  const row = sealSecret({
    value,
    secretKey: keys.secretKey,
    metadataKey: keys.metadataKey,
    addressBox: mailTo === null ? null : sealAddress(random, facts.receiptId, keys, mailTo.expose()),
    salt,
    passphrase,
    proofs: sealed,
    note,
    codeAddress: codeTo === null ? null : utf8(codeTo),
    context: facts,
    expiryLimit: facts.createdAt + plan.ttlMaxSeconds,
    root: ring.current,
    epoch,
    random,
  });
  value.fill(0);
  note?.fill(0);
  passphrase?.key.fill(0);
  return row;
}

async function stretch(
  hasher: PassphraseHasher,
  secretKey: SecretKey,
  salt: Uint8Array,
  passphrase: string,
  place: HashPlace,
) {
  const bytes = utf8(passphrase);
  const key = await hasher.stretch(bytes, derivePassphraseSalt(secretKey, salt), place);
  bytes.fill(0);
  return { key, verifierHash: await hasher.hashVerifier(derivePassphraseVerifierInput(key, salt)) };
}

function announce(
  deps: Core,
  checked: Checked,
  { secretKey, metadataKey }: Keys,
  record: NewRecord,
): CreationOutcome {
  const { kind, input, caller, mailTo } = checked;
  const account = caller.kind === 'account' ? caller.account : null;
  deps.events({ event: 'concealed', tag: tagOf(record.secretId), kind, account: account?.id ?? null });
  if (mailTo !== null && account !== null) {
    const mailing = { metadataKey, secretKey, to: mailTo, isElsewhere: false };
    deps.inBackground(() => sendLink(deps, record, mailing, account, input.locale));
  }
  const receipt = receiptView(freshReceipt(record), record.createdAt, {
    custid: account?.username ?? anonymousCustid,
    metadataKey,
    secretKey,
    secretShortkey: shortkeyOf(secretKey),
    recipient: shownRecipient(checked),
    longestTtlSeconds: checked.plan.ttlMaxSeconds,
    memo: textOf(input.memo),
    codes: [],
    reply: null,
  });
  return { outcome: 'created', receipt, value: null };
}

const shownRecipient = ({ mailTo }: Checked): string | null => mailTo && obfuscate(mailTo.expose());

/**
 * Encoding of API v2: what the core knows of a secret and its receipt, under the wire's names.
 *
 * Owns: the way from the core's names to `snake_case`. Invariants: numbers are numbers and absent times null; a
 * recipient appears only obfuscated; links come from configuration (P20); the secret key and the link stand in a
 * creator's record only while the secret waits. Where a text is missing it is empty: existing clients decode no null there.
 */
import type { Caller } from '../../core/accounts/accounts.ts';
import type { Links } from '../../core/links.ts';
import type { ReceiptView, SecretView } from '../../core/secrets/outcomes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import { encodeIgnored, encodeRemarks, type Remarks } from './remarks.ts';
import type {
  BurnAnswer,
  ChangeAnswer,
  ConcealAnswer,
  DeliverAnswer,
  GenerateAnswer,
  InspectAnswer,
  MetadataAnswer,
  MetadataRecord,
  RecentAnswer,
  RevealAnswer,
  SecretRecord,
} from './responses.ts';

const shortKeyLength = 8;

export function custidOf(caller: Caller): string {
  return caller.kind === 'account' ? caller.account.username : 'anon';
}

/** Times and flags of what has happened, each under its older and its newer name. */
function historyOf(receipt: ReceiptView) {
  const { state, viewedAt, receivedAt } = receipt;
  const isViewed = viewedAt !== null;
  return {
    created: receipt.createdAt,
    updated: receipt.updatedAt,
    shared: null,
    viewed: viewedAt,
    previewed: viewedAt,
    received: receivedAt,
    revealed: receivedAt,
    burned: receipt.burnedAt,
    is_viewed: isViewed,
    is_previewed: isViewed,
    is_received: state === 'received',
    is_revealed: state === 'received',
    is_burned: state === 'burned',
    is_expired: state === 'expired',
    is_orphaned: false,
    is_destroyed: isGone(receipt),
    is_truncated: false,
  };
}

function isGone(receipt: ReceiptView): boolean {
  return receipt.state !== 'new' && receipt.state !== 'viewed';
}

/** Paths are relative to the site, as existing clients have them; the pages live under `receipt/` and `secret/`. */
function linksOf(receipt: ReceiptView, links: Links) {
  const { secretKey, metadataKey } = receipt;
  const receiptPath = `receipt/${metadataKey}`;
  const receiptUrl = links.receiptUrl(metadataKey);
  return {
    share_path: secretKey === null ? '' : `secret/${secretKey}`,
    share_url: secretKey === null ? '' : links.secretUrl(secretKey, receipt.shareDomain),
    burn_path: `${receiptPath}/burn`,
    burn_url: `${receiptUrl}/burn`,
    metadata_path: receiptPath,
    metadata_url: receiptUrl,
    receipt_path: receiptPath,
    receipt_url: receiptUrl,
  };
}

export function encodeMetadata(receipt: ReceiptView, links: Links): MetadataRecord {
  const { metadataKey, secretKey, recipient } = receipt;
  return {
    identifier: metadataKey,
    key: metadataKey,
    custid: receipt.custid,
    state: receipt.state,
    secret_key: secretKey,
    secret_identifier: secretKey,
    secret_shortkey: receipt.secretShortkey,
    secret_shortid: receipt.secretShortkey,
    secret_state: isGone(receipt) ? null : 'new',
    secret_ttl: receipt.secretTtlSeconds ?? 0,
    metadata_ttl: receipt.metadataTtlSeconds,
    receipt_ttl: receipt.metadataTtlSeconds,
    lifespan: receipt.ttlSeconds,
    share_domain: receipt.shareDomain,
    recipients: recipient ?? '',
    shortkey: metadataKey.slice(0, shortKeyLength),
    shortid: metadataKey.slice(0, shortKeyLength),
    show_recipients: recipient !== null,
    has_passphrase: receipt.hasPassphrase,
    delivery: receipt.delivery,
    notify: [...receipt.notify],
    memo: receipt.memo,
    natural_expiration: naturalDuration(receipt.ttlSeconds),
    expiration: receipt.createdAt + receipt.ttlSeconds,
    expiration_in_seconds: receipt.ttlSeconds,
    ...historyOf(receipt),
    ...linksOf(receipt, links),
  };
}

const minute = 60;
const hour = 3_600;
const day = 86_400;

/** `60 seconds`, `60 minutes`, `24 hours`, `7 days`: the unit is the first that reaches, the number truncated. */
export function naturalDuration(ttlSeconds: number): string {
  if (ttlSeconds <= minute) return count(ttlSeconds, 'second');
  if (ttlSeconds <= hour) return count(Math.trunc(ttlSeconds / minute), 'minute');
  if (ttlSeconds <= day) return count(Math.trunc(ttlSeconds / hour), 'hour');
  return count(Math.trunc(ttlSeconds / day), 'day');
}

function count(number: number, unit: string): string {
  return `${number} ${unit}${number === 1 ? '' : 's'}`;
}

export function secretRecord(facts: Omit<SecretView, 'isOwner'>): SecretRecord {
  const { secretKey, state } = facts;
  return {
    identifier: secretKey,
    key: secretKey,
    state,
    secret_ttl: facts.secretTtlSeconds,
    lifespan: facts.ttlSeconds,
    share_domain: facts.shareDomain,
    shortkey: secretKey.slice(0, shortKeyLength),
    shortid: secretKey.slice(0, shortKeyLength),
    has_passphrase: facts.hasPassphrase,
    verification: false,
    is_truncated: false,
    is_viewed: false,
    is_previewed: false,
    is_received: state === 'received',
    is_revealed: state === 'received',
    created: facts.createdAt,
    updated: facts.updatedAt,
  };
}

/** The secret's record as its creator sees it at once after creation. */
function newSecretRecord(receipt: ReceiptView): SecretRecord {
  if (receipt.secretKey === null) throw new Error('a receipt just created has its secret key');
  return secretRecord({
    secretKey: receipt.secretKey,
    state: 'new',
    hasPassphrase: receipt.hasPassphrase,
    ttlSeconds: receipt.ttlSeconds,
    secretTtlSeconds: receipt.secretTtlSeconds ?? 0,
    shareDomain: receipt.shareDomain,
    createdAt: receipt.createdAt,
    updatedAt: receipt.updatedAt,
  });
}

/** What an answer to a creation is made of besides the receipt. */
interface CreationContext {
  readonly caller: Caller;
  readonly links: Links;
  readonly remarks: Remarks<NonNullable<ConcealAnswer['details']['adjusted']>>;
}

function creation<Kind extends 'conceal' | 'generate', Secret>(
  kind: Kind,
  receipt: ReceiptView,
  secret: Secret,
  { caller, links, remarks }: CreationContext,
) {
  const metadata = encodeMetadata(receipt, links);
  const recipient = receipt.recipient === null ? [] : [receipt.recipient];
  return {
    success: true as const,
    custid: custidOf(caller),
    record: { metadata, receipt: metadata, secret, share_domain: receipt.shareDomain },
    details: { kind, recipient, recipient_safe: recipient, ...encodeRemarks(remarks) },
  };
}

export function encodeConcealed(receipt: ReceiptView, context: CreationContext): ConcealAnswer {
  return creation('conceal', receipt, newSecretRecord(receipt), context);
}

export function encodeGenerated(
  receipt: ReceiptView,
  value: string,
  context: CreationContext,
): GenerateAnswer {
  return creation('generate', receipt, { ...newSecretRecord(receipt), secret_value: value }, context);
}

/** After a look or a check: the passphrase was right, or none is needed. */
export function encodeInspected(
  secret: SecretView,
  caller: Caller,
  ignored: readonly string[] = [],
): InspectAnswer {
  return {
    success: true,
    custid: custidOf(caller),
    record: secretRecord(secret),
    details: {
      continue: false,
      is_owner: secret.isOwner,
      show_secret: false,
      correct_passphrase: true,
      ...encodeIgnored(ignored),
    },
  };
}

export function encodeRevealed(
  secret: SecretView,
  value: string,
  caller: Caller,
  ignored: readonly string[],
): RevealAnswer {
  return {
    success: true,
    custid: custidOf(caller),
    record: { ...secretRecord(secret), secret_value: value },
    details: {
      continue: true,
      is_owner: secret.isOwner,
      show_secret: true,
      correct_passphrase: true,
      display_lines: displayLines(value),
      one_liner: !value.includes('\n'),
      ...encodeIgnored(ignored),
    },
  };
}

const columns = 80;
const spareLines = 3;
const mostLines = 30;

/** The height of a text area that shows the value, as the existing service reckons it. */
export function displayLines(value: string): number {
  const breaks = value.split('\n').length - 1;
  return Math.min(mostLines, Math.trunc((columns + value.length) / columns) + breaks + spareLines);
}

function recordDetails(receipt: ReceiptView, isOwner: boolean): MetadataAnswer['details'] {
  const waits = !isGone(receipt);
  return {
    type: 'record',
    no_cache: true,
    secret_realttl: receipt.secretTtlSeconds,
    maxviews: waits ? 1 : null,
    has_maxviews: waits,
    view_count: null,
    has_passphrase: receipt.hasPassphrase,
    can_decrypt: waits && !receipt.hasPassphrase,
    secret_value: null,
    is_truncated: false,
    show_secret: false,
    show_secret_link: waits && isOwner && receipt.recipient === null,
    show_metadata_link: receipt.state === 'new',
    show_metadata: true,
    show_recipients: receipt.recipient !== null,
    is_orphaned: false,
  };
}

export function encodeReceipt(receipt: ReceiptView, caller: Caller, links: Links): MetadataAnswer {
  const custid = custidOf(caller);
  return {
    success: true,
    custid,
    record: encodeMetadata(receipt, links),
    details: recordDetails(receipt, receipt.custid === custid),
  };
}

export function encodeDelivered(
  receipt: ReceiptView,
  caller: Caller,
  links: Links,
  remarks: Remarks<NonNullable<DeliverAnswer['details']['adjusted']>>,
): DeliverAnswer {
  const answer = encodeReceipt(receipt, caller, links);
  return { ...answer, details: { ...answer.details, ...encodeRemarks(remarks) } };
}

export function encodeChanged(
  receipt: ReceiptView,
  caller: Caller,
  links: Links,
  ignored: readonly string[],
): ChangeAnswer {
  const answer = encodeReceipt(receipt, caller, links);
  return { ...answer, details: { ...answer.details, ...encodeIgnored(ignored) } };
}

export function encodeBurned(
  receipt: ReceiptView,
  caller: Caller,
  links: Links,
  ignored: readonly string[],
): BurnAnswer {
  const answer = encodeReceipt(receipt, caller, links);
  const title = receipt.state === 'burned' ? 'Secret burned' : 'Secret not burned';
  const remarks = encodeIgnored(ignored);
  return { ...answer, details: { ...answer.details, title, display_feedback: false, ...remarks } };
}

export function encodeRecent(
  receipts: readonly ReceiptView[],
  nextCursor: string | null,
  caller: Caller,
  links: Links,
  now: UnixSeconds,
): RecentAnswer {
  const records = receipts.map((receipt) => encodeMetadata(receipt, links));
  return {
    success: true,
    custid: custidOf(caller),
    count: records.length,
    records,
    details: {
      type: 'list',
      since: Math.min(now, ...records.map((record) => record.created)),
      now,
      has_items: records.length > 0,
      received: records.filter((record) => record.is_destroyed),
      notreceived: records.filter((record) => !record.is_destroyed),
      next_cursor: nextCursor,
    },
  };
}

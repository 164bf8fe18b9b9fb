/**
 * Everything that can be logged, as a closed set. No value, passphrase, key, token or address can reach a log (P18): a line has no free
 * text, each field has one narrow form that excludes all of these, and anything else is withheld. Operations are logged by name, never by
 * path or query. An unknown thrown value is reduced to its class, code and place, because libraries quote their arguments in messages.
 */
import type { AccountId } from '../core/account.ts';
import type { ServiceEvent } from '../core/events.ts';
import type { RegionLabel } from '../core/keys.ts';
import { deliveryStates, domainStates } from '../protocol/vocabulary.ts';
import { type StepName, stepNames } from './next-steps.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface RequestLine {
  readonly event: 'request';
  readonly operation: string | null;
  readonly method: string;
  readonly status: number;
  readonly durationMs: number;
  readonly requestId: string;
  readonly account: AccountId | null;
}

export type LogLine =
  | ServiceEvent
  | RequestLine
  | { readonly event: 'started'; readonly port: number; readonly durationMs: number }
  | { readonly event: 'setup_open'; readonly steps: readonly StepName[] }
  /** Ignored variables that look like settings: Kubernetes or Docker set them. */
  | { readonly event: 'service_links_ignored'; readonly variables: readonly string[] }
  | { readonly event: 'stopping'; readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP' }
  | { readonly event: 'stopped' }
  | { readonly event: 'swept'; readonly records: number; readonly durationMs: number }
  /** Erased bytes are still in the store's files because a reader blocks the scrub. */
  | { readonly event: 'scrub_waiting'; readonly durationMs: number }
  /** The wall clock disagrees with the elapsed time; `clock_agreed` reports that they agree again. */
  | {
      readonly event: 'clock_disputed' | 'clock_unproven';
      readonly direction: 'ahead' | 'behind';
      readonly seconds: number;
    }
  | { readonly event: 'clock_agreed' }
  /** The store is failing, with a code such as `SQLITE_FULL` or `57P03`; or its files were moved. */
  | { readonly event: 'store_failed'; readonly code: string }
  | { readonly event: 'store_moved' }
  | { readonly event: 'store_awaited'; readonly code: string }
  | { readonly event: 'store_back' }
  /** New secrets are refused for lack of room, though existing ones still open; or there is room again. */
  | { readonly event: 'storage_full' | 'storage_free' }
  /** New secrets are wrapped under a root from the changed key file; or the file is unusable, and `mayfly doctor` says why. */
  | { readonly event: 'root_taken'; readonly kid: number }
  | { readonly event: 'root_keys_refused' }
  | {
      readonly event: 'fault';
      readonly where:
        | 'request'
        | 'deletions'
        | 'sweep'
        | 'scrub'
        | 'notices'
        | 'domains'
        | 'keys'
        | 'process';
      readonly error: unknown;
      readonly requestId?: string;
    }
  /** An email was not accepted. Only codes are logged, because the server's message may repeat the address. */
  | {
      readonly event: 'mail_fault';
      readonly code: string;
      readonly replyCode: number | null;
      readonly willRetry: boolean;
    }
  | { readonly event: 'mail_server_lost'; readonly code: string }
  | { readonly event: 'mail_server_back' }
  /** Without free descriptors the process could not accept connections, so it closed idle ones. Raise `ulimit -Hn`. */
  | { readonly event: 'descriptors_used_up' }
  /** Logged once: a proxy that is not in `MAYFLY_TRUSTED_PROXIES` forwards requests, so all its visitors count as one client. */
  | { readonly event: 'proxy_untrusted' }
  | { readonly event: 'region_lost' | 'region_back'; readonly region: RegionLabel }
  | { readonly event: 'log_dropped'; readonly records: number };

type EventName = LogLine['event'];

interface Kind {
  readonly level: LogLevel;
  readonly fields: readonly (keyof typeof forms)[];
}

export type Field = string | number | boolean | null;
export type Fields = Readonly<Record<string, Field | readonly string[]>>;

type Form = (value: unknown) => Field | readonly string[] | undefined;

function matching(form: RegExp): Form {
  return (value) => (typeof value === 'string' && form.test(value) ? value : undefined);
}

function wholeNumber(max: number): Form {
  return (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max ? value : undefined;
}

/** Tenths are enough, and shorter lines are cheaper. */
function milliseconds(value: unknown): Field | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.round(value * 10) / 10 : undefined;
}

const oneOf = (words: readonly string[]): Form => matching(new RegExp(`^(${words.join('|')})$`));

const operationName = matching(/^[a-z][a-z0-9]{0,7}(\.[a-z_]{1,24}){1,2}$/i);

/**
 * Keys (31 of `[0-9a-z]`), tokens (64 hex digits) and addresses match none of these: words have at most 24 letters, and a request id has 20
 * hex digits.
 */
const forms = {
  tag: matching(/^[0-9a-f]{8}$/),
  kind: matching(
    /^(conceal|generate|answer|sign_up|reset|already_signed_up|password_(changed|set)|token_created|account_deleted|code|secret_(read|burned|expiring)|request_answered)$/,
  ),
  state: oneOf(deliveryStates),
  domainState: oneOf(domainStates),
  account: (value) => (value === null ? null : wholeNumber(Number.MAX_SAFE_INTEGER)(value)),
  operation: (value) => (value === null ? null : operationName(value)),
  method: matching(/^(GET|HEAD|POST|OPTIONS|PUT|PATCH|DELETE|other)$/),
  status: wholeNumber(599),
  durationMs: milliseconds,
  requestId: matching(/^[0-9a-f]{20}$/),
  steps: (value) =>
    Array.isArray(value) && value.every((name) => stepNames.includes(name)) ? value : undefined,
  variables: (value) =>
    Array.isArray(value) && value.every((name) => /^MAYFLY_[A-Z0-9_]{1,200}$/.test(name)) ? value : undefined,
  port: wholeNumber(65_535),
  signal: matching(/^SIG(TERM|INT|HUP)$/),
  records: wholeNumber(Number.MAX_SAFE_INTEGER),
  direction: matching(/^(ahead|behind)$/),
  seconds: wholeNumber(Number.MAX_SAFE_INTEGER),
  code: matching(/^[A-Z0-9][A-Z0-9_]{1,30}$/),
  replyCode: (value) => (value === null ? null : wholeNumber(599)(value)),
  willRetry: (value) => (typeof value === 'boolean' ? value : undefined),
  region: matching(/^[0-9a-z]{2}$/),
  by: matching(/^(password|reset|token|creator|recipient)$/),
  why: matching(/^(full|ended)$/),
  burned: wholeNumber(Number.MAX_SAFE_INTEGER),
  where: matching(/^(request|deletions|sweep|scrub|notices|domains|keys|process)$/),
  kid: wholeNumber(0xffff),
} as const satisfies Readonly<Record<string, Form>>;

const kinds: Readonly<Record<EventName, Kind>> = {
  concealed: { level: 'info', fields: ['tag', 'kind', 'account'] },
  revealed: { level: 'info', fields: ['tag'] },
  revealed_again: { level: 'info', fields: ['tag'] },
  reveal_forfeited: { level: 'error', fields: ['tag'] },
  burned: { level: 'info', fields: ['tag', 'by'] },
  lifetime_changed: { level: 'info', fields: ['tag'] },
  passphrase_refused: { level: 'info', fields: ['tag'] },
  code_refused: { level: 'info', fields: ['tag'] },
  attempts_exhausted: { level: 'warn', fields: ['tag'] },
  attempts_allowed: { level: 'info', fields: ['tag'] },
  record_damaged: { level: 'error', fields: ['tag'] },
  root_missing: { level: 'error', fields: ['kid'] },
  mail_ended: { level: 'info', fields: ['tag', 'state'] },
  domain_checked: { level: 'info', fields: ['account', 'domainState'] },
  request_created: { level: 'info', fields: ['tag', 'account'] },
  request_answered: { level: 'info', fields: ['tag'] },
  request_ended: { level: 'info', fields: ['tag'] },
  request_refused: { level: 'info', fields: ['tag', 'why'] },
  request_reported: { level: 'warn', fields: ['tag'] },
  signed_up: { level: 'info', fields: ['account'] },
  logged_in: { level: 'info', fields: ['account'] },
  // No account is logged, because it would reveal to a reader of the log who has one. Addresses are never logged.
  log_in_refused: { level: 'info', fields: [] },
  locked_out: { level: 'info', fields: ['account', 'by'] },
  password_changed: { level: 'info', fields: ['account', 'by'] },
  account_deleted: { level: 'info', fields: ['account', 'burned'] },
  account_mail_ended: { level: 'info', fields: ['kind', 'state'] },
  // Secret events are already logged at `info`, and a proxy in front logs requests: two lines per request would cost a tenth of its time.
  request: {
    level: 'debug',
    fields: ['operation', 'method', 'status', 'durationMs', 'requestId', 'account'],
  },
  started: { level: 'info', fields: ['port', 'durationMs'] },
  setup_open: { level: 'info', fields: ['steps'] },
  service_links_ignored: { level: 'info', fields: ['variables'] },
  stopping: { level: 'info', fields: ['signal'] },
  stopped: { level: 'info', fields: [] },
  swept: { level: 'debug', fields: ['records', 'durationMs'] },
  clock_disputed: { level: 'error', fields: ['direction', 'seconds'] },
  clock_unproven: { level: 'warn', fields: ['direction', 'seconds'] },
  clock_agreed: { level: 'info', fields: [] },
  scrub_waiting: { level: 'warn', fields: ['durationMs'] },
  store_awaited: { level: 'warn', fields: ['code'] },
  store_failed: { level: 'error', fields: ['code'] },
  store_moved: { level: 'error', fields: [] },
  store_back: { level: 'info', fields: [] },
  storage_full: { level: 'error', fields: [] },
  storage_free: { level: 'info', fields: [] },
  root_taken: { level: 'info', fields: ['kid'] },
  root_keys_refused: { level: 'error', fields: [] },
  fault: { level: 'error', fields: ['where', 'requestId'] },
  mail_fault: { level: 'warn', fields: ['code', 'replyCode', 'willRetry'] },
  mail_server_lost: { level: 'warn', fields: ['code'] },
  mail_server_back: { level: 'info', fields: [] },
  descriptors_used_up: { level: 'error', fields: [] },
  proxy_untrusted: { level: 'warn', fields: [] },
  region_lost: { level: 'error', fields: ['region'] },
  region_back: { level: 'info', fields: ['region'] },
  log_dropped: { level: 'warn', fields: ['records'] },
};

const withheld = '[withheld]';
/** An unknown kind is a fault worth reading, but none of its content is written. */
const strange: Kind = { level: 'error', fields: [] };

function kindOf(line: LogLine): Kind {
  return Object.hasOwn(kinds, line.event) ? kinds[line.event] : strange;
}

export function levelOf(line: LogLine): LogLevel {
  // A large sweep may have slowed responses.
  if (line.event === 'swept' && line.records > 10_000) return 'info';
  return line.event === 'request' && line.status >= 500 ? 'warn' : kindOf(line).level;
}

export function toFields(line: LogLine): Fields {
  const kind = kindOf(line);
  const values = line as unknown as Readonly<Record<string, unknown>>;
  const fields: Record<string, Field | readonly string[]> = {
    event: kind === strange ? withheld : line.event,
  };
  for (const name of kind.fields) {
    const value = values[name];
    if (value === undefined) continue;
    const shown = forms[name](value);
    fields[name] = shown === undefined ? withheld : shown;
  }
  return line.event === 'fault' ? { ...fields, ...describeFault(line.error) } : fields;
}

const classForm = /^[A-Za-z]{1,24}$/;
const codeForm = /^([A-Z][A-Z0-9_]{1,30}|[a-z_]{1,24})$/;
const frameForm = /^\s+at (?:async )?(?:([\w.$<> ]{1,60}) )?\(?(?:file:\/\/)?(\S+?):(\d+):\d+\)?$/;
const maxFrames = 8;

function textOf(value: unknown, form: RegExp): string | null {
  return typeof value === 'string' && form.test(value) ? value : null;
}

/** Keeps the path from `src/` or `node_modules/` on: enough to find the line, without the machine's paths. */
function shorten(path: string): string | null {
  return /(?:^|\/)((?:src|sdk|node_modules)\/[\w@.+/-]{1,150})$/.exec(path)?.[1] ?? null;
}

/** The stack starts with the message, which could imitate a frame, so frames are read only after it. */
function framesOf(error: Error): string[] {
  const stack = error.stack ?? '';
  const start = stack.indexOf(error.message);
  if (start === -1) return [];
  const frames: string[] = [];
  for (const line of stack.slice(start + error.message.length).split('\n')) {
    const [, name = '', path = '', lineNumber = ''] = frameForm.exec(line) ?? [];
    const place = shorten(path);
    if (place !== null && frames.length < maxFrames) frames.push(`${name} ${place}:${lineNumber}`.trim());
  }
  return frames;
}

function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return textOf(error.name, classForm) ?? 'Error';
}

function codeOf(error: unknown): string | null {
  return typeof error === 'object' && error !== null && 'code' in error ? textOf(error.code, codeForm) : null;
}

export interface FaultFields {
  readonly [field: string]: string | null | readonly string[];
  readonly error: string;
  readonly code: string | null;
  /** Such as `SQLiteError SQLITE_FULL`. */
  readonly cause: string | null;
  readonly at: readonly string[];
}

export function describeFault(error: unknown): FaultFields {
  const cause = error instanceof Error ? error.cause : undefined;
  return {
    error: nameOf(error),
    code: codeOf(error),
    cause:
      cause === undefined ? null : [nameOf(cause), codeOf(cause)].filter((part) => part !== null).join(' '),
    at: error instanceof Error ? framesOf(error) : [],
  };
}

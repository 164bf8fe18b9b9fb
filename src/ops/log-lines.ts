/**
 * Everything that can be logged, as a closed set.
 *
 * No value, passphrase, key, token or address can reach a log (P18): a line has no free text, each field has one narrow form that such a
 * thing does not fit, and what does not fit is withheld. Operations are logged by name, never by path or query. An unknown thrown value
 * is reduced to its class, code and place, because libraries quote their arguments in messages.
 */
import type { AccountId } from '../core/account.ts';
import type { ServiceEvent } from '../core/events.ts';
import type { RegionLabel } from '../core/keys.ts';
import { deliveryStates, domainStates } from '../protocol/vocabulary.ts';
import { type StepName, stepNames } from './next-steps.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** One answered request. */
export interface RequestLine {
  readonly event: 'request';
  /** The operation's name, such as `v2.conceal`; `null` when the path is none. */
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
  /** What the start has said to do next. */
  | { readonly event: 'setup_open'; readonly steps: readonly StepName[] }
  /** Ignored variables that look like settings: Kubernetes or Docker set them. */
  | { readonly event: 'service_links_ignored'; readonly variables: readonly string[] }
  | { readonly event: 'stopping'; readonly signal: 'SIGTERM' | 'SIGINT' | 'SIGHUP' }
  | { readonly event: 'stopped' }
  | { readonly event: 'swept'; readonly records: number; readonly durationMs: number }
  /** Erased bytes are still in the store's files because a reader was in the way. */
  | { readonly event: 'scrub_waiting'; readonly durationMs: number }
  /** The wall clock and the time that has passed differ, and by how much; or no longer do. */
  | {
      readonly event: 'clock_disputed' | 'clock_unproven';
      readonly direction: 'ahead' | 'behind';
      readonly seconds: number;
    }
  | { readonly event: 'clock_agreed' }
  /** The store cannot work, with its own code such as `SQLITE_FULL` or `57P03`; or its files were moved. */
  | { readonly event: 'store_failed'; readonly code: string }
  | { readonly event: 'store_moved' }
  /** A start is still waiting for the store's server. */
  | { readonly event: 'store_awaited'; readonly code: string }
  /** The end of each of these. */
  | { readonly event: 'store_back' }
  /** There is no room for new secrets, which are refused, while the others are read and burned; or there is again. */
  | { readonly event: 'storage_full' | 'storage_free' }
  /** A root of the changed key file wraps new secrets from now on; or the file is not one to serve with: `mayfly doctor` says why. */
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
      /** Only its class, its code and where in the source it happened are written, never its message. */
      readonly error: unknown;
      readonly requestId?: string;
    }
  /** A mail that could not be handed over: the library's code and the server's, whose words may repeat the address. */
  | {
      readonly event: 'mail_fault';
      readonly code: string;
      readonly replyCode: number | null;
      readonly willRetry: boolean;
    }
  /** The mail server cannot be reached, or answers again. */
  | { readonly event: 'mail_server_lost'; readonly code: string }
  | { readonly event: 'mail_server_back' }
  /** The process ran out of descriptors and could accept no connection, so idle ones were closed. Raise `ulimit -Hn`. */
  | { readonly event: 'descriptors_used_up' }
  /** A proxy forwards requests and is not in `MAYFLY_TRUSTED_PROXIES`: all its visitors count as one client. Once. */
  | { readonly event: 'proxy_untrusted' }
  /** Told by the router of a region: no server of it can serve, or one can again. */
  | { readonly event: 'region_lost' | 'region_back'; readonly region: RegionLabel }
  /** Lines that were dropped because nobody read the log. */
  | { readonly event: 'log_dropped'; readonly records: number };

type EventName = LogLine['event'];

interface Kind {
  readonly level: LogLevel;
  /** What is written of it, in this order. */
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
 * The one form of each field. Keys (31 of `[0-9a-z]`), tokens (64 hex digits) and addresses fit none of them: words are
 * at most 24 letters, a request id is 20 hex digits.
 */
const forms = {
  tag: matching(/^[0-9a-f]{8}$/),
  kind: matching(
    /^(conceal|generate|sign_up|reset|already_signed_up|password_(changed|set)|token_created|account_deleted|secret_(read|burned|expiring))$/,
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
  attempts_exhausted: { level: 'warn', fields: ['tag'] },
  attempts_allowed: { level: 'info', fields: ['tag'] },
  record_damaged: { level: 'error', fields: ['tag'] },
  root_missing: { level: 'error', fields: ['kid'] },
  mail_ended: { level: 'info', fields: ['tag', 'state'] },
  domain_checked: { level: 'info', fields: ['account', 'domainState'] },
  signed_up: { level: 'info', fields: ['account'] },
  logged_in: { level: 'info', fields: ['account'] },
  // Of nobody: naming the account would tell the log's reader who has one, and the address is never written.
  log_in_refused: { level: 'info', fields: [] },
  locked_out: { level: 'info', fields: ['account', 'by'] },
  password_changed: { level: 'info', fields: ['account', 'by'] },
  account_deleted: { level: 'info', fields: ['account', 'burned'] },
  account_mail_ended: { level: 'info', fields: ['kind', 'state'] },
  // What happened to secrets is told at `info` already, and a proxy in front logs requests: two lines a request would
  // cost a tenth of it.
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
/** A line of no kind that we know: that is a fault worth reading, and nothing of it is written. */
const strange: Kind = { level: 'error', fields: [] };

function kindOf(line: LogLine): Kind {
  return Object.hasOwn(kinds, line.event) ? kinds[line.event] : strange;
}

/** How serious a line is; a failing answer is a warning whatever it was. */
export function levelOf(line: LogLine): LogLevel {
  // Answers may have been slower meanwhile.
  if (line.event === 'swept' && line.records > 10_000) return 'info';
  return line.event === 'request' && line.status >= 500 ? 'warn' : kindOf(line).level;
}

/** What is written: the fields of the line's kind, and of those only what fits its form. */
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

/** The path from `src/` or `node_modules/` on: enough to find the line, and nothing of the machine. */
function shorten(path: string): string | null {
  return /(?:^|\/)((?:src|sdk|node_modules)\/[\w@.+/-]{1,150})$/.exec(path)?.[1] ?? null;
}

/** The stack starts with the message: frames are read only behind it, because a message can imitate a frame. */
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
  /** The error's class. */
  readonly error: string;
  readonly code: string | null;
  /** Class and code of what caused it, `SQLiteError SQLITE_FULL`. */
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

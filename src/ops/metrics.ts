/**
 * Prometheus counters, and the observers that feed them and the log. Labels come from closed sets (operation, status, kind, state, region),
 * so no key or address becomes a label (P18), and the number of series is bounded. Off unless `MAYFLY_INTERNAL_PORT` is set, because
 * loading the library takes about 30 ms. A failing observer never makes the observed action fail.
 */
import type { AccountId } from '../core/account.ts';
import type { Events, ServiceEvent } from '../core/events.ts';
import type { RegionLabel } from '../core/keys.ts';
import type { MailTrouble } from '../core/secrets/link-mail.ts';
import type { Log } from './log.ts';
import type { LogLine, RequestLine } from './log-lines.ts';

export interface Metrics {
  countEvent(event: ServiceEvent): void;
  countRequest(request: Pick<RequestLine, 'operation' | 'status' | 'durationMs'>): void;
}

export interface OpenMetrics extends Metrics {
  render(): Promise<string>;
}

export const noMetrics: Metrics = { countEvent: () => {}, countRequest: () => {} };

const eventHelp: Readonly<Record<ServiceEvent['event'], string>> = {
  concealed: 'Secrets created',
  revealed: 'Secrets read',
  revealed_again: 'Answers repeated for the reader of a secret',
  reveal_forfeited: 'Secrets taken but not delivered',
  burned: 'Secrets burned',
  lifetime_changed: 'Lifetimes changed by the creator',
  passphrase_refused: 'Wrong passphrases',
  code_refused: 'Wrong codes',
  attempts_exhausted: 'Guesses refused by the limit',
  attempts_allowed: 'Locks on guesses lifted by the creator',
  record_damaged: 'Records that did not open with the right key',
  root_missing: 'Secrets under a root that the key file does not have',
  mail_ended: 'Mails to recipients',
  domain_checked: 'Checks of share domains',
  request_created: 'Requests for secrets',
  request_answered: 'Answers to requests',
  request_ended: 'Requests closed before their end',
  request_reported: 'Reports of requests',
  request_refused: 'Answers refused because a request was full or had ended',
  signed_up: 'Accounts created by sign-up',
  logged_in: 'Log-ins',
  log_in_refused: 'Log-ins with a wrong password, of an unknown address or of a locked account',
  locked_out: 'Right passwords and tokens of locked accounts, refused',
  password_changed: 'Passwords changed',
  account_deleted: 'Accounts deleted by their owners',
  account_mail_ended: 'Mails about accounts, and with codes',
};

/** Each label is a field of the event with a closed set of words. */
const eventLabels: Partial<Readonly<Record<ServiceEvent['event'], readonly string[]>>> = {
  concealed: ['kind'],
  mail_ended: ['state'],
  domain_checked: ['domainState'],
  request_refused: ['why'],
  locked_out: ['by'],
  password_changed: ['by'],
  account_mail_ended: ['kind', 'state'],
};

function labelsOf(event: ServiceEvent): Record<string, string> {
  const values = event as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries((eventLabels[event.event] ?? []).map((name) => [name, String(values[name])]));
}

/** A registry, and how its series are made. */
async function openRegistry() {
  const prom = await import('prom-client');
  const registry = new prom.Registry();
  const registers = [registry];
  return {
    counter: (name: string, help: string, labelNames: readonly string[]) =>
      new prom.Counter({ name, help, labelNames: [...labelNames], registers }),
    gauge: (name: string, help: string, labelNames: readonly string[] = []) =>
      new prom.Gauge({ name, help, labelNames: [...labelNames], registers }),
    /** A gauge that is read each time; NaN if `read` fails: a store that does not respond must not block the other series. */
    reading: (name: string, help: string, read: () => number | Promise<number>) =>
      new prom.Gauge({
        ...{ name, help, registers },
        async collect() {
          this.set(await Promise.resolve(read()).catch(() => Number.NaN));
        },
      }),
    // From the cost of one store commit on a fast disk to the longest wait a client sees.
    durations: (name: string, help: string, labelNames: readonly string[]) =>
      new prom.Histogram({
        ...{ name, help, labelNames: [...labelNames], registers },
        buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      }),
    render: () => registry.metrics(),
  };
}

export interface StorageGauge {
  readonly usedBytes: () => Promise<number>;
  readonly maxBytes: number | null;
}

export async function openMetrics(
  storage?: StorageGauge,
  mailServerIsReached?: () => boolean,
): Promise<OpenMetrics> {
  const { counter, gauge, reading, durations, render } = await openRegistry();
  const events = new Map(
    Object.entries(eventHelp).map(([event, help]) => [
      event,
      counter(`mayfly_${event}_total`, help, eventLabels[event as ServiceEvent['event']] ?? []),
    ]),
  );
  const requests = counter('mayfly_requests_total', 'Answers', ['operation', 'status']);
  const seconds = durations('mayfly_request_seconds', 'Time to answer', ['operation']);
  if (storage !== undefined) {
    const { usedBytes, maxBytes } = storage;
    reading('mayfly_storage_used_bytes', 'Size of the store, as MAYFLY_MAX_STORAGE counts it', usedBytes);
    const limitHelp = 'MAYFLY_MAX_STORAGE: the size at which new secrets are refused';
    if (maxBytes !== null) gauge('mayfly_storage_limit_bytes', limitHelp).set(maxBytes);
  }
  if (mailServerIsReached !== undefined) {
    const help = 'Whether the last try reached the mail server';
    reading('mayfly_mail_server_reachable', help, () => Number(mailServerIsReached()));
  }
  reading('process_resident_memory_bytes', 'Memory in use', () => process.memoryUsage.rss());
  return {
    countEvent: (event) => events.get(event.event)?.inc(labelsOf(event)),
    countRequest: ({ operation, status, durationMs }) => {
      const name = operation ?? 'none';
      requests.inc({ operation: name, status: String(status) });
      seconds.observe({ operation: name }, durationMs / 1000);
    },
    render,
  };
}

export async function openRouterMetrics() {
  const { counter, gauge, render } = await openRegistry();
  const answers = counter('mayfly_router_answers_total', 'Answers through the router', ['region', 'status']);
  const up = gauge('mayfly_router_region_up', 'Whether a server of the region can serve', ['region']);
  return {
    countAnswer: (region: RegionLabel | null, status: number) =>
      answers.inc({ region: region ?? 'none', status: String(status) }),
    setRegionHealth: (region: RegionLabel, isHealthy: boolean) => up.set({ region }, isHealthy ? 1 : 0),
    render,
  };
}

export function createEvents(log: Log, metrics: Metrics): Events {
  return (event) => {
    log(event);
    metrics.countEvent(event);
  };
}

export type Answered = Omit<RequestLine, 'event' | 'account'> & { readonly accountId: AccountId | null };

export function createAnswerObserver(log: Log, metrics: Metrics): (answered: Answered) => void {
  return (answered) => {
    log({ event: 'request', ...answered, account: answered.accountId });
    metrics.countRequest(answered);
  };
}

type MailFault = Omit<Extract<LogLine, { event: 'mail_fault' }>, 'event'>;

export interface MailWatch {
  /** The result of the last try; `true` before the first. */
  isReached(): boolean;
  onFault(fault: MailFault, trouble: MailTrouble | null): void;
  onAnswer(): void;
}

/** Reports the loss of the mail server once, not per email and attempt, and then its return. Reports every other fault immediately. */
export function createMailWatch(log: Log): MailWatch {
  let isReached = true;
  return {
    isReached: () => isReached,
    onFault(fault, trouble) {
      const isLoss = trouble === 'unreachable';
      // Emails queued for an unreachable server get no answer either.
      if (!isReached && trouble !== null) return;
      log(isLoss ? { event: 'mail_server_lost', code: fault.code } : { event: 'mail_fault', ...fault });
      if (isLoss) isReached = false;
    },
    onAnswer() {
      if (!isReached) log({ event: 'mail_server_back' });
      isReached = true;
    },
  };
}

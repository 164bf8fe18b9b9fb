/**
 * One mail's attempts.
 *
 * Owns: when the server is asked again and how it ends. Invariant: attempts are as many as there are pauses, and one; each
 * is bounded in time; the pause and what bounds it are told before the pause begins; every attempt offers the same
 * message, with the same Message-ID, so that a server that lost its reply and one that greylists recognise it.
 */
import { type MailTrouble, mailTroubles } from '../core/mail/link-mail.ts';
import type { Handover, OnRetry } from '../core/ports.ts';
import { type Letter, notSent } from './compose.ts';
import { type AttemptFault, isAboutLogIn, judge, toFault, troubleOf } from './faults.ts';
import type { Transport } from './pool.ts';
import { toReplyLine } from './reply.ts';

/** Why an attempt failed, for the operator's log: codes only, because a reply's text may repeat the address. */
export interface MailFault {
  /** The library's code, such as `EAUTH`, `ETLS`, `ETIMEDOUT`, `EENVELOPE`. */
  readonly code: string;
  /** The server's reply code; `null` when it did not reply. */
  readonly replyCode: number | null;
  readonly willRetry: boolean;
}

export interface Courier {
  readonly transport: () => Promise<Transport>;
  /** Before the second, third … attempt. */
  readonly retryDelaysMs: readonly number[];
  readonly attemptTimeoutMs: number;
  /** Waits; rejects when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** @param trouble `null` unless the connection was the fault */
  readonly onFault: (fault: MailFault, trouble: MailTrouble | null) => void;
  /** The server answered an attempt, whatever it said. */
  readonly onAnswer: () => void;
  readonly stopped: AbortSignal;
}

/** What a busy machine may add to a pause and an attempt, so that nobody counts a mail as lost that is only late. */
const slackSeconds = 5;

/** Rejects when it is stopped between two attempts. */
export async function deliver(letter: Letter, courier: Courier, onRetry: OnRetry): Promise<Handover> {
  let said: string | null = null;
  for (let attempt = 0; ; attempt += 1) {
    const ending = await attemptOnce(letter, courier);
    if (ending.outcome === 'accepted' || ending.fault.replyCode !== null) courier.onAnswer();
    if (ending.outcome === 'accepted')
      return { state: 'accepted', reply: toReplyLine(ending.response, letter.hidden) };
    said = replyOf(ending.fault, letter) ?? said;
    const trouble = courier.stopped.aborted ? null : troubleOf(ending.fault);
    const reply = said ?? (trouble === null ? null : mailTroubles[trouble]);
    const judgement = judge(ending.fault);
    const delayMs = courier.retryDelaysMs[attempt];
    const willRetry = judgement === 'later' && delayMs !== undefined && !courier.stopped.aborted;
    courier.onFault({ code: ending.fault.code, replyCode: ending.fault.replyCode, willRetry }, trouble);
    if (judgement === 'refused') return { state: 'refused', reply };
    if (judgement === 'unsendable' || courier.stopped.aborted) return notSent;
    if (delayMs === undefined) return { state: 'given_up', reply };
    onRetry(Math.ceil((delayMs + courier.attemptTimeoutMs) / 1_000) + slackSeconds, reply);
    await courier.sleep(delayMs, courier.stopped);
  }
}

type Ending =
  | { readonly outcome: 'accepted'; readonly response: string }
  | { readonly outcome: 'failed'; readonly fault: AttemptFault };

async function attemptOnce({ envelope, bytes }: Letter, courier: Courier): Promise<Ending> {
  const signal = AbortSignal.any([AbortSignal.timeout(courier.attemptTimeoutMs), courier.stopped]);
  try {
    const transport = await courier.transport();
    const { response } = await transport.sendMail({ envelope, raw: bytes, signal });
    return { outcome: 'accepted', response };
  } catch (error) {
    return { outcome: 'failed', fault: toFault(error) };
  }
}

/** What is said of the log-in concerns the operator, whose log has its code, and not whoever reads a receipt. */
function replyOf(fault: AttemptFault, { hidden }: Letter): string | null {
  return isAboutLogIn(fault) ? null : toReplyLine(fault.response, hidden);
}

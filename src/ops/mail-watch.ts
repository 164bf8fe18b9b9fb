/**
 * Whether the mail server can be reached, for the operator.
 *
 * Owns: what of the mailer's faults is logged. Invariant: a server that is lost is told once and not for each mail and each
 * try, and once more when it is back; every other fault is told as it comes.
 */
import type { MailTrouble } from '../core/mail/link-mail.ts';
import type { Log } from './log.ts';
import type { LogLine } from './log-lines.ts';

type MailFault = Omit<Extract<LogLine, { event: 'mail_fault' }>, 'event'>;

export interface MailWatch {
  /** Whether it was reached when it was last tried; `true` before that. */
  isReached(): boolean;
  onFault(fault: MailFault, trouble: MailTrouble | null): void;
  onAnswer(): void;
}

export function createMailWatch(log: Log): MailWatch {
  let isReached = true;
  return {
    isReached: () => isReached,
    onFault(fault, trouble) {
      const isLoss = trouble === 'unreachable';
      // What waits in line for a server that is lost has no answer either.
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

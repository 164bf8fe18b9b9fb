/**
 * A mailer for tests that records what it reports.
 *
 * Pauses are recorded, not waited for.
 */

import type { MailTrouble } from '../../src/core/secrets/link-mail.ts';
import { createSmtpMailer, type MailFault, type SmtpMailerOptions } from '../../src/mail/smtp.ts';
import { smtpServerOf } from '../support/settings.ts';

/** What the sender is told before a pause, and the pause. */
export type RetryStep = readonly ['told', number, string | null] | readonly ['paused', number];

export function mailerFor(server: { readonly url: string }, options: Partial<SmtpMailerOptions> = {}) {
  const steps: RetryStep[] = [];
  const faults: MailFault[] = [];
  const troubles: (MailTrouble | null)[] = [];
  let answers = 0;
  const mailer = createSmtpMailer({
    server: smtpServerOf(server.url),
    from: 'Mayfly <noreply@mail.example.com>',
    sleep: async (milliseconds) => void steps.push(['paused', milliseconds]),
    onFault(fault, trouble) {
      faults.push(fault);
      troubles.push(trouble);
    },
    onAnswer() {
      answers += 1;
    },
    ...options,
  });
  const onRetry = (withinSeconds: number, reply: string | null) =>
    void steps.push(['told', withinSeconds, reply]);
  const pausesMs = () => steps.flatMap((step) => (step[0] === 'paused' ? [step[1]] : []));
  return {
    mailer,
    steps,
    faults,
    troubles,
    answers: () => answers,
    onRetry,
    pausesMs,
    [Symbol.dispose]: () => mailer.close(),
  };
}

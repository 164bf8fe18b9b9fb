/**
 * The mails that tell an account what became of one of its secrets.
 *
 * Owns: their words, per locale. Invariant: pure; the times are all that names the secret, because they are all that is
 * known here: no key, no recipient, no sender, and the only link is to the list behind the log-in.
 */
import type { AccountMail } from '../core/ports.ts';
import type { Locale, MessageKey } from '../locale/catalogues.ts';
import { formatMoment } from '../locale/times.ts';
import type { MessageParams } from '../locale/translate.ts';
import { type MailWords, setFaceApart } from './frame.tsx';

export type Say = (key: MessageKey, params?: MessageParams) => string;

/** What differs from kind to kind. */
export type Parts = Pick<MailWords, 'subject' | 'body'> & Partial<Pick<MailWords, 'face' | 'small'>>;

type Notice = Extract<AccountMail, { kind: 'secret_read' | 'secret_burned' | 'secret_expiring' }>;

export function noticeOf(mail: Notice, say: Say, locale: Locale): Parts {
  const { subject, intro, at, next } = whatHappened(mail, say, formatMoment(locale, mail.at));
  const created = say('mail.notice.created', { date: formatMoment(locale, mail.createdAt) });
  return {
    face: mail.face,
    subject,
    body: [
      intro,
      created,
      at,
      say('mail.notice.onlyTime'),
      ...next,
      { link: mail.recentUrl, label: say('mail.notice.list') },
    ],
    small: [say('mail.notice.why'), say('mail.sentBy', setFaceApart(mail.face))],
  };
}

interface Happening {
  readonly subject: string;
  readonly intro: string;
  readonly at: string;
  /** What to do about it, if anything. */
  readonly next: readonly string[];
}

function whatHappened({ kind }: Notice, say: Say, date: string): Happening {
  switch (kind) {
    case 'secret_read':
      return {
        subject: say('mail.secretRead.subject'),
        intro: say('mail.secretRead.intro'),
        at: say('mail.secretRead.at', { date }),
        next: [say('mail.secretRead.next')],
      };
    case 'secret_burned':
      return {
        subject: say('mail.secretBurned.subject'),
        intro: say('mail.secretBurned.intro'),
        at: say('mail.secretBurned.at', { date }),
        next: [],
      };
    case 'secret_expiring':
      return {
        subject: say('mail.secretExpiring.subject'),
        intro: say('mail.secretExpiring.intro'),
        at: say('mail.secretExpiring.at', { date }),
        next: [say('mail.secretExpiring.next')],
      };
  }
}

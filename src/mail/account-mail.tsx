/**
 * Emails about an account, to that account's address. They contain only the links they are given, never a password, and say what to do if
 * the reader did not request the email. Anyone can type any address into a form, so the emails name the site and claim nothing about the
 * reader. A notice about a secret or a request gives only its times: no key, recipient or sender. Its only link, if any, leads to a list
 * that requires a log-in.
 */
import type { TokenFate } from '../core/account.ts';
import type { AccountMail } from '../core/mailer.ts';
import { type Locale, type MessageKey, toLocale } from '../locale/catalogues.ts';
import { formatMoment, type MessageParams, translate } from '../locale/translate.ts';
import { type MailWords, renderMail, senderOf, setApart, setBrandApart } from './messages.tsx';

export function renderAccountMail(mail: AccountMail) {
  const locale = toLocale(mail.locale);
  const say: Say = (key, params) => translate(locale, key, params);
  const { brand = null, small = [], ...parts } = partsOf(mail, say, locale);
  return renderMail({ locale, brand, ...parts, small: [...small, say('mail.automatic')] });
}

function partsOf(mail: AccountMail, say: Say, locale: Locale): Parts {
  switch (mail.kind) {
    case 'sign_up':
    case 'reset':
      return proving(mail, say, locale);
    case 'already_signed_up':
      return alreadySignedUp(mail, say);
    case 'password_changed':
    case 'password_set':
      return passwordChanged(mail, say);
    case 'token_created':
      return tokenCreated(mail, say);
    case 'account_deleted':
      return accountDeleted(setApart(mail.to.expose()), say);
    case 'code':
      return codeMail(mail, say);
    case 'secret_read':
    case 'secret_burned':
    case 'secret_expiring':
    case 'request_answered':
      return noticeOf(mail, say, locale);
  }
}

function siteOf(link: string): string {
  return setApart(new URL(link).host);
}

function proving(mail: Extract<AccountMail, { expiresAt: unknown }>, say: Say, locale: Locale): Parts {
  const isReset = mail.kind === 'reset';
  const link = mail.link.expose();
  const site = siteOf(link);
  return {
    subject: say(isReset ? 'mail.reset.subject' : 'mail.signUp.subject', { site }),
    body: [
      say(isReset ? 'mail.reset.intro' : 'mail.signUp.intro', { site }),
      { link, label: say(isReset ? 'mail.reset.open' : 'mail.signUp.open') },
      say('mail.linkUntil', { date: formatMoment(locale, mail.expiresAt) }),
      say(isReset ? 'mail.reset.ignore' : 'mail.signUp.ignore'),
    ],
  };
}

function alreadySignedUp(
  { logInUrl, forgottenUrl }: { logInUrl: string; forgottenUrl: string },
  say: Say,
): Parts {
  const site = siteOf(logInUrl);
  return {
    subject: say('mail.alreadySignedUp.subject', { site }),
    body: [
      say('mail.alreadySignedUp.intro', { site }),
      { link: logInUrl, label: say('mail.alreadySignedUp.open') },
      say('mail.alreadySignedUp.forgotten'),
      { link: forgottenUrl, label: null },
      say('mail.alreadySignedUp.ignore'),
    ],
  };
}

type PasswordMailKind = 'password_changed' | 'password_set';

function passwordChanged(
  { kind, forgottenUrl, tokens }: { kind: PasswordMailKind; forgottenUrl: string; tokens: TokenFate },
  say: Say,
): Parts {
  const site = siteOf(forgottenUrl);
  const isFirst = kind === 'password_set';
  return {
    subject: say(isFirst ? 'mail.passwordSet.subject' : 'mail.passwordChanged.subject', { site }),
    body: [
      say(isFirst ? 'mail.passwordSet.intro' : 'mail.passwordChanged.intro', { site }),
      ...(tokens === 'revoke' ? [say('mail.passwordChanged.tokens')] : []),
      say('mail.passwordChanged.ignore'),
      say('mail.passwordChanged.forgotten'),
      { link: forgottenUrl, label: null },
    ],
  };
}

/** Creating a token requires the password, so a token the owner did not create means that somebody else has the password. */
function tokenCreated({ name, forgottenUrl }: { name: string; forgottenUrl: string }, say: Say): Parts {
  const site = siteOf(forgottenUrl);
  return {
    subject: say('mail.tokenCreated.subject', { site }),
    body: [
      say('mail.tokenCreated.intro', { name: setApart(name), site }),
      say('mail.passwordChanged.ignore'),
      say('mail.tokenCreated.notYou'),
      { link: forgottenUrl, label: null },
    ],
  };
}

function accountDeleted(address: string, say: Say): Parts {
  return {
    subject: say('mail.accountDeleted.subject'),
    body: [
      say('mail.accountDeleted.intro', { address }),
      say('mail.accountDeleted.secrets'),
      say('mail.accountDeleted.ignore'),
      say('mail.accountDeleted.notYou'),
    ],
  };
}

function codeMail(mail: Extract<AccountMail, { kind: 'code' }>, say: Say): Parts {
  const code = setApart(mail.code.expose().replace(/(?<=^...)/, ' '));
  const { both: sender, chosen } = senderOf(mail, say);
  return {
    brand: mail.brand,
    subject: mail.isInSubject ? say('mail.code.subjectWith', { code }) : say('mail.code.subject'),
    body: [
      say('mail.code.intro', { sender }),
      say('mail.code.code', { code }),
      say('mail.code.until'),
      say('mail.code.never'),
      say('mail.code.unexpected'),
    ],
    small: [...chosen, say('mail.sentBy', setBrandApart(mail.brand))],
  };
}

export type Say = (key: MessageKey, params?: MessageParams) => string;

export type Parts = Pick<MailWords, 'subject' | 'body'> & Partial<Pick<MailWords, 'brand' | 'small'>>;

type Notice = Extract<AccountMail, { at: unknown }>;

interface NoticeTexts {
  readonly subject: MessageKey;
  readonly intro: MessageKey;
  readonly at: MessageKey;
  readonly next?: MessageKey;
  /** In place of the link to the list. */
  readonly why?: MessageKey;
}

const noticeTexts: Readonly<Record<Notice['kind'], NoticeTexts>> = {
  secret_read: {
    subject: 'mail.secretRead.subject',
    intro: 'mail.secretRead.intro',
    at: 'mail.secretRead.at',
    next: 'mail.secretRead.next',
  },
  secret_burned: {
    subject: 'mail.secretBurned.subject',
    intro: 'mail.secretBurned.intro',
    at: 'mail.secretBurned.at',
  },
  secret_expiring: {
    subject: 'mail.secretExpiring.subject',
    intro: 'mail.secretExpiring.intro',
    at: 'mail.secretExpiring.at',
    next: 'mail.secretExpiring.next',
  },
  request_answered: {
    subject: 'mail.requestAnswered.subject',
    intro: 'mail.requestAnswered.intro',
    at: 'mail.requestAnswered.at',
    next: 'mail.requestAnswered.next',
    why: 'mail.requestAnswered.why',
  },
};

function noticeOf(mail: Notice, say: Say, locale: Locale): Parts {
  const { subject, intro, at, next, why } = noticeTexts[mail.kind];
  return {
    brand: mail.brand,
    subject: say(subject),
    body: [
      say(intro),
      say('mail.notice.created', { date: formatMoment(locale, mail.createdAt) }),
      say(at, { date: formatMoment(locale, mail.at) }),
      ...(why === undefined ? [say('mail.notice.onlyTime')] : []),
      ...(next === undefined ? [] : [say(next)]),
      ...(why === undefined ? [{ link: mail.recentUrl, label: say('mail.notice.list') }] : []),
    ],
    small: [say(why ?? 'mail.notice.why'), say('mail.sentBy', setBrandApart(mail.brand))],
  };
}

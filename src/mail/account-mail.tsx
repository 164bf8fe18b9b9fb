/**
 * The mails about an account, to its own address.
 *
 * Owns: their words, per locale. Invariant: pure; a mail holds the links it was given and no other, never a password,
 * and says what to do when it was not asked for. Whoever reads it may be a stranger to the service: anybody can type
 * anybody's address into a form, so it names the site and claims nothing about the reader. What tells of a secret names
 * nothing of it but its times: no key, no recipient (`account-notice.ts`).
 */
import type { TokenFate } from '../core/accounts/accounts.ts';
import type { AccountMail } from '../core/ports.ts';
import type { Locale } from '../locale/catalogues.ts';
import { toLocale } from '../locale/negotiate.ts';
import { formatMoment } from '../locale/times.ts';
import { translate } from '../locale/translate.ts';
import { noticeOf, type Parts, type Say } from './account-notice.ts';
import { type RenderedMail, renderMail, setApart } from './frame.tsx';

export function renderAccountMail(mail: AccountMail): RenderedMail {
  const locale = toLocale(mail.locale);
  const say: Say = (key, params) => translate(locale, key, params);
  const { face = null, small = [], ...parts } = partsOf(mail, say, locale);
  return renderMail({ locale, face, ...parts, small: [...small, say('mail.automatic')] });
}

function partsOf(mail: AccountMail, say: Say, locale: Locale): Parts {
  switch (mail.kind) {
    case 'sign_up':
      return signUp(mail.link.expose(), formatMoment(locale, mail.expiresAt), say);
    case 'reset':
      return reset(mail.link.expose(), formatMoment(locale, mail.expiresAt), say);
    case 'already_signed_up':
      return alreadySignedUp(mail, say);
    case 'password_changed':
      return passwordChanged(mail, say);
    case 'token_created':
      return tokenCreated(mail, say);
    case 'account_deleted':
      return accountDeleted(setApart(mail.to.expose()), say);
    case 'secret_read':
    case 'secret_burned':
    case 'secret_expiring':
      return noticeOf(mail, say, locale);
  }
}

/** The host that a link leads to, as the name of the site. */
function siteOf(link: string): string {
  return setApart(new URL(link).host);
}

function signUp(link: string, date: string, say: Say): Parts {
  const site = siteOf(link);
  return {
    subject: say('mail.signUp.subject', { site }),
    body: [
      say('mail.signUp.intro', { site }),
      { link, label: say('mail.signUp.open') },
      say('mail.linkUntil', { date }),
      say('mail.signUp.ignore'),
    ],
  };
}

function reset(link: string, date: string, say: Say): Parts {
  const site = siteOf(link);
  return {
    subject: say('mail.reset.subject', { site }),
    body: [
      say('mail.reset.intro', { site }),
      { link, label: say('mail.reset.open') },
      say('mail.linkUntil', { date }),
      say('mail.reset.ignore'),
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

function passwordChanged(
  { forgottenUrl, tokens }: { forgottenUrl: string; tokens: TokenFate },
  say: Say,
): Parts {
  const site = siteOf(forgottenUrl);
  return {
    subject: say('mail.passwordChanged.subject', { site }),
    body: [
      say('mail.passwordChanged.intro', { site }),
      ...(tokens === 'revoke' ? [say('mail.passwordChanged.tokens')] : []),
      say('mail.passwordChanged.ignore'),
      say('mail.passwordChanged.forgotten'),
      { link: forgottenUrl, label: null },
    ],
  };
}

/** A token takes the password, so one that the owner did not make means that somebody else has it. */
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

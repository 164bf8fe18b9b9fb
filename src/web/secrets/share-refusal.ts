/**
 * Why the share form comes back.
 *
 * Owns: status, field and words of every refusal. Invariant: each says that nothing was stored or drawn.
 */

import type { Plan } from '../../core/plans.ts';
import type { CreationOutcome } from '../../core/secrets/outcomes.ts';
import { problemWords } from '../kit/error-page.tsx';
import type { Words } from '../kit/words.ts';
import type { PageProblem, PageReply } from '../page.ts';
import { type ShareField, suggestionBounds } from './share-form.ts';
import type { ShareRefusal } from './share-page.tsx';

export type Refusal = ShareRefusal & { readonly status: number; readonly headers?: PageReply['headers'] };
type Refused = Exclude<CreationOutcome, { outcome: 'created' }>;

export function noNumber({ say }: Words): Refusal {
  return stored(422, 'ttl-amount', say('share.ttlNumber'), say);
}

/** A person is told the bounds, and chooses: the service would grant what is nearest. */
export function outsidePlan({ ttlMinSeconds, ttlMaxSeconds }: Plan, { say, duration }: Words): Refusal {
  const bounds = { min: duration(ttlMinSeconds), max: duration(ttlMaxSeconds) };
  return stored(422, 'ttl-amount', say('share.ttlOutOfRange', bounds), say);
}

function stored(status: number, field: ShareField | null, message: string, say: Words['say']): Refusal {
  return { status, field, message, consolation: say('share.refused'), needsLogIn: false };
}

export function refusalOf(refused: Refused, { say, duration }: Words): Refusal {
  const at = (status: number, field: ShareField | null, message: string) =>
    stored(status, field, message, say);
  switch (refused.outcome) {
    case 'nothing_to_share':
      return at(400, 'secret', say('share.nothing'));
    case 'ill_formed':
      return at(400, refused.field, say('share.illFormed'));
    case 'memo_too_long':
      return at(422, 'memo', say('memo.tooLong', { max: refused.maxCharacters }));
    case 'value_too_large':
      return at(413, 'secret', say('share.tooLarge', { count: refused.maxBytes }));
    case 'passphrase_too_long':
      return at(422, 'passphrase', say('share.passphraseTooLong', { count: refused.maxBytes }));
    case 'recipient_needs_account':
      return { ...at(403, 'recipient', say('share.recipientNeedsAccount')), needsLogIn: true };
    case 'undeliverable_recipient':
      return at(422, 'recipient', say('share.recipientWrong'));
    case 'unknown_share_domain':
      return at(422, 'share-domain', say('share.domainWrong'));
    case 'public_sharing_disabled':
      return at(403, null, say('share.domainClosed', { domain: refused.shareDomain }));
    case 'notify_needs_account':
      return { ...at(403, 'notify', say('share.notifyNeedsAccount')), needsLogIn: true };
    case 'too_many_mails': {
      const { retryAfterSeconds } = refused;
      const headers = { 'retry-after': String(retryAfterSeconds) };
      const wait = duration(retryAfterSeconds);
      return { ...at(429, 'recipient', say('share.tooManyMails', { wait })), headers };
    }
    case 'account_required':
      return { ...at(403, null, say('share.closedKept')), needsLogIn: true };
  }
}

export function wrongSuggestion(field: ShareField, { say }: Words): Refusal {
  const { length, words } = suggestionBounds;
  const { min, max } = field === 'suggest-words' ? words : length;
  const message = field === 'suggest-sets' ? say('suggest.noSet') : say('suggest.wrongLength', { min, max });
  return { status: 422, field, message, consolation: say('suggest.nothingDrawn'), needsLogIn: false };
}

/** What the transport or the store refuses. */
export function problemOfShare(problem: PageProblem, words: Words): Refusal {
  const { status, form } = problemWords(problem, words);
  return stored(status, null, form, words.say);
}

export function problemOfSuggestion(problem: PageProblem, words: Words): Refusal {
  return { ...problemOfShare(problem, words), consolation: words.say('suggest.nothingDrawn') };
}

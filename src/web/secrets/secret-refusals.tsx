/** Why a link does not open or burn now, as a page for a form and in words for the script of an end-to-end secret. */

import type { AttemptsExhausted, SecretRefusal, WrongPassphrase } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { Clock } from '../../core/time.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { keyForm } from '../../protocol/link.ts';
import { problemWords } from '../kit/error-page.tsx';
import { type Frame, renderPage } from '../kit/layout.tsx';
import { type PageProblem, type PageReply, type PageRequest, pageReply } from '../kit/page.ts';
import type { Words } from '../kit/words.ts';
import type { HereCookie } from './here-cookie.ts';
import { type AskRefusal, DamagedPage, type Delay, DelayedPage, GonePage } from './secret-page.tsx';

export interface SecretDeps {
  readonly service: Pick<SecretService, 'secretStatus' | 'reveal' | 'finishLook' | 'burnByRecipient'>;
  readonly clock: Clock;
  /** Whether a browser keeps the cookie of the second look from this host. */
  readonly keepsCookies: (host: string) => boolean;
  readonly here: HereCookie;
}

/** The page that was refused, again. */
export type AskAgain = (status: number, refusal?: Partial<AskRefusal>) => Promise<PageReply>;

export function refusedReply(
  request: PageRequest,
  deps: SecretDeps,
  refusal: SecretRefusal | { readonly outcome: 'abandoned' },
  ask: AskAgain,
): PageReply | Promise<PageReply> {
  const { words } = request.frame;
  switch (refusal.outcome) {
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
    case 'not_sealed':
      return goneReply(request, deps);
    case 'incomplete_link':
      return ask(422);
    case 'passphrase_missing':
      return ask(422, { passphrase: words.say('secret.passphraseMissing') });
    case 'passphrase_wrong':
      return ask(422, { passphrase: wrongPassphraseText(words, refusal) });
    case 'attempts_exhausted':
      return exhausted(request, deps, refusal);
  }
}

export function goneReply({ frame, cookies, key }: PageRequest, { here }: SecretDeps): PageReply {
  if (!keyForm.test(key)) return damagedReply(frame);
  return pageReply(404, renderPage(<GonePage frame={frame} here={here.endedHere(cookies)} />));
}

/** Repeats nothing of the address, which may hold what opens the secret: so there is no way back to it in another language. */
export function damagedReply(frame: Frame): PageReply {
  return pageReply(404, renderPage(<DamagedPage frame={{ ...frame, here: null }} />));
}

/** Says when the next guess is possible, unless the secret expires before that. */
async function exhausted(
  request: PageRequest,
  deps: SecretDeps,
  refusal: AttemptsExhausted,
): Promise<PageReply> {
  const { retryAfterSeconds, needsCreator } = refusal;
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return goneReply(request, deps);
  const { words } = request.frame;
  const { say } = words;
  const title = say('secret.exhaustedTitle');
  const isTooLate = !needsCreator && retryAfterSeconds >= waiting.secret.secretTtlSeconds;
  const lead = isTooLate ? say('secret.exhaustedForGood') : exhaustedText(words, refusal);
  const advice = isTooLate || needsCreator ? null : say('secret.exhaustedAdvice');
  return delayed(request, 429, { title, lead, advice }, { 'retry-after': String(retryAfterSeconds) });
}

export function exhaustedText(
  { say, wait }: Words,
  { retryAfterSeconds, needsCreator }: AttemptsExhausted,
): string {
  return needsCreator ? say('secret.locked') : say('secret.exhausted', { wait: wait(retryAfterSeconds) });
}

function delayed(
  { frame, key }: PageRequest,
  status: number,
  delay: Delay,
  headers: PageReply['headers'] = {},
): PageReply {
  return pageReply(status, renderPage(<DelayedPage frame={frame} delay={delay} secretKey={key} />), headers);
}

/**
 * After a refusal before anything was opened or counted, asks again where that costs no more than the refusal: over a
 * rate limit nothing is looked up (P21), and without a store nothing can be.
 */
export async function keepAsking(
  request: PageRequest,
  problem: PageProblem,
  ask: AskAgain,
): Promise<PageReply> {
  const { words } = request.frame;
  const { status } = problemWords(problem, words);
  if (problem.problem === 'stale_form') return ask(status, { notice: words.say('secret.stale') });
  const later = laterOf(words, problem);
  if (problem.problem === 'rate_limited') return delayed(request, status, later);
  return ask(status, { notice: later.lead }).catch(() => delayed(request, status, later));
}

export function wrongPassphraseText(
  { say, wait }: Words,
  { attemptsLeft, moreAfterSeconds, needsCreator }: WrongPassphrase,
): string {
  if (needsCreator) return say('secret.locked');
  if (attemptsLeft === null) return say('secret.passphraseWrongPlain');
  if (attemptsLeft === 0) return say('secret.passphraseWrongLast', { wait: wait(moreAfterSeconds) });
  return say('secret.passphraseWrong', { count: attemptsLeft });
}

export function laterOf(words: Words, problem: PageProblem): Delay {
  const wait = words.wait('retryAfterSeconds' in problem ? problem.retryAfterSeconds : 0);
  const lead = problem.problem === 'rate_limited' ? 'secret.rate' : 'secret.unavailable';
  return { title: words.say('secret.laterTitle'), lead: words.say(lead, { wait }), advice: null };
}

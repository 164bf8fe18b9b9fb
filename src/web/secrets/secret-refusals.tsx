/** Why a link cannot open or burn a secret: as a page for forms, or as text for an end-to-end secret's script. */
import type { NoGuessLeft, SecretRefusal, WrongGuess } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { Clock } from '../../core/time.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { keyForm } from '../../protocol/link.ts';
import { problemTexts } from '../kit/error-page.tsx';
import type { Messages } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageProblem, type PageReply, type PageRequest, pageReply } from '../kit/page.ts';
import type { AskRefusal } from './code-field.tsx';
import type { HereCookie } from './cookies.ts';
import { DamagedPage, GonePage } from './secret-page.tsx';

export interface SecretDeps {
  readonly service: Pick<
    SecretService,
    'secretStatus' | 'arrival' | 'readNote' | 'mailCode' | 'reveal' | 'finishLook' | 'burnByRecipient'
  >;
  readonly clock: Clock;
  /** Whether browsers keep the second look's cookie for this host. */
  readonly keepsCookies: (host: string) => boolean;
  readonly here: HereCookie;
}

export type AskAgain = (status: number, refusal?: Partial<AskRefusal>) => Promise<PageReply>;

export async function refusedReply(
  request: PageRequest,
  deps: SecretDeps,
  refusal: SecretRefusal | { readonly outcome: 'abandoned' },
  ask: AskAgain,
): Promise<PageReply> {
  const { messages } = request.frame;
  const typedCode = (await request.form()).text('code');
  switch (refusal.outcome) {
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
    case 'not_sealed':
      return goneReply(request, deps);
    case 'incomplete_link':
      return ask(422, { notice: messages.say('secret.incompleteLink') });
    case 'code_required':
      return ask(422, { code: messages.say('secret.codeMissing') });
    case 'code_wrong':
      return ask(422, { code: wrongText(messages, refusal) });
    case 'passphrase_missing':
      return ask(422, { passphrase: messages.say('secret.passphraseMissing'), typedCode });
    case 'passphrase_wrong':
      return ask(422, { passphrase: wrongText(messages, refusal), typedCode });
    case 'codes_exhausted':
      return ask(429, { code: exhaustedText(messages, refusal) });
    case 'attempts_exhausted':
      return exhausted(request, deps, refusal);
  }
}

export function goneReply({ frame, cookies, key }: PageRequest, { here }: SecretDeps): PageReply {
  if (!keyForm.test(key)) return damagedReply(frame);
  return pageReply(404, <GonePage frame={frame} here={here.endedHere(cookies)} />);
}

/** Repeats no part of the address, which may contain the fragment. Offering other languages would repeat it. */
export function damagedReply(frame: Frame): PageReply {
  return pageReply(404, <DamagedPage frame={{ ...frame, here: null }} />);
}

type Exhaustion = NoGuessLeft<'attempts_exhausted' | 'codes_exhausted'>;

/** Tells the reader when another guess is allowed, unless the secret expires first. */
async function exhausted(request: PageRequest, deps: SecretDeps, refusal: Exhaustion): Promise<PageReply> {
  const { retryAfterSeconds, needsCreator } = refusal;
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return goneReply(request, deps);
  const { messages } = request.frame;
  const { say } = messages;
  const title = say('secret.exhaustedTitle');
  const isTooLate = !needsCreator && retryAfterSeconds >= waiting.secret.secretTtlSeconds;
  const lead = isTooLate ? say('secret.exhaustedForGood') : exhaustedText(messages, refusal);
  const advice = isTooLate || needsCreator ? null : say('secret.exhaustedAdvice');
  return delayed(request, 429, { title, lead, advice }, { 'retry-after': String(retryAfterSeconds) });
}

export function exhaustedText(
  { say, wait }: Messages,
  { outcome, retryAfterSeconds, needsCreator }: Exhaustion,
): string {
  const locked = outcome === 'codes_exhausted' ? 'secret.codesLocked' : 'secret.locked';
  return needsCreator ? say(locked) : say('secret.exhausted', { wait: wait(retryAfterSeconds) });
}

interface Delay {
  readonly title: string;
  readonly lead: string;
  /** What to do in the meantime. */
  readonly advice: string | null;
}

function delayed(
  { frame, key }: PageRequest,
  status: number,
  { title, lead, advice }: Delay,
  headers: PageReply['headers'] = {},
): PageReply {
  const link = [frame.href('secret', key), frame.say('secret.back')] as const;
  const also = advice === null ? [] : [advice];
  return pageReply(status, <MessagePage {...{ frame, title, lead, also, link }} day="waiting" />, headers);
}

/**
 * Shows the page again after a refusal that opened and counted nothing, if that is cheap enough. Above a rate limit, it looks nothing up
 * (P21); without a store, it cannot.
 */
export async function keepAsking(
  request: PageRequest,
  problem: PageProblem,
  ask: AskAgain,
): Promise<PageReply> {
  const { messages } = request.frame;
  const { status } = problemTexts(problem, messages);
  if (problem.problem === 'stale_form') return ask(status, { notice: messages.say('secret.stale') });
  const later = laterOf(messages, problem);
  if (problem.problem === 'rate_limited') return delayed(request, status, later);
  return ask(status, { notice: later.lead }).catch(() => delayed(request, status, later));
}

const wrongTexts = {
  passphrase_wrong: ['secret.passphraseWrong', 'secret.passphraseWrongLast', 'secret.locked'],
  code_wrong: ['secret.codeWrong', 'secret.codeWrongLast', 'secret.codesLocked'],
} as const;

export function wrongText(
  { say, wait }: Messages,
  { outcome, attemptsLeft, moreAfterSeconds, needsCreator }: WrongGuess<keyof typeof wrongTexts>,
): string {
  const [wrong, last, locked] = wrongTexts[outcome];
  if (needsCreator) return say(locked);
  if (attemptsLeft === null) return say('secret.passphraseWrongPlain');
  return attemptsLeft === 0
    ? say(last, { wait: wait(moreAfterSeconds) })
    : say(wrong, { count: attemptsLeft });
}

export function laterOf(messages: Messages, problem: PageProblem): Delay {
  const wait = messages.wait('retryAfterSeconds' in problem ? problem.retryAfterSeconds : 0);
  const lead = problem.problem === 'rate_limited' ? 'secret.rate' : 'secret.unavailable';
  return { title: messages.say('secret.laterTitle'), lead: messages.say(lead, { wait }), advice: null };
}

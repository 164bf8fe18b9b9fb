/**
 * The recipient's pages: a GET asks, a POST opens. No GET or HEAD consumes the secret or counts a guess (P4);
 * unknown, opened, burned and expired get one answer (P17); every refusal leads back to the same link.
 */
import type { WrongPassphrase } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { problemWords } from '../kit/error-page.tsx';
import { type Frame, renderPage } from '../kit/layout.tsx';
import { type PageProblem, type PageReply, type PageRequest, type PageRoute, pageReply } from '../page.ts';
import { RevealedPage } from './revealed.tsx';
import { type AskRefusal, type Delay, DelayedPage, GonePage, SecretPage } from './secret-page.tsx';

export interface SecretDeps {
  readonly service: Pick<SecretService, 'secretStatus' | 'reveal'>;
  readonly clock: Clock;
}

export function createSecretPages(deps: SecretDeps): PageRoute[] {
  const refuse = (request: PageRequest, problem: PageProblem) => keepAsking(request, deps, problem);
  return [
    {
      name: 'secret',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200), refuse },
      post: { limit: 'manage', handle: (request) => open(request, deps), refuse },
    },
  ];
}

async function ask(
  request: PageRequest,
  deps: SecretDeps,
  status: number,
  refusal: Partial<AskRefusal> = {},
): Promise<PageReply> {
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return gone(request);
  const props = { frame: request.frame, waiting, refusal: { passphrase: null, notice: null, ...refusal } };
  return pageReply(status, renderPage(<SecretPage {...props} />));
}

async function open(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const passphrase = new Sensitive((await request.form()).text('passphrase'));
  const input = { secretKey: key, passphrase, clientPrefix, isAbandoned };
  const outcome = await deps.service.reveal(input, caller);
  switch (outcome.outcome) {
    case 'revealed':
      return pageReply(200, renderPage(<RevealedPage frame={frame} value={outcome.value.expose()} />));
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
      return gone(request);
    case 'passphrase_missing':
      return ask(request, deps, 422, { passphrase: frame.words.say('secret.passphraseMissing') });
    case 'passphrase_wrong':
      return ask(request, deps, 422, { passphrase: wrongPassphraseText(frame, outcome) });
    case 'attempts_exhausted':
      return exhausted(request, deps, outcome.retryAfterSeconds);
  }
}

function wrongPassphraseText({ words }: Frame, { attemptsLeft, moreAfterSeconds }: WrongPassphrase): string {
  const wait = words.duration(moreAfterSeconds);
  if (attemptsLeft === null) return words.say('secret.passphraseWrongPlain');
  if (attemptsLeft === 0) return words.say('secret.passphraseWrongLast', { wait });
  return words.say('secret.passphraseWrong', { count: attemptsLeft, wait });
}

function gone({ frame }: PageRequest): PageReply {
  return pageReply(404, renderPage(<GonePage frame={frame} />));
}

/** Says when the next guess is possible, unless the secret expires before that. */
async function exhausted(
  request: PageRequest,
  deps: SecretDeps,
  retryAfterSeconds: number,
): Promise<PageReply> {
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return gone(request);
  const { say, duration } = request.frame.words;
  const title = say('secret.exhaustedTitle');
  const left = duration(retryAfterSeconds);
  const delay =
    retryAfterSeconds < waiting.secret.secretTtlSeconds
      ? { title, lead: say('secret.exhausted', { left }), until: deps.clock() + retryAfterSeconds }
      : { title, lead: say('secret.exhaustedForGood'), until: null };
  return delayed(request, 429, delay, { 'retry-after': String(retryAfterSeconds) });
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
async function keepAsking(request: PageRequest, deps: SecretDeps, problem: PageProblem): Promise<PageReply> {
  const { status } = problemWords(problem, request.frame.words);
  const { say } = request.frame.words;
  if (problem.problem === 'stale_form') return ask(request, deps, status, { notice: say('secret.stale') });
  const later = laterOf(request.frame, problem);
  if (problem.problem === 'rate_limited') return delayed(request, status, later);
  return ask(request, deps, status, { notice: later.lead }).catch(() => delayed(request, status, later));
}

function laterOf({ words }: Frame, problem: PageProblem): Delay {
  const wait = words.duration('retryAfterSeconds' in problem ? problem.retryAfterSeconds : 0);
  const lead = problem.problem === 'rate_limited' ? 'secret.rate' : 'secret.unavailable';
  return { title: words.say('secret.laterTitle'), lead: words.say(lead, { wait }), until: null };
}

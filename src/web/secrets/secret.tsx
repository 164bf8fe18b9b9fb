/**
 * The recipient's pages: a GET asks, a POST opens. No GET or HEAD consumes the secret or counts a guess (P4), nor does a form
 * that nobody ticked or pressed; unknown, opened, burned and expired get one answer (P17); every refusal leads back to the
 * same link.
 *
 * Whoever opens it may reload the page for a minute (`look-cookie.ts`).
 */
import { textOf } from '../../core/secrets/reveal.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { problemWords } from '../kit/error-page.tsx';
import { type Frame, renderPage } from '../kit/layout.tsx';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
  seeOther,
} from '../kit/page.ts';
import { drawLook, lookFieldName, lookOf } from './look-cookie.ts';
import { type Ending, RevealedPage } from './revealed-page.tsx';
import { createSealedPages, opening } from './sealed.tsx';
import { SealedPage } from './sealed-page.tsx';
import {
  type AskRefusal,
  type Delay,
  DelayedPage,
  DonePage,
  GonePage,
  openBox,
  SecretPage,
} from './secret-page.tsx';
import { laterOf, type SecretDeps, wrongPassphraseText } from './secret-refusals.ts';

export function createSecretPages(deps: SecretDeps): PageRoute[] {
  const refuse = (request: PageRequest, problem: PageProblem) => keepAsking(request, deps, problem);
  return [
    {
      name: 'secret',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200), refuse },
      post: { limit: 'manage', handle: (request) => open(request, deps), refuse },
    },
    {
      name: 'secretDone',
      get: { limit: 'none', handle: ({ frame }) => pageReply(200, renderPage(<DonePage frame={frame} />)) },
      post: { limit: 'manage', handle: (request) => finish(request, deps) },
    },
    ...createSealedPages(deps),
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
  if (waiting.secret.sealed)
    return opening(pageReply(status, renderPage(<SealedPage frame={request.frame} waiting={waiting} />)));
  const look = deps.keepsCookies(request.host) ? drawLook(request.cookies) : null;
  const props = {
    frame: request.frame,
    waiting,
    refusal: { passphrase: null, box: null, notice: null, ...refusal },
    lookField: look?.field ?? null,
  };
  const reply = pageReply(status, renderPage(<SecretPage {...props} />));
  return look === null || look.cookie === null ? reply : { ...reply, cookies: [look.cookie] };
}

async function open(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const form = await request.form();
  if (form.text(openBox.name) !== openBox.value)
    return ask(request, deps, 422, { box: frame.words.say('secret.sureMissing') });
  const passphrase = new Sensitive(form.text('passphrase'));
  const field = form.text(lookFieldName);
  const look = lookOf(request.cookies, field);
  const input = { secretKey: key, passphrase, proofs: null, look, clientPrefix, isAbandoned };
  const outcome = await deps.service.reveal(input, caller);
  switch (outcome.outcome) {
    case 'revealed':
      return revealed(frame, textOf(outcome.content), look === null ? null : { secretKey: key, field });
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
    case 'not_sealed':
      return gone(request);
    case 'incomplete_link':
      return ask(request, deps, 422);
    case 'passphrase_missing':
      return ask(request, deps, 422, { passphrase: frame.words.say('secret.passphraseMissing') });
    case 'passphrase_wrong':
      return ask(request, deps, 422, { passphrase: wrongPassphraseText(frame.words, outcome) });
    case 'attempts_exhausted':
      return exhausted(request, deps, outcome.retryAfterSeconds);
  }
}

function revealed(frame: Frame, value: string, ending: Ending | null): PageReply {
  return pageReply(200, renderPage(<RevealedPage {...{ frame, value, ending }} />));
}

/** Whether there was something to end stays unsaid (P17). */
async function finish(request: PageRequest, { service }: SecretDeps): Promise<PageReply> {
  const look = lookOf(request.cookies, (await request.form()).text(lookFieldName));
  if (look !== null) await service.finishLook({ secretKey: request.key, look });
  return seeOther(request.frame.href('secretDone', request.key));
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
  const later = laterOf(request.frame.words, problem);
  if (problem.problem === 'rate_limited') return delayed(request, status, later);
  return ask(request, deps, status, { notice: later.lead }).catch(() => delayed(request, status, later));
}

/**
 * Requests for a secret. The pages of their links are the same for every key and look nothing up: their scripts call the API with proofs of
 * the links' ends. Only asking and closing go by the session.
 */
import type { Settings } from '../../config/read.ts';
import { planOf } from '../../core/account.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { regionElsewhere } from '../../core/keys.ts';
import { mostPlaces, termsBytes } from '../../core/request.ts';
import type { AskRefusal } from '../../core/requests/ask.ts';
import type { RequestService } from '../../core/requests/service.ts';
import { proofBytes } from '../../core/secrets/end-to-end.ts';
import { RequestProblem } from '../../http/problem.ts';
import { fromBase64Url } from '../../protocol/base64url.ts';
import { answersLink, askLink, keyForm } from '../../protocol/link.ts';
import { problemTexts } from '../kit/error-page.tsx';
import { wholeNumber } from '../kit/form.ts';
import type { Messages } from '../kit/language.ts';
import { MessagePage } from '../kit/message-page.tsx';
import {
  elsewhere,
  jsonReply,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
} from '../kit/page.ts';
import { damagedReply } from '../secrets/secret-refusals.tsx';
import { usualWithin } from '../secrets/typed.ts';
import { AnswerPage } from './answer-page.tsx';
import { AnswersPage } from './answers-page.tsx';
import { AskPage } from './ask-page.tsx';

interface RequestDeps {
  readonly requests: Pick<RequestService, 'ask' | 'change'>;
  readonly accounts: Pick<AccountService, 'listShareDomains'>;
  readonly settings: Settings;
}

export function createRequestPages(deps: RequestDeps): PageRoute[] {
  const { plans } = deps.settings;
  const lifetimesOf = ({ caller }: PageRequest) => {
    const { ttlMinSeconds, ttlMaxSeconds } = planOf(plans, caller);
    return usualWithin(ttlMinSeconds, ttlMaxSeconds);
  };
  const showAnswers = (request: PageRequest) =>
    ofKey(
      request,
      (server) => answersLink(request.key, server),
      (frame) => <AnswersPage frame={frame} lifetimes={lifetimesOf(request)} />,
    );
  const showAnswer = (request: PageRequest) =>
    ofKey(
      request,
      (server) => askLink(request.key, '', server),
      (frame) => <AnswerPage frame={frame} />,
    );
  return [
    {
      name: 'ask',
      onSiteOnly: true,
      get: { limit: 'none', handle: (request) => showForm(request, deps) },
      post: { limit: 'create', handle: (request) => ask(request, deps), refuse },
    },
    { name: 'request', get: { limit: 'none', handle: showAnswer } },
    {
      name: 'closeRequest',
      onSiteOnly: true,
      post: { limit: 'manage', needsAccount: true, handle: (request) => close(request, deps), refuse },
    },
    { name: 'answers', onSiteOnly: true, get: { limit: 'none', handle: showAnswers } },
  ];
}

/** Repeats nothing of the address, so that the page may be compressed: the choice of languages is relative, and scripts read the key. */
function ofKey(
  { frame, key }: PageRequest,
  link: (server: string) => string,
  page: (frame: PageRequest['frame']) => Parameters<typeof pageReply>[1],
): PageReply {
  const { region: own, regions } = frame.settings;
  if (!keyForm.test(key)) return damagedReply(frame);
  const region = regionElsewhere(key, own, regions);
  if (region !== null) return elsewhere(link(region.baseUrl));
  return { ...pageReply(200, page({ ...frame, here: '' })), repeatsNothing: true };
}

async function showForm(
  { frame, caller, signedIn, query }: PageRequest,
  deps: RequestDeps,
): Promise<PageReply> {
  const { requests, plans } = deps.settings;
  // Caddy asks the internal port for `/ask?domain=` before it gets a certificate. Sent here by mistake, it must hear no.
  if (requests === 'off' || query.has('domain')) throw new RequestProblem({ problem: 'not_found' });
  if (requests === 'accounts' && signedIn === null) return closedReply(frame);
  const domains = signedIn === null ? [] : await deps.accounts.listShareDomains(signedIn);
  return pageReply(200, <AskPage frame={frame} plan={planOf(plans, caller)} domains={domains} />);
}

function closedReply(frame: PageRequest['frame']): PageReply {
  const { say } = frame.messages;
  const texts = { title: say('ask.closedTitle'), lead: say('ask.closed') };
  const logIn = `${frame.href('logIn')}?${new URLSearchParams({ back: frame.href('ask') })}`;
  return pageReply(
    200,
    <MessagePage frame={frame} {...texts} day={null} ways={[[logIn, say('share.logIn')]]} />,
  );
}

/** Answers the page's script, which sends nothing else than what is checked here. */
async function ask(request: PageRequest, { requests }: RequestDeps): Promise<PageReply> {
  const { frame, caller, host: arrivedOn } = request;
  const form = await request.form();
  const bytesIn = (name: string) => fromBase64Url(form.text(name)) ?? new Uint8Array();
  const [terms, ownerHash, askHash] = [bytesIn('terms'), bytesIn('owner_hash'), bytesIn('ask_hash')];
  const places = wholeNumber(form.text('places')) ?? 1;
  const areHashes = ownerHash.length === proofBytes && askHash.length === proofBytes;
  if (!termsBytes.has(terms.length) || !areHashes || places < 1 || places > mostPlaces)
    throw new RequestProblem({ problem: 'malformed', message: 'The form is not as its script sends it' });
  const input = {
    ...{ terms, ownerHash, askHash, places, arrivedOn },
    ttlSeconds: wholeNumber(form.text('ttl')),
    answerTtlSeconds: wholeNumber(form.text('answer-ttl')),
    notify: form.text('notify') !== '',
    shareDomain: form.text('share-domain'),
  };
  const asked = await requests.ask(input, caller);
  if (asked.outcome !== 'found') return jsonReply(422, { say: refusalText(frame.messages, asked) });
  const { requestKey, request: made } = asked;
  return jsonReply(201, {
    key: requestKey,
    domain: made.shareDomain,
    address: frame.href('answers', requestKey),
  });
}

function refusalText({ say, wait }: Messages, refusal: AskRefusal): string {
  switch (refusal.outcome) {
    case 'account_required':
    case 'requests_disabled':
    case 'notify_needs_account':
      return say('ask.closed');
    case 'too_many_places':
    case 'too_many_answers':
      return say('ask.tooMany', { max: refusal.max });
    case 'rate_limited':
      return say('problem.later', { wait: wait(refusal.retryAfterSeconds) });
    default:
      return say('share.domainWrong');
  }
}

async function close({ key, caller }: PageRequest, { requests }: RequestDeps): Promise<PageReply> {
  const closed = await requests.change(
    { requestKey: key, ownerProof: null, change: { close: true } },
    caller,
  );
  return jsonReply(closed.outcome === 'found' ? 200 : 404, {});
}

async function refuse({ frame }: PageRequest, problem: PageProblem): Promise<PageReply> {
  const { status, form } = problemTexts(problem, frame.messages);
  return jsonReply(status, { say: form, formToken: frame.formToken });
}

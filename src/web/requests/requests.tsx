/**
 * Requests for a secret. The pages of their links are the same for every key and look nothing up: their scripts call the API with proofs of
 * the links' ends. Only asking and closing go by the session.
 */
import type { FC } from 'hono/jsx';
import type { Settings } from '../../config/read.ts';
import { planOf } from '../../core/account.ts';
import type { AccountService } from '../../core/accounts/service.ts';
import { regionElsewhere } from '../../core/keys.ts';
import type { Plan } from '../../core/plans.ts';
import { mostPlaces, termsBytes } from '../../core/request.ts';
import type { AskRefusal, RequestService } from '../../core/requests/service.ts';
import { proofBytes } from '../../core/secrets/end-to-end.ts';
import { malformed, RequestProblem } from '../../http/problem.ts';
import { keyForm } from '../../protocol/link.ts';
import { problemTexts } from '../kit/error-page.tsx';
import { bytesIn, wholeNumber } from '../kit/form.ts';
import type { Messages } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import {
  jsonReply,
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
} from '../kit/page.ts';
import { damagedReply } from '../secrets/secret-refusals.tsx';
import { AnswerPage } from './answer-page.tsx';
import { AnswersPage } from './answers-page.tsx';
import { AskPage } from './ask-page.tsx';

interface RequestDeps {
  readonly requests: Pick<RequestService, 'ask' | 'change'>;
  readonly accounts: Pick<AccountService, 'listShareDomains'>;
  readonly settings: Settings;
}

export function createRequestPages(deps: RequestDeps): PageRoute[] {
  return [
    {
      name: 'ask',
      onSiteOnly: true,
      get: { limit: 'none', handle: (request) => showForm(request, deps) },
      post: { limit: 'create', handle: (request) => ask(request, deps), refuse },
    },
    { name: 'request', get: { limit: 'none', handle: (request) => showLink(request, AnswerPage) } },
    {
      name: 'closeRequest',
      onSiteOnly: true,
      post: { limit: 'manage', needsAccount: true, handle: (request) => close(request, deps), refuse },
    },
    {
      name: 'answers',
      onSiteOnly: true,
      get: { limit: 'none', handle: (request) => showLink(request, AnswersPage) },
    },
  ];
}

/** Repeats nothing of the address, so that the page may be compressed: the choice of languages is relative, and scripts read the key. */
function showLink({ frame, key, caller }: PageRequest, Shown: FC<{ frame: Frame; plan: Plan }>): PageReply {
  const { region, regions, plans } = frame.settings;
  // The pipeline leads from here to the region of the key.
  if (!keyForm.test(key) || regionElsewhere(key, region, regions) !== null) return damagedReply(frame);
  const page = <Shown frame={{ ...frame, here: '' }} plan={planOf(plans, caller)} />;
  return { ...pageReply(200, page), repeatsNothing: true };
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

function closedReply(frame: Frame): PageReply {
  const { say, href } = frame;
  const texts = { title: say('ask.closedTitle'), lead: say('ask.closed') };
  const logIn = `${href('logIn')}?${new URLSearchParams({ back: href('ask') })}`;
  return pageReply(
    200,
    <MessagePage frame={frame} {...texts} day={null} ways={[[logIn, say('share.logIn')]]} />,
  );
}

/** Answers the page's script, which sends nothing else than what is checked here. */
async function ask(request: PageRequest, { requests }: RequestDeps): Promise<PageReply> {
  const { frame, caller, host: arrivedOn } = request;
  const form = await request.form();
  const terms = bytesIn(form, 'terms');
  const [ownerHash, askHash] = [bytesIn(form, 'owner_hash'), bytesIn(form, 'ask_hash')];
  const places = wholeNumber(form.text('places')) ?? 1;
  const areHashes = ownerHash.length === proofBytes && askHash.length === proofBytes;
  if (!termsBytes.has(terms.length) || !areHashes || places < 1 || places > mostPlaces)
    throw malformed('The form is not as its script sends it');
  const input = {
    ...{ terms, ownerHash, askHash, places, arrivedOn },
    ttlSeconds: wholeNumber(form.text('ttl')),
    answerTtlSeconds: wholeNumber(form.text('answer-ttl')),
    notify: form.text('notify') !== '',
    shareDomain: form.text('share-domain'),
  };
  const asked = await requests.ask(input, caller);
  if (asked.outcome !== 'found') return jsonReply(422, { say: refusalText(frame.messages, asked) });
  const { requestKey: key, request: made } = asked;
  return jsonReply(201, { key, domain: made.shareDomain, address: frame.href('answers', key) });
}

function refusalText({ say, wait }: Messages, refusal: AskRefusal): string {
  if ('max' in refusal) return say('ask.tooMany', { max: refusal.max });
  if ('retryAfterSeconds' in refusal) return say('problem.later', { wait: wait(refusal.retryAfterSeconds) });
  return say('shareDomain' in refusal ? 'share.domainWrong' : 'ask.closed');
}

async function close({ key, caller }: PageRequest, { requests }: RequestDeps): Promise<PageReply> {
  const input = { requestKey: key, ownerProof: null, change: { close: true } } as const;
  const { outcome } = await requests.change(input, caller);
  return jsonReply(outcome === 'found' ? 200 : 404, {});
}

async function refuse({ frame }: PageRequest, problem: PageProblem): Promise<PageReply> {
  const { status, form } = problemTexts(problem, frame.messages);
  return jsonReply(status, { say: form, formToken: frame.formToken });
}

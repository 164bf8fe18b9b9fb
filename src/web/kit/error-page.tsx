/** The texts for every problem, and the error page. The page repeats nothing from the request except the address of an existing page. */
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import type { DayState } from './day.tsx';
import type { Messages } from './language.ts';
import type { Frame } from './layout.tsx';
import { MessagePage, type Way } from './message-page.tsx';
import { type PageProblem, type PageReply, pageReply } from './page.ts';

/** If `form` is absent, a form shows the text of `page`. */
type ProblemKeys = Readonly<Record<'title' | 'page', MessageKey>> & {
  readonly status: number;
  readonly form?: MessageKey;
};

const malformed: ProblemKeys = { status: 400, title: 'error.malformed.title', page: 'error.malformed' };
const notFound: ProblemKeys = { status: 404, title: 'error.notFound.title', page: 'error.notFound' };
const unavailable = { status: 503, title: 'error.unavailable.title', page: 'error.unavailable' } as const;

const problemKeys: Readonly<Record<PageProblem['problem'], ProblemKeys>> = {
  malformed,
  unsupported_media_type: { ...malformed, status: 415 },
  invalid_fields: malformed,
  not_found: notFound,
  unknown_receipt: { ...notFound, page: 'error.receipt' },
  // Pages accept no API credentials, so anything that needs them does not exist here.
  not_authorized: notFound,
  scope_missing: notFound,
  method_not_allowed: { status: 405, title: 'error.method.title', page: 'error.method' },
  body_too_large: { status: 413, title: 'error.tooLarge.title', page: 'error.tooLarge' },
  cross_site: { status: 403, title: 'error.crossSite.title', page: 'error.crossSite' },
  stale_form: { status: 403, title: 'error.stale.title', page: 'error.stale', form: 'problem.stale' },
  rate_limited: { status: 429, title: 'error.rate.title', page: 'error.rate', form: 'problem.later' },
  unavailable: { ...unavailable, form: 'problem.unavailable' },
  storage_full: { ...unavailable, form: 'problem.full' },
  internal: { status: 500, title: 'error.internal.title', page: 'error.internal' },
};

export function problemTexts(problem: PageProblem, messages: Messages) {
  const { say } = messages;
  const { status, title, page, form = page } = problemKeys[problem.problem];
  const params = paramsOf(problem, messages);
  return { status, title: say(title), page: say(page, params), form: say(form, params) };
}

function paramsOf(problem: PageProblem, { wait, size }: Messages): MessageParams {
  if ('retryAfterSeconds' in problem) return { wait: wait(problem.retryAfterSeconds) };
  if ('capBytes' in problem) return { size: size(problem.capBytes) };
  return 'requestId' in problem ? { id: problem.requestId } : {};
}

function waysFrom({ href, here, visitor, messages }: Frame, { problem }: PageProblem): Way[] {
  const { say } = messages;
  const home: Way = [href('home'), say('error.home')];
  const again: Way[] = here === null ? [] : [[here, say('error.retry')]];
  switch (problem) {
    case 'rate_limited':
      return [...again, home];
    case 'unavailable':
    case 'storage_full':
    case 'internal':
      return [...again, home, [href('status'), say('error.status')]];
    case 'stale_form':
    case 'unknown_receipt':
      return [
        visitor === null ? [href('logIn'), say('error.logIn')] : [href('account'), say('error.account')],
        home,
      ];
    case 'not_found':
    case 'not_authorized':
      return [home, [href('about'), say('error.about')]];
    default:
      return [home];
  }
}

export function errorReply(frame: Frame, problem: PageProblem): PageReply {
  const { status, title, page } = problemTexts(problem, frame.messages);
  const ways = waysFrom(frame, problem);
  // Temporary problems wait, all others are over.
  const day: DayState = status === 429 || status === 503 ? 'waiting' : 'expired';
  return pageReply(status, <MessagePage {...{ frame, title, ways, day }} lead={page} />);
}

/**
 * The words for every problem, and the error page. It repeats nothing of the request except the address of a page that
 * exists, and says so when nothing was changed.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import type { PageProblem } from '../page.ts';
import { type Frame, Page, renderPage } from './layout.tsx';
import type { Words } from './words.ts';

/** What is said about a problem: on a page of its own, or above the form that comes back. */
export interface ProblemWords {
  readonly status: number;
  readonly title: string;
  readonly page: string;
  readonly form: string;
}

/** What helps: an address and its words. */
type Way = readonly [address: string, label: MessageKey];

/** Absent `form`: a form says it as the page does. */
type ProblemKeys = Readonly<Record<'title' | 'page', MessageKey>> & {
  readonly status: number;
  readonly form?: MessageKey;
};

const malformed: ProblemKeys = { status: 400, title: 'error.malformed.title', page: 'error.malformed' };
const notFound: ProblemKeys = { status: 404, title: 'error.notFound.title', page: 'error.notFound' };
const unavailable = { status: 503, title: 'error.unavailable.title', page: 'error.unavailable' } as const;

const problemKeys: Readonly<Record<PageProblem['problem'], ProblemKeys>> = {
  malformed,
  unsupported_media_type: malformed,
  invalid_fields: malformed,
  not_found: notFound,
  // Pages know no credentials: what would need them does not exist here.
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

export function problemWords(problem: PageProblem, words: Words): ProblemWords {
  const { status, title, page, form = page } = problemKeys[problem.problem];
  const params = paramsOf(problem, words);
  return { status, title: words.say(title), page: words.say(page, params), form: words.say(form, params) };
}

function paramsOf(problem: PageProblem, { duration }: Words): MessageParams {
  if ('retryAfterSeconds' in problem) return { wait: duration(problem.retryAfterSeconds) };
  if ('capBytes' in problem) return { count: problem.capBytes };
  return 'requestId' in problem ? { id: problem.requestId } : {};
}

/** The ways on, the best first. An address that was asked for is repeated only as the address of a link to it. */
function waysFrom({ href, here, visitor }: Frame, { problem }: PageProblem): Way[] {
  const home: Way = [href('home'), 'error.home'];
  const again: Way[] = here === null ? [] : [[here, 'error.retry']];
  switch (problem) {
    case 'rate_limited':
      return [...again, home];
    case 'unavailable':
    case 'storage_full':
    case 'internal':
      return [...again, home, [href('status'), 'error.status']];
    case 'stale_form':
      return [visitor === null ? [href('logIn'), 'error.logIn'] : [href('account'), 'error.account'], home];
    case 'not_found':
    case 'not_authorized':
      return [home, [href('about'), 'error.about']];
    default:
      return [home];
  }
}

const ErrorPage: FC<{ frame: Frame; error: ProblemWords; ways: readonly Way[] }> = ({
  frame,
  error,
  ways,
}) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={error.title}>
      <h1>{error.title}</h1>
      <p class="lead">{error.page}</p>
      <div class="row">
        {ways.map(([address, label], at) => (
          <a class={at === 0 ? 'button' : 'button quiet'} href={address}>
            {say(label)}
          </a>
        ))}
      </div>
    </Page>
  );
};

/** The problem's small page, finished. */
export function renderErrorPage(frame: Frame, problem: PageProblem): { status: number; markup: string } {
  const error = problemWords(problem, frame.words);
  const page = <ErrorPage frame={frame} error={error} ways={waysFrom(frame, problem)} />;
  return { status: error.status, markup: renderPage(page) };
}

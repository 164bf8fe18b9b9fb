/**
 * Small pages for whatever the transport refuses.
 *
 * Owns: the status, the words and the ways on of each problem. Invariant: none repeats anything of the request but the
 * address of a page that exists, and each says that nothing was changed when that is so.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import type { PageProblem } from '../page-problem.ts';
import { type Frame, Page, renderPage } from './layout.tsx';
import type { Words } from './words.ts';

interface ErrorWords {
  readonly status: number;
  readonly title: MessageKey;
  readonly text: MessageKey;
  readonly params?: MessageParams;
}

/** What helps: an address and its words. */
type Way = readonly [address: string, label: MessageKey];

export function errorWords(problem: PageProblem, words: Words): ErrorWords {
  switch (problem.problem) {
    case 'malformed':
    case 'unsupported_media_type':
    case 'invalid_fields':
      return { status: 400, title: 'error.malformed.title', text: 'error.malformed' };
    case 'not_found':
    // Pages know no credentials: what would need them does not exist here.
    case 'not_authorized':
    case 'scope_missing':
      return { status: 404, title: 'error.notFound.title', text: 'error.notFound' };
    case 'method_not_allowed':
      return { status: 405, title: 'error.method.title', text: 'error.method' };
    case 'body_too_large':
      return {
        status: 413,
        title: 'error.tooLarge.title',
        text: 'error.tooLarge',
        params: { count: problem.capBytes },
      };
    case 'cross_site':
      return { status: 403, title: 'error.crossSite.title', text: 'error.crossSite' };
    case 'stale_form':
      return { status: 403, title: 'error.stale.title', text: 'error.stale' };
    case 'rate_limited': {
      const params = { wait: words.duration(problem.retryAfterSeconds) };
      return { status: 429, title: 'error.rate.title', text: 'error.rate', params };
    }
    case 'unavailable':
    case 'storage_full': {
      const params = { wait: words.duration(problem.retryAfterSeconds) };
      return { status: 503, title: 'error.unavailable.title', text: 'error.unavailable', params };
    }
    case 'internal':
      return {
        status: 500,
        title: 'error.internal.title',
        text: 'error.internal',
        params: { id: problem.requestId },
      };
  }
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

const ErrorPage: FC<{ frame: Frame; error: ErrorWords; ways: readonly Way[] }> = ({ frame, error, ways }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say(error.title)}>
      <h1>{say(error.title)}</h1>
      <p class="lead">{say(error.text, error.params)}</p>
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
  const error = errorWords(problem, frame.words);
  const page = <ErrorPage frame={frame} error={error} ways={waysFrom(frame, problem)} />;
  return { status: error.status, markup: renderPage(page) };
}

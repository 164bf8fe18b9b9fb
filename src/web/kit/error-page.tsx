/**
 * Small pages for whatever the transport refuses.
 *
 * Owns: the status, the words and the ways on of each problem. Invariant: none repeats anything of the request but the
 * address of a page that exists, and each says that nothing was changed when that is so.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import { type Frame, Page, renderPage } from '../layout.tsx';
import type { PageProblem } from '../page-problem.ts';
import type { Words } from '../words.ts';

interface Notice {
  readonly status: number;
  readonly title: MessageKey;
  readonly text: MessageKey;
  readonly params?: MessageParams;
}

/** What helps: an address and its words. */
type Way = readonly [address: string, label: MessageKey];

export function noticeFor(problem: PageProblem, words: Words): Notice {
  switch (problem.problem) {
    case 'malformed':
    case 'unsupported_media_type':
    case 'invalid_fields':
      return { status: 400, title: 'notice.malformed.title', text: 'notice.malformed' };
    case 'not_found':
    // Pages know no credentials: what would need them does not exist here.
    case 'not_authorized':
    case 'scope_missing':
      return { status: 404, title: 'notice.notFound.title', text: 'notice.notFound' };
    case 'method_not_allowed':
      return { status: 405, title: 'notice.method.title', text: 'notice.method' };
    case 'body_too_large':
      return {
        status: 413,
        title: 'notice.tooLarge.title',
        text: 'notice.tooLarge',
        params: { count: problem.capBytes },
      };
    case 'cross_site':
      return { status: 403, title: 'notice.crossSite.title', text: 'notice.crossSite' };
    case 'stale_form':
      return { status: 403, title: 'notice.stale.title', text: 'notice.stale' };
    case 'rate_limited': {
      const params = { wait: words.duration(problem.retryAfterSeconds) };
      return { status: 429, title: 'notice.rate.title', text: 'notice.rate', params };
    }
    case 'unavailable':
    case 'storage_full': {
      const params = { wait: words.duration(problem.retryAfterSeconds) };
      return { status: 503, title: 'notice.unavailable.title', text: 'notice.unavailable', params };
    }
    case 'internal':
      return {
        status: 500,
        title: 'notice.internal.title',
        text: 'notice.internal',
        params: { id: problem.requestId },
      };
  }
}

/** The ways on, the best first. An address that was asked for is repeated only as the address of a link to it. */
function waysFrom({ href, here, visitor }: Frame, { problem }: PageProblem): Way[] {
  const home: Way = [href('home'), 'notice.home'];
  const again: Way[] = here === null ? [] : [[here, 'notice.retry']];
  switch (problem) {
    case 'rate_limited':
      return [...again, home];
    case 'unavailable':
    case 'storage_full':
    case 'internal':
      return [...again, home, [href('status'), 'notice.status']];
    case 'stale_form':
      return [visitor === null ? [href('logIn'), 'notice.logIn'] : [href('account'), 'notice.account'], home];
    case 'not_found':
    case 'not_authorized':
      return [home, [href('about'), 'notice.about']];
    default:
      return [home];
  }
}

const NoticePage: FC<{ frame: Frame; notice: Notice; ways: readonly Way[] }> = ({ frame, notice, ways }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say(notice.title)}>
      <h1>{say(notice.title)}</h1>
      <p class="lead">{say(notice.text, notice.params)}</p>
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
export function renderNotice(frame: Frame, problem: PageProblem): { status: number; markup: string } {
  const notice = noticeFor(problem, frame.words);
  const page = <NoticePage frame={frame} notice={notice} ways={waysFrom(frame, problem)} />;
  return { status: notice.status, markup: renderPage(page) };
}

/**
 * Small pages for whatever the transport refuses.
 *
 * Owns: the status and the words of each problem. Invariant: none repeats anything of the request, and each says that
 * nothing was changed when that is so.
 */
import type { FC } from 'hono/jsx';
import type { Problem } from '../../http/problem.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import { type Frame, Page, renderPage } from '../layout.tsx';
import type { Words } from '../words.ts';

interface Notice {
  readonly status: number;
  readonly title: MessageKey;
  readonly text: MessageKey;
  readonly params?: MessageParams;
}

export function noticeFor(problem: Problem, words: Words): Notice {
  switch (problem.problem) {
    case 'malformed':
    case 'unsupported_media_type':
    case 'invalid_fields':
      return { status: 400, title: 'notice.malformed.title', text: 'notice.malformed' };
    case 'not_found':
    // Pages know no credentials: what would need them does not exist here.
    case 'not_authorized':
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

const NoticePage: FC<{ frame: Frame; notice: Notice }> = ({ frame, notice }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say(notice.title)}>
      <h1>{say(notice.title)}</h1>
      <p class="lead">{say(notice.text, notice.params)}</p>
      <p>
        <a href={frame.href('home')}>{say('notice.home')}</a>
      </p>
    </Page>
  );
};

/** The problem's small page, finished. */
export function renderNotice(frame: Frame, problem: Problem): { status: number; markup: string } {
  const notice = noticeFor(problem, frame.words);
  return { status: notice.status, markup: renderPage(<NoticePage frame={frame} notice={notice} />) };
}

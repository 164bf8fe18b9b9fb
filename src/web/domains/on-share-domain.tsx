/**
 * What a share domain does not serve itself. Account pages are never shown, nor their forms accepted, on a host that
 * belongs to somebody else; redirects to the site come from the configuration (P20). Secret links open on every share
 * domain, even where only the owner may share.
 */
import { domainToUnicode } from 'node:url';
import type { FC } from 'hono/jsx';
import type { BrandedDomain } from '../../core/share-domains/service.ts';
import { RequestProblem } from '../../http/problem.ts';
import { type Frame, renderPage } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { type PageReply, type PageRoute, pageReply, seeOther } from '../kit/page.ts';

interface Visit {
  readonly site: { readonly origin: string };
  readonly call: { readonly request: Request; readonly path: string; readonly rawQuery: string };
  readonly frame: Frame;
}

/** `null` if the route answers itself. @throws RequestProblem `not_found` for what a share domain does not have. */
export function answerOnShareDomain({ site, call, frame }: Visit, route: PageRoute): PageReply | null {
  if (frame.domain === null) return null;
  const isPost = call.request.method === 'POST';
  if (route.onSiteOnly === true) {
    if (isPost) throw new RequestProblem({ problem: 'not_found' });
    const query = call.rawQuery === '' ? '' : `?${call.rawQuery}`;
    return seeOther(site.origin + call.path + query);
  }
  const isClosed = route.isSharing === true && !frame.domain.brand.isPublic;
  if (!isClosed || (!isPost && route.name !== 'home')) return null;
  const page = <DomainClosedPage frame={frame} domain={frame.domain} />;
  return pageReply(isPost ? 403 : 200, renderPage(page));
}

/** Names the domain as it is registered, never as the request spells it (P20). */
const DomainClosedPage: FC<{ frame: Frame; domain: BrandedDomain }> = ({ frame, domain }) => {
  const { say } = frame.words;
  // Isolated, so that the name keeps its order in a right-to-left text.
  const name = `\u2068${domainToUnicode(domain.name)}\u2069`;
  return (
    <MessagePage
      frame={frame}
      title={say('domainClosed.title')}
      lead={say('domainClosed.lead', { domain: name })}
    >
      <h2>{say('domainClosed.next')}</h2>
      <ul class="points">
        <li>{say('domainClosed.open')}</li>
        <li>{say('domainClosed.ask')}</li>
      </ul>
    </MessagePage>
  );
};

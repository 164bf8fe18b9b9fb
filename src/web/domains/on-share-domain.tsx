/**
 * What a share domain does not serve itself.
 *
 * Owns: the ways from there to the site, and the word that only the owner shares there. Invariants: no page of accounts is
 * shown on a host that is somebody else's, and no form of one is taken there; the addresses that lead to the site come
 * from the configuration (P20); a link to a secret opens on every share domain, whoever may share there.
 */
import { RequestProblem } from '../../http/problem.ts';
import { type Frame, renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRoute, pageReply, seeOther } from '../page.ts';
import { DomainClosedPage } from './closed-page.tsx';

interface Visit {
  readonly site: { readonly origin: string };
  readonly call: { readonly request: Request; readonly path: string; readonly rawQuery: string };
  readonly frame: Frame;
}

/** `null`: the route answers itself. Throws `RequestProblem` where there is nothing to answer. */
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

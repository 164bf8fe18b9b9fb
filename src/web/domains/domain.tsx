/**
 * One share domain of an account: its state, its check and its end.
 *
 * Owns: these pages. Invariants: the DNS is asked only when a person presses for it; a domain is removed by a POST alone,
 * after a page that asks; another account's domain is as unknown as one that does not exist.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import { forAccount } from '../account/for-account.ts';
import { type FormRefusal, refuseForm } from '../account/form-refusal.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { DomainPage, domainNews } from './domain-page.tsx';
import { RemoveDomainPage } from './domain-remove.tsx';

export interface DomainDeps {
  readonly domains: Pick<
    DomainService,
    'list' | 'maxDomains' | 'add' | 'find' | 'verify' | 'remove' | 'setBrand' | 'setLogo'
  >;
}

export function createOneDomainPages(deps: DomainDeps): PageRoute[] {
  return [
    { name: 'domain', get: forAccount((request, signedIn) => showDomain(request, signedIn, deps, null)) },
    {
      name: 'verifyDomain',
      get: forAccount(({ frame, key }) => seeOther(frame.href('domain', key))),
      post: forAccount(
        (request, signedIn) => verify(request, signedIn, deps),
        (request, signedIn, refusal) => showDomain(request, signedIn, deps, refusal),
      ),
    },
    {
      name: 'removeDomain',
      get: forAccount((request, signedIn) => askToRemove(request, signedIn, deps)),
      post: forAccount((request, signedIn) => remove(request, signedIn, deps)),
    },
  ];
}

function toList({ frame }: PageRequest, news: 'removed' | 'gone'): PageReply {
  return seeOther(`${frame.href('domains')}?done=${news}`);
}

async function showDomain(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { frame, key, query } = request;
  const found = await domains.find(caller, key);
  if (found.outcome === 'unknown') return toList(request, 'gone');
  const news = domainNews.find((each) => each === query.get('done')) ?? null;
  const page = <DomainPage frame={frame} domain={found.domain} refusal={refusal} news={news} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function verify(request: PageRequest, signedIn: SignedIn, deps: DomainDeps): Promise<PageReply> {
  const { frame, key } = request;
  const outcome = await deps.domains.verify(signedIn.caller, key);
  switch (outcome.outcome) {
    case 'checked':
      return seeOther(`${frame.href('domain', outcome.domain.name)}?done=checked`);
    case 'taken':
      return showDomain(request, signedIn, deps, refuseForm(frame.words.say('domains.taken'), 409));
    case 'unknown':
      return toList(request, 'gone');
  }
}

async function askToRemove(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
): Promise<PageReply> {
  const found = await domains.find(caller, request.key);
  if (found.outcome === 'unknown') return toList(request, 'gone');
  return pageReply(200, renderPage(<RemoveDomainPage frame={request.frame} domain={found.domain} />));
}

async function remove(
  request: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
): Promise<PageReply> {
  const { outcome } = await domains.remove(caller, request.key);
  return toList(request, outcome === 'removed' ? 'removed' : 'gone');
}

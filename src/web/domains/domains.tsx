/**
 * Share domains of an account.
 *
 * Owns: their list and the form that adds one. Invariant: nothing is done to a domain but through its own account; what
 * was typed comes back with what is wrong with it.
 */

import type { AccountCaller, SignedIn } from '../../core/accounts/accounts.ts';
import { ServiceError } from '../../core/errors.ts';
import type { AddDomainOutcome, DomainService } from '../../core/share-domains/service.ts';
import type { DomainNameProblem } from '../../core/share-domains/share-domains.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { forAccount } from '../account/for-account.ts';
import { type FormRefusal, refuseField, refuseForm } from '../account/form-refusal.ts';
import { renderPage } from '../kit/layout.tsx';
import type { Words } from '../kit/words.ts';
import { type PageReply, type PageRequest, type PageRoute, pageReply, seeOther } from '../page.ts';
import { createBrandPages } from './brand.tsx';
import { createOneDomainPages, type DomainDeps } from './domain.tsx';
import { DomainsPage, domainsNews } from './domains-page.tsx';

export function createDomainPages(deps: DomainDeps): PageRoute[] {
  return [
    {
      name: 'domains',
      get: forAccount((request, signedIn) => showDomains(request, signedIn, deps, '', null)),
      post: forAccount(
        (request, signedIn) => add(request, signedIn, deps),
        async (request, signedIn, refusal) =>
          showDomains(request, signedIn, deps, (await request.form()).text('domain'), refusal),
      ),
    },
    ...createOneDomainPages(deps),
    ...createBrandPages(deps),
  ];
}

/** Whether the account has anything to do with share domains. Without the store only its plan says so. */
export async function mayHaveDomains(
  domains: Pick<DomainService, 'list' | 'maxDomains'>,
  caller: AccountCaller,
): Promise<boolean> {
  return domains.maxDomains(caller) > 0 || (await listOrNone(domains, caller)).length > 0;
}

/** Without the store a form does without the list rather than being lost. */
async function listOrNone(domains: Pick<DomainService, 'list'>, caller: AccountCaller) {
  try {
    return await domains.list(caller);
  } catch (error) {
    if (error instanceof ServiceError) return [];
    throw error;
  }
}

async function showDomains(
  { frame, query }: PageRequest,
  { caller }: SignedIn,
  { domains }: DomainDeps,
  typed: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const list = refusal === null ? await domains.list(caller) : await listOrNone(domains, caller);
  const max = domains.maxDomains(caller);
  const news = domainsNews.find((each) => each === query.get('done')) ?? null;
  const page = <DomainsPage {...{ frame, domains: list, max, typed, refusal, news }} />;
  return pageReply(refusal?.status ?? 200, renderPage(page));
}

async function add(request: PageRequest, signedIn: SignedIn, deps: DomainDeps): Promise<PageReply> {
  const { frame } = request;
  const typed = (await request.form()).text('domain');
  const outcome = await deps.domains.add(signedIn.caller, typed.trim());
  if (outcome.outcome === 'added') return seeOther(`${frame.href('domain', outcome.domain.name)}?done=added`);
  return showDomains(request, signedIn, deps, typed, refusalOf(outcome, frame.words));
}

const nameProblems: Readonly<Record<DomainNameProblem, MessageKey>> = {
  missing: 'domains.nameMissing',
  malformed: 'domains.nameMalformed',
  ip_address: 'domains.nameIsAddress',
  not_public: 'domains.nameNotPublic',
  public_suffix: 'domains.nameIsSuffix',
  own_host: 'domains.nameIsOurs',
};

function refusalOf(refused: Exclude<AddDomainOutcome, { outcome: 'added' }>, { say }: Words): FormRefusal {
  switch (refused.outcome) {
    case 'invalid_domain':
      return refuseField('domain', say(nameProblems[refused.problem]));
    case 'exists':
      return refuseField('domain', say('domains.exists'), 409);
    case 'taken':
      return refuseField('domain', say('domains.taken'), 409);
    case 'too_many':
      return refuseForm(say('domains.tooMany', { count: refused.max }), 409);
    case 'plan_required':
      return refuseForm(say('domains.planRequired'), 403);
  }
}

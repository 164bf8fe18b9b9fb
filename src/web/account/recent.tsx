/**
 * What an account has shared.
 *
 * Owns: the list by state and page. Invariants: only the account's own receipts are listed, never a value or the key of a
 * secret (P16); looking changes nothing.
 */
import type { SignedIn } from '../../core/accounts/accounts.ts';
import type { RecentOutcome } from '../../core/secrets/outcomes.ts';
import type { ReceiptState } from '../../core/secrets/secret.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../page.ts';
import { forAccount } from './for-account.ts';
import { RecentPage, type RecentState, recentStates } from './recent-page.tsx';

export interface RecentDeps {
  readonly service: Pick<SecretService, 'recent'>;
}

const pageLength = 50;

const statesOf: Readonly<Record<RecentState, readonly ReceiptState[]>> = {
  waiting: ['new', 'viewed'],
  opened: ['received'],
  burned: ['burned'],
  expired: ['expired'],
};

export function createRecentPages({ service }: RecentDeps): PageRoute[] {
  return [{ name: 'recent', get: forAccount((request, signedIn) => showRecent(request, signedIn, service)) }];
}

/** A part of the list that cannot be found, because its address was changed, is answered with the newest. */
async function showRecent(
  { frame, query }: PageRequest,
  { caller }: SignedIn,
  service: RecentDeps['service'],
): Promise<PageReply> {
  const state = recentStates.find((each) => each === query.get('state')) ?? null;
  const cursor = query.get('cursor') ?? '';
  const input = { limit: pageLength, cursor: null, states: state === null ? null : statesOf[state] };
  const asked: RecentOutcome = await service.recent(
    { ...input, cursor: cursor === '' ? null : cursor },
    caller,
  );
  const cursorIsBad = asked.outcome === 'invalid_cursor';
  const found = cursorIsBad ? await service.recent(input, caller) : asked;
  const list = found.outcome === 'listed' ? found : { receipts: [], nextCursor: null };
  const page = (
    <RecentPage
      frame={frame}
      receipts={list.receipts}
      nextCursor={list.nextCursor}
      state={state}
      isLater={cursor !== '' && !cursorIsBad}
      cursorIsBad={cursorIsBad}
    />
  );
  return pageReply(200, renderPage(page));
}

/**
 * What an account has shared, newest first: its own receipts only, without values, keys of secrets or plain
 * recipients (P16).
 */
import type { FC } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import type { ReceiptState } from '../../core/secret.ts';
import type { ReceiptView, RecentOutcome } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { forAccount, PageHead } from '../kit/form-page.tsx';
import { type Frame, Page, renderPage } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../kit/page.ts';
import { Badge, type BadgeKind, type IconName, ShortTime, Table } from '../kit/parts.tsx';
import type { AccountPageDeps } from './form.tsx';

const pageLength = 50;

export function createRecentPages(deps: AccountPageDeps): PageRoute[] {
  return [{ name: 'recent', get: forAccount((request, signedIn) => showRecent(request, signedIn, deps)) }];
}

/** The filters, as the address names them. */
const recentStates = ['waiting', 'opened', 'burned', 'expired'] as const;
type RecentState = (typeof recentStates)[number];

interface Filter {
  readonly label: MessageKey;
  readonly none: MessageKey;
  readonly kind: BadgeKind;
  readonly icon: IconName;
}

const filters: Readonly<Record<RecentState, Filter>> = {
  waiting: { label: 'recent.waiting', none: 'recent.noneWaiting', kind: 'waiting', icon: 'clock' },
  opened: { label: 'recent.opened', none: 'recent.noneOpened', kind: 'good', icon: 'check' },
  burned: { label: 'recent.burned', none: 'recent.noneBurned', kind: 'bad', icon: 'flame' },
  expired: { label: 'recent.expired', none: 'recent.noneExpired', kind: 'plain', icon: 'x' },
};

const filterOf: Readonly<Record<ReceiptState, RecentState>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

function statesIn(filter: RecentState): ReceiptState[] {
  return (Object.keys(filterOf) as ReceiptState[]).filter((state) => filterOf[state] === filter);
}

interface RecentProps {
  readonly frame: Frame;
  readonly receipts: readonly ReceiptView[];
  readonly nextCursor: string | null;
  /** The filter; `null` for all. */
  readonly state: RecentState | null;
  /** Whether this is not the first page. */
  readonly isLater: boolean;
  readonly cursorIsBad: boolean;
}

const RecentPage: FC<RecentProps> = (props) => {
  const { frame, receipts, nextCursor, state, isLater, cursorIsBad } = props;
  const { say } = frame.words;
  const isEmpty = receipts.length === 0 && nextCursor === null;
  const isUntouched = isEmpty && state === null && !isLater;
  return (
    <Page frame={frame} title={say('recent.title')} scripts={['time']}>
      <div class="wide">
        <PageHead
          frame={frame}
          title={say('recent.title')}
          lead={say('recent.lead')}
          done={cursorIsBad ? [say('recent.badCursor')] : []}
        />
        {isUntouched ? null : <FilterNav frame={frame} state={state} />}
        {isEmpty ? <Nothing {...props} /> : null}
        {receipts.length === 0 ? null : <List frame={frame} receipts={receipts} />}
        <Paging {...props} />
        {isUntouched ? null : <p class="hint">{say('recent.kept')}</p>}
        <p class="hint">{say('recent.shorter')}</p>
      </div>
    </Page>
  );
};

function addressOf({ href }: Frame, state: RecentState | null, cursor: string | null): string {
  const query = new URLSearchParams();
  if (state !== null) query.set('state', state);
  if (cursor !== null) query.set('cursor', cursor);
  return query.size === 0 ? href('recent') : `${href('recent')}?${query}`;
}

const FilterNav: FC<Pick<RecentProps, 'frame' | 'state'>> = ({ frame, state }) => {
  const { say } = frame.words;
  return (
    <nav class="filter" aria-label={say('recent.filter')}>
      {[null, ...recentStates].map((each) => (
        <a href={addressOf(frame, each, null)} aria-current={each === state ? 'page' : undefined}>
          {each === null ? say('recent.all') : say(filters[each].label)}
        </a>
      ))}
    </nav>
  );
};

const Nothing: FC<RecentProps> = ({ frame, state, isLater }) => {
  const { say } = frame.words;
  if (isLater) return <p>{say('recent.endOfList')}</p>;
  if (state !== null) {
    return (
      <p>
        {say(filters[state].none)} <a href={frame.href('recent')}>{say('recent.showAll')}</a>
      </p>
    );
  }
  return (
    <div class="sheet">
      <h2>{say('recent.emptyTitle')}</h2>
      <p>{say('recent.empty')}</p>
      <p>
        <a class="button" href={frame.href('home')}>
          {say('recent.share')}
        </a>
      </p>
    </div>
  );
};

const List: FC<Pick<RecentProps, 'frame' | 'receipts'>> = ({ frame, receipts }) => {
  const { say } = frame.words;
  return (
    <Table
      caption={say('recent.title')}
      captionIsHidden
      columns={[
        say('recent.created'),
        say('recent.state'),
        say('recent.recipient'),
        say('recent.left'),
        say('recent.passphrase'),
        '',
      ]}
      rows={receipts.map((receipt, at) => rowOf(frame, receipt, at))}
    />
  );
};

function rowOf({ words, href }: Frame, receipt: ReceiptView, at: number) {
  const { say, duration } = words;
  const look = filters[filterOf[receipt.state]];
  const { recipient, secretTtlSeconds, hasPassphrase, metadataKey, memo } = receipt;
  return [
    <>
      <ShortTime words={words} at={receipt.createdAt} id={`created-${at}`} />
      {memo === '' ? null : (
        <bdi class="row-label" id={`label-${at}`}>
          {memo}
        </bdi>
      )}
    </>,
    <Badge kind={look.kind} icon={look.icon}>
      {say(look.label)}
    </Badge>,
    recipient === null ? say('recent.noRecipient') : <bdi>{recipient}</bdi>,
    secretTtlSeconds === null ? say('recent.noneLeft') : duration(secretTtlSeconds),
    say(hasPassphrase ? 'recent.withPassphrase' : 'recent.withoutPassphrase'),
    <a
      href={href('receipt', metadataKey)}
      id={`receipt-${at}`}
      aria-labelledby={`receipt-${at} created-${at}${memo === '' ? '' : ` label-${at}`}`}
    >
      {say('recent.openReceipt')}
    </a>,
  ];
}

const Paging: FC<RecentProps> = ({ frame, state, nextCursor, isLater }) => {
  const { say } = frame.words;
  if (nextCursor === null && !isLater) return null;
  return (
    <div class="row">
      {isLater ? (
        <a class="button quiet" href={addressOf(frame, state, null)}>
          {say('recent.newest')}
        </a>
      ) : null}
      {nextCursor === null ? null : (
        <a class="button quiet" rel="next" href={addressOf(frame, state, nextCursor)}>
          {say('recent.older')}
        </a>
      )}
    </div>
  );
};

/** A cursor that was tampered with gets the newest page. */
async function showRecent(
  { frame, query }: PageRequest,
  { caller }: SignedIn,
  { service }: AccountPageDeps,
): Promise<PageReply> {
  const state = recentStates.find((each) => each === query.get('state')) ?? null;
  const cursor = query.get('cursor') ?? '';
  const input = { limit: pageLength, cursor: null, states: state === null ? null : statesIn(state) };
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

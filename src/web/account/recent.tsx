/** An account's own secrets, newest first, without values or full recipient addresses, and with only six characters of each key (P16). */
import type { Child, FC } from 'hono/jsx';
import type { SignedIn } from '../../core/account.ts';
import type { ReceiptView, RecentOutcome } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { DeliveryState, ReceiptState } from '../../protocol/vocabulary.ts';
import { Day } from '../kit/day.tsx';
import { forAccount, PageHead } from '../kit/form-page.tsx';
import { Actions, Item, Items } from '../kit/items.tsx';
import type { Messages } from '../kit/language.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { type PageReply, type PageRequest, type PageRoute, pageReply } from '../kit/page.ts';
import { Ago, Dated, Icon } from '../kit/parts.tsx';
import { isBurnedByRecipient } from '../secrets/receipt-life.ts';
import type { AccountPageDeps } from './form.tsx';

const pageLength = 50;

export function createRecentPages(deps: AccountPageDeps): PageRoute[] {
  return [{ name: 'recent', get: forAccount((request, signedIn) => showRecent(request, signedIn, deps)) }];
}

const recentStates = ['waiting', 'opened', 'burned', 'expired'] as const;
type RecentState = (typeof recentStates)[number];

const filters: Readonly<Record<RecentState, Readonly<Record<'label' | 'none', MessageKey>>>> = {
  waiting: { label: 'recent.waiting', none: 'recent.noneWaiting' },
  opened: { label: 'recent.opened', none: 'recent.noneOpened' },
  burned: { label: 'recent.burned', none: 'recent.noneBurned' },
  expired: { label: 'recent.expired', none: 'recent.noneExpired' },
};

const filterOf: Readonly<Record<ReceiptState, RecentState>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

export const waitingStates = statesIn('waiting');

function statesIn(filter: RecentState): ReceiptState[] {
  return (Object.keys(filterOf) as ReceiptState[]).filter((state) => filterOf[state] === filter);
}

interface RecentProps {
  readonly frame: Frame;
  readonly receipts: readonly ReceiptView[];
  readonly nextCursor: string | null;
  readonly state: RecentState | null;
  readonly isLater: boolean;
  readonly cursorIsBad: boolean;
}

const RecentPage: FC<RecentProps> = (props) => {
  const { frame, receipts, nextCursor, state, isLater, cursorIsBad } = props;
  const { say } = frame.messages;
  const isEmpty = receipts.length === 0 && nextCursor === null;
  const isUntouched = isEmpty && state === null && !isLater;
  return (
    <Page frame={frame} title={say('recent.title')} scripts={['time', 'account']} styles={['account']}>
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
      <details class="missing">
        <summary>{say('recent.missing')}</summary>
        <p>{say('recent.kept')}</p>
        <p>{say('recent.shorter')}</p>
      </details>
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
  const { say } = frame.messages;
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
  const { say } = frame.messages;
  if (isLater) return <p>{say('recent.endOfList')}</p>;
  if (state !== null) {
    return (
      <p>
        {say(filters[state].none)} <a href={frame.href('recent')}>{say('recent.showAll')}</a>
      </p>
    );
  }
  return (
    <div class="sheet nothing">
      <Day state="waiting" part={0.7} />
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

const List: FC<Pick<RecentProps, 'frame' | 'receipts'>> = ({ frame, receipts }) => (
  <Items label={frame.messages.say('recent.title')} isDense>
    {receipts.map((receipt, at) => (
      <Row frame={frame} receipt={receipt} at={at} />
    ))}
  </Items>
);

interface RowProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly at: number;
}

const Row: FC<RowProps> = (props) => {
  const { frame, receipt, at } = props;
  const { state, secretTtlSeconds, ttlSeconds, hasPassphrase, metadataKey } = receipt;
  const id = `receipt-${at}`;
  return (
    <Item
      picture={<Day state={filterOf[state]} part={(secretTtlSeconds ?? 0) / ttlSeconds} />}
      name={
        <>
          <a class="item-link" href={frame.href('receipt', metadataKey)} id={id} dir="auto">
            <Name {...props} />
          </a>
          {hasPassphrase ? <PassphraseMark frame={frame} /> : null}
        </>
      }
      notes={[notesOf(props)]}
      actions={filterOf[state] === 'waiting' ? <RowActions {...props} /> : null}
    />
  );
};

/** Tells the rows apart: by the label, the recipient, or the start of the link's key. */
const Name: FC<RowProps> = ({ frame: { messages }, receipt: { memo, recipient, secretShortkey } }) => {
  if (memo !== '') return <>{memo}</>;
  if (recipient !== null) return <>{messages.say('recent.to', { recipient: messages.code(recipient) })}</>;
  return (
    <>
      {messages.say('recent.untitled')}
      {secretShortkey === '' ? null : (
        <>
          {' '}
          <span class="item-aside">
            {messages.say('recent.code', { code: messages.code(secretShortkey) })}
          </span>
        </>
      )}
    </>
  );
};

const PassphraseMark: FC<Pick<RowProps, 'frame'>> = ({ frame: { messages } }) => (
  <span class="item-aside">
    <Icon name="lock" />
    <span class="visually-hidden">{messages.say('recent.withPassphrase')}</span>
  </span>
);

const undelivered: ReadonlySet<DeliveryState> = new Set(['refused', 'given_up', 'not_sent']);

/** Puts the state first, because a narrow screen cuts off the end. */
function notesOf({ frame: { messages }, receipt }: RowProps): Child[] {
  const { say } = messages;
  const { memo, recipient, state, delivery } = receipt;
  const isWaiting = filterOf[state] === 'waiting';
  const isUndelivered = isWaiting && delivery !== null && undelivered.has(delivery.state);
  return [
    <Fate messages={messages} receipt={receipt} />,
    ...(isUndelivered ? [<span class="fate-burned">{say('recent.notDelivered')}</span>] : []),
    ...(isWaiting
      ? [<Dated messages={messages} say="recent.createdAt" at={receipt.createdAt} as={Ago} />]
      : []),
    ...(memo === '' || recipient === null
      ? []
      : [<bdi>{say('recent.to', { recipient: messages.code(recipient) })}</bdi>]),
  ];
}

const Fate: FC<{ messages: Messages; receipt: ReceiptView }> = ({ messages, receipt }) => {
  const { state, createdAt, ttlSeconds, secretTtlSeconds, receivedAt, burnedAt, updatedAt } = receipt;
  const fate = filterOf[state];
  const expiresAt = createdAt + ttlSeconds;
  const burned = isBurnedByRecipient(receipt) ? 'recent.burnedByRecipientAt' : 'recent.burnedAt';
  const shown = {
    waiting: <Dated messages={messages} say="recent.timeLeft" at={expiresAt} left={secretTtlSeconds ?? 0} />,
    opened: <Dated messages={messages} say="recent.openedAt" at={receivedAt ?? updatedAt} as={Ago} />,
    burned: <Dated messages={messages} say={burned} at={burnedAt ?? updatedAt} as={Ago} />,
    expired: <Dated messages={messages} say="recent.expiredAt" at={expiresAt} as={Ago} />,
  };
  return (
    <span class={`fate-${fate}`}>
      {fate === 'waiting' ? <span class="fate-word">{messages.say('recent.waiting')} · </span> : null}
      {shown[fate]}
    </span>
  );
};

const RowActions: FC<RowProps> = ({ frame: { messages, href }, receipt, at }) => {
  const { say } = messages;
  const { metadataKey, recipient, sealed } = receipt;
  const maySendAgain = recipient !== null && !sealed;
  return (
    <Actions id={`actions-${at}`} label={say('recent.actions')} of={`receipt-${at}`}>
      <li>
        <a class="more-link" href={href('receipt', metadataKey)}>
          <Icon name="clock" />
          {say('recent.openReceipt')}
        </a>
      </li>
      {maySendAgain ? (
        <li>
          <a class="more-link" href={`${href('receipt', metadataKey)}#delivery`}>
            <Icon name="mail" />
            {say('recent.sendAgain')}
          </a>
        </li>
      ) : null}
      <li>
        <a class="more-link losing" href={href('burn', metadataKey)}>
          <Icon name="flame" />
          {say('recent.burn')}
        </a>
      </li>
    </Actions>
  );
};

const Paging: FC<RecentProps> = ({ frame, state, nextCursor, isLater }) => {
  const { say } = frame.messages;
  if (nextCursor === null && !isLater) return null;
  return (
    <div class="row paging">
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

/** Shows the newest page if the cursor was tampered with. */
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
  return pageReply(200, page);
}

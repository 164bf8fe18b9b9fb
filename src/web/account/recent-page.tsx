/**
 * What an account has shared, newest first.
 *
 * Owns: the list, its filter and its pages. Invariants: no value, no key of a secret and no plain recipient is in it; an
 * empty list says why it may be.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { ReceiptState } from '../../core/secrets/secret.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Badge, type BadgeKind, type IconName, ShortTime, Table } from '../kit/parts.tsx';

/** What the list can be narrowed to, as its address names it. */
export const recentStates = ['waiting', 'opened', 'burned', 'expired'] as const;
export type RecentState = (typeof recentStates)[number];

interface StateLook {
  readonly label: MessageKey;
  readonly none: MessageKey;
  readonly kind: BadgeKind;
  readonly icon: IconName;
}

const looks: Readonly<Record<RecentState, StateLook>> = {
  waiting: { label: 'recent.waiting', none: 'recent.noneWaiting', kind: 'waiting', icon: 'clock' },
  opened: { label: 'recent.opened', none: 'recent.noneOpened', kind: 'good', icon: 'check' },
  burned: { label: 'recent.burned', none: 'recent.noneBurned', kind: 'bad', icon: 'flame' },
  expired: { label: 'recent.expired', none: 'recent.noneExpired', kind: 'plain', icon: 'x' },
};

const stateOf: Readonly<Record<ReceiptState, RecentState>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

export interface RecentProps {
  readonly frame: Frame;
  readonly receipts: readonly ReceiptView[];
  readonly nextCursor: string | null;
  /** `null`: all. */
  readonly state: RecentState | null;
  /** Whether this is not the first page. */
  readonly isLater: boolean;
  readonly cursorIsBad: boolean;
}

export const RecentPage: FC<RecentProps> = (props) => {
  const { frame, receipts, nextCursor, state, isLater, cursorIsBad } = props;
  const { say } = frame.words;
  const isEmpty = receipts.length === 0 && nextCursor === null;
  const isUntouched = isEmpty && state === null && !isLater;
  return (
    <Page frame={frame} title={say('recent.title')} scripts={['time']}>
      <div class="wide">
        <h1>{say('recent.title')}</h1>
        <p class="lead">{say('recent.lead')}</p>
        {cursorIsBad ? (
          <div class="note" role="status">
            <p>{say('recent.badCursor')}</p>
          </div>
        ) : null}
        {isUntouched ? null : <Filter frame={frame} state={state} />}
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

const Filter: FC<Pick<RecentProps, 'frame' | 'state'>> = ({ frame, state }) => {
  const { say } = frame.words;
  return (
    <nav class="filter" aria-label={say('recent.filter')}>
      {[null, ...recentStates].map((each) => (
        <a href={addressOf(frame, each, null)} aria-current={each === state ? 'page' : undefined}>
          {each === null ? say('recent.all') : say(looks[each].label)}
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
        {say(looks[state].none)} <a href={frame.href('recent')}>{say('recent.showAll')}</a>
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
  const look = looks[stateOf[receipt.state]];
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

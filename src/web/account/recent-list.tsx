/** The rows of an account's list of secrets: without values or full recipient addresses, and with only six characters of each key (P16). */
import type { Child, FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { UnixSeconds } from '../../core/time.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { DeliveryState, ReceiptState } from '../../protocol/vocabulary.ts';
import { Day } from '../kit/day.tsx';
import { Actions, Item } from '../kit/items.tsx';
import type { Messages } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import type { PageRequest } from '../kit/page.ts';
import { Ago, Dated, Icon, type IconName } from '../kit/parts.tsx';
import { isBurnedByRecipient } from '../secrets/receipt-life.ts';

export const pageLength = 50;

export const recentStates = ['waiting', 'opened', 'burned', 'expired'] as const;
export type RecentState = (typeof recentStates)[number];

export const filters: Readonly<
  Record<RecentState, Readonly<Record<'label' | 'means' | 'none', MessageKey>>>
> = {
  waiting: { label: 'recent.waiting', means: 'recent.meansWaiting', none: 'recent.noneWaiting' },
  opened: { label: 'recent.opened', means: 'recent.meansOpened', none: 'recent.noneOpened' },
  burned: { label: 'recent.burned', means: 'recent.meansBurned', none: 'recent.noneBurned' },
  expired: { label: 'recent.expired', means: 'recent.meansExpired', none: 'recent.noneExpired' },
};

const filterOf: Readonly<Record<ReceiptState, RecentState>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

export const waitingStates = statesIn('waiting');

export function statesIn(filter: RecentState): ReceiptState[] {
  return (Object.keys(filterOf) as ReceiptState[]).filter((state) => filterOf[state] === filter);
}

export const isWaiting = ({ state }: ReceiptView) => filterOf[state] === 'waiting';

/** What the list is narrowed to. */
export interface Narrowed {
  readonly state: RecentState | null;
  /** When it was created, as a notice says it. */
  readonly at: UnixSeconds | null;
}

export function narrowedIn({ query }: Pick<PageRequest, 'query'>): Narrowed {
  const at = query.get('at') ?? '';
  return {
    state: recentStates.find((each) => each === query.get('state')) ?? null,
    at: /^[0-9]{1,11}$/.test(at) ? Number(at) : null,
  };
}

type Address = Partial<Narrowed> & { readonly cursor?: string; readonly done?: string };

export function addressOf({ href }: Frame, address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== null);
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  return query.size === 0 ? href('recent') : `${href('recent')}?${query}`;
}

/** The tick box of a row, in the order of the page. */
export const selectedName = (at: number) => `selected-${at}`;

interface RowProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly at: number;
  /** Whether it has a tick box and a menu. */
  readonly mayAct?: boolean;
  /** Why it was not done. */
  readonly why?: string | null;
}

export const Row: FC<RowProps> = (props) => {
  const { frame, receipt, at, mayAct = false, why = null } = props;
  const { state, secretTtlSeconds, ttlSeconds, hasPassphrase, metadataKey } = receipt;
  const id = `receipt-${at}`;
  return (
    <Item
      picture={
        <>
          {mayAct && isWaiting(receipt) ? (
            <label class="pick">
              <input type="checkbox" name={selectedName(at)} value={metadataKey} aria-labelledby={id} />
            </label>
          ) : null}
          <Day state={filterOf[state]} part={(secretTtlSeconds ?? 0) / ttlSeconds} isSmall />
        </>
      }
      name={
        <>
          <a class="item-link" href={frame.href('receipt', metadataKey)} id={id} dir="auto">
            <Name {...props} />
          </a>
          {hasPassphrase ? (
            <span class="item-aside">
              <Icon name="lock" />
              <span class="visually-hidden">{frame.say('recent.withPassphrase')}</span>
            </span>
          ) : null}
        </>
      }
      notes={[...(why === null ? [] : [[why]]), notesOf(props)]}
      actions={mayAct ? <RowActions {...props} /> : null}
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

const undelivered: ReadonlySet<DeliveryState> = new Set(['refused', 'given_up', 'not_sent']);

/** Puts the state first, because a narrow screen cuts off the end. */
function notesOf({ frame: { messages }, receipt }: RowProps): Child[] {
  const { say } = messages;
  const { memo, recipient, delivery } = receipt;
  const waits = isWaiting(receipt);
  const isUndelivered = waits && delivery !== null && undelivered.has(delivery.state);
  return [
    <Fate messages={messages} receipt={receipt} />,
    ...(isUndelivered ? [<span class="fate-burned">{say('recent.notDelivered')}</span>] : []),
    ...(waits ? [<Dated messages={messages} say="recent.createdAt" at={receipt.createdAt} as={Ago} />] : []),
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
  const link = (icon: IconName, address: string, text: MessageKey, isLosing = false) => (
    <li>
      <a class={isLosing ? 'more-link losing' : 'more-link'} href={address}>
        <Icon name={icon} />
        {say(text)}
      </a>
    </li>
  );
  const maySendAgain = isWaiting(receipt) && recipient !== null && !sealed;
  return (
    <Actions id={`actions-${at}`} label={say('recent.actions')} of={`receipt-${at}`}>
      {maySendAgain ? link('mail', `${href('receipt', metadataKey)}#delivery`, 'recent.sendAgain') : null}
      <li>
        <button class="more-link" type="submit" form="again" formaction={href('again', metadataKey)}>
          <Icon name="refresh" />
          {say('recent.again')}
        </button>
      </li>
      {isWaiting(receipt) ? link('flame', href('burn', metadataKey), 'recent.burn', true) : null}
    </Actions>
  );
};

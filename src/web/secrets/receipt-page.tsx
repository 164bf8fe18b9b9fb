/**
 * The creator's page about one secret: what became of it, at a glance; the link, to hand over; what can be changed; and its own
 * address, folded, far from the link and unlike it. The link is in the page only when the props hold it; without scripts its field,
 * message and QR code still work.
 */

import type { FC, PropsWithChildren } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { ReceiptState } from '../../protocol/vocabulary.ts';
import type { ScriptName } from '../client/assets.ts';
import { Day, type DayState } from '../kit/day.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Ago, Dated, Icon } from '../kit/parts.tsx';
import { type LifetimeOffer, MemoField } from './fields.tsx';
import { type ChosenMessage, Copied, LinkActions, Passphrase } from './link-actions.tsx';
import { Activity, Details, OwnAddress } from './receipt-facts.tsx';
import { expiryOf, partLeft } from './receipt-life.ts';
import { ChangeLifetime, type RefusedLifetime } from './receipt-lifetime.tsx';
import { Locked } from './receipt-lock.tsx';
import { type MailRequest, MailSection } from './receipt-mail.tsx';
import { SealedLink } from './sealed-link.tsx';

export interface ReceiptProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** `null` unless it is to be shown now. */
  readonly link: string | null;
  readonly justCreated: boolean;
  readonly message: ChosenMessage;
  readonly ownUrl: string;
  /** The request to mail the link that this page answers. */
  readonly mail: MailRequest | null;
  /** A label that was refused. */
  readonly memo: RefusedMemo | null;
  /** `null` where the lifetime cannot be changed. */
  readonly offer: LifetimeOffer | null;
  readonly lifetime: RefusedLifetime | null;
}

interface StateLook {
  readonly day: DayState;
  readonly title: MessageKey;
  readonly lead: MessageKey;
}

const waiting: StateLook = { day: 'waiting', title: 'receipt.newTitle', lead: 'receipt.newLead' };

const looks: Readonly<Record<ReceiptState, StateLook>> = {
  new: waiting,
  viewed: waiting,
  received: { day: 'opened', title: 'receipt.receivedTitle', lead: 'receipt.receivedLead' },
  burned: { day: 'burned', title: 'receipt.burnedTitle', lead: 'receipt.burnedLead' },
  expired: { day: 'expired', title: 'receipt.expiredTitle', lead: 'receipt.expiredLead' },
};

const ready: StateLook = { day: 'waiting', title: 'receipt.readyTitle', lead: 'receipt.readyLead' };

const burnedByRecipient: StateLook = {
  day: 'burned',
  title: 'receipt.burnedByRecipient',
  lead: 'receipt.burnedByRecipientLead',
};

function lookOf({ receipt, link, justCreated }: ReceiptProps): StateLook {
  if (receipt.burnedBy === 'recipient') return burnedByRecipient;
  return justCreated && link !== null ? ready : looks[receipt.state];
}

export const ReceiptPage: FC<ReceiptProps> = (props) => {
  const { frame, receipt } = props;
  const look = lookOf(props);
  const isWaiting = receipt.secretKey !== null;
  return (
    <Page frame={frame} title={frame.words.say(look.title)} scripts={scriptsFor(props)}>
      <div class="receipt">
        <div class="sheet">
          <Head {...props} look={look} />
          {isWaiting ? (
            <div class="hand-over">
              <Locked frame={frame} receipt={receipt} />
              <LinkPart {...props} />
              {receipt.hasPassphrase ? <Passphrase frame={frame} /> : null}
              <Copied frame={frame} />
            </div>
          ) : null}
        </div>
        {receipt.sealed ? null : <MailSection frame={frame} receipt={receipt} asked={props.mail} />}
        <Changes {...props} />
        <Activity frame={frame} receipt={receipt} />
        <Details frame={frame} receipt={receipt} />
        <OwnAddress frame={frame} receipt={receipt} ownUrl={props.ownUrl} />
        <Onward frame={frame} receipt={receipt} />
      </div>
    </Page>
  );
};

function scriptsFor({ receipt }: ReceiptProps): ScriptName[] {
  // First, because it fills in what is copied and shared.
  const first: ScriptName[] = receipt.sealed && receipt.secretKey !== null ? ['sealed-link'] : [];
  return [...first, 'copy', 'receipt', 'time'];
}

/** What became of it, in a colour and a picture of its own. */
const Head: FC<ReceiptProps & { readonly look: StateLook }> = ({ frame, receipt, look }) => {
  const { say } = frame.words;
  const isWaiting = receipt.secretKey !== null;
  return (
    <div class={`life life-${look.day}`}>
      <Day state={look.day} part={partLeft(receipt)} />
      <h1>{say(look.title)}</h1>
      <div class="life-label" id="label">
        {receipt.memo === '' ? null : (
          <p>
            <bdi>{receipt.memo}</bdi>
          </p>
        )}
      </div>
      <p class="life-when" id="lifetime">
        <When frame={frame} receipt={receipt} />
      </p>
      <p class="lead">{say(look.lead)}</p>
      {isWaiting ? <Watch frame={frame} metadataKey={receipt.metadataKey} /> : null}
    </div>
  );
};

/** Until when it waits, or when it ended. */
const When: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame: { words }, receipt }) => {
  const { receivedAt, burnedAt, secretTtlSeconds } = receipt;
  const expiry = expiryOf(receipt);
  if (secretTtlSeconds === null) return <Ago words={words} at={receivedAt ?? burnedAt ?? expiry} />;
  return <Dated words={words} say="receipt.expires" at={expiry} left={secretTtlSeconds} />;
};

/** The script polls `data-state` and goes to `data-page` once the secret is gone. */
const Watch: FC<{ frame: Frame; metadataKey: string }> = ({ frame: { words, href }, metadataKey }) => (
  <div
    class="watch"
    id="watch"
    data-state={href('receiptState', metadataKey)}
    data-page={href('receipt', metadataKey)}
  >
    <p
      role="status"
      data-received={words.say('receipt.changedReceived')}
      data-burned={words.say('receipt.changedBurned')}
      data-expired={words.say('receipt.changedExpired')}
      data-mail={words.say('receipt.changedMail')}
    />
  </div>
);

/** The link, or the button that shows it. */
const LinkPart: FC<ReceiptProps> = ({ frame, receipt, link, message }) => {
  const { words, href } = frame;
  const props = { frame, receipt, link, message };
  if (receipt.sealed) return <SealedLink {...props} />;
  if (link !== null) return <LinkActions {...props} />;
  return (
    <PostForm frame={frame} class="show-link" action={href('receipt', receipt.metadataKey)}>
      <button type="submit">
        <Icon name="eye" />
        {words.say('receipt.show')}
      </button>
      <p class="hint">{words.say('receipt.showHint')}</p>
    </PostForm>
  );
};

interface RefusedMemo {
  readonly typed: string;
  readonly message: string;
}

/** What can still be done: each asks for more before anything happens. */
const Changes: FC<ReceiptProps> = ({ frame, receipt, memo, offer, lifetime }) => (
  <div class="chips">
    {offer === null ? null : (
      <ChangeLifetime frame={frame} metadataKey={receipt.metadataKey} offer={offer} refused={lifetime} />
    )}
    <ChangeMemo frame={frame} receipt={receipt} refused={memo} />
    {receipt.secretKey === null ? null : <Burn frame={frame} metadataKey={receipt.metadataKey} />}
  </div>
);

interface ChangeMemoProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly refused: RefusedMemo | null;
}

/** A refused label stays in the form as typed; the saved one is shown in the head. */
const ChangeMemo: FC<ChangeMemoProps> = ({ frame, receipt, refused }) => {
  const { words, href } = frame;
  const { memo, metadataKey } = receipt;
  return (
    <details class="chip" name="change" open={refused !== null}>
      <summary>
        <Icon name="tag" />
        {words.say(memo === '' ? 'memo.add' : 'memo.change')}
      </summary>
      <div class="panel">
        <PostForm frame={frame} action={href('memo', metadataKey)} autocomplete="off">
          <MemoField frame={frame} typed={refused?.typed ?? memo} wrong={refused?.message ?? null} />
          <button class="quiet" type="submit">
            <Icon name="check" />
            {words.say('memo.save')}
          </button>
        </PostForm>
      </div>
    </details>
  );
};

const Burn: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => {
  const { say } = frame.words;
  return (
    <details class="chip burn" name="change">
      <summary>
        <Icon name="flame" />
        {say('receipt.burnOffer')}
      </summary>
      <div class="panel">
        <h2>{say('burn.title')}</h2>
        <p>{say('burn.lead')}</p>
        <BurnForm frame={frame} metadataKey={metadataKey} />
      </div>
    </details>
  );
};

const BurnForm: FC<PropsWithChildren<{ frame: Frame; metadataKey: string }>> = (props) => {
  const { frame, metadataKey, children } = props;
  return (
    <PostForm frame={frame} class="row" action={frame.href('burn', metadataKey)}>
      <button class="alarm" type="submit">
        <Icon name="flame" />
        {frame.words.say('burn.submit')}
      </button>
      {children}
    </PostForm>
  );
};

const Onward: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame, receipt }) => {
  const { words, href, visitor } = frame;
  return (
    <p class="onward">
      <a class="button quiet" href={href('home')}>
        <Icon name="plus" />
        {words.say('receipt.another')}
      </a>
      {visitor?.username === receipt.custid ? (
        <a href={href('recent')}>{words.say('receipt.recent')}</a>
      ) : null}
    </p>
  );
};

/** Asks at an address of its own, for links from elsewhere. */
export const BurnPage: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => {
  const { words, href } = frame;
  return (
    <Page frame={frame} title={words.say('burn.title')}>
      <h1>{words.say('burn.title')}</h1>
      <p class="lead">{words.say('burn.lead')}</p>
      <BurnForm frame={frame} metadataKey={metadataKey}>
        <a class="button quiet" href={href('receipt', metadataKey)}>
          {words.say('burn.keep')}
        </a>
      </BurnForm>
    </Page>
  );
};

/**
 * The creator's page about one secret: its state at a glance, the link to send, what can be changed, and the page's own address, collapsed
 * and far from the link. The page contains the link only if the props do; the link's field, message and QR code work without scripts.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { guesses } from '../../core/secrets/attempts.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { anonymousCustid } from '../../core/secrets/receipts.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { MessageParams } from '../../locale/translate.ts';
import type { ReceiptState } from '../../protocol/vocabulary.ts';
import type { ScriptName } from '../assets/assets.ts';
import { Day, type DayState, dayIconName } from '../kit/day.tsx';
import { LineField } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Ago, Button, Chip, CopyButton, Dated, Icon, Left, Moment, ShortTime } from '../kit/parts.tsx';
import { noticeTexts } from './fields.tsx';
import { type ChosenMessage, Copied, LinkActions, Passphrase, SealedLink } from './link-actions.tsx';
import { expiryOf, isBurnedByRecipient, partLeft } from './receipt-life.ts';
import { ChangeLifetime, type RefusedLifetime } from './receipt-lifetime.tsx';
import { deliveryTexts, type MailRequest, MailSection } from './receipt-mail.tsx';
import type { LifetimeOffer } from './typed.ts';

interface FactsProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
}

export interface ReceiptProps extends FactsProps {
  readonly link: string | null;
  readonly justCreated: boolean;
  readonly message: ChosenMessage;
  readonly ownUrl: string;
  readonly mail: MailRequest | null;
  readonly memo: RefusedMemo | null;
  readonly offer: LifetimeOffer | null;
  readonly lifetime: RefusedLifetime | null;
}

interface StateTexts {
  readonly day: DayState;
  readonly title: MessageKey;
  readonly counts?: MessageParams;
  readonly lead?: MessageKey;
}

const waiting: StateTexts = { day: 'waiting', title: 'receipt.newTitle' };

const stateTexts: Readonly<Record<ReceiptState, StateTexts>> = {
  new: waiting,
  viewed: waiting,
  received: { day: 'opened', title: 'receipt.receivedTitle', lead: 'receipt.receivedLead' },
  burned: { day: 'burned', title: 'receipt.burnedTitle', lead: 'receipt.burnedLead' },
  expired: { day: 'expired', title: 'receipt.expiredTitle', lead: 'receipt.expiredLead' },
};

const ready: StateTexts = { ...waiting, title: 'receipt.readyTitle' };
const mailed: StateTexts = { ...waiting, title: 'receipt.mailedTitle' };

const burnedByRecipient: StateTexts = {
  day: 'burned',
  title: 'receipt.burnedByRecipient',
  lead: 'receipt.burnedByRecipientLead',
};

function textsOf({ receipt, link, justCreated }: ReceiptProps): StateTexts {
  if (isBurnedByRecipient(receipt)) return burnedByRecipient;
  if (!justCreated || receipt.secretKey === null) return stateTexts[receipt.state];
  return link === null ? mailed : ready;
}

export const ReceiptPage: FC<ReceiptProps> = (props) => {
  const { frame, receipt } = props;
  const texts = textsOf(props);
  const isWaiting = receipt.secretKey !== null;
  const icon = dayIconName({ state: texts.day, part: partLeft(receipt) });
  const title = texts.day === 'opened' ? `✓ ${frame.say('receipt.received')}` : frame.say(texts.title);
  // Runs first, because it fills in what is copied and shared.
  const first: ScriptName[] = receipt.sealed && isWaiting ? ['sealed-link'] : [];
  return (
    <Page
      frame={frame}
      title={title}
      scripts={[...first, 'receipt', 'time']}
      styles={['receipt']}
      icon={icon}
    >
      <div class="receipt">
        <div class="sheet">
          <Head {...props} texts={texts} />
          {isWaiting ? (
            <div class="hand-over">
              <Locked frame={frame} receipt={receipt} />
              <LinkPart {...props} />
              {receipt.hasPassphrase ? <Passphrase frame={frame} /> : null}
              <Copied frame={frame} />
              <Follow frame={frame} receipt={receipt} />
            </div>
          ) : null}
        </div>
        {receipt.sealed ? null : <MailSection frame={frame} receipt={receipt} asked={props.mail} />}
        <Changes {...props} />
        <Activity frame={frame} receipt={receipt} />
        <OwnAddress frame={frame} receipt={receipt} ownUrl={props.ownUrl} />
        <Onward frame={frame} receipt={receipt} />
      </div>
    </Page>
  );
};

export const Head: FC<FactsProps & { readonly texts: StateTexts }> = ({ frame, receipt, texts }) => {
  const isWaiting = receipt.secretKey !== null;
  return (
    <div class={`life life-${texts.day}`}>
      <Day state={texts.day} part={partLeft(receipt)} />
      <h1>{frame.say(texts.title, texts.counts ?? {})}</h1>
      <div class="life-text">
        <div class="life-label" id="label">
          {receipt.memo === '' ? null : (
            <p>
              <bdi>{receipt.memo}</bdi>
            </p>
          )}
        </div>
        <p class="life-when">
          <When frame={frame} receipt={receipt} />
        </p>
      </div>
      {texts.lead === undefined ? null : <p class="lead">{frame.say(texts.lead)}</p>}
      {receipt.secretTtlSeconds === null ? null : (
        <p class="life-left" id="lifetime">
          <Left messages={frame.messages} at={expiryOf(receipt)} seconds={receipt.secretTtlSeconds} />
        </p>
      )}
      {isWaiting ? <Watch frame={frame} metadataKey={receipt.metadataKey} /> : null}
    </div>
  );
};

const When: FC<FactsProps> = ({ frame: { messages }, receipt }) => {
  const { receivedAt, burnedAt, secretTtlSeconds } = receipt;
  const at = receivedAt ?? burnedAt ?? expiryOf(receipt);
  if (secretTtlSeconds === null) return <Ago messages={messages} at={at} />;
  return <Dated messages={messages} say="receipt.expires" at={at} as={ShortTime} />;
};

/** The script polls the address `data-state`, and goes to `data-page` once the secret is gone. */
const Watch: FC<{ frame: Frame; metadataKey: string }> = ({ frame: { say, href }, metadataKey }) => (
  <div
    class="watch"
    id="watch"
    data-state={href('receiptState', metadataKey)}
    data-page={href('receipt', metadataKey)}
  >
    <p
      role="status"
      data-received={say('receipt.changedReceived')}
      data-burned={say('receipt.changedBurned')}
      data-expired={say('receipt.changedExpired')}
      data-mail={say('receipt.changedMail')}
    />
  </div>
);

const LinkPart: FC<ReceiptProps> = ({ frame, receipt, link, message }) => {
  const { messages, href } = frame;
  const props = { frame, receipt, link, message };
  if (receipt.sealed) return <SealedLink {...props} />;
  if (link !== null) return <LinkActions {...props} />;
  return (
    <PostForm frame={frame} class="show-link" action={href('receipt', receipt.metadataKey)}>
      <Button frame={frame} say="receipt.show" icon="eye" />
      <p class="hint">{messages.say('receipt.showHint')}</p>
    </PostForm>
  );
};

const lockTexts = {
  passphrase: ['receipt.lockedUntil', 'receipt.lockedForGood', 'receipt.lockedHelp'],
  code: ['receipt.codesLockedUntil', 'receipt.codesLockedForGood', 'receipt.codesLockedHelp'],
} as const;

const Locked: FC<FactsProps> = ({ frame, receipt }) => {
  const { messages, href } = frame;
  if (receipt.locked === null) return null;
  const { by, until } = receipt.locked;
  const { perSecret, perLife } = guesses[by].limits;
  const [untilText, forGood, help] = lockTexts[by];
  return (
    <section class="note alert">
      <p>
        <strong>
          {until === null ? (
            messages.say(forGood, { limit: perLife })
          ) : (
            <Dated
              messages={messages}
              say={untilText}
              params={{ limit: perSecret }}
              at={until}
              as={ShortTime}
            />
          )}
        </strong>
      </p>
      <p>{messages.say(help)}</p>
      <PostForm frame={frame} action={href('allowMore', receipt.metadataKey)}>
        <input type="hidden" name="by" value={by} />
        <button class="quiet" type="submit">
          {messages.say('receipt.allowMore', { limit: perLife })}
        </button>
      </PostForm>
    </section>
  );
};

interface RefusedMemo {
  readonly typed: string;
  readonly message: string;
}

const Changes: FC<ReceiptProps> = ({ frame, receipt, memo, offer, lifetime }) => (
  <div class="chips">
    {offer === null ? null : (
      <ChangeLifetime frame={frame} metadataKey={receipt.metadataKey} offer={offer} refused={lifetime} />
    )}
    <ChangeMemo frame={frame} receipt={receipt} refused={memo} />
    {receipt.secretKey === null ? null : <Burn frame={frame} metadataKey={receipt.metadataKey} />}
  </div>
);

/** The form keeps a refused label; the top of the page shows the saved one. */
const ChangeMemo: FC<FactsProps & { refused: RefusedMemo | null }> = ({ frame, receipt, refused }) => {
  const { memo, metadataKey } = receipt;
  const wrong = refused?.message ?? null;
  const texts = { name: 'memo', label: frame.say('memo.label'), hint: frame.say('memo.hint'), wrong };
  const title = frame.say(memo === '' ? 'memo.add' : 'memo.change');
  return (
    <Chip name="change" icon="tag" title={title} open={refused !== null}>
      <PostForm frame={frame} action={frame.href('memo', metadataKey)} autocomplete="off">
        <LineField texts={texts} typed={refused?.typed ?? memo} kind="words" />
        <Button frame={frame} class="quiet" say="memo.save" icon="check" />
      </PostForm>
    </Chip>
  );
};

const Burn: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => (
  <Chip name="change" class="chip burn" icon="flame" title={frame.say('receipt.burnOffer')}>
    <h2>{frame.say('burn.title')}</h2>
    <p>{frame.say('burn.lead')}</p>
    <BurnForm frame={frame} metadataKey={metadataKey} />
  </Chip>
);

const BurnForm: FC<PropsWithChildren<{ frame: Frame; metadataKey: string }>> = (props) => {
  const { frame, metadataKey, children } = props;
  return (
    <PostForm frame={frame} class="row" action={frame.href('burn', metadataKey)}>
      <Button frame={frame} class="alarm" say="burn.submit" icon="flame" />
      {children}
    </PostForm>
  );
};

type Happened = readonly [kind: string, what: MessageKey, at: number];

/** For senders who close the tab. Without scripts, a link reloads the page. */
const Follow: FC<FactsProps> = ({ frame: { say, href }, receipt }) => (
  <p class="hint follow">
    {say('receipt.bookmark')} <span>{say('receipt.updates')}</span>
    <noscript>
      <a href={href('receipt', receipt.metadataKey)}>{say('receipt.lookAgain')}</a>
    </noscript>
  </p>
);

/** Oldest event first. */
const Activity: FC<FactsProps> = ({ frame, receipt }) => (
  <section class="activity">
    <h2>{frame.say('receipt.timeline')}</h2>
    <ol class="plain timeline">
      {happened(receipt).map(([kind, what, at]) => (
        <li class={kind}>
          <strong>{frame.say(what)}</strong> <Moment messages={frame.messages} at={at} />
        </li>
      ))}
    </ol>
    {receipt.secretKey === null && receipt.codes?.length === 0 ? null : (
      <Facts frame={frame} receipt={receipt} />
    )}
  </section>
);

function happened(receipt: ReceiptView): readonly Happened[] {
  const { createdAt, viewedAt, receivedAt, burnedAt, state } = receipt;
  const burned = isBurnedByRecipient(receipt) ? 'receipt.burnedByRecipient' : 'receipt.burned';
  const expiredAt = state === 'expired' ? expiryOf(receipt) : null;
  const events: readonly (readonly [string, MessageKey, number | null])[] = [
    ['created', 'receipt.created', createdAt],
    ['viewed', 'receipt.viewed', viewedAt],
    ['opened', 'receipt.received', receivedAt],
    ['burned', burned, burnedAt],
    ['expired', 'receipt.expired', expiredAt],
  ];
  return events.filter((event): event is Happened => event[2] !== null);
}

/** Lists the owner's notices, too. Only the owner's account sees "none". */
const Facts: FC<FactsProps> = ({ frame, receipt: { sealed, verify, codes, notify, custid } }) => (
  <dl>
    {verify ? (
      <>
        <dt>{frame.say('receipt.codes')}</dt>
        {codes?.length === 0 ? <dd>{frame.say('receipt.codesNone')}</dd> : null}
        {codes?.map(({ at, state }) => (
          <dd>
            <ShortTime messages={frame.messages} at={at} /> · {frame.say(deliveryTexts({ state }).label)}
          </dd>
        ))}
      </>
    ) : null}
    {sealed ? (
      <>
        <dt>{frame.say('receipt.encryption')}</dt>
        <dd>{frame.say('receipt.encryptionSealed')}</dd>
      </>
    ) : null}
    {notify.length === 0 && frame.visitor?.username !== custid ? null : (
      <>
        <dt>{frame.say('receipt.notices')}</dt>
        {notify.length === 0 ? <dd>{frame.say('receipt.noNotices')}</dd> : null}
        {notify.map((kind) => (
          <dd>{frame.say(noticeTexts[kind])}</dd>
        ))}
      </>
    )}
  </dl>
);

/** Collapsed and far from the link, so that people do not send this address by mistake. */
const OwnAddress: FC<FactsProps & { ownUrl: string }> = ({ frame, receipt, ownUrl }) => {
  const { say, roughly } = frame.messages;
  const isWaiting = receipt.secretKey !== null;
  const isOwned = receipt.custid !== anonymousCustid;
  return (
    <details class="receipt-fold own">
      <summary>{say('receipt.ownTitle')}</summary>
      <p>{say(isOwned ? 'receipt.ownAccount' : isWaiting ? 'receipt.own' : 'receipt.ownGone')}</p>
      <p class="own-address">
        <code class="code" id="own-address" dir="ltr">
          {ownUrl}
        </code>
        <CopyButton frame={frame} target="own-address" say="receipt.ownCopy" class="quiet small" />
      </p>
      <p>{say('receipt.kept', { left: roughly(receipt.metadataTtlSeconds) })}</p>
      {isWaiting ? null : <Copied frame={frame} />}
    </details>
  );
};

export const Onward: FC<FactsProps> = ({ frame, receipt }) => {
  const { messages, href, visitor } = frame;
  return (
    <p class="onward">
      <a class="button quiet" href={href('home')}>
        <Icon name="plus" />
        {messages.say('receipt.another')}
      </a>
      {visitor?.username === receipt.custid ? (
        <a href={href('recent')}>{messages.say('receipt.recent')}</a>
      ) : null}
    </p>
  );
};

export const BurnPage: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => (
  <Page frame={frame} title={frame.say('burn.title')} styles={['receipt']}>
    <h1>{frame.say('burn.title')}</h1>
    <p class="lead">{frame.say('burn.lead')}</p>
    <BurnForm frame={frame} metadataKey={metadataKey}>
      <a class="button quiet" href={frame.href('receipt', metadataKey)}>
        {frame.say('burn.keep')}
      </a>
    </BurnForm>
  </Page>
);

/**
 * The creator's page about one secret. It shows which link to give away and that its own address is the creator's,
 * far apart and unlike. The link is in the page only when the props hold it; without scripts its field, selection and
 * QR code still work.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptState } from '../../core/secret.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { ScriptName } from '../client/assets.ts';
import { qrPath, quietModules } from '../client/qr-path.ts';
import { noticeTexts } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Dated, Icon, Moment, Split } from '../kit/parts.tsx';
import { type LifetimeOffer, MemoField } from './fields.tsx';
import { LinkActions } from './link-actions.tsx';
import { ChangeLifetime, type RefusedLifetime } from './receipt-lifetime.tsx';
import { type MailRequest, MailSection } from './receipt-mail.tsx';
import { SealedLinkSheet } from './sealed-link.tsx';

export interface ReceiptProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** `null` unless it is to be shown now. */
  readonly link: string | null;
  readonly justCreated: boolean;
  readonly ownUrl: string;
  /** The request to mail the link that this page answers. */
  readonly mail: MailRequest | null;
  /** A label that was refused. */
  readonly memo: RefusedMemo | null;
  /** `null` where the lifetime cannot be changed. */
  readonly offer: LifetimeOffer | null;
  readonly lifetime: RefusedLifetime | null;
}

const headings: Readonly<Record<ReceiptState, { title: MessageKey; lead: MessageKey }>> = {
  new: { title: 'receipt.newTitle', lead: 'receipt.newLead' },
  viewed: { title: 'receipt.newTitle', lead: 'receipt.newLead' },
  received: { title: 'receipt.receivedTitle', lead: 'receipt.receivedLead' },
  burned: { title: 'receipt.burnedTitle', lead: 'receipt.burnedLead' },
  expired: { title: 'receipt.expiredTitle', lead: 'receipt.expiredLead' },
};

const readyHeading = { title: 'receipt.readyTitle', lead: 'receipt.readyLead' } as const;

export const ReceiptPage: FC<ReceiptProps> = (props) => {
  const { frame, receipt, link, justCreated } = props;
  const { words, href } = frame;
  const heading = justCreated && link !== null ? readyHeading : headings[receipt.state];
  const title = words.say(heading.title);
  const isWaiting = receipt.secretKey !== null;
  const isOwner = frame.visitor?.username === receipt.custid;
  const intro = (
    <>
      <h1>{title}</h1>
      <p class="lead">{words.say(heading.lead)}</p>
      {isWaiting ? <Watch frame={frame} metadataKey={receipt.metadataKey} /> : null}
    </>
  );
  return (
    <Page frame={frame} title={title} scripts={scriptsFor(props)}>
      <Split intro={intro}>
        {isWaiting ? <LinkSheet frame={frame} receipt={receipt} link={link} /> : null}
        {receipt.sealed ? null : <MailSection frame={frame} receipt={receipt} asked={props.mail} />}
        <MemoSection frame={frame} receipt={receipt} refused={props.memo} />
        <Facts {...props} />
        <Timeline frame={frame} receipt={receipt} />
        {isWaiting ? (
          <p>
            <a class="button quiet" href={href('burn', receipt.metadataKey)}>
              <Icon name="flame" />
              {words.say('receipt.burnOffer')}
            </a>
          </p>
        ) : null}
        <OwnAddress {...props} />
        <p class="onward">
          <a href={href('home')}>{words.say('receipt.another')}</a>
          {isOwner ? <a href={href('recent')}>{words.say('receipt.recent')}</a> : null}
        </p>
      </Split>
    </Page>
  );
};

function scriptsFor({ receipt, link }: ReceiptProps): ScriptName[] {
  if (link === null) return ['receipt', 'time'];
  // First, because it fills in what is copied and shared.
  return receipt.sealed ? ['sealed-link', 'copy', 'receipt', 'time'] : ['copy', 'receipt', 'time'];
}

/** The script polls `data-state` and goes to `data-page` once the secret is gone; the link does the same without it. */
const Watch: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => {
  const { words, href } = frame;
  const page = href('receipt', metadataKey);
  return (
    <div class="watch" id="watch" data-state={href('receiptState', metadataKey)} data-page={page}>
      <p
        role="status"
        data-received={words.say('receipt.changedReceived')}
        data-burned={words.say('receipt.changedBurned')}
        data-expired={words.say('receipt.changedExpired')}
        data-mail={words.say('receipt.changedMail')}
      />
      <p class="hint" data-hint hidden>
        {words.say('receipt.watching')}
      </p>
      <p>
        <a href={page}>{words.say('receipt.lookAgain')}</a>
      </p>
    </div>
  );
};

type LinkProps = Pick<ReceiptProps, 'frame' | 'receipt' | 'link'>;

/** The link, or the button that shows it. */
const LinkSheet: FC<LinkProps> = ({ frame, receipt, link }) => {
  const { words, href } = frame;
  if (receipt.sealed) return <SealedLinkSheet frame={frame} receipt={receipt} link={link} />;
  if (link === null) {
    return (
      <PostForm frame={frame} class="sheet" action={href('receipt', receipt.metadataKey)}>
        <button type="submit">
          <Icon name="eye" />
          {words.say('receipt.show')}
        </button>
        <p class="hint">{words.say('receipt.showHint')}</p>
      </PostForm>
    );
  }
  return <ShownLink frame={frame} receipt={receipt} link={link} />;
};

const ShownLink: FC<LinkProps & { readonly link: string }> = ({ frame, receipt, link }) => {
  const { say } = frame.words;
  return (
    <div class="sheet">
      <label for="link">{say('receipt.link')}</label>
      <textarea
        id="link"
        class="link"
        rows={2}
        readonly
        autocomplete="off"
        spellcheck={false}
        aria-describedby="link-hint"
      >
        {link}
      </textarea>
      <p class="hint" id="link-hint">
        {say('receipt.linkHint')}
      </p>
      <LinkActions frame={frame} receipt={receipt} />
      <details>
        <summary>{say('receipt.qr')}</summary>
        <QrCode text={link} label={say('receipt.qrAlt')} />
        <p class="hint">{say('receipt.qrHint')}</p>
      </details>
    </div>
  );
};

/** Dark on light in every colour scheme, with the quiet zone that readers need. */
const QrCode: FC<{ text: string; label: string }> = ({ text, label }) => {
  const { path, modules } = qrPath(text);
  const side = modules + 2 * quietModules;
  return (
    <svg
      class="qr"
      role="img"
      aria-label={label}
      viewBox={`${-quietModules} ${-quietModules} ${side} ${side}`}
      shape-rendering="crispEdges"
    >
      <rect x={-quietModules} y={-quietModules} width={side} height={side} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
};

interface RefusedMemo {
  readonly typed: string;
  readonly message: string;
}

interface MemoSectionProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly refused: RefusedMemo | null;
}

/** A refused label stays in the form as typed; the saved one is shown above it. */
const MemoSection: FC<MemoSectionProps> = ({ frame, receipt, refused }) => {
  const { words, href } = frame;
  const { memo, metadataKey } = receipt;
  return (
    <section class="label" id="label">
      {memo === '' ? null : (
        <dl>
          <dt>{words.say('memo.label')}</dt>
          <dd>
            <bdi>{memo}</bdi>
          </dd>
        </dl>
      )}
      <details open={refused !== null}>
        <summary>{words.say(memo === '' ? 'memo.add' : 'memo.change')}</summary>
        <PostForm frame={frame} action={href('memo', metadataKey)} autocomplete="off">
          <MemoField frame={frame} typed={refused?.typed ?? memo} wrong={refused?.message ?? null} />
          <button class="quiet" type="submit">
            <Icon name="check" />
            {words.say('memo.save')}
          </button>
        </PostForm>
      </details>
    </section>
  );
};

const Facts: FC<ReceiptProps> = ({ frame, receipt, offer, lifetime }) => {
  const { words } = frame;
  if (receipt.secretTtlSeconds === null) return null;
  const until = receipt.createdAt + receipt.ttlSeconds;
  const left = words.duration(receipt.secretTtlSeconds);
  return (
    <section class="known" id="lifetime">
      <h2>{words.say('receipt.details')}</h2>
      <dl>
        <dt>{words.say('receipt.until')}</dt>
        <dd>
          <Dated words={words} say="receipt.untilValue" at={until} params={{ left }} />
        </dd>
        <dt>{words.say('receipt.passphrase')}</dt>
        <dd>{words.say(receipt.hasPassphrase ? 'receipt.withPassphrase' : 'receipt.withoutPassphrase')}</dd>
        {receipt.sealed ? (
          <>
            <dt>{words.say('receipt.encryption')}</dt>
            <dd>{words.say('receipt.encryptionSealed')}</dd>
          </>
        ) : null}
        <Notices frame={frame} receipt={receipt} />
      </dl>
      {offer === null ? null : (
        <ChangeLifetime frame={frame} metadataKey={receipt.metadataKey} offer={offer} refused={lifetime} />
      )}
    </section>
  );
};

/** The notices its account gets. Only that account is told when there are none. */
const Notices: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame, receipt: { notify, custid } }) => {
  const { say } = frame.words;
  if (notify.length === 0 && frame.visitor?.username !== custid) return null;
  return (
    <>
      <dt>{say('receipt.notices')}</dt>
      <dd>
        {notify.length === 0 ? (
          say('receipt.noNotices')
        ) : (
          <ul class="plain">
            {notify.map((kind) => (
              <li>{say(noticeTexts[kind])}</li>
            ))}
          </ul>
        )}
      </dd>
    </>
  );
};

const OwnAddress: FC<ReceiptProps> = ({ frame, receipt, ownUrl }) => {
  const { words } = frame;
  const isWaiting = receipt.secretKey !== null;
  return (
    <section class="own">
      <h2>
        <Icon name="lock" /> {words.say('receipt.ownTitle')}
      </h2>
      <p>{words.say(isWaiting ? 'receipt.own' : 'receipt.ownGone')}</p>
      <p>
        <code class="code" dir="ltr">
          {ownUrl}
        </code>
      </p>
      <p>
        {isWaiting ? `${words.say('receipt.bookmark')} ` : null}
        {words.say('receipt.kept', { left: words.duration(receipt.metadataTtlSeconds) })}
      </p>
    </section>
  );
};

const Timeline: FC<Pick<ReceiptProps, 'frame' | 'receipt'>> = ({ frame, receipt }) => {
  const { words } = frame;
  return (
    <section class="known">
      <h2>{words.say('receipt.timeline')}</h2>
      <ol class="timeline">
        {happened(receipt).map(([what, at]) => (
          <li>
            <strong>{words.say(what)}</strong> <Moment words={words} at={at} />
          </li>
        ))}
      </ol>
    </section>
  );
};

function happened(receipt: ReceiptView): [MessageKey, number][] {
  const { createdAt, viewedAt, receivedAt, burnedAt, ttlSeconds, state } = receipt;
  const events: [MessageKey, number | null][] = [
    ['receipt.created', createdAt],
    ['receipt.viewed', viewedAt],
    ['receipt.received', receivedAt],
    ['receipt.burned', burnedAt],
    ['receipt.expired', state === 'expired' ? createdAt + ttlSeconds : null],
  ];
  return events.filter((event): event is [MessageKey, number] => event[1] !== null);
}

export const BurnPage: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => {
  const { words, href } = frame;
  return (
    <Page frame={frame} title={words.say('burn.title')}>
      <h1>{words.say('burn.title')}</h1>
      <p class="lead">{words.say('burn.lead')}</p>
      <PostForm frame={frame} class="row" action={href('burn', metadataKey)}>
        <button class="alarm" type="submit">
          <Icon name="flame" />
          {words.say('burn.submit')}
        </button>
        <a class="button quiet" href={href('receipt', metadataKey)}>
          {words.say('burn.keep')}
        </a>
      </PostForm>
    </Page>
  );
};

/**
 * The creator's page about one secret.
 *
 * Owns: what is shown of a receipt. Invariant: it says which link to give away and that its own address is the
 * creator's, far from each other and unlike; the link is in the page only when the props hold it.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { ReceiptState } from '../../core/secrets/secret.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { noticeTexts } from '../kit/notices.tsx';
import { Dated, Icon, Split } from '../kit/parts.tsx';
import { LinkSheet } from './receipt-link.tsx';
import { MailSection } from './receipt-mail-section.tsx';
import { MemoSection, type RefusedMemo } from './receipt-memo-section.tsx';
import type { MailAsked } from './receipt-send.tsx';
import { Timeline } from './timeline.tsx';

export interface ReceiptProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** The link to give away, when it is to be shown now. */
  readonly link: string | null;
  readonly justCreated: boolean;
  /** This page's own address, from the configuration. */
  readonly ownUrl: string;
  /** A wish to send the mail; `null`: there was none. */
  readonly mail: MailAsked | null;
  /** A label that was refused; `null`: none was. */
  readonly memo: RefusedMemo | null;
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
    <Page
      frame={frame}
      title={title}
      scripts={link === null ? ['receipt', 'time'] : ['copy', 'receipt', 'time']}
    >
      <Split intro={intro}>
        {isWaiting ? <LinkSheet frame={frame} receipt={receipt} link={link} /> : null}
        <MailSection frame={frame} receipt={receipt} asked={props.mail} />
        <MemoSection frame={frame} receipt={receipt} refused={props.memo} />
        <Facts frame={frame} receipt={receipt} />
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

/** The script asks `data-state` and goes to `data-page` when the secret is gone; without it there is the link. */
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

/** Of a secret that waits. */
const Facts: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame, receipt }) => {
  const { words } = frame;
  if (receipt.secretTtlSeconds === null) return null;
  const until = receipt.createdAt + receipt.ttlSeconds;
  const left = words.duration(receipt.secretTtlSeconds);
  return (
    <section class="known">
      <h2>{words.say('receipt.details')}</h2>
      <dl>
        <dt>{words.say('receipt.until')}</dt>
        <dd>
          <Dated words={words} say="receipt.untilValue" at={until} params={{ left }} />
        </dd>
        <dt>{words.say('receipt.passphrase')}</dt>
        <dd>{words.say(receipt.hasPassphrase ? 'receipt.withPassphrase' : 'receipt.withoutPassphrase')}</dd>
        <Notices frame={frame} receipt={receipt} />
      </dl>
    </section>
  );
};

/** Which mails the account that made it gets; that there are none concerns only that account. */
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

/** Quieter than the link to give away, and never beside it. */
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

/** Asks before a secret is destroyed. */
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

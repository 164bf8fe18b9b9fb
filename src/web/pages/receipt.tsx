/**
 * The creator's page about one secret.
 *
 * Owns: what is shown of a receipt. Invariant: it says which link to give away and that its own address is the
 * creator's; the link is in the page only when the props hold it.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../domain/outcomes.ts';
import type { Delivery, ReceiptState } from '../../domain/secret.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page } from '../layout.tsx';
import type { Words } from '../words.ts';

export interface ReceiptProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** The link to give away, when it is to be shown now. */
  readonly link: string | null;
  readonly justCreated: boolean;
}

const headings: Readonly<Record<ReceiptState, { title: MessageKey; lead: MessageKey }>> = {
  new: { title: 'receipt.newTitle', lead: 'receipt.newLead' },
  viewed: { title: 'receipt.newTitle', lead: 'receipt.newLead' },
  received: { title: 'receipt.receivedTitle', lead: 'receipt.receivedLead' },
  burned: { title: 'receipt.burnedTitle', lead: 'receipt.burnedLead' },
  expired: { title: 'receipt.expiredTitle', lead: 'receipt.expiredLead' },
};

const readyHeading = { title: 'receipt.readyTitle', lead: 'receipt.readyLead' } as const;

const deliveries: Readonly<Record<Delivery['state'], MessageKey>> = {
  queued: 'receipt.mailQueued',
  accepted: 'receipt.mailAccepted',
  refused: 'receipt.mailRefused',
  not_sent: 'receipt.mailNotSent',
};

export const ReceiptPage: FC<ReceiptProps> = ({ frame, receipt, link, justCreated }) => {
  const { words, href } = frame;
  const isReady = justCreated && link !== null;
  const heading = isReady ? readyHeading : headings[receipt.state];
  const title = words.say(heading.title);
  const isWaiting = receipt.secretKey !== null;
  return (
    <Page frame={frame} title={title}>
      <h1>{title}</h1>
      <p class="lead">{words.say(heading.lead)}</p>
      {isWaiting ? <LinkSheet frame={frame} receipt={receipt} link={link} /> : null}
      <dl>
        {rowsOf(receipt, words).map(([term, description]) => (
          <>
            <dt>{words.say(term)}</dt>
            <dd>{description}</dd>
          </>
        ))}
      </dl>
      {isWaiting ? (
        <p>
          <a class="button quiet" href={href('burn', receipt.metadataKey)}>
            {words.say('receipt.burnOffer')}
          </a>
        </p>
      ) : null}
      <section class="note">
        <h2>{words.say('receipt.ownTitle')}</h2>
        <p>
          {words.say(isWaiting ? 'receipt.own' : 'receipt.ownGone')}{' '}
          {words.say('receipt.kept', { left: words.duration(receipt.metadataTtlSeconds) })}
        </p>
      </section>
      <p>
        <a href={href('home')}>{words.say('receipt.another')}</a>
      </p>
    </Page>
  );
};

const LinkSheet: FC<{ frame: Frame; receipt: ReceiptView; link: string | null }> = ({
  frame,
  receipt,
  link,
}) => {
  const { words, href } = frame;
  if (link === null) {
    return (
      <form class="sheet" method="post" action={href('receipt', receipt.metadataKey)}>
        <button type="submit">{words.say('receipt.show')}</button>
        <p class="hint">{words.say('receipt.showHint')}</p>
      </form>
    );
  }
  return (
    <div class="sheet">
      <label for="link">{words.say('receipt.link')}</label>
      <textarea id="link" class="link" rows={2} readonly aria-describedby="link-hint">
        {link}
      </textarea>
      <p class="hint" id="link-hint">
        {words.say('receipt.linkHint')}
      </p>
    </div>
  );
};

/** What is known, in the order in which it happened. */
function rowsOf(receipt: ReceiptView, words: Words): [MessageKey, string][] {
  const expiresAt = receipt.createdAt + receipt.ttlSeconds;
  const rows: [MessageKey, string][] = [['receipt.created', words.moment(receipt.createdAt)]];
  if (receipt.recipient !== null) rows.push(['receipt.recipient', receipt.recipient]);
  if (receipt.delivery !== null) rows.push(['receipt.mail', words.say(deliveries[receipt.delivery.state])]);
  if (receipt.viewedAt !== null) rows.push(['receipt.viewed', words.moment(receipt.viewedAt)]);
  if (receipt.receivedAt !== null) rows.push(['receipt.received', words.moment(receipt.receivedAt)]);
  if (receipt.burnedAt !== null) rows.push(['receipt.burned', words.moment(receipt.burnedAt)]);
  if (receipt.state === 'expired') rows.push(['receipt.expired', words.moment(expiresAt)]);
  if (receipt.secretTtlSeconds === null) return rows;
  const left = words.duration(receipt.secretTtlSeconds);
  rows.push(['receipt.until', words.say('receipt.untilValue', { date: words.moment(expiresAt), left })]);
  const need = receipt.hasPassphrase ? 'receipt.withPassphrase' : 'receipt.withoutPassphrase';
  rows.push(['receipt.passphrase', words.say(need)]);
  return rows;
}

/** Asks before a secret is destroyed. */
export const BurnPage: FC<{ frame: Frame; metadataKey: string }> = ({ frame, metadataKey }) => {
  const { words, href } = frame;
  return (
    <Page frame={frame} title={words.say('burn.title')}>
      <h1>{words.say('burn.title')}</h1>
      <p class="lead">{words.say('burn.lead')}</p>
      <form class="row" method="post" action={href('burn', metadataKey)}>
        <button class="alarm" type="submit">
          {words.say('burn.submit')}
        </button>
        <a class="button quiet" href={href('receipt', metadataKey)}>
          {words.say('burn.keep')}
        </a>
      </form>
    </Page>
  );
};

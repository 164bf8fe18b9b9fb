/** The lower part of a receipt: what happened to the secret, what is known of it, and the page's own address. */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { anonymousCustid } from '../../core/secrets/receipts.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { noticeTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { CopyButton, Icon, Moment } from '../kit/parts.tsx';
import { Copied } from './link-actions.tsx';
import { expiryOf } from './receipt-life.ts';

interface FactsProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
}

type Happened = readonly [kind: string, what: MessageKey, at: number];

/** Oldest first. While the secret waits, a link reloads the page; with scripts it updates by itself. */
export const Activity: FC<FactsProps> = ({ frame, receipt }) => {
  const { words, href } = frame;
  return (
    <section class="activity">
      <h2>{words.say('receipt.timeline')}</h2>
      <ol class="timeline">
        {happened(receipt).map(([kind, what, at]) => (
          <li class={kind}>
            <strong>{words.say(what)}</strong> <Moment words={words} at={at} />
          </li>
        ))}
      </ol>
      {receipt.secretKey === null ? null : (
        <p class="refresh">
          <a href={href('receipt', receipt.metadataKey)}>
            <Icon name="refresh" />
            {words.say('receipt.lookAgain')}
          </a>
          <span class="hint" data-hint hidden>
            {words.say('receipt.watching')}
          </span>
        </p>
      )}
    </section>
  );
};

function happened(receipt: ReceiptView): readonly Happened[] {
  const { createdAt, viewedAt, receivedAt, burnedAt, burnedBy, state } = receipt;
  const burned = burnedBy === 'recipient' ? 'receipt.burnedByRecipient' : 'receipt.burned';
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

export const Details: FC<FactsProps> = ({ frame, receipt }) => {
  const { words } = frame;
  if (receipt.secretTtlSeconds === null) return null;
  return (
    <details class="receipt-fold">
      <summary>{words.say('receipt.details')}</summary>
      <dl>
        <dt>{words.say('receipt.until')}</dt>
        <dd>
          <Moment words={words} at={expiryOf(receipt)} />
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
    </details>
  );
};

/** The notices its account gets. Only that account is told when there are none. */
const Notices: FC<FactsProps> = ({ frame, receipt: { notify, custid } }) => {
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

interface OwnAddressProps extends FactsProps {
  readonly ownUrl: string;
}

/** Folded and far from the link, so that nobody sends it by mistake. */
export const OwnAddress: FC<OwnAddressProps> = ({ frame, receipt, ownUrl }) => {
  const { say, roughly } = frame.words;
  const isWaiting = receipt.secretKey !== null;
  const isOwned = receipt.custid !== anonymousCustid;
  return (
    <details class="receipt-fold own">
      <summary>{say(isWaiting ? 'receipt.ownTitle' : 'receipt.ownTitleGone')}</summary>
      <p>{say(isOwned ? 'receipt.ownAccount' : isWaiting ? 'receipt.own' : 'receipt.ownGone')}</p>
      <p class="own-address">
        <code class="code" id="own-address" dir="ltr">
          {ownUrl}
        </code>
        <CopyButton
          target="own-address"
          label={say('receipt.ownCopy')}
          copied={say('receipt.copied')}
          class="quiet small"
        />
      </p>
      <p>{say('receipt.kept', { left: roughly(receipt.metadataTtlSeconds) })}</p>
      {isWaiting ? null : <Copied frame={frame} />}
    </details>
  );
};

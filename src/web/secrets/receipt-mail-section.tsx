/**
 * The mail to the recipient, as its sender sees it.
 *
 * Owns: where it stands, in words and in the mail server's own. Invariants: an address is shown obfuscated only, except in
 * the field of whoever has just typed it; what the mail server said is shown as its words, and what we say of it as ours.
 */
import type { FC } from 'hono/jsx';
import { type MailTrouble, mailTroubleOf } from '../../core/mail/link-mail.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { Delivery, DeliveryState } from '../../core/secrets/secret.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { Frame } from '../kit/layout.tsx';
import { Badge, type BadgeKind, Dated, type IconName } from '../kit/parts.tsx';
import { type MailProps, type MailRefusal, SendMail, WayToLogIn } from './receipt-send.tsx';

interface StateWords {
  readonly label: MessageKey;
  /** What it means and what to do, as long as the secret waits. */
  readonly help: MessageKey;
  readonly kind: BadgeKind;
  readonly icon: IconName;
}

const states: Readonly<Record<DeliveryState, StateWords>> = {
  queued: { label: 'receipt.mailQueued', help: 'receipt.mailQueuedHelp', kind: 'waiting', icon: 'clock' },
  accepted: { label: 'receipt.mailAccepted', help: 'receipt.mailAcceptedHelp', kind: 'good', icon: 'check' },
  refused: { label: 'receipt.mailSaidNo', help: 'receipt.mailSaidNoHelp', kind: 'bad', icon: 'x' },
  given_up: { label: 'receipt.mailGivenUp', help: 'receipt.mailGivenUpHelp', kind: 'bad', icon: 'alert' },
  not_sent: { label: 'receipt.mailUnsent', help: 'receipt.mailUnsentHelp', kind: 'bad', icon: 'alert' },
};

/** A try has failed already. */
const retrying: StateWords = {
  label: 'receipt.mailRetrying',
  help: 'receipt.mailRetryingHelp',
  kind: 'waiting',
  icon: 'clock',
};

const troubles: Readonly<Record<MailTrouble, MessageKey>> = {
  unreachable: 'receipt.mailUnreachable',
  unanswered: 'receipt.mailUnanswered',
};

function wordsOf({ state, reply }: Delivery): StateWords {
  if (state === 'queued' && reply !== null) return retrying;
  // The server asked for nothing where it gave no answer.
  const isUnanswered = state === 'given_up' && mailTroubleOf(reply) !== null;
  return isUnanswered ? { ...states.given_up, help: states.not_sent.help } : states[state];
}

export const MailSection: FC<MailProps> = (props) => {
  const { frame, receipt, asked } = props;
  const { say } = frame.words;
  const refusal = asked?.refusal ?? null;
  const isWaiting = receipt.secretKey !== null;
  const wasMailed = receipt.recipient !== null || receipt.delivery !== null;
  if (!isWaiting && !wasMailed && refusal === null) return null;
  return (
    <section class="mail" id="mail">
      {wasMailed || refusal !== null ? <h2>{say('receipt.mailTitle')}</h2> : null}
      {refusal === null ? null : <Refused frame={frame} refusal={refusal} />}
      <Standing frame={frame} receipt={receipt} isNew={asked !== null && refusal === null} />
      {isWaiting ? <SendMail {...props} /> : null}
    </section>
  );
};

/** Has the focus itself when no field is to blame; the field has it otherwise. */
const Refused: FC<{ frame: Frame; refusal: MailRefusal }> = ({ frame, refusal }) => (
  <div class="note alert" role="alert" id="mail-refused" tabindex={-1} autofocus={refusal.field === null}>
    <p>{refusal.field === null ? refusal.message : <a href={`#${refusal.field}`}>{refusal.message}</a>}</p>
    {refusal.needsLogIn ? <WayToLogIn frame={frame} /> : null}
  </div>
);

/** What the script compares with the record, and puts anew when it has changed. */
const Standing: FC<{ frame: Frame; receipt: ReceiptView; isNew: boolean }> = ({ frame, receipt, isNew }) => {
  const { say } = frame.words;
  const { recipient, delivery } = receipt;
  const isWaiting = receipt.secretKey !== null;
  return (
    <div id="delivery" data-seen={delivery === null ? '' : `${delivery.state} ${delivery.at}`}>
      {isNew ? (
        <p class="note" role="status">
          {say('receipt.mailTaken')}
        </p>
      ) : null}
      {recipient === null ? null : (
        <dl>
          <dt>{say('receipt.recipient')}</dt>
          <dd>
            <bdi dir="ltr">{recipient}</bdi>
          </dd>
        </dl>
      )}
      {delivery === null ? null : <State frame={frame} delivery={delivery} isWaiting={isWaiting} />}
    </div>
  );
};

const State: FC<{ frame: Frame; delivery: Delivery; isWaiting: boolean }> = ({
  frame,
  delivery,
  isWaiting,
}) => {
  const { say } = frame.words;
  const trouble = mailTroubleOf(delivery.reply);
  const { label, help, kind, icon } = wordsOf(delivery);
  return (
    <>
      <p class="standing">
        <Badge kind={kind} icon={icon}>
          {say(label)}
        </Badge>{' '}
        <span class="since">
          <Dated words={frame.words} say="receipt.mailSince" at={delivery.at} />
        </span>
      </p>
      {trouble === null ? null : <p>{say(troubles[trouble])}</p>}
      {isWaiting ? <p>{say(help)}</p> : null}
      {delivery.reply === null || trouble !== null ? null : <Reply frame={frame} reply={delivery.reply} />}
    </>
  );
};

/** Other people's words, in whatever language they wrote them. */
const Reply: FC<{ frame: Frame; reply: string }> = ({ frame, reply }) => (
  <figure class="reply">
    <figcaption>{frame.words.say('receipt.mailSaid')}</figcaption>
    <blockquote dir="ltr">
      <samp>{reply}</samp>
    </blockquote>
  </figure>
);

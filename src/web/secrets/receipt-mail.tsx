/**
 * The recipient's email on the receipt: its delivery, the form that sends it again, and why it was not sent. Addresses are obfuscated,
 * except in a field just filled in. Accounts see the form, and so does anyone who just filled it in, so that nothing typed is lost.
 */
import type { FC } from 'hono/jsx';
import type { Delivery } from '../../core/secret.ts';
import { type MailTrouble, mailTroubleOf } from '../../core/secrets/link-mail.ts';
import type { DeliverOutcome, ReceiptView } from '../../core/secrets/outcomes.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import type { DeliveryState } from '../../protocol/vocabulary.ts';
import { type FieldTexts, LineField } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import { wrongAddress } from '../kit/language.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Badge, type BadgeKind, Button, Chip, Dated, type IconName } from '../kit/parts.tsx';
import { MailLanguageField } from './fields.tsx';
import { readMailLanguage } from './typed.ts';

interface TypedMail {
  readonly recipient: string;
  readonly locale: Locale;
}

interface MailRefusal {
  readonly message: string;
  readonly field: 'recipient' | null;
  readonly needsLogIn: boolean;
}

export interface MailRequest {
  readonly typed: TypedMail;
  readonly refusal: MailRefusal;
}

interface MailProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly asked: MailRequest | null;
}

export function readMail(form: Form, frame: Frame): TypedMail {
  return { recipient: form.text('recipient'), locale: readMailLanguage(form, frame) };
}

export function mailRefusal(
  frame: Frame,
  refused: Exclude<DeliverOutcome, { outcome: 'queued' | 'unknown' }>,
  receipt: ReceiptView,
  typed: TypedMail,
): MailRefusal & { readonly status: number; readonly headers: Readonly<Record<string, string>> } {
  const { say, wait } = frame.messages;
  const whole = (status: number, message: string) => {
    return { status, headers: {}, message, field: null, needsLogIn: false };
  };
  const ofField = (status: number, message: string) => {
    return { ...whole(status, message), field: 'recipient' } as const;
  };
  if (receipt.secretKey === null) return whole(409, say('receipt.mailNothing'));
  switch (refused.outcome) {
    case 'in_flight':
      return whole(409, say('receipt.mailInFlight'));
    case 'nothing_to_send':
      return typed.recipient === '' && frame.visitor !== null
        ? ofField(422, say('receipt.mailNobody'))
        : whole(409, say('receipt.mailNothing'));
    case 'link_unknown':
      return whole(422, say('receipt.mailSealed'));
    case 'undeliverable_recipient':
      return ofField(422, wrongAddress(frame.messages, 'share.recipientWrong', refused.recipient));
    case 'recipient_needs_account':
      return { ...whole(403, say('receipt.mailNeedsAccount')), needsLogIn: true };
    case 'too_many_mails': {
      const { retryAfterSeconds } = refused;
      const headers = { 'retry-after': String(retryAfterSeconds) };
      const message = say('receipt.mailTooMany', { wait: wait(retryAfterSeconds) });
      return { ...whole(429, message), headers };
    }
  }
}

interface StateTexts {
  readonly label: MessageKey;
  readonly help: MessageKey;
  readonly kind: BadgeKind;
  readonly icon: IconName;
}

const states: Readonly<Record<DeliveryState | 'retrying', StateTexts>> = {
  queued: { label: 'receipt.mailQueued', help: 'receipt.mailQueuedHelp', kind: 'waiting', icon: 'clock' },
  /** Queued again after a failure. */
  retrying: {
    label: 'receipt.mailRetrying',
    help: 'receipt.mailRetryingHelp',
    kind: 'waiting',
    icon: 'clock',
  },
  accepted: { label: 'receipt.mailAccepted', help: 'receipt.mailAcceptedHelp', kind: 'good', icon: 'check' },
  refused: { label: 'receipt.mailSaidNo', help: 'receipt.mailSaidNoHelp', kind: 'bad', icon: 'x' },
  given_up: { label: 'receipt.mailGivenUp', help: 'receipt.mailGivenUpHelp', kind: 'bad', icon: 'alert' },
  not_sent: { label: 'receipt.mailUnsent', help: 'receipt.mailUnsentHelp', kind: 'bad', icon: 'alert' },
};

const troubles: Readonly<Record<MailTrouble, MessageKey>> = {
  unreachable: 'receipt.mailUnreachable',
  unanswered: 'receipt.mailUnanswered',
};

export function deliveryTexts({
  state,
  reply = null,
}: Partial<Delivery> & Pick<Delivery, 'state'>): StateTexts {
  if (state === 'queued' && reply !== null) return states.retrying;
  // No mail server responded, so the advice must not mention one.
  const isUnanswered = state === 'given_up' && mailTroubleOf(reply) !== null;
  return isUnanswered ? { ...states.given_up, help: states.not_sent.help } : states[state];
}

export const MailSection: FC<MailProps> = (props) => {
  const { frame, receipt, asked } = props;
  const refusal = asked?.refusal ?? null;
  const isWaiting = receipt.secretKey !== null;
  const wasMailed = receipt.recipient !== null || receipt.delivery !== null;
  if (!isWaiting && !wasMailed && refusal === null) return null;
  return (
    <section class="mail" id="mail">
      {wasMailed || refusal !== null ? <h2>{frame.say('receipt.mailTitle')}</h2> : null}
      {refusal === null || (refusal.field !== null && isWaiting) ? null : (
        <Refused frame={frame} refusal={refusal} />
      )}
      <CurrentDelivery frame={frame} receipt={receipt} />
      {isWaiting ? <SendMail {...props} /> : null}
    </section>
  );
};

/** Takes the focus unless a field does. */
const Refused: FC<{ frame: Frame; refusal: MailRefusal }> = ({ frame, refusal }) => (
  <div class="note alert" role="alert" id="mail-refused" tabindex={-1} autofocus={refusal.field === null}>
    <p>{refusal.field === null ? refusal.message : <a href={`#${refusal.field}`}>{refusal.message}</a>}</p>
    {refusal.needsLogIn ? <WayToLogIn frame={frame} /> : null}
  </div>
);

/** The script reloads this part when the delivery differs from `data-seen`. */
const CurrentDelivery: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame, receipt }) => {
  const { recipient, delivery } = receipt;
  const isWaiting = receipt.secretKey !== null;
  return (
    <div id="delivery" data-seen={delivery === null ? '' : `${delivery.state} ${delivery.at}`}>
      {recipient === null ? null : (
        <dl>
          <dt>{frame.say('receipt.recipient')}</dt>
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
  const trouble = mailTroubleOf(delivery.reply);
  const { label, help, kind, icon } = deliveryTexts(delivery);
  return (
    <>
      <p class="standing">
        <Badge kind={kind} icon={icon}>
          {frame.say(label)}
        </Badge>{' '}
        <span class="since">
          <Dated messages={frame.messages} say="receipt.mailSince" at={delivery.at} />
        </span>
      </p>
      {trouble === null ? null : <p>{frame.say(troubles[trouble])}</p>}
      {isWaiting ? <p>{frame.say(help)}</p> : null}
      {delivery.reply === null || trouble !== null ? null : <Reply frame={frame} reply={delivery.reply} />}
    </>
  );
};

/** The mail server's reply, in the server's language. */
const Reply: FC<{ frame: Frame; reply: string }> = ({ frame, reply }) => (
  <figure class="reply">
    <figcaption>{frame.say('receipt.mailSaid')}</figcaption>
    <blockquote dir="ltr">
      <samp>{reply}</samp>
    </blockquote>
  </figure>
);

const failed: ReadonlySet<DeliveryState> = new Set(['refused', 'given_up', 'not_sent']);

/** Offered to accounts, because an email names its sender. Expanded after a failed email or a refused request. */
const SendMail: FC<MailProps> = (props) => {
  const { frame, receipt, asked } = props;
  const { delivery, recipient } = receipt;
  // Shows text that was typed before the session ended.
  if (frame.visitor === null && (asked?.typed.recipient ?? '') === '') return null;
  const isOpen = (delivery !== null && failed.has(delivery.state)) || asked !== null;
  const title = frame.say(recipient === null ? 'receipt.sendFirst' : 'receipt.sendAgainOrElsewhere');
  return (
    <div class="chips">
      <Chip icon="mail" title={title} open={isOpen}>
        <SendForm {...props} />
      </Chip>
    </div>
  );
};

const SendForm: FC<MailProps> = (props) => {
  const { frame, receipt, asked } = props;
  const { messages, href } = frame;
  return (
    <PostForm frame={frame} action={href('sendAgain', receipt.metadataKey)} autocomplete="off">
      {receipt.recipient === null ? null : <p>{messages.say('receipt.sendHint')}</p>}
      <div class="pair">
        <Address {...props} />
        <MailLanguageField frame={frame} chosen={asked?.typed.locale ?? messages.locale} />
      </div>
      <Button frame={frame} class="quiet" say="receipt.sendMail" icon="mail" />
    </PostForm>
  );
};

const Address: FC<MailProps> = ({ frame, receipt, asked }) => {
  const refusal = asked?.refusal ?? null;
  const isFirst = receipt.recipient === null;
  const texts: FieldTexts = {
    name: 'recipient',
    label: frame.say(isFirst ? 'share.recipient' : 'receipt.anotherAddress'),
    note: isFirst ? undefined : frame.say('share.optional'),
    hint: frame.say(isFirst ? 'receipt.firstAddressHint' : 'receipt.anotherAddressHint'),
    wrong: refusal?.field === 'recipient' ? refusal.message : null,
  };
  return <LineField texts={texts} typed={asked?.typed.recipient ?? ''} kind="address" />;
};

/** Opens in a new tab, because only the receipt's address leads back. Share domains have no log-in. */
const WayToLogIn: FC<{ frame: Frame }> = ({ frame: { say, href, domain } }) =>
  domain === null ? (
    <p>
      {say('receipt.mailLogIn')}{' '}
      <a href={href('logIn')} target="_blank" rel="noopener">
        {say('share.logIn')}
      </a>
    </p>
  ) : null;

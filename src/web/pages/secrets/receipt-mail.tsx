/**
 * The mail to the recipient, as its sender sees it.
 *
 * Owns: where it stands, and sending it again. Invariant: the address is shown obfuscated only.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../../domain/outcomes.ts';
import type { Delivery } from '../../../domain/secret.ts';
import type { MessageKey } from '../../../locale/catalogues.ts';
import { type Frame, PostForm } from '../../layout.tsx';
import { Icon } from '../icons.tsx';
import { MailLanguage } from './mail-language.tsx';

/** A sentence about the last wish to send it again. */
export interface MailWord {
  readonly text: string;
  /** Whether no mail went out. */
  readonly isRefusal: boolean;
}

interface MailProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  readonly word: MailWord | null;
}

const states: Readonly<Record<Delivery['state'], MessageKey>> = {
  queued: 'receipt.mailQueued',
  accepted: 'receipt.mailAccepted',
  refused: 'receipt.mailRefused',
  not_sent: 'receipt.mailNotSent',
};

export const MailSection: FC<MailProps> = ({ frame, receipt, word }) => {
  const { say, moment } = frame.words;
  const { recipient, delivery } = receipt;
  if (recipient === null && word === null) return null;
  return (
    <section class="mail">
      <h2>{say('receipt.mailTitle')}</h2>
      {word === null ? null : (
        <p class={word.isRefusal ? 'note alert' : 'note'} role="status">
          {word.text}
        </p>
      )}
      <dl>
        {recipient === null ? null : (
          <>
            <dt>{say('receipt.recipient')}</dt>
            <dd dir="ltr">{recipient}</dd>
          </>
        )}
        {delivery === null ? null : (
          <>
            <dt>{say('receipt.mail')}</dt>
            <dd>
              {say(states[delivery.state])}
              <span class="since">{say('receipt.mailSince', { date: moment(delivery.at) })}</span>
            </dd>
          </>
        )}
      </dl>
      {recipient !== null && receipt.secretKey !== null ? (
        <SendAgain frame={frame} receipt={receipt} />
      ) : null}
    </section>
  );
};

const SendAgain: FC<Pick<MailProps, 'frame' | 'receipt'>> = ({ frame, receipt }) => {
  const { words, href } = frame;
  return (
    <details>
      <summary>{words.say('receipt.sendAgain')}</summary>
      <PostForm frame={frame} action={href('sendAgain', receipt.metadataKey)}>
        <p>{words.say('receipt.sendAgainHint')}</p>
        <MailLanguage frame={frame} chosen={words.locale} />
        <button class="quiet" type="submit">
          <Icon name="mail" />
          {words.say('receipt.sendAgain')}
        </button>
      </PostForm>
    </details>
  );
};

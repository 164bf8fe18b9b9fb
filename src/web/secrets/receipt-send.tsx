/**
 * The form that sends the mail with the link from the receipt.
 *
 * Owns: its fields, and who is offered an address. Invariants: the field for an address is shown only to whom the core
 * would let fill it in, and to whoever has filled it in already, so that nothing typed is lost; everybody else is told
 * what it takes.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { anonymousCustid } from '../../core/secrets/receipts.ts';
import type { DeliveryState } from '../../core/secrets/secret.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import type { FieldTexts } from '../kit/field.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';
import { MailAddress } from './mail-address.tsx';
import { MailLanguage } from './mail-language.tsx';

export interface TypedMail {
  /** As typed. */
  readonly recipient: string;
  readonly locale: Locale;
}

export interface MailRefusal {
  readonly message: string;
  /** Which field is wrong; `null`: none of them. */
  readonly field: 'recipient' | null;
  readonly needsLogIn: boolean;
}

/** A wish to send the mail. */
export interface MailAsked {
  readonly typed: TypedMail;
  /** `null`: it was taken up, and the record says what became of it. */
  readonly refusal: MailRefusal | null;
}

export interface MailProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** `null`: there was no wish. */
  readonly asked: MailAsked | null;
}

/** An account chooses the recipients of its own secrets, and of those that nobody's account made. */
export function mayChooseRecipient({ visitor }: Frame, { custid }: ReceiptView): boolean {
  return visitor !== null && (custid === anonymousCustid || custid === visitor.username);
}

const failed: ReadonlySet<DeliveryState> = new Set(['refused', 'given_up', 'not_sent']);

/** Unfolded where there is something to do: the last try failed, or the last wish was refused. */
export const SendMail: FC<MailProps> = (props) => {
  const { frame, receipt, asked } = props;
  const { custid, delivery, recipient } = receipt;
  const mayChoose = mayChooseRecipient(frame, receipt);
  const hasField = mayChoose || (asked?.typed.recipient ?? '') !== '';
  // A mail names its sender, so somebody's account stands behind every one.
  const hasForm = hasField || (recipient !== null && custid !== anonymousCustid);
  if (!hasForm && frame.domain !== null) return null;
  const isOpen = (delivery !== null && failed.has(delivery.state)) || (asked?.refusal ?? null) !== null;
  return (
    <details open={isOpen}>
      <summary>{frame.words.say(summaryOf(recipient !== null, hasField))}</summary>
      {hasForm ? <SendForm {...props} hasField={hasField} /> : null}
      {mayChoose ? null : <WhatItTakes frame={frame} />}
    </details>
  );
};

function summaryOf(wasMailed: boolean, hasField: boolean): MessageKey {
  if (!wasMailed) return 'receipt.sendFirst';
  return hasField ? 'receipt.sendAgainOrElsewhere' : 'receipt.sendAgain';
}

const SendForm: FC<MailProps & { readonly hasField: boolean }> = (props) => {
  const { frame, receipt, asked, hasField } = props;
  const { words, href } = frame;
  return (
    <PostForm frame={frame} action={href('sendAgain', receipt.metadataKey)} autocomplete="off">
      {receipt.recipient === null ? null : (
        <p>{words.say(hasField ? 'receipt.sendHint' : 'receipt.sendAgainHint')}</p>
      )}
      <div class="pair">
        {hasField ? <Address {...props} /> : null}
        <MailLanguage frame={frame} chosen={asked?.typed.locale ?? words.locale} />
      </div>
      <button class="quiet" type="submit">
        <Icon name="mail" />
        {words.say(hasField ? 'receipt.sendMail' : 'receipt.sendAgain')}
      </button>
    </PostForm>
  );
};

const Address: FC<MailProps> = ({ frame, receipt, asked }) => {
  const { say } = frame.words;
  const refusal = asked?.refusal ?? null;
  const isFirst = receipt.recipient === null;
  const texts: FieldTexts = {
    name: 'recipient',
    label: say(isFirst ? 'share.recipient' : 'receipt.anotherAddress'),
    ...(isFirst ? {} : { note: say('share.optional') }),
    hint: say(isFirst ? 'receipt.firstAddressHint' : 'receipt.anotherAddressHint'),
    wrong: refusal?.field === 'recipient' ? refusal.message : null,
  };
  return <MailAddress texts={texts} typed={asked?.typed.recipient ?? ''} />;
};

const WhatItTakes: FC<{ frame: Frame }> = ({ frame }) => {
  const { words, visitor } = frame;
  return (
    <>
      <p>{words.say(visitor === null ? 'receipt.mailNeedsAccount' : 'receipt.mailNeedsMaker')}</p>
      {visitor === null ? <WayToLogIn frame={frame} /> : null}
    </>
  );
};

/** In another tab, because the way back here is this page's own address. There is none on a share domain. */
export const WayToLogIn: FC<{ frame: Frame }> = ({ frame: { words, href, domain } }) =>
  domain === null ? (
    <p>
      {words.say('receipt.mailLogIn')}{' '}
      <a href={href('logIn')} target="_blank" rel="noopener">
        {words.say('share.logIn')}
      </a>
    </p>
  ) : null;

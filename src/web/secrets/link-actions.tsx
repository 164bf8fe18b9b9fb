/**
 * What a creator can do with a link: copy it, share it, show its QR code, send it in a ready-made message, and send the passphrase another
 * way. If only the browser knows the link, the page's script fills it in.
 */
import type { Child, FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import { Mayfly } from '../brand/default-logo.tsx';
import { type MessageParts, mailtoAddress, withLink } from '../client/link-message.ts';
import { qrPath } from '../client/qr-path.ts';
import { LanguageOptions } from '../kit/field.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Button, CopyButton, CopyStatus, Icon, ScriptButton } from '../kit/parts.tsx';
import { linkMessage } from './receipt-life.ts';

export interface ChosenMessage {
  readonly locale: Locale;
  readonly isOpen: boolean;
}

interface HandingProps {
  readonly frame: Frame;
  /** `null` if the script fills it in. */
  readonly link: string | null;
  readonly says: Readonly<Record<'link' | 'hint' | 'hintOfCopied' | 'qr', MessageKey>>;
  readonly qrHint?: MessageKey;
  readonly parts: MessageParts;
  readonly message: ChosenMessage;
  /** The address of the message in other languages, and their list; neither if there is only one. */
  readonly texts?: string;
  readonly chooser?: Child;
}

export interface LinkActionsProps extends Pick<HandingProps, 'frame' | 'link' | 'message'> {
  readonly receipt: ReceiptView;
}

export const LinkActions: FC<LinkActionsProps> = ({ receipt, ...props }) => {
  const { href } = props.frame;
  return (
    <Handing
      {...props}
      says={{
        link: 'receipt.link',
        hint: receipt.sealed ? 'receipt.wholeLinkHint' : 'receipt.linkHint',
        hintOfCopied: 'receipt.linkHint',
        qr: 'receipt.qrAlt',
      }}
      qrHint="receipt.qrHint"
      parts={linkMessage(props.message.locale, receipt)}
      texts={href('receiptMessage', receipt.metadataKey)}
      chooser={<MessageLanguage {...props} receipt={receipt} />}
    />
  );
};

export const Handing: FC<HandingProps> = (props) => {
  const { frame, link, says, qrHint } = props;
  const { say } = frame.messages;
  return (
    <>
      <p class="link-copied" id="link-copied" role="status" data-said={say('receipt.linkCopied')} />
      <label for="link">{say(says.link)}</label>
      <div class="link-row">
        <textarea
          id="link"
          class="link"
          rows={1}
          readonly
          autocomplete="off"
          spellcheck={false}
          aria-describedby="link-hint"
        >
          {link}
        </textarea>
        <CopyButton frame={frame} target="link" />
      </div>
      <p class="hint" id="link-hint" data-copied={say(says.hintOfCopied)}>
        {say(says.hint)}
      </p>
      <div class="handing">
        <ScriptButton frame={frame} class="quiet" hidden data-share say="receipt.share" icon="share" />
        <details name="way">
          <summary class="button quiet">
            <Icon name="qr" />
            {say('receipt.qr')}
          </summary>
          <div class="panel">
            <QrCode frame={frame} text={link} alt={says.qr} />
            {qrHint === undefined ? null : <p class="hint">{say(qrHint)}</p>}
          </div>
        </details>
        <Message {...props} />
      </div>
    </>
  );
};

export const Copied: FC<{ frame: Frame }> = ({ frame }) => (
  <CopyStatus frame={frame} failed="receipt.notCopied" />
);

/** Always dark on light, in the middle the mark. One press makes it as large as the window, another small again. */
const QrCode: FC<{ frame: Frame; text: string | null; alt: MessageKey }> = ({
  frame: { messages },
  text,
  alt,
}) => {
  const code = text === null ? null : qrPath(text);
  return (
    <label class="qr-frame">
      <input
        type="checkbox"
        class="visually-hidden"
        autocomplete="off"
        aria-label={messages.say('receipt.qrEnlarge')}
      />
      <svg id="qr" class="qr" role="img" aria-label={messages.say(alt)} viewBox={code?.viewBox}>
        <rect width="100%" height="100%" fill="#fff" />
        <path d={code?.path} fill="#000" shape-rendering="crispEdges" />
        <svg class="qr-mark" x="41%" y="41%" width="18%" height="18%" viewBox="0 -4 27 27" aria-hidden="true">
          <rect y="-4" width="100%" height="100%" fill="#fff" />
          <Mayfly />
        </svg>
      </svg>
    </label>
  );
};

/** The script fetches the message in other languages from `data-texts`. */
const Message: FC<HandingProps> = (props) => {
  const { frame, message, parts, link, texts, chooser } = props;
  const { messages } = frame;
  const text = link === null ? null : withLink(parts, link);
  return (
    <details name="way" open={message.isOpen}>
      <summary class="button quiet">
        <Icon name="message" />
        {messages.say('receipt.message')}
      </summary>
      <div class="panel">
        {chooser}
        <textarea
          id="message"
          rows={8}
          readonly
          autocomplete="off"
          spellcheck={false}
          lang={message.locale}
          dir="auto"
          aria-label={messages.say('receipt.messageLabel')}
          data-subject={parts.subject}
          data-text={parts.text}
          data-texts={texts}
        >
          {text}
        </textarea>
        <div class="row">
          <CopyButton frame={frame} target="message" say="receipt.messageCopy" class="quiet" />
          <a
            class="button quiet"
            id="mailto"
            href={text === null ? 'mailto:' : mailtoAddress(parts.subject, text)}
          >
            <Icon name="mail" />
            {messages.say('receipt.email')}
          </a>
        </div>
      </div>
    </details>
  );
};

export const messageLanguageField = 'message-language';

/** Without scripts, choosing a language reloads the page, with the link's message in that language. */
const MessageLanguage: FC<Omit<LinkActionsProps, 'link'>> = ({ frame, receipt, message }) => {
  const { messages, href, settings } = frame;
  if (settings.locales.length < 2) return null;
  return (
    <PostForm frame={frame} class="language-of" action={href('receipt', receipt.metadataKey)}>
      <label for={messageLanguageField}>{messages.say('receipt.messageLanguage')}</label>
      <select id={messageLanguageField} name={messageLanguageField} autocomplete="off">
        <LanguageOptions frame={frame} chosen={message.locale} />
      </select>
      <Button frame={frame} class="quiet" say="receipt.messageChoose" />
    </PostForm>
  );
};

/** The script shows the link, which the share form handed over. The markup is always present, so that reloads work. */
export const SealedLink: FC<LinkActionsProps> = (props) => {
  const { say } = props.frame.messages;
  return (
    <>
      <div id="whole-link" hidden>
        <LinkActions {...props} link={null} />
      </div>
      <div id="link-gone">
        <h2>{say('receipt.linkGoneTitle')}</h2>
        <p>{say('receipt.linkGone')}</p>
      </div>
    </>
  );
};

/** The script shows the passphrase, which the share form handed over; the server does not have it. */
export const Passphrase: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.messages;
  return (
    <>
      <div id="passphrase-chip" class="passphrase-chip" hidden>
        <p class="passphrase-name">
          <Icon name="key" />
          {say('receipt.passphrase')}
        </p>
        <div class="link-row">
          <code id="passphrase-value" class="code" dir="auto" translate="no" />
          <CopyButton frame={frame} target="passphrase-value" class="quiet" />
        </div>
        <p class="hint">{say('receipt.passphraseOnce')}</p>
      </div>
      <p class="reminder" id="passphrase-reminder">
        <Icon name="key" />
        <span>{say('receipt.passphraseReminder')}</span>
      </p>
    </>
  );
};

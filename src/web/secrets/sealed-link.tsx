/**
 * The link of an end-to-end secret, of which the server knows the half that opens nothing. The script (`client/sealed-link.ts`)
 * adds the other half, which is in this page's own address right after the creation, and takes it out of the address.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { quietModules } from '../client/qr-path.ts';
import type { Frame } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';
import { LinkActions } from './link-actions.tsx';

interface SealedLinkProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** Without its fragment; `null` unless it was just created. */
  readonly link: string | null;
}

export const SealedLinkSheet: FC<SealedLinkProps> = ({ frame, receipt, link }) => {
  const { say } = frame.words;
  return (
    <>
      {link === null ? null : <WholeLink frame={frame} receipt={receipt} link={link} />}
      <p class="note" id="link-gone">
        {say('receipt.linkGone')}
      </p>
    </>
  );
};

const WholeLink: FC<SealedLinkProps> = ({ frame, receipt, link }) => {
  const { say } = frame.words;
  return (
    <div class="sheet" id="whole-link" hidden data-link={link}>
      <label for="link">{say('receipt.link')}</label>
      <textarea
        id="link"
        class="link"
        rows={3}
        readonly
        autocomplete="off"
        spellcheck={false}
        aria-describedby="link-hint"
      />
      <p class="hint" id="link-hint">
        {say('receipt.wholeLinkHint')}
      </p>
      <LinkActions frame={frame} receipt={receipt} />
      <Message frame={frame} />
      <details>
        <summary>{say('receipt.qr')}</summary>
        <svg
          class="qr"
          role="img"
          aria-label={say('receipt.qrAlt')}
          id="qr"
          data-quiet={quietModules}
          shape-rendering="crispEdges"
        >
          <rect x={-quietModules} y={-quietModules} fill="#fff" />
          <path fill="#000" />
        </svg>
        <p class="hint">{say('receipt.qrHint')}</p>
      </details>
    </div>
  );
};

/** In place of the mail, which the server cannot send. */
const Message: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <details>
      <summary>{say('receipt.message')}</summary>
      <textarea
        id="message"
        rows={6}
        readonly
        autocomplete="off"
        spellcheck={false}
        aria-label={say('receipt.message')}
        data-before={say('receipt.messageBefore')}
        data-after={say('receipt.messageAfter')}
      />
      <div class="link-actions">
        <button
          type="button"
          class="quiet"
          hidden
          data-copy="#message"
          data-copied={say('receipt.messageCopied')}
        >
          <Icon name="copy" />
          <span>{say('receipt.messageCopy')}</span>
        </button>
        <a class="button quiet" id="mailto" href="mailto:" data-subject={say('receipt.messageSubject')}>
          <Icon name="mail" />
          {say('receipt.messageMail')}
        </a>
      </div>
    </details>
  );
};

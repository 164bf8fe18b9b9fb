/**
 * The link to give away: to copy, to send with an app, to scan; or the button that shows it.
 *
 * Owns: that part of the receipt. Invariant: without scripts the field, its selection and the QR code do all of it, and no
 * button is seen that would do nothing.
 */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';
import { QrCode } from './qr.tsx';

interface LinkProps {
  readonly frame: Frame;
  readonly receipt: ReceiptView;
  /** `null`: it is not shown now. */
  readonly link: string | null;
}

export const LinkSheet: FC<LinkProps> = ({ frame, receipt, link }) => {
  const { words, href } = frame;
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
      <div class="link-actions">
        <CopyButton target="link" label={say('receipt.copy')} />
        <button type="button" class="quiet" hidden data-share>
          <Icon name="share" />
          {say('receipt.share')}
        </button>
      </div>
      <CopyStatus copied={say('receipt.copied')} failed={say('receipt.notCopied')} />
      {receipt.hasPassphrase ? <p class="reminder">{say('receipt.passphraseReminder')}</p> : null}
      <details>
        <summary>{say('receipt.qr')}</summary>
        <QrCode text={link} label={say('receipt.qrAlt')} />
        <p class="hint">{say('receipt.qrHint')}</p>
      </details>
    </div>
  );
};

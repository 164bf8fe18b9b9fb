/** What a creator does with a link, plain or sealed: copy it, share it, and tell the passphrase in another way. */
import type { FC } from 'hono/jsx';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { Frame } from '../kit/layout.tsx';
import { CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';

interface LinkActionsProps {
  readonly frame: Frame;
  readonly receipt: Pick<ReceiptView, 'hasPassphrase'>;
}

/** Of the field with the id `link`. */
export const LinkActions: FC<LinkActionsProps> = ({ frame, receipt }) => {
  const { say } = frame.words;
  return (
    <>
      <div class="link-actions">
        <CopyButton target="link" label={say('receipt.copy')} />
        <button type="button" class="quiet" hidden data-share>
          <Icon name="share" />
          {say('receipt.share')}
        </button>
      </div>
      <CopyStatus copied={say('receipt.copied')} failed={say('receipt.notCopied')} />
      {receipt.hasPassphrase ? <p class="reminder">{say('receipt.passphraseReminder')}</p> : null}
    </>
  );
};

/**
 * Who encrypts, said beside the button, and the file that only the browser can encrypt. Without scripts it is the server: the
 * choice and the file are shown by the script (`client/share.ts`) once it has taken the form over.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import { type Frame, workerAttributes } from '../kit/layout.tsx';
import { Icon } from '../kit/parts.tsx';

interface SealingProps {
  readonly frame: Frame;
  readonly plan: Plan;
}

export function offersSealing({ settings }: Frame): boolean {
  return settings.endToEnd !== 'off';
}

/** Short beside the button, and all of it on demand. Absent where the pages do not encrypt. */
export const Encryption: FC<SealingProps> = ({ frame, plan }) => {
  const { say, size } = frame.words;
  if (!offersSealing(frame)) return null;
  return (
    <>
      <details
        class="sealing"
        id="sealing"
        data-limit={plan.maxSealedBytes}
        data-too-large={say('share.tooLarge', { size: size(plan.maxSealedBytes) })}
        {...workerAttributes(frame)}
      >
        <summary data-state="server">
          <Icon name="lock" />
          <span
            id="encryption"
            data-server={say('share.encryptedByServer')}
            data-sealed={say('share.encryptedHere')}
            data-mail={say('share.encryptedEmailed')}
          >
            {say('share.encryptedByServer')}
          </span>
        </summary>
        <div class="panel">
          {/* Without a name: it is for the script alone. */}
          <label class="check" hidden>
            <input
              type="checkbox"
              id="seal"
              checked={frame.settings.endToEnd === 'default'}
              aria-describedby="encryption-more"
            />
            <span>{say('share.seal')}</span>
          </label>
          <p
            id="encryption-more"
            data-server={say('share.serverMore')}
            data-sealed={say('share.browserMore')}
            data-mail={say('share.emailedMore')}
            data-insecure={say('share.insecureMore')}
            data-file={say('share.fileNeedsSealing')}
          >
            {say('share.serverMore')}
          </p>
          <p>
            <a href={`${frame.href('security')}#end-to-end`} target="_blank" rel="noopener">
              {say('share.sealingMore')}
            </a>
          </p>
        </div>
      </details>
      {/* Heard when it changes, also while the rest is folded away. */}
      <p class="visually-hidden" id="encryption-spoken" role="status" />
    </>
  );
};

/** In place of the field of the secret, when there is a file. */
export const Attachment: FC<SealingProps> = ({ frame, plan }) => {
  const { say, size } = frame.words;
  return (
    <div
      id="attachment"
      hidden
      data-too-large={say('share.fileTooLarge', { size: size(plan.maxSealedBytes) })}
      data-one={say('share.fileOne')}
      data-not-text={say('share.fileNotText')}
    >
      <p class="file">
        <Icon name="file" />
        <bdi id="file-name" />
        <span id="file-size" />
        <button type="button" class="quiet small" id="file-remove">
          <Icon name="x" />
          {say('share.fileRemove')}
        </button>
      </p>
      <p class="hint" id="file-instead" hidden>
        {say('share.fileInstead')}
      </p>
    </div>
  );
};

export const FilePick: FC<Pick<SealingProps, 'frame'>> = ({ frame: { words } }) => (
  <span id="file-pick" hidden>
    <button type="button" class="tool" id="file-button">
      <Icon name="file" />
      {words.say('share.file')}
    </button>
    <input type="file" id="file" hidden aria-label={words.say('share.file')} />
  </span>
);

/** The script shows these when nothing was sent, because it could not be encrypted. */
export const Unsealed: FC<Pick<SealingProps, 'frame'>> = ({ frame }) => {
  const { say, size } = frame.words;
  return (
    <template
      id="unsealed-note"
      data-passphrase={say('share.passphraseTooLong', { size: size(1_024) })}
      data-ill-formed={say('share.illFormed')}
    >
      <div class="note alert">
        <h2>{say('share.unsealedTitle')}</h2>
        <p>{say('share.unsealed')}</p>
      </div>
    </template>
  );
};

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

/** Absent where the pages do not encrypt. */
export const Encryption: FC<SealingProps> = ({ frame, plan }) => {
  const { say } = frame.words;
  if (!offersSealing(frame)) return null;
  const count = plan.maxSealedBytes;
  return (
    <div
      class="sealing"
      id="sealing"
      data-limit={count}
      data-limit-said={say('share.limit', { count })}
      data-too-large={say('share.tooLarge', { count })}
      data-words={frame.href('words')}
      {...workerAttributes(frame)}
    >
      {/* Without a name: it is for the script alone. */}
      <label class="check" hidden>
        <input
          type="checkbox"
          id="seal"
          checked={frame.settings.endToEnd === 'default'}
          aria-describedby="encryption"
        />
        <span>{say('share.seal')}</span>
      </label>
      <p class="encryption" data-state="server">
        <Icon name="lock" />
        <span
          id="encryption"
          role="status"
          data-server={say('share.byServer')}
          data-sealed={say('share.byBrowser')}
          data-mail={say('share.byServerMail')}
          data-insecure={say('share.byServerInsecure')}
          data-file={say('share.fileNeedsSealing')}
        >
          {say('share.byServer')}
        </span>
      </p>
    </div>
  );
};

/** In place of the field of the secret, when there is a file. */
export const Attachment: FC<SealingProps> = ({ frame, plan }) => {
  const { say, bytes } = frame.words;
  return (
    <>
      <div
        id="attachment"
        hidden
        data-too-large={say('share.fileTooLarge', { limit: bytes(plan.maxSealedBytes) })}
        data-one={say('share.fileOne')}
        data-not-text={say('share.fileNotText')}
      >
        <p class="file">
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
      <p class="pick" id="file-pick" hidden>
        <button type="button" class="quiet small" id="file-button" aria-describedby="file-hint">
          <Icon name="plus" />
          {say('share.file')}
        </button>
        <span class="hint" id="file-hint">
          {say('share.fileHint')}
        </span>
        <input type="file" id="file" hidden aria-label={say('share.file')} />
      </p>
    </>
  );
};

/** The script shows these when nothing was sent, because it could not be encrypted. */
export const Unsealed: FC<SealingProps> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <template
      id="unsealed-note"
      data-passphrase={say('share.passphraseTooLong', { count: 1_024 })}
      data-ill-formed={say('share.illFormed')}
    >
      <div class="note alert">
        <h2>{say('share.unsealedTitle')}</h2>
        <p>{say('share.unsealed')}</p>
      </div>
    </template>
  );
};

/**
 * Shows next to the button who encrypts, and takes a file, which only the browser can encrypt. Without scripts, the server encrypts,
 * because only the script (`client/share.ts`) shows the choice and the file's field.
 */

import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import { type Frame, workerAttributes } from '../kit/layout.tsx';
import { Icon, ScriptButton } from '../kit/parts.tsx';

export function offersSealing({ settings }: Frame): boolean {
  return settings.endToEnd !== 'off';
}

/** Explains who encrypts: briefly next to the button, in full on demand. */
export const Encryption: FC<{ frame: Frame; plan: Plan }> = ({ frame, plan }) => {
  const { say, size } = frame.messages;
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
          <span>
            <span
              id="encryption"
              data-server={say('share.encryptedByServer')}
              data-sealed={say('share.encryptedHere')}
              data-mail={say('share.encryptedEmailed')}
            >
              {say('share.encryptedByServer')}
            </span>{' '}
            <small id="encryption-why" data-sealed={say('share.encryptedWhy')} />
          </span>
          <Icon name="info" />
        </summary>
        <div class="panel">
          {/* Has no name, because only the script needs it. */}
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
      {/* Announces changes even while the rest is collapsed. */}
      <p class="visually-hidden" id="encryption-spoken" role="status" />
    </>
  );
};

/** Replaces the secret's field once a file is attached. */
export const Attachment: FC<{ frame: Frame; tooLarge: string }> = ({ frame, tooLarge }) => (
  <div
    id="attachment"
    hidden
    data-too-large={tooLarge}
    data-one={frame.say('share.fileOne')}
    data-not-text={frame.say('share.fileNotText')}
  >
    <p class="file">
      <Icon name="file" />
      <bdi id="file-name" />
      <span id="file-size" />
      <ScriptButton frame={frame} class="quiet small" id="file-remove" say="share.fileRemove" icon="x" />
    </p>
    <p class="hint" id="file-instead" hidden>
      {frame.say('share.fileInstead')}
    </p>
  </div>
);

export const FilePick: FC<{ frame: Frame }> = ({ frame }) => (
  <span id="file-pick" hidden>
    <ScriptButton frame={frame} class="tool" id="file-button" say="share.file" icon="file" />
    <input type="file" id="file" hidden aria-label={frame.say('share.file')} />
  </span>
);

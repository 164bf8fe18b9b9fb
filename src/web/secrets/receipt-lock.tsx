/** The receipt's notice of a lock after too many wrong passphrases, with the button that lifts it. */
import type { FC } from 'hono/jsx';
import { attemptLimits } from '../../core/secrets/access.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Dated, ShortTime } from '../kit/parts.tsx';

export const Locked: FC<{ frame: Frame; receipt: ReceiptView }> = ({ frame, receipt }) => {
  const { words, href } = frame;
  if (receipt.locked === null) return null;
  const { until } = receipt.locked;
  const { perSecret, perLife } = attemptLimits;
  return (
    <section class="note alert">
      <p>
        <strong>
          {until === null ? (
            words.say('receipt.lockedForGood', { limit: perLife })
          ) : (
            <Dated
              words={words}
              say="receipt.lockedUntil"
              params={{ limit: perSecret }}
              at={until}
              as={ShortTime}
            />
          )}
        </strong>
      </p>
      <p>{words.say('receipt.lockedHelp')}</p>
      <PostForm frame={frame} action={href('allowMore', receipt.metadataKey)}>
        <button class="quiet" type="submit">
          {words.say('receipt.allowMore', { limit: perLife })}
        </button>
      </PostForm>
    </section>
  );
};

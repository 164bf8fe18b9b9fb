/**
 * The start page: one field and one button. A refused form comes back with everything that was typed. Limits are never given
 * to the browser: `maxlength` would cut what is pasted, and nobody sees the browser's own message about a folded field.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Icon, type IconName } from '../kit/parts.tsx';
import { Options } from './share-options.tsx';
import { Refused, type ShareProps, Unsent } from './share-refusal.tsx';
import { Encryption, Unsealed } from './share-sealing.tsx';
import { Value } from './share-value.tsx';

export const SharePage: FC<ShareProps> = (props) => {
  const { frame, plan, refusal } = props;
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('share.title')} scripts={['share']}>
      <h1>{say('share.title')}</h1>
      <p class="lead">{say('share.how')}</p>
      {refusal === null ? null : <Refused frame={frame} refusal={refusal} />}
      <PostForm frame={frame} id="share" class="sheet" action={frame.href('share')} autocomplete="off">
        {/* Enter presses the first button of a form: it must create, not draw. */}
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key and no reader reaches it; the real one is below */}
        <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
        <Value {...props} />
        <Options {...props} />
        <Unsent frame={frame} />
        <Unsealed frame={frame} />
        <div class="send">
          <Encryption frame={frame} plan={plan} />
          <button type="submit" id="create">
            {say('share.submit')}
          </button>
        </div>
        <p
          class="hint"
          id="sending"
          role="status"
          data-sending={say('share.sending')}
          data-sealing={say('share.sealing')}
        />
        <progress id="progress" max="1" value="0" hidden aria-label={say('share.sending')} />
        <p class="hint" id="shortcut" hidden>
          {say('share.shortcut')}
        </p>
      </PostForm>
      <Trust frame={frame} />
    </Page>
  );
};

/** What is said here, by the promise that it links to. */
const reasons: readonly (readonly [icon: IconName, words: MessageKey, promise: string])[] = [
  ['eye', 'share.trustOnce', 'once'],
  ['lock', 'share.trustStored', 'at-rest'],
  ['message', 'share.trustLooking', 'looking'],
  ['shield', 'share.trustPages', 'private'],
];

const Trust: FC<{ frame: Frame }> = ({ frame }) => (
  <ul class="trust" aria-label={frame.words.say('share.trust')}>
    {reasons.map(([icon, words, promise]) => (
      <li>
        <a href={`${frame.href('security')}#${promise}`}>
          <Icon name={icon} />
          {frame.words.say(words)}
        </a>
      </li>
    ))}
  </ul>
);

/** Where only accounts may create. */
export const SharingClosedPage: FC<{ frame: Frame }> = ({ frame }) => (
  <Page frame={frame} title={frame.words.say('share.closedTitle')}>
    <h1>{frame.words.say('share.closedTitle')}</h1>
    <p class="lead">{frame.words.say('share.closed')}</p>
    {frame.domain === null ? (
      <p>
        <a class="button" href={frame.href('logIn')}>
          {frame.words.say('share.logIn')}
        </a>
      </p>
    ) : null}
  </Page>
);

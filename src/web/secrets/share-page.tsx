/**
 * The start page: one field and one button. A refused form comes back with everything typed. The browser enforces no limits: `maxlength`
 * would truncate pasted text, and the browser's message about a collapsed field would be invisible.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { maxPassphraseBytes } from '../../protocol/limits.ts';
import { maxNoteCharacters } from '../../protocol/note.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { MessagePage, type Way } from '../kit/message-page.tsx';
import { Button, Icon, type IconName, ScriptButton } from '../kit/parts.tsx';
import { Options } from './share-options.tsx';
import { Encryption } from './share-sealing.tsx';
import { Value } from './share-value.tsx';
import type { ShareProps, ShareRefusal } from './typed.ts';

export const SharePage: FC<ShareProps> = (props) => {
  const { frame, plan, refusal, again } = props;
  const { say } = frame;
  return (
    <Page frame={frame} title={say('share.title')} scripts={['share']} styles={['share']}>
      <h1>{say('share.title')}</h1>
      <p class="lead">{say('share.how')}</p>
      {again === undefined ? null : (
        <p class="note again" role="status">
          {again}
        </p>
      )}
      {refusal === null ? null : <Refused frame={frame} refusal={refusal} />}
      <PostForm frame={frame} id="share" class="sheet" action={frame.href('share')} autocomplete="off">
        {/* Enter presses a form's first button, which must create the secret, not draw a value. */}
        {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key or screen reader reaches it; the real one is below */}
        <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
        <Value {...props} />
        <Options {...props} />
        <Unsent frame={frame} />
        <div class="send">
          <Encryption frame={frame} plan={plan} />
          <Button frame={frame} id="create" say="share.submit" />
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

/** Takes the focus unless a field does. */
const Refused: FC<{ frame: Frame; refusal: ShareRefusal }> = ({ frame, refusal }) => {
  const { say } = frame;
  const { field, message } = refusal;
  const title = say('share.wrongTitle');
  return (
    <div class="note alert" role="alert" id="refused" tabindex={-1} autofocus={field === null}>
      <h2>{field === null ? title : <a href={`#${field}`}>{title}</a>}</h2>
      {field === null ? <p>{message}</p> : null}
      {refusal.needsLogIn && frame.domain === null ? (
        <p>
          <a href={frame.href('logIn')} target="_blank" rel="noopener">
            {say('share.logIn')}
          </a>
        </p>
      ) : null}
      <p>{refusal.consolation}</p>
    </div>
  );
};

/** The script reports here that it could not encrypt and so sent nothing, or that the response is missing or lacks this form. */
const Unsent: FC<{ frame: Frame }> = ({ frame: { say, messages } }) => (
  <>
    <div id="unsent" role="alert" />
    <template
      id="unsealed-note"
      data-passphrase={say('share.passphraseTooLong', { size: messages.size(maxPassphraseBytes) })}
      data-note={say('note.wrong', { max: maxNoteCharacters })}
      data-ill-formed={say('share.illFormed')}
    >
      <Note title={say('share.unsealedTitle')} text={say('share.unsealed')} />
    </template>
    <template id="no-answer-note">
      <Note title={say('share.noAnswerTitle')} text={say('share.noAnswer')}>
        <p data-outcome="unsure">{say('share.noAnswerUnsure')}</p>
        <p data-outcome="unsure-mail">{say('share.noAnswerMail')}</p>
      </Note>
    </template>
    <template id="refused-note">
      {/* The script fills in the response's title and lead. */}
      <Note title={say('share.noAnswerTitle')} text="">
        <p>{say('share.kept')}</p>
      </Note>
    </template>
  </>
);

const Note: FC<PropsWithChildren<{ title: string; text: string }>> = ({ title, text, children }) => (
  <div class="note alert">
    <h2>{title}</h2>
    <p>{text}</p>
    {children}
  </div>
);

/** Each reason links to its promise. */
const reasons: readonly (readonly [icon: IconName, text: MessageKey, promise: string])[] = [
  ['eye', 'share.trustOnce', 'once'],
  ['lock', 'share.trustStored', 'at-rest'],
  ['message', 'share.trustLooking', 'looking'],
  ['shield', 'share.trustPages', 'private'],
];

/** Folded on phones, and where the page says what is remembered: once something was shared in this browser (`client/share-home.ts`). */
const Trust: FC<{ frame: Frame }> = ({ frame }) => (
  <div class="below">
    <details id="reasons">
      <summary>{frame.say('share.trust')}</summary>
      <ul class="plain trust">
        {reasons.map(([icon, text, promise]) => (
          <li>
            <Icon name={icon} />
            <a href={`${frame.href('security')}#${promise}`}>{frame.say(text)}</a>
          </li>
        ))}
      </ul>
    </details>
    <p id="remembered" tabindex={-1} hidden data-forgotten={frame.say('share.forgotten')}>
      {frame.say('share.remembered')}{' '}
      <ScriptButton frame={frame} class="tool" id="forget" say="share.forget" />
    </p>
  </div>
);

/** Shown where only accounts may create secrets. */
export const SharingClosedPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame;
  const ways: readonly Way[] = frame.domain === null ? [[frame.href('logIn'), say('share.logIn')]] : [];
  const page = { frame, title: say('share.closedTitle'), lead: say('share.closed') };
  return <MessagePage {...page} day={null} ways={ways} />;
};

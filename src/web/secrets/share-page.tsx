/**
 * The start page: a form to share, or a plain word that only accounts share here.
 *
 * Owns: the form. Invariants: a refused form comes back with everything that was typed; nothing is ever cut off. Limits
 * are not given to the browser, because its own message about a field that is folded away is seen by nobody.
 */
import type { FC } from 'hono/jsx';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Split } from '../kit/parts.tsx';
import { MemoField } from './fields.tsx';
import { Generate } from './generate.tsx';
import { Lifetime } from './lifetime.tsx';
import { Delivery } from './share-delivery.tsx';
import type { ShareField } from './share-form.ts';
import { Value, type ValueProps } from './share-value.tsx';

export interface ShareRefusal {
  /** Which field is wrong; `null`: none of them. */
  readonly field: ShareField | null;
  readonly message: string;
  /** What did not happen, and that nothing is lost. */
  readonly consolation: string;
  readonly needsLogIn: boolean;
}

export interface ShareProps extends Omit<ValueProps, 'wrong'> {
  /** The share domains that the caller may use. */
  readonly domains: readonly string[];
  readonly refusal: ShareRefusal | null;
}

export const SharePage: FC<ShareProps> = (props) => {
  const { frame, refusal } = props;
  const { say } = frame.words;
  const intro = (
    <>
      <h1>{say('share.title')}</h1>
      <p class="lead">{say('share.lead')}</p>
      {refusal === null ? null : <Refused frame={frame} refusal={refusal} />}
    </>
  );
  return (
    <Page frame={frame} title={say('share.title')} scripts={['share']}>
      <Split intro={intro}>
        <PostForm frame={frame} id="share" class="sheet" action={frame.href('share')} autocomplete="off">
          {/* The first button of a form is what Enter presses: it must create, not generate. */}
          {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key and no reader leads to it; the real one stands below */}
          <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
          <Value {...props} wrong={wrongIn(props)('secret')} />
          <Generate
            frame={frame}
            typed={props.typed.suggestion}
            isOpen={props.drawnBits !== null}
            hasDrawn={props.drawnBits !== null}
            wrongIn={wrongIn(props)}
          />
          <div class="pair">
            <Passphrase {...props} />
            <Lifetime
              frame={frame}
              plan={props.plan}
              typed={props.typed.lifetime}
              wrong={wrongIn(props)('ttl-amount')}
            />
          </div>
          <OwnLabel typed={props.typed.memo} frame={frame} wrong={wrongIn(props)('memo')} />
          <Delivery frame={frame} domains={props.domains} typed={props.typed} wrongIn={wrongIn(props)} />
          <Unsent frame={frame} />
          <button type="submit" id="create">
            {say('share.submit')}
          </button>
          <p class="hint" id="sending" role="status" data-sending={say('share.sending')} />
          <p class="hint" id="shortcut" hidden>
            {say('share.shortcut')}
          </p>
        </PostForm>
      </Split>
    </Page>
  );
};

function wrongIn({ refusal }: Pick<ShareProps, 'refusal'>): (field: ShareField) => string | null {
  return (field) => (refusal?.field === field ? refusal.message : null);
}

/** Has the focus itself when no field is to blame; the field has it otherwise. */
const Refused: FC<{ frame: Frame; refusal: ShareRefusal }> = ({ frame, refusal }) => {
  const { say } = frame.words;
  const { field, message } = refusal;
  return (
    <div class="note alert" role="alert" id="refused" tabindex={-1} autofocus={field === null}>
      <h2>{say('share.wrongTitle')}</h2>
      <p>{field === null ? message : <a href={`#${field}`}>{message}</a>}</p>
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

/** Folded away, because few need it. */
const OwnLabel: FC<{ frame: Frame; typed: string; wrong: string | null }> = ({ frame, typed, wrong }) => (
  <details class="labelled" open={typed !== '' || wrong !== null}>
    <summary>{frame.words.say('memo.add')}</summary>
    <MemoField frame={frame} typed={typed} wrong={wrong} />
  </details>
);

/** Where the script says that no answer came, or one without this form; the form then stays as it is. */
const Unsent: FC<{ frame: Frame }> = ({ frame: { words } }) => {
  const { say } = words;
  return (
    <>
      <div id="unsent" role="alert" />
      <template id="no-answer-note">
        <div class="note alert">
          <h2>{say('share.noAnswerTitle')}</h2>
          <p>{say('share.noAnswer')}</p>
          <p data-outcome="unsure">{say('share.noAnswerUnsure')}</p>
          <p data-outcome="unsure-mail">{say('share.noAnswerMail')}</p>
        </div>
      </template>
      <template id="refused-note">
        <div class="note alert">
          {/* The script puts title and lead of the answer here. */}
          <h2>{say('share.noAnswerTitle')}</h2>
          <p />
          <p>{say('share.kept')}</p>
        </div>
      </template>
    </>
  );
};

const Passphrase: FC<ShareProps> = (props) => {
  const { say } = props.frame.words;
  const texts: FieldTexts = {
    name: 'passphrase',
    label: say('share.passphrase'),
    note: say('share.optional'),
    hint: say('share.passphraseHint'),
    wrong: wrongIn(props)('passphrase'),
  };
  return (
    <Field texts={texts}>
      <input
        {...controlAttributes(texts)}
        type="text"
        autocomplete="off"
        spellcheck={false}
        autocapitalize="off"
        value={props.typed.passphrase}
      />
    </Field>
  );
};

/** For installations where only accounts create. */
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

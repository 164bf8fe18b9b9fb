/**
 * The start page. A refused form comes back with everything that was typed. Limits are never given to the browser:
 * `maxlength` would cut what is pasted, and nobody sees the browser's own message about a folded field.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import { controlAttributes, Field, type FieldTexts, NoticeBoxes } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Split } from '../kit/parts.tsx';
import { Lifetime, MailLanguageField, MemoField, offerOf, RecipientField } from './fields.tsx';
import { Generate, strengthText } from './generate.tsx';
import { asideField, drawnField, type ShareField, type TypedShare, takeBackField } from './share-form.ts';
import { Attachment, Encryption, Unsealed } from './share-sealing.tsx';

export interface ShareRefusal {
  /** `null` if the refusal is about no field. */
  readonly field: ShareField | null;
  readonly message: string;
  /** That nothing happened and nothing is lost. */
  readonly consolation: string;
  readonly needsLogIn: boolean;
}

export interface ShareProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: TypedShare;
  /** Entropy of the value that was just generated into the form. */
  readonly drawnBits: number | null;
  /** Whether a text typed earlier was just put back. */
  readonly isTakenBack?: true;
  /** The caller's share domains. */
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
          {/* Enter presses the first button of a form: it must create, not generate. */}
          {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key and no reader reaches it; the real one is below */}
          <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
          <Value {...props} />
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
              offer={offerOf(props.plan)}
              typed={props.typed.lifetime}
              wrong={wrongIn(props)('ttl-amount')}
            />
          </div>
          <OwnLabel typed={props.typed.memo} frame={frame} wrong={wrongIn(props)('memo')} />
          <Delivery {...props} />
          <Unsent frame={frame} />
          <Unsealed frame={frame} plan={props.plan} />
          <Encryption frame={frame} plan={props.plan} />
          <button type="submit" id="create">
            {say('share.submit')}
          </button>
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
      </Split>
    </Page>
  );
};

function wrongIn({ refusal }: Pick<ShareProps, 'refusal'>): (field: ShareField) => string | null {
  return (field) => (refusal?.field === field ? refusal.message : null);
}

/** Takes the focus unless a field does. */
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

const OwnLabel: FC<{ frame: Frame; typed: string; wrong: string | null }> = ({ frame, typed, wrong }) => (
  <details class="labelled" open={typed !== '' || wrong !== null}>
    <summary>{frame.words.say('memo.add')}</summary>
    <MemoField frame={frame} typed={typed} wrong={wrong} />
  </details>
);

/** Where the script reports that no answer came, or one without this form. */
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
          {/* The script fills in the answer's title and lead. */}
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

const Value: FC<ShareProps> = (props) => {
  const { frame, plan, typed, drawnBits, isTakenBack } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'secret',
    label: say('share.value'),
    hint: say('share.limit', { count: plan.maxValueBytes }),
    wrong: wrongIn(props)('secret'),
  };
  const attributes = controlAttributes(texts);
  const hasNews = drawnBits !== null || isTakenBack === true;
  const described = `${attributes['aria-describedby'] ?? ''} stopped`;
  return (
    <Field texts={texts}>
      {/* Parsers drop a line break right after the tag (HTML §13.1.2.5), so one precedes the value. */}
      <textarea
        {...attributes}
        aria-describedby={hasNews ? `news ${described}` : described}
        autofocus={hasNews || texts.wrong !== null}
        rows={6}
        required
        autocomplete="off"
        spellcheck={false}
        autocapitalize="off"
        dir="auto"
        data-limit={plan.maxValueBytes}
      >
        {`\n${typed.secret}`}
      </textarea>
      <Attachment frame={frame} plan={plan} />
      <News {...props} />
      <Aside {...props} />
      {/* Filled by the script when it holds back a form that the server would refuse. */}
      <p
        class="wrong"
        id="stopped"
        role="alert"
        data-too-large={say('share.tooLarge', { count: plan.maxValueBytes })}
      />
      {/* Filled by the script; announced only when the limit is passed, not at every key. */}
      <p
        class="counter"
        id="counter"
        hidden
        data-within={say('share.counter')}
        data-over={say('share.counterOver')}
      />
      <p class="visually-hidden" id="counter-spoken" role="status" />
    </Field>
  );
};

/** What was just put into the field. */
const News: FC<ShareProps> = ({ frame: { words }, drawnBits, isTakenBack }) => {
  const { say } = words;
  if (drawnBits === null && isTakenBack !== true) return null;
  return (
    <p class="news" id="news" role="status">
      {drawnBits === null
        ? say('suggest.takenBack')
        : `${say('suggest.drawn')} ${strengthText(drawnBits, words)}`}
    </p>
  );
};

const Aside: FC<Pick<ShareProps, 'frame' | 'typed'>> = ({ frame, typed: { drawn, aside } }) => (
  <>
    {drawn === '' ? null : <input type="hidden" name={drawnField} value={drawn} />}
    {aside.map((text, at) => (
      <input type="hidden" name={asideField(at)} value={text} />
    ))}
    {aside.length === 0 ? null : (
      <p class="aside">
        {frame.words.say('suggest.aside')}
        <button
          class="quiet small"
          type="submit"
          id="take-back"
          name={takeBackField}
          value="1"
          formaction={frame.href('suggest')}
          formnovalidate
        >
          {frame.words.say('suggest.takeBack')}
        </button>
      </p>
    )}
  </>
);

/** For accounts, and for text typed before the session ended. */
const Delivery: FC<ShareProps> = (props) => {
  const { frame, typed, domains } = props;
  const hasAccount = frame.visitor !== null;
  return (
    <>
      {hasAccount || typed.recipient !== '' ? <Recipient {...props} /> : null}
      {domains.length > 0 || typed.shareDomain !== '' ? <Domain {...props} /> : null}
      {hasAccount || typed.notify.length > 0 ? <Notices {...props} /> : null}
    </>
  );
};

const Recipient: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'recipient',
    label: say('share.recipient'),
    note: say('share.optional'),
    hint: say('share.recipientHint'),
    wrong: wrongIn(props)('recipient'),
  };
  return (
    <div class="pair">
      <RecipientField texts={texts} typed={typed.recipient} />
      <MailLanguageField frame={frame} chosen={typed.locale} />
    </div>
  );
};

const Domain: FC<ShareProps> = (props) => {
  const { frame, domains, typed } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'share-domain',
    label: say('share.domain'),
    wrong: wrongIn(props)('share-domain'),
  };
  const offered = typed.shareDomain === '' || domains.includes(typed.shareDomain) ? [] : [typed.shareDomain];
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)}>
        <option value="">{say('share.domainOwn')}</option>
        {[...domains, ...offered].map((domain) => (
          <option value={domain} selected={domain === typed.shareDomain}>
            {domain}
          </option>
        ))}
      </select>
    </Field>
  );
};

/** Open if any is ticked, so nobody is mailed by surprise. */
const Notices: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const wrong = wrongIn(props)('notify');
  return (
    <details class="notices" open={typed.notify.length > 0 || wrong !== null}>
      <summary>{frame.words.say('share.notices')}</summary>
      <NoticeBoxes frame={frame} ticked={typed.notify} wrong={wrong} isTitled />
    </details>
  );
};

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

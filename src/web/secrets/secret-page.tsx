/**
 * The page of a link before it is opened, and the pages on which it does not open. None holds the value, only the
 * form's button opens it (P4), and a passphrase is never repeated. Unknown, opened, burned and expired are one page to
 * a stranger (P17).
 */
import type { FC } from 'hono/jsx';
import type { StatusOutcome } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import { type Frame, onceFor, Page, PostForm, sharesHere } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { Dated, Icon } from '../kit/parts.tsx';
import { lookFieldName } from './look-cookie.ts';

export type WaitingSecret = Extract<StatusOutcome, { outcome: 'waiting' }>;

/** Why the secret was not opened a moment ago. */
export interface AskRefusal {
  /** Shown at the passphrase field. */
  readonly passphrase: string | null;
  /** Shown at the box. */
  readonly box: string | null;
  /** Shown above the form. */
  readonly notice: string | null;
}

interface AskProps {
  readonly frame: Frame;
  readonly waiting: WaitingSecret;
  readonly refusal: AskRefusal;
}

export const SecretPage: FC<AskProps & { lookField: string | null }> = ({
  frame,
  waiting,
  refusal,
  lookField,
}) => {
  const { say } = frame.words;
  const wasRefused = Object.values(refusal).some((text) => text !== null);
  return (
    <Page
      frame={frame}
      title={say(wasRefused ? 'secret.refusedTitle' : 'secret.title')}
      scripts={['reveal', 'time']}
    >
      <h1>{say('secret.title')}</h1>
      <Origin frame={frame} waiting={waiting} />
      {refusal.notice === null ? null : (
        <p class="note alert" tabindex={-1} autofocus>
          {refusal.notice}
        </p>
      )}
      <Instructions frame={frame} text={frame.domain?.brand.instructionsBefore ?? null} />
      <PostForm
        frame={frame}
        class="sheet opening"
        data-not-sealed={say('secret.notSealed')}
        action={frame.href('secret', waiting.secret.secretKey)}
        autocomplete="off"
      >
        {waiting.secret.hasPassphrase ? <PassphraseField frame={frame} wrong={refusal.passphrase} /> : null}
        {lookField === null ? null : <input type="hidden" name={lookFieldName} value={lookField} />}
        <OpenBox frame={frame} wrong={refusal.box} />
        <button type="submit">{say('secret.submit')}</button>
        <p class="wrong" id="by-program" role="status" data-text={say('secret.pressYourself')} />
      </PostForm>
      <Consequences frame={frame} waiting={waiting} />
    </Page>
  );
};

/**
 * What a form must carry to open: scanners send forms with what they hold, and only a person ticks a box. With scripts the
 * press on the button counts (`client/reveal.ts`), and the box shows only if they failed to load.
 */
export const openBox = { name: 'open', value: 'now' } as const;

const OpenBox: FC<{ frame: Frame; wrong: string | null }> = ({ frame, wrong }) => (
  <div class="field sure">
    <label class="check">
      <input
        {...controlAttributes({ name: openBox.name, label: '', wrong })}
        type="checkbox"
        value={openBox.value}
        required
        autocomplete="off"
      />
      <span>{frame.words.say('secret.sure')}</span>
    </label>
    {wrong === null ? null : (
      <p class="wrong" id={`${openBox.name}-wrong`}>
        {wrong}
      </p>
    )}
  </div>
);

/** Who shares it, and a warning to its own creator that opening it takes it from the recipient. */
export const Origin: FC<Omit<AskProps, 'refusal'>> = ({ frame, waiting: { sender, secret } }) => {
  const { say } = frame.words;
  const site = frame.brand.name;
  if (sender === null) return <p class="lead">{say('secret.fromSomeone', { site })}</p>;
  return (
    <>
      {/* Isolated (U+2068), so the address keeps its order in right-to-left text. */}
      <p class="lead">{say('secret.fromAccount', { sender: `\u2068${sender}\u2069`, site })}</p>
      <p class="hint">{say('secret.addressHidden')}</p>
      {secret.isOwner ? <p class="note alert">{say('secret.own')}</p> : null}
    </>
  );
};

const PassphraseField: FC<{ frame: Frame; wrong: string | null }> = ({ frame, wrong }) => {
  const { say } = frame.words;
  const texts = {
    name: 'passphrase',
    label: say('secret.passphrase'),
    hint: say('secret.passphraseHint'),
    wrong,
  };
  return (
    <Field texts={texts}>
      <PassphraseInput frame={frame} attributes={{ ...controlAttributes(texts), required: true }} />
    </Field>
  );
};

interface PassphraseInputProps {
  readonly frame: Frame;
  /** With the id `passphrase`. */
  readonly attributes: Readonly<Record<string, string | boolean | undefined>>;
}

/** The script shows the button. */
export const PassphraseInput: FC<PassphraseInputProps> = ({ frame, attributes }) => {
  const { say } = frame.words;
  return (
    <div class="toggled">
      <input
        {...attributes}
        {...notForPasswordManagers}
        type="password"
        autocomplete="off"
        autocapitalize="none"
        spellcheck={false}
        dir="auto"
      />
      <button
        type="button"
        class="quiet small"
        hidden
        data-toggle="#passphrase"
        data-other={say('secret.hidePassphrase')}
      >
        <Icon name="eye" />
        <span>{say('secret.showPassphrase')}</span>
      </button>
    </div>
  );
};

/** This one works once, so saving it is useless. Each password manager has its own attribute. */
const notForPasswordManagers = { 'data-1p-ignore': '', 'data-bwignore': '', 'data-lpignore': 'true' };

export const Consequences: FC<Omit<AskProps, 'refusal'>> = ({ frame, waiting: { secret } }) => {
  const { say, duration } = frame.words;
  const left = duration(secret.secretTtlSeconds);
  const until = secret.createdAt + secret.ttlSeconds;
  return (
    <div id="consequences">
      <h2>{say('secret.next')}</h2>
      <ul class="points">
        {onceFor(frame, 'opened once', () => (
          <>
            <li>{say('secret.once')}</li>
            <li>{say('secret.ready')}</li>
          </>
        ))}
        <li>
          <Dated words={frame.words} say="secret.until" at={until} params={{ left }} />
        </li>
      </ul>
      {onceFor(frame, 'for the reader alone', () => (
        <>
          <h2>{say('secret.forYouTitle')}</h2>
          <p>{say('secret.forYou')}</p>
        </>
      ))}
    </div>
  );
};

/** What the owner of a share domain says to readers, as text and never as markup. @param text one paragraph per line */
export const Instructions: FC<{ frame: Frame; text: string | null }> = ({ frame, text }) => {
  if (text === null) return null;
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '');
  return (
    <section class="instructions" aria-labelledby="instructions">
      <h2 id="instructions">{frame.words.say('secret.instructions', { site: frame.brand.name })}</h2>
      {paragraphs.map((paragraph) => (
        <p dir="auto">{paragraph}</p>
      ))}
    </section>
  );
};

const advice: readonly MessageKey[] = ['gone.askAgain', 'gone.someoneElse', 'gone.cutOff'];

export const GonePage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <MessagePage frame={frame} title={say('gone.title')} lead={say('gone.lead')}>
      <h2>{say('gone.next')}</h2>
      <ul class="points">
        {advice.map((key) => (
          <li>{say(key)}</li>
        ))}
      </ul>
      <p>{say('gone.seen')}</p>
      <ShareOwn frame={frame} />
    </MessagePage>
  );
};

/** The same whatever was opened before, and by whom. */
export const DonePage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <MessagePage frame={frame} title={say('done.title')} lead={say('done.lead')}>
      <ShareOwn frame={frame} />
    </MessagePage>
  );
};

export const ShareOwn: FC<{ frame: Frame }> = ({ frame }) =>
  sharesHere(frame) ? (
    <p>
      <a href={frame.href('home')}>{frame.words.say('gone.shareOwn')}</a>
    </p>
  ) : null;

export interface Delay {
  readonly title: string;
  readonly lead: string;
  /** When the next try is possible; `null` if the page should not say. */
  readonly until: number | null;
}

export const DelayedPage: FC<{ frame: Frame; delay: Delay; secretKey: string }> = (props) => {
  const { frame, delay, secretKey } = props;
  const { title, lead, until } = delay;
  const link = [frame.href('secret', secretKey), frame.words.say('secret.back')] as const;
  return (
    <MessagePage {...{ frame, title, lead, link }} scripts={['time']}>
      {until === null ? null : <NextTry frame={frame} at={until} />}
    </MessagePage>
  );
};

const NextTry: FC<{ frame: Frame; at: number }> = ({ frame: { words }, at }) => (
  <>
    <p>
      <Dated words={words} say="secret.exhaustedUntil" at={at} />
    </p>
    <p>{words.say('secret.exhaustedAdvice')}</p>
  </>
);

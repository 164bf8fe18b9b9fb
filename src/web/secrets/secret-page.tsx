/**
 * A link's page before it is opened, and the pages shown if it cannot be. None contains the value or repeats a passphrase, and only the
 * form's button opens the secret (P4). Strangers see the same page for unknown, opened, burned and expired secrets (P17).
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { NoteOutcome, StatusOutcome } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { mailtoAddress } from '../client/link-message.ts';
import { Day, type DayState } from '../kit/day.tsx';
import { asTyped, controlAttributes, Field, Wrong } from '../kit/field.tsx';
import { type Frame, onceFor, Page, PostForm, sharesHere } from '../kit/layout.tsx';
import { MessagePage } from '../kit/message-page.tsx';
import { CopyButton, CopyStatus, Dated, Icon, type IconName } from '../kit/parts.tsx';
import { type AskRefusal, apart, CodeField, shownAddress } from './code-field.tsx';
import type { CodeSent, Ended } from './cookies.ts';
import { lookFieldName } from './look-cookie.ts';
import { expiryOf, partLeft } from './receipt-life.ts';

export type WaitingSecret = Extract<StatusOutcome, { outcome: 'waiting' }>;

export interface AskProps {
  readonly frame: Frame;
  readonly waiting: WaitingSecret;
  readonly refusal: AskRefusal;
  /** The code that this browser was sent, if the secret needs one. */
  readonly code: CodeSent | null;
}

interface SecretPageProps extends AskProps {
  readonly note: NoteOutcome | null;
  readonly lookField: string | null;
}

/** Without the code that the secret needs, it asks for one, also for an end-to-end secret. */
export const SecretPage: FC<SecretPageProps> = ({ frame, waiting, note, refusal, code, lookField }) => {
  const { secretKey, hasPassphrase, sealed, verify } = waiting.secret;
  const needsCode = verify && code === null;
  const link = frame.href('secret', secretKey);
  const wasRefused = Object.values(refusal).some((text) => text !== null);
  return (
    <Page
      frame={frame}
      title={frame.say(wasRefused ? 'secret.refusedTitle' : 'secret.title')}
      scripts={[needsCode ? 'code' : 'reveal', 'time']}
      styles={['secret']}
    >
      <Arrival frame={frame} waiting={waiting} />
      <SenderNote frame={frame} note={note} />
      <OwnWarning frame={frame} waiting={waiting} />
      <Notice text={refusal.notice} />
      <Instructions frame={frame} text={frame.domain?.brand.instructionsBefore ?? null} />
      {sealed ? (
        <div class="late arrival" id="needs-scripts">
          <h1>{frame.say('sealed.needsScriptsTitle')}</h1>
          <p class="lead">{frame.say('secret.needsScripts')}</p>
        </div>
      ) : null}
      <PostForm
        frame={frame}
        class="sheet opening"
        data-not-sealed={frame.say('secret.notSealed')}
        action={needsCode ? frame.href('secretCode', secretKey) : link}
        autocomplete="off"
        hidden={needsCode && (sealed || lookField === null)}
      >
        <Sky waiting={waiting} />
        {needsCode ? <p class="arrival">{frame.say('secret.codeLead')}</p> : null}
        <CodeField {...{ frame, code, link, refusal }} />
        {sealed ? <input type="hidden" name="link-proof" /> : null}
        {hasPassphrase && !needsCode ? <PassphraseField frame={frame} wrong={refusal.passphrase} /> : null}
        {lookField === null ? null : <input type="hidden" name={lookFieldName} value={lookField} />}
        {needsCode ? null : <Once frame={frame} />}
        <SureBox
          box={openBox}
          text={frame.say(needsCode ? 'secret.codeSure' : 'secret.sure')}
          wrong={refusal.box}
        />
        <button type="submit">{frame.say(needsCode ? 'secret.codeSubmit' : 'secret.submit')}</button>
        <p class="wrong" id="by-program" role="status" data-text={frame.say('secret.pressYourself')} />
        <Expiry frame={frame} waiting={waiting} />
      </PostForm>
      <Consequences {...{ frame, waiting, code }} />
    </Page>
  );
};

export const Notice: FC<{ text: string | null }> = ({ text }) =>
  text === null ? null : (
    <p class="note alert" tabindex={-1} autofocus>
      {text}
    </p>
  );

/**
 * A form opens the secret only if this box is ticked: scanners send forms unchanged, and only a person ticks a box. With scripts, pressing
 * the button counts instead (`client/reveal.ts`), and the box appears only if the scripts fail to load.
 */
export const openBox = { name: 'open', value: 'now' } as const;

interface SureBoxProps {
  readonly box: { readonly name: string; readonly value: string };
  readonly text: string;
  readonly wrong: string | null;
}

export const SureBox: FC<SureBoxProps> = ({ box: { name, value }, text, wrong }) => (
  <div class="field sure">
    <label class="check">
      <input
        {...controlAttributes({ name, label: '', wrong })}
        type="checkbox"
        value={value}
        required
        autocomplete="off"
      />
      <span>{text}</span>
    </label>
    <Wrong name={name} text={wrong} />
  </div>
);

export type ArrivalProps = Pick<AskProps, 'frame' | 'waiting'>;

/**
 * Shows the sender, or advice if the sender has no account. Senders choose their own names, so their address is always shown below the name.
 */
export const Arrival: FC<ArrivalProps> = ({ frame, waiting: { sender, secret } }) => (
  <div class="arrival">
    <h1>
      {sender?.name == null
        ? frame.say('secret.title')
        : frame.say('secret.fromAccount', { sender: apart(sender.name) })}
    </h1>
    {sender === null ? (
      <p class="hint from">{secret.isOwner ? null : frame.say('secret.forYou')}</p>
    ) : (
      <p class="hint from">
        {frame.say('secret.from', { address: shownAddress(sender.address) })}
        {sender.name === null ? null : ` · ${frame.say('secret.nameChosen')}`}
      </p>
    )}
  </div>
);

interface NoteProps {
  readonly frame: Frame;
  /** `null` if it could not be read. */
  readonly note: NoteOutcome | null;
}

/**
 * A note as its recipient reads it: quoted, isolated in direction, and never a link, because anyone can make a link with a note. The script
 * fetches and opens the note of an end-to-end secret.
 */
export const SenderNote: FC<NoteProps> = ({ frame, note }) => {
  const text = note?.outcome === 'found' ? note.note?.expose() : undefined;
  const isSealed = note?.outcome === 'incomplete_link' && note.hasNote;
  if (text === undefined && !isSealed) return null;
  return (
    <div class="arrival" id="sender-note" hidden={isSealed}>
      <p class="hint">{frame.say('note.from')}</p>
      <p>
        <q>
          <bdi>{text}</bdi>
        </q>
      </p>
    </div>
  );
};

/** Stands on the card's upper edge, which is its horizon. */
export const Sky: FC<Pick<ArrivalProps, 'waiting'>> = ({ waiting: { secret } }) => (
  <Day state="waiting" part={partLeft(secret)} />
);

/** Right above the button that it is about. */
export const Once: FC<{ frame: Frame }> = ({ frame }) => (
  <p class="arrival">
    <strong>{frame.say('secret.lead')}</strong>
  </p>
);

/** Warns senders that if they open the secret, the recipient no longer can. */
export const OwnWarning: FC<ArrivalProps> = ({ frame, waiting: { secret } }) =>
  secret.isOwner ? <p class="note alert">{frame.messages.say('secret.own')}</p> : null;

export const Expiry: FC<ArrivalProps> = ({ frame: { messages }, waiting: { secret } }) => (
  <p class="hint expiry">
    <Icon name="clock" />
    <span>
      <Dated messages={messages} say="secret.until" at={expiryOf(secret)} left={secret.secretTtlSeconds} />
    </span>
  </p>
);

export const PassphraseField: FC<{ frame: Frame; wrong: string | null }> = ({ frame, wrong }) => {
  const texts = {
    name: 'passphrase',
    label: frame.say('secret.passphrase'),
    hint: frame.say('secret.passphraseHint'),
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
  /** Must include the id `passphrase`. */
  readonly attributes: Readonly<Record<string, string | boolean | undefined>>;
}

export const PassphraseInput: FC<PassphraseInputProps> = ({ frame, attributes }) => (
  <div class="toggled">
    <input
      {...attributes}
      {...notForPasswordManagers}
      type="password"
      autocomplete="off"
      {...asTyped}
      dir="auto"
    />
    <SwapButton
      kind="eye"
      icons={['eye', 'eye-off']}
      labels={[frame.say('secret.showPassphrase'), frame.say('secret.hidePassphrase')]}
      attributes={{ 'data-toggle': '#passphrase' }}
    />
  </div>
);

interface SwapButtonProps {
  readonly kind: 'eye' | 'quiet';
  readonly icons: readonly [IconName, IconName];
  readonly labels: readonly [string, string];
  readonly attributes: Readonly<Record<string, string>>;
}

/** The script shows the button, and swaps its icon and label at each press. */
export const SwapButton: FC<SwapButtonProps> = ({ kind, icons, labels, attributes }) => (
  <button type="button" class={kind} hidden data-other={labels[1]} {...attributes}>
    <i>
      <Icon name={icons[0]} />
    </i>
    <i hidden>
      <Icon name={icons[1]} />
    </i>
    <span class={kind === 'eye' ? 'visually-hidden' : undefined}>{labels[0]}</span>
  </button>
);

/** Each password manager has its own opt-out. This passphrase works only once, so saving it is pointless. */
const notForPasswordManagers = { 'data-1p-ignore': '', 'data-bwignore': '', 'data-lpignore': 'true' };

/** Explains what opening does, and offers a way out to people who did not expect a secret. Burning takes the code, too. */
export const Consequences: FC<Omit<AskProps, 'refusal'>> = ({ frame, waiting: { sender, secret }, code }) => (
  <div id="consequences">
    <details>
      <summary>{frame.say('secret.next')}</summary>
      <ul class="points">
        {onceFor(frame, 'opened once', () => (
          <>
            <li>{frame.say('secret.once')}</li>
            <li>{frame.say('secret.ready')}</li>
          </>
        ))}
        {sender === null ? null : (
          <>
            <li>{frame.say('secret.forYou')}</li>
            <li>{frame.say('secret.addressHidden')}</li>
          </>
        )}
      </ul>
    </details>
    {/* Only the script can burn an end-to-end secret, so it unhides this link. Creators burn on the receipt instead. */}
    {secret.isOwner || (secret.verify && code === null) ? null : (
      <p class="aside" hidden={secret.sealed}>
        <a id="burn-unread" href={frame.href('secretBurn', secret.secretKey)}>
          {frame.say('recipientBurn.link')}
        </a>
      </p>
    )}
  </div>
);

/** Instructions from the share domain's owner, as text and never as markup. @param text one paragraph per line */
export const Instructions: FC<{ frame: Frame; text: string | null }> = ({ frame, text }) => {
  if (text === null) return null;
  const paragraphs = text.split('\n').filter((line) => line.trim() !== '');
  return (
    <section class="instructions" aria-labelledby="instructions">
      <h2 id="instructions">{frame.say('secret.instructions', { site: frame.brand.name })}</h2>
      {paragraphs.map((paragraph) => (
        <p dir="auto">{paragraph}</p>
      ))}
    </section>
  );
};

interface GoneProps {
  readonly frame: Frame;
  /** What this browser did with the secret, according to a cookie that others may have planted; usually `null`. */
  readonly here: Ended | null;
}

/** Looks the same to every stranger (P17). */
export const GonePage: FC<GoneProps> = ({ frame, here }) => (
  <MessagePage
    {...{ frame, title: frame.say('gone.title'), lead: frame.say('gone.lead') }}
    day={here?.what ?? 'gone'}
    scripts={['gone', 'time']}
    styles={['secret']}
  >
    {here === null ? (
      <p>{frame.say('gone.someoneElse')}</p>
    ) : (
      <p id="here">
        <Dated messages={frame.messages} say={hereTexts[here.what]} at={here.at} />
      </p>
    )}
    <TellSender frame={frame} text={frame.say('gone.tellText', { site: frame.brand.name })} />
    <ShareOwn frame={frame} />
  </MessagePage>
);

/** Shown for anything that does not look like a key. The script repairs what only a script can: a fragment that ended up in the path. */
export const DamagedPage: FC<{ frame: Frame }> = ({ frame }) => (
  <MessagePage
    {...{ frame, title: frame.say('damaged.title'), lead: frame.say('damaged.lead') }}
    day="broken"
    scripts={['gone']}
    styles={['secret']}
  >
    <TellSender frame={frame} text={frame.say('damaged.tellText', { site: frame.brand.name })} />
    <ShareOwn frame={frame} />
  </MessagePage>
);

const hereTexts = { opened: 'gone.openedHere', burned: 'gone.burnedHere' } as const satisfies Readonly<
  Record<Ended['what'], MessageKey>
>;

/** A ready-made message to the sender. It contains neither link nor key, because others may read it. On a phone, the press also shares. */
export const TellSender: FC<{ frame: Frame; text: string }> = ({ frame, text }) => (
  <details class="tell">
    <summary class="button">
      <Icon name="message" />
      {frame.say('gone.tell')}
    </summary>
    <blockquote id="ready-text">{text}</blockquote>
    <div class="row">
      <a class="button" id="tell-mail" href={mailtoAddress(frame.say('gone.tellSubject'), text)}>
        <Icon name="mail" />
        {frame.say('gone.tellMail')}
      </a>
      <button type="button" class="quiet" hidden data-share-text="#ready-text">
        <Icon name="share" />
        <span>{frame.say('gone.tellShare')}</span>
      </button>
      <CopyButton frame={frame} target="ready-text" say="gone.tellCopy" class="quiet" />
    </div>
    <CopyStatus frame={frame} failed="revealed.copyFailed" />
  </details>
);

/** Looks the same for every secret and reader. */
export const DonePage: FC<{ frame: Frame }> = ({ frame }) => (
  <MessagePage {...{ frame, title: frame.say('done.title'), lead: frame.say('done.lead') }} day="opened">
    <ShareOwn frame={frame} />
  </MessagePage>
);

interface EndProps {
  readonly frame: Frame;
  readonly day: DayState;
  readonly title: MessageKey;
  readonly lead: MessageKey;
  readonly id?: string;
}

/** Says how the secret or its link ended, in place of the page. */
export const End: FC<PropsWithChildren<EndProps>> = ({ frame: { say }, day, title, lead, id, children }) => (
  <div class="arrival">
    <Day state={day} />
    <h1 tabindex={-1}>{say(title)}</h1>
    <p class="lead" id={id}>
      {say(lead)}
    </p>
    {children}
  </div>
);

interface LaterProps {
  readonly frame: Frame;
  readonly id: string;
  readonly title: MessageKey;
}

/** What a script puts in place of the page. */
export const Later: FC<PropsWithChildren<LaterProps>> = ({ frame, id, title, children }) => (
  <template id={id} data-title={`${frame.say(title)} · ${frame.brand.name}`}>
    {children}
  </template>
);

export const EndLater: FC<PropsWithChildren<EndProps & LaterProps>> = ({ id, ...end }) => (
  <Later {...end} id={id}>
    <End {...end} />
  </Later>
);

const burned = { title: 'recipientBurn.doneTitle', lead: 'recipientBurn.doneLead' } as const;

export const Burned: FC<{ frame: Frame }> = ({ frame }) => (
  <End frame={frame} day="burned" id="recipient-burned" {...burned}>
    <ShareOwn frame={frame} />
  </End>
);

export const ShareOwn: FC<{ frame: Frame }> = ({ frame }) =>
  sharesHere(frame) ? (
    <p>
      <a href={frame.href('home')}>{frame.say('gone.shareOwn')}</a>
    </p>
  ) : null;

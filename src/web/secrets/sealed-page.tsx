/**
 * The page of an end-to-end secret, which only its script can open (`client/sealed.ts`). It has no form and no named field, so that no
 * failure sends anything in plain text or consumes the secret. Without scripts, it explains how to open the link.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { NoteOutcome } from '../../core/secrets/outcomes.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import type { SealedKind, SealedText } from '../client/sealed.ts';
import { Perched } from '../kit/day.tsx';
import { type Frame, Page, workerAttributes } from '../kit/layout.tsx';
import { Icon, textsFor } from '../kit/parts.tsx';
import { CodeField } from './code-field.tsx';
import type { CodeSent } from './cookies.ts';
import { Actions, Extent, HiddenOnes, Minute, Save, Spelled, ValueText } from './revealed-page.tsx';
import {
  Arrival,
  type AskProps,
  Burned,
  Consequences,
  End,
  EndLater,
  Expiry,
  Instructions,
  Later,
  Once,
  OwnWarning,
  PassphraseInput,
  SenderNote,
  ShareOwn,
  Sky,
  TellSender,
} from './secret-page.tsx';

type SealedProps = Omit<AskProps, 'refusal'> & { readonly note?: NoteOutcome | null };

export const SealedPage: FC<SealedProps> = ({ frame, waiting, note = null, code }) => {
  const { say } = frame.messages;
  const { secretKey, hasPassphrase } = waiting.secret;
  return (
    <Page frame={frame} title={say('secret.title')} scripts={['sealed']} styles={['secret']}>
      <Arrival frame={frame} waiting={waiting} />
      <SenderNote frame={frame} note={note} />
      <OwnWarning frame={frame} waiting={waiting} />
      <Instructions frame={frame} text={frame.domain?.brand.instructionsBefore ?? null} />
      <Opener frame={frame} secretKey={secretKey} kind="first" code={code}>
        <Sky waiting={waiting} />
        <CodeField {...{ frame, code, link: frame.href('secret', secretKey) }} />
        {hasPassphrase ? <Passphrase frame={frame} /> : null}
        <Once frame={frame} />
        <OpenButton>{say('secret.submit')}</OpenButton>
        <Expiry frame={frame} waiting={waiting} />
        <Mode frame={frame} />
      </Opener>
      <Consequences {...{ frame, waiting, code }} />
    </Page>
  );
};

/** For a minute, reloading the opened page leads here. It is the same for every key: only the tab that opened the secret knows more. */
export const AgainPage: FC<{ frame: Frame; secretKey: string }> = ({ frame, secretKey }) => (
  <Page frame={frame} title={frame.say('again.title')} scripts={['sealed']} styles={['secret']}>
    <div class="arrival">
      <h1>{frame.say('again.title')}</h1>
      <p class="lead">{frame.say('again.lead')}</p>
    </div>
    <Opener frame={frame} secretKey={secretKey} kind="again">
      <Perched />
      <Passphrase frame={frame} />
      <OpenButton>{frame.say('again.submit')}</OpenButton>
    </Opener>
    <EndLater frame={frame} id="over" day="gone" title="done.title" lead="again.over">
      <ShareOwn frame={frame} />
    </EndLater>
  </Page>
);

const Mode: FC<{ frame: Frame }> = ({ frame: { say, href } }) => (
  <p class="hint expiry mode">
    <Icon name="lock" />
    <a href={`${href('security')}#end-to-end`}>{say('secret.sealedBadge')}</a>
  </p>
);

/** Burning needs the same proofs as opening. */
export const SealedBurnPage: FC<SealedProps> = ({ frame, waiting, code }) => {
  const { say } = frame.messages;
  const { secretKey, hasPassphrase } = waiting.secret;
  return (
    <Page frame={frame} title={say('recipientBurn.title')} scripts={['sealed']} styles={['secret']}>
      <h1>{say('recipientBurn.title')}</h1>
      <p class="lead">{say('recipientBurn.lead')}</p>
      <Opener frame={frame} secretKey={secretKey} kind="burn" code={code}>
        <CodeField {...{ frame, code, link: frame.href('secret', secretKey) }} />
        {hasPassphrase ? <Passphrase frame={frame} /> : null}
        <div class="row">
          <OpenButton kind="alarm">{say('recipientBurn.submit')}</OpenButton>
          <a class="button quiet" href={frame.href('secret', secretKey)} data-keeps-fragment>
            {say('secret.back')}
          </a>
        </div>
      </Opener>
    </Page>
  );
};

const refusals = {
  insecure: 'secret.insecure',
  cannotProve: 'secret.cannotProve',
  noAnswer: 'secret.noAnswer',
  unreadable: 'secret.unreadable',
  stretching: 'secret.stretching',
  opening: 'secret.opening',
  passphraseMissing: 'secret.passphraseMissing',
  passphraseWrong: 'secret.passphraseWrongPlain',
  pressYourself: 'secret.pressYourself',
} as const satisfies Readonly<Record<SealedText, MessageKey>>;

const burnRefusals = {
  noAnswer: 'recipientBurn.noAnswer',
  opening: 'recipientBurn.burning',
  pressYourself: 'recipientBurn.pressYourself',
} as const satisfies Partial<Record<SealedText, MessageKey>>;

interface OpenerProps {
  readonly frame: Frame;
  readonly secretKey: string;
  readonly kind: SealedKind;
  readonly code?: CodeSent | null;
}

const Opener: FC<PropsWithChildren<OpenerProps>> = ({ frame, secretKey, kind, code, children }) => {
  const { messages, href, formToken } = frame;
  return (
    <>
      <NeedsScripts
        frame={frame}
        says={['sealed.needsScriptsTitle', 'secret.needsScripts', 'secret.orCommand']}
        command="mayfly reveal LINK"
        incomplete="secret.incompleteLink"
      >
        {code ? null : (
          <TellSender frame={frame} text={messages.say('sealed.tellText', { site: frame.brand.name })} />
        )}
      </NeedsScripts>
      <p class="note alert" id="notice" role="alert" tabindex={-1} hidden />
      <div
        class="sheet opening"
        id="sealed"
        hidden
        data-kind={kind}
        data-path={href('secret', secretKey)}
        data-form-token={formToken}
        data-look={code?.field}
        {...textsFor(frame, kind === 'burn' ? { ...refusals, ...burnRefusals } : refusals)}
        {...workerAttributes(frame)}
      >
        {children}
        <p class="working" id="working" role="status" />
        <progress id="progress" aria-labelledby="working" hidden />
      </div>
      {kind === 'burn' ? (
        <Later frame={frame} id="burned" title="recipientBurn.doneTitle">
          <Burned frame={frame} />
        </Later>
      ) : (
        <Opened frame={frame} />
      )}
    </>
  );
};

const OpenButton: FC<PropsWithChildren<{ kind?: 'alarm' }>> = ({ kind, children }) => (
  <button type="button" id="open" class={kind}>
    {children}
  </button>
);

interface NeedsScriptsProps {
  readonly frame: Frame;
  readonly says: readonly [title: MessageKey, lead: MessageKey, orCommand: MessageKey];
  readonly command: string;
  /** What to do about a link without its end; absent on a page that needs none. */
  readonly incomplete?: MessageKey;
}

/** Shown if scripts are off or fail to load, or the fragment is damaged. */
export const NeedsScripts: FC<PropsWithChildren<NeedsScriptsProps>> = (props) => {
  const { frame, says, command, incomplete, children } = props;
  const { say } = frame;
  const [title, lead, orCommand] = says;
  return (
    <div class="late arrival" id="needs-scripts">
      <div>
        <h1>{say(title)}</h1>
        <p class="lead">{say(lead)}</p>
        <p>
          {say(orCommand)} <code>{command}</code>
        </p>
      </div>
      {incomplete === undefined ? null : (
        <div id="incomplete" data-title={`${say('sealed.incompleteTitle')} · ${frame.brand.name}`} hidden>
          <End frame={frame} day="broken" title="sealed.incompleteTitle" lead={incomplete} />
        </div>
      )}
      {children}
    </div>
  );
};

/** Outside any form and unnamed, so the browser never sends it. */
const Passphrase: FC<{ frame: Frame }> = ({ frame }) => (
  <div class="field" id="passphrase-field">
    <label for="passphrase">{frame.say('secret.passphrase')}</label>
    <PassphraseInput
      frame={frame}
      attributes={{ id: 'passphrase', 'aria-describedby': 'passphrase-wrong passphrase-hint' }}
    />
    <p class="wrong" id="passphrase-wrong" role="alert" />
    <p class="hint" id="passphrase-hint">
      {frame.say('secret.passphraseHint')}
    </p>
  </div>
);

const filledLater = '';

/** Replaces the page once the secret is opened. Some parts are for files, others for texts and text files. */
const Opened: FC<{ frame: Frame }> = ({ frame }) => (
  <Later frame={frame} id="opened" title="revealed.title">
    <h1 tabindex={-1}>
      <span data-for="text">{frame.say('revealed.title')}</span>
      <span data-for="file">{frame.say('revealed.fileTitle')}</span>
    </h1>
    <div class="sheet opened">
      <div data-for="file">
        <p class="came">
          <Icon name="file" />
          <bdi id="file-name" />
          <span id="file-size" />
        </p>
        <p class="hint">{frame.say('revealed.stranger')}</p>
        <p class="row">
          <a class="button" id="download" href={filledLater}>
            <Icon name="download" />
            {frame.say('revealed.download')}
          </a>
        </p>
        <img class="preview" id="preview" alt={frame.say('revealed.preview')} hidden />
      </div>
      <div data-for="value">
        <label for="value" class="visually-hidden" data-for="text">
          {frame.say('revealed.label')}
        </label>
        <label for="value" data-for="file">
          {frame.say('revealed.preview')}
        </label>
        <ValueText value="" />
        <Extent frame={frame} value={null} />
        <Actions
          frame={frame}
          save={
            <span data-for="text">
              <Save frame={frame}>{frame.say('revealed.save')}</Save>
            </span>
          }
        />
        <HiddenOnes frame={frame} value={null} />
        <Spelled frame={frame} value={null} />
      </div>
      <div class="done">
        <Minute frame={frame} type="button" />
      </div>
    </div>
    <Instructions frame={frame} text={frame.domain?.brand.instructionsAfter ?? null} />
    <ShareOwn frame={frame} />
  </Later>
);

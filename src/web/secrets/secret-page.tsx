/**
 * The page behind a link: what waits, from whom, and what one press of the button does.
 *
 * Owns: what a holder of the link sees before a secret is opened. Invariant: nothing here holds the value, and nothing
 * but the form's button opens it (P4); a passphrase that was typed is never repeated.
 */
import type { FC } from 'hono/jsx';
import type { StatusOutcome } from '../../core/secrets/outcomes.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Dated, Icon } from '../kit/parts.tsx';
import { Instructions } from './secret-instructions.tsx';

export type WaitingSecret = Extract<StatusOutcome, { outcome: 'waiting' }>;

/** Why the secret was not opened a moment ago, in words; both absent when nobody tried. */
export interface AskRefusal {
  /** What is wrong with the passphrase. */
  readonly passphrase?: string;
  /** What was in the way besides. */
  readonly notice?: string;
}

interface AskProps {
  readonly frame: Frame;
  readonly waiting: WaitingSecret;
  readonly refusal: AskRefusal;
}

export const SecretPage: FC<AskProps> = ({ frame, waiting, refusal }) => {
  const { say } = frame.words;
  const wasRefused = refusal.passphrase !== undefined || refusal.notice !== undefined;
  return (
    <Page
      frame={frame}
      title={say(wasRefused ? 'secret.refusedTitle' : 'secret.title')}
      scripts={['reveal', 'time']}
    >
      <h1>{say('secret.title')}</h1>
      <Origin frame={frame} waiting={waiting} />
      {refusal.notice === undefined ? null : (
        <p class="note alert" tabindex={-1} autofocus>
          {refusal.notice}
        </p>
      )}
      <Instructions frame={frame} text={frame.domain?.brand.instructionsBefore ?? null} />
      <PostForm
        frame={frame}
        class="sheet opening"
        action={frame.href('secret', waiting.secret.secretKey)}
        autocomplete="off"
      >
        {waiting.secret.hasPassphrase ? (
          <PassphraseField frame={frame} wrong={refusal.passphrase ?? null} />
        ) : null}
        <button type="submit">{say('secret.submit')}</button>
      </PostForm>
      <Consequences frame={frame} waiting={waiting} />
    </Page>
  );
};

/** Who shares it and where; and, to its own creator, that opening takes it from somebody else. */
const Origin: FC<Omit<AskProps, 'refusal'>> = ({ frame, waiting: { sender, secret } }) => {
  const { say } = frame.words;
  const site = frame.brand.name;
  if (sender === null) return <p class="lead">{say('secret.fromSomeone', { site })}</p>;
  return (
    <>
      {/* Isolated, so that the marks of the address keep their order in a text that runs from right to left. */}
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
      <div class="toggled">
        <input
          {...controlAttributes(texts)}
          {...notForPasswordManagers}
          type="password"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          dir="auto"
          required
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
    </Field>
  );
};

/** They are for passwords that are typed again: this one works once. Each reads an attribute of its own. */
const notForPasswordManagers = { 'data-1p-ignore': '', 'data-bwignore': '', 'data-lpignore': 'true' };

const Consequences: FC<Omit<AskProps, 'refusal'>> = ({ frame, waiting: { secret } }) => {
  const { say, duration } = frame.words;
  const left = duration(secret.secretTtlSeconds);
  const until = secret.createdAt + secret.ttlSeconds;
  return (
    <>
      <h2>{say('secret.next')}</h2>
      <ul class="points">
        <li>{say('secret.once')}</li>
        <li>{say('secret.ready')}</li>
        <li>
          <Dated words={frame.words} say="secret.until" at={until} params={{ left }} />
        </li>
      </ul>
      <h2>{say('secret.forYouTitle')}</h2>
      <p>{say('secret.forYou')}</p>
    </>
  );
};

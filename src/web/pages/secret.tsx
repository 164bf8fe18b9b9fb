/**
 * The recipient's pages: asked first, then shown once, or honestly nothing.
 *
 * Owns: what a holder of the link sees. Invariant: only `RevealedPage` holds a value, as text and never as markup.
 */
import type { FC } from 'hono/jsx';
import type { SecretView } from '../../domain/outcomes.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import { type Frame, Page } from '../layout.tsx';
import { controlAttributes, Field, type FieldTexts } from './field.tsx';

/** Says what this is and asks for a click, and for the passphrase if there is one. */
export const SecretPage: FC<{ frame: Frame; secret: SecretView; wrong: string | null }> = (props) => {
  const { frame, secret, wrong } = props;
  const { say, duration, moment } = frame.words;
  const passphrase: FieldTexts = {
    name: 'passphrase',
    label: say('secret.passphrase'),
    hint: say('secret.passphraseHint'),
    wrong,
  };
  const until = {
    left: duration(secret.secretTtlSeconds),
    date: moment(secret.createdAt + secret.ttlSeconds),
  };
  return (
    <Page frame={frame} title={say('secret.title')}>
      <h1>{say('secret.title')}</h1>
      <p class="lead">{say('secret.lead')}</p>
      <form class="sheet" method="post" action={frame.href('secret', secret.secretKey)} autocomplete="off">
        {secret.hasPassphrase ? (
          <Field texts={passphrase}>
            <input {...controlAttributes(passphrase)} type="password" autocomplete="off" required />
          </Field>
        ) : null}
        <button type="submit">{say('secret.submit')}</button>
      </form>
      <p class="hint">{say('secret.until', until)}</p>
    </Page>
  );
};

export const RevealedPage: FC<{ frame: Frame; value: string }> = ({ frame, value }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('revealed.title')}>
      <h1>{say('revealed.title')}</h1>
      <div class="sheet">
        <label for="value">{say('revealed.label')}</label>
        {/* A line break right after the tag belongs to the tag (HTML §13.1.2.5), so one stands before the value. */}
        <textarea
          id="value"
          class="value"
          rows={rowsFor(value)}
          readonly
          autofocus
          spellcheck={false}
          aria-describedby="once"
        >
          {`\n${value}`}
        </textarea>
        {holdsControls(value) ? <p class="hint">{say('revealed.inexact')}</p> : null}
      </div>
      <p class="note" id="once">
        {say('revealed.once')}
      </p>
      <p>
        <a href={frame.href('home')}>{say('share.again')}</a>
      </p>
    </Page>
  );
};

/** Rows for browsers that do not size a field by its content. */
function rowsFor(value: string): number {
  const lines = value.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / 60), 0);
  return Math.min(Math.max(lines, 3), 18);
}

/** Characters that HTML replaces or a text field rewrites: NUL, a lone carriage return and their like. */
function holdsControls(value: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(value);
}

/** Opened, burned, expired or never there: to a stranger the same. */
export const GonePage: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('gone.title')}>
      <h1>{say('gone.title')}</h1>
      <p class="lead">{say('gone.lead')}</p>
      <p>{say('gone.advice')}</p>
      <p>
        <a href={frame.href('home')}>{say('share.again')}</a>
      </p>
    </Page>
  );
};

export const ExhaustedPage: FC<{ frame: Frame; retryAfterSeconds: number; nextTryAt: UnixSeconds }> = (
  props,
) => {
  const { say, duration, moment } = props.frame.words;
  return (
    <Page frame={props.frame} title={say('secret.exhaustedTitle')}>
      <h1>{say('secret.exhaustedTitle')}</h1>
      <p class="lead">{say('secret.exhausted', { left: duration(props.retryAfterSeconds) })}</p>
      <p>{say('secret.exhaustedUntil', { date: moment(props.nextTryAt) })}</p>
    </Page>
  );
};

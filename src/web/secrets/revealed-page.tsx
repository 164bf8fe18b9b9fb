/**
 * The page that shows the value: as text, never as markup, and in no title, address, storage or form that browsers keep or restore. For a
 * minute, reloading shows the value again in the browser that opened it; the button that ends this minute opens nothing.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import {
  countGraphemes,
  countLines,
  drawingOf,
  glyphsOf,
  isInexact,
  markHidden,
  rowsFor,
  spell,
} from '../client/reading.ts';
import { Perched } from '../kit/day.tsx';
import { formsOf } from '../kit/language.ts';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Button, CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';
import { lookFieldName } from './look-cookie.ts';
import { Instructions, ShareOwn, SwapButton } from './secret-page.tsx';

export interface Ending {
  readonly secretKey: string;
  readonly field: string;
  /** Whether this answer repeats one, so that its minute began earlier. */
  readonly isRepeated: boolean;
}

interface RevealedProps {
  readonly frame: Frame;
  readonly value: string;
  readonly ending: Ending | null;
}

type ValueProps = Pick<RevealedProps, 'frame' | 'value'>;

export const RevealedPage: FC<RevealedProps> = ({ frame, value, ending }) => (
  <Page frame={frame} title={frame.say('revealed.title')} scripts={['reveal']} styles={['secret']}>
    <h1>{frame.say('revealed.title')}</h1>
    <div class="sheet opened">
      <Perched />
      <label for="value" class="visually-hidden">
        {frame.say('revealed.label')}
      </label>
      <ValueText value={value} />
      <Extent frame={frame} value={value} />
      <Actions frame={frame} save={<SaveValue frame={frame} value={value} />} />
      {/* The save link's address contains the value; the script replaces it with a blob address. */}
      <noscript>
        <p class="hint">{frame.say('revealed.saveNote')}</p>
      </noscript>
      <HiddenOnes frame={frame} value={value} />
      <Spelled frame={frame} value={value} />
      {ending === null ? (
        <p class="hint once" id="once">
          {frame.say('revealed.once')}
        </p>
      ) : (
        <PostForm frame={frame} class="done" action={frame.href('secretDone', ending.secretKey)}>
          <input type="hidden" name={lookFieldName} value={ending.field} />
          <Minute frame={frame} type="submit" isRepeated={ending.isRepeated} />
        </PostForm>
      )}
    </div>
    <Instructions frame={frame} text={frame.domain?.brand.instructionsAfter ?? null} />
    <ShareOwn frame={frame} />
  </Page>
);

interface MinuteProps {
  readonly frame: Frame;
  readonly type: 'submit' | 'button';
  readonly isRepeated?: boolean;
}

/** The style sheet counts the minute down, and then shows `.over` in place of `.still`, even without scripts. */
export const Minute: FC<MinuteProps> = ({ frame, type, isRepeated = false }) => (
  <>
    {isRepeated ? null : <span class="minute still" aria-hidden="true" />}
    <p class="hint still" id="once">
      {frame.say(isRepeated ? 'revealed.once' : 'revealed.minute')}
    </p>
    <p class="hint over" id="over" role="status">
      {frame.say('revealed.over')}
    </p>
    <Button frame={frame} type={type} class="quiet small still" id="done" say="revealed.done" icon="trash" />
  </>
);

/**
 * The field is for copying, saving and screen readers. Over a short line, the page draws letters, digits and symbols in different colours;
 * the field's own text is then visible only where selected.
 *
 * Parsers drop a line break right after the tag (HTML §13.1.2.5). `autocomplete` keeps the browser from restoring the value with the tab.
 */
export const ValueText: FC<{ value: string }> = ({ value }) => {
  const glyphs = glyphsOf(value);
  return (
    <div id="reading" class={`reading ${drawingOf(value)}`}>
      <div class="glyphs" aria-hidden="true" translate="no" {...heldCopy}>
        {glyphs.map(({ kind, text }) => (kind === 'letter' ? text : <span class={kind}>{text}</span>))}
      </div>
      <textarea
        id="value"
        class="value"
        rows={rowsFor(value)}
        readonly
        autofocus
        autocomplete="off"
        spellcheck={false}
        translate="no"
        dir="auto"
        aria-describedby="once extent"
      >
        {`\n${value}`}
      </textarea>
    </div>
  );
};

/** Marks elements that repeat the value, for `forget` in `client/shown.ts`. */
const heldCopy = { 'data-held': '' };

interface GivenProps {
  readonly frame: Frame;
  /** `null` if the script fills this in. */
  readonly value: string | null;
}

/** Shows the length, so that readers can check that they copied everything. */
export const Extent: FC<GivenProps> = ({ frame, value }) => {
  const lines = countLines(value ?? '');
  const counted = (id: 'characters' | 'lines', says: MessageKey, count: number) => (
    <li id={id} data-forms={value === null ? formsOf(frame.messages, says) : undefined}>
      {value === null ? null : frame.say(says, { count })}
    </li>
  );
  return (
    <div class="hint" id="extent">
      <ul class="plain extent">
        {counted('characters', 'revealed.characters', countGraphemes(value ?? ''))}
        {value !== null && lines === 1 ? null : counted('lines', 'revealed.lines', lines)}
      </ul>
      {value === null || isInexact(value) ? <p id="inexact">{frame.say('revealed.inexact')}</p> : null}
    </div>
  );
};

export const HiddenOnes: FC<GivenProps> = ({ frame, value }) => {
  const { count, parts } = markHidden(value ?? '');
  if (value !== null && count === 0) return null;
  const forms = value === null ? formsOf(frame.messages, 'revealed.hidden') : undefined;
  return (
    <details class="note alert" id="hidden-ones" data-forms={forms}>
      <summary>{value === null ? null : frame.say('revealed.hidden', { count })}</summary>
      <p>{frame.say('revealed.hiddenHint')}</p>
      <p class="marked" dir="ltr" {...heldCopy}>
        {parts.map(({ name, text }) =>
          name === null ? <bdi>{text}</bdi> : <mark translate="no">{name}</mark>,
        )}
      </p>
    </details>
  );
};

export const Spelled: FC<GivenProps> = ({ frame: { messages }, value }) => {
  const { say } = messages;
  const [words, signs, capital] = [say('spelled.words'), say('spelled.signs'), say('spelled.capital')];
  const spelled = spell(value ?? '', { words, signs, capital });
  if (value !== null && spelled.length === 0) return null;
  const data = { 'data-words': words, 'data-signs': signs, 'data-capital': capital };
  return (
    <details id="spelled" {...(value === null ? data : {})}>
      <summary>{say('spelled.title')}</summary>
      <ol class="plain spelled" translate="no" {...heldCopy}>
        {spelled.map(({ kind, character, said }) => (
          <li>
            <b class={kind}>{character}</b> <bdi>{said}</bdi>
          </li>
        ))}
      </ol>
    </details>
  );
};

/** The script shows the hidden buttons, and fills the list of values from the template. */
export const Actions: FC<{ frame: Frame; save: ReturnType<FC> }> = ({ frame, save }) => {
  const one = { 'data-copy': '.pair', 'data-label': frame.say('revealed.copyOne') };
  return (
    <>
      <div class="actions">
        <CopyButton frame={frame} target="value" />
        <SwapButton
          kind="quiet"
          icons={['eye-off', 'eye']}
          labels={[frame.say('revealed.hide'), frame.say('revealed.show')]}
          attributes={{ 'data-cover': '#value' }}
        />
        {save}
      </div>
      <CopyStatus frame={frame} failed="revealed.copyFailed" />
      <template id="pairs" data-all={frame.say('revealed.copyAll')}>
        <ul class="plain pairs" {...heldCopy}>
          <li>
            <code class="name" />
            <code class="pair" />
            <CopyButton frame={frame} {...one} class="quiet small" />
          </li>
        </ul>
        <details class="whole">
          <summary>{frame.say('revealed.whole')}</summary>
        </details>
      </template>
    </>
  );
};

interface SaveProps {
  readonly frame: Frame;
  readonly address?: string;
}

export const Save: FC<PropsWithChildren<SaveProps>> = ({ frame, address, children }) => (
  <a class="button quiet" id="save" href={address} download={frame.say('revealed.fileName')}>
    <Icon name="download" />
    {children}
  </a>
);

const SaveValue: FC<ValueProps> = ({ frame, value }) => (
  <Save frame={frame} address={addressOf(value)}>
    {frame.say('revealed.save')}
  </Save>
);

/** Returns the exact bytes as a data URL (RFC 2397), so that saving needs no request. */
function addressOf(value: string): string {
  return `data:text/plain;charset=utf-8;base64,${Buffer.from(value).toString('base64')}`;
}

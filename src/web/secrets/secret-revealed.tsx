/**
 * The one page that holds a value.
 *
 * Owns: how a value is shown, copied, covered and saved. Invariants: the value stands there as text and never as markup;
 * it is in no title, address, storage or form that a browser keeps or restores, and nothing on the page opens it again.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page } from '../kit/layout.tsx';
import { CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';
import { ShareOwn } from './secret-closed.tsx';
import { Instructions } from './secret-instructions.tsx';

interface RevealedProps {
  readonly frame: Frame;
  readonly value: string;
}

export const RevealedPage: FC<RevealedProps> = ({ frame, value }) => {
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('revealed.title')} scripts={['copy', 'reveal']}>
      <h1>{say('revealed.title')}</h1>
      <p class="note" id="once">
        {say('revealed.once')}
      </p>
      <div class="sheet">
        <label for="value">{say('revealed.label')}</label>
        <ValueText value={value} />
        <Extent frame={frame} value={value} />
        <Actions frame={frame} value={value} />
      </div>
      <Instructions frame={frame} text={frame.domain?.brand.instructionsAfter ?? null} />
      <ShareOwn frame={frame} />
    </Page>
  );
};

/**
 * A line break right after the tag belongs to the tag (HTML §13.1.2.5), so one stands before the value. `autocomplete`
 * keeps the browser from restoring it with a tab.
 */
const ValueText: FC<{ value: string }> = ({ value }) => (
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
);

/** How much it is, so that a reader can tell whether all of it was copied. */
const Extent: FC<RevealedProps> = ({ frame, value }) => {
  const { say } = frame.words;
  return (
    <div class="hint" id="extent">
      <ul class="extent">
        <li>{say('revealed.characters', { count: [...value].length })}</li>
        <li>{say('revealed.lines', { count: value.split(/\r\n|\r|\n/).length })}</li>
      </ul>
      {holdsControls(value) ? <p>{say('revealed.inexact')}</p> : null}
    </div>
  );
};

/** The two hidden ones work with scripts only, which show them. */
const Actions: FC<RevealedProps> = ({ frame, value }) => {
  const { say } = frame.words;
  return (
    <>
      <div class="row">
        <CopyButton target="value" label={say('revealed.copy')} />
        <button type="button" class="quiet" hidden data-cover="#value" data-other={say('revealed.show')}>
          <Icon name="eye-off" />
          <span>{say('revealed.hide')}</span>
        </button>
        <a class="button quiet" id="save" href={addressOf(value)} download={say('revealed.fileName')}>
          <Icon name="download" />
          {say('revealed.save')}
        </a>
      </div>
      {/* The address of the file is the value itself; the script puts one in its place that is only a name. */}
      <noscript>
        <p class="hint">{say('revealed.saveNote')}</p>
      </noscript>
      <CopyStatus copied={say('revealed.copied')} failed={say('revealed.copyFailed')} />
    </>
  );
};

/** The value's exact bytes as an address (RFC 2397), which a browser saves without asking anybody for it. */
function addressOf(value: string): string {
  return `data:text/plain;charset=utf-8;base64,${Buffer.from(value).toString('base64')}`;
}

/** Rows for browsers that do not size a field by its content. */
function rowsFor(value: string): number {
  const lines = value.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / 60), 0);
  return Math.min(Math.max(lines, 3), 18);
}

/** Characters that HTML replaces or a text field rewrites: NUL, a lone carriage return and their like. */
function holdsControls(value: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(value);
}

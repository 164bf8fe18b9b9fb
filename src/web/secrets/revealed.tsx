/**
 * The one page that holds a value. It is text, never markup; it is in no title, address, storage or form that a
 * browser keeps or restores, and nothing on the page opens it again.
 */
import type { FC } from 'hono/jsx';
import { type Frame, Page } from '../kit/layout.tsx';
import { CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';
import { Instructions, ShareOwn } from './secret-page.tsx';

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
 * Parsers drop a line break right after the tag (HTML §13.1.2.5), so one precedes the value. `autocomplete` keeps the
 * browser from restoring it with a tab.
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

/** How long it is, so readers can tell whether they copied all of it. */
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

/** The script shows the buttons that need it. */
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
      {/* The link's address is the value itself; the script replaces it with a blob address. */}
      <noscript>
        <p class="hint">{say('revealed.saveNote')}</p>
      </noscript>
      <CopyStatus copied={say('revealed.copied')} failed={say('revealed.copyFailed')} />
    </>
  );
};

/** The value's exact bytes as a data URL (RFC 2397), so saving needs no further request. */
function addressOf(value: string): string {
  return `data:text/plain;charset=utf-8;base64,${Buffer.from(value).toString('base64')}`;
}

/** For browsers that do not size a field by its content. */
function rowsFor(value: string): number {
  const lines = value.split('\n').reduce((rows, line) => rows + 1 + Math.floor(line.length / 60), 0);
  return Math.min(Math.max(lines, 3), 18);
}

/** Control characters, which HTML replaces or a text field rewrites (NUL, a lone carriage return). */
function holdsControls(value: string): boolean {
  return /[^\P{Cc}\n\t]/u.test(value);
}

/**
 * The recipient's pages: a GET asks, a POST opens. No GET or HEAD consumes the secret or counts a guess (P4), nor does a form
 * that nobody ticked or pressed; unknown, opened, burned and expired get one answer (P17); every refusal leads back to the
 * same link.
 *
 * The page that holds the value has it as text, never markup, and in no title, address, storage or form that a browser keeps or
 * restores; nothing on the page opens it again.
 */
import type { FC } from 'hono/jsx';
import type { WrongPassphrase } from '../../core/secrets/outcomes.ts';
import { textOf } from '../../core/secrets/reveal.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import { Sensitive } from '../../core/sensitive.ts';
import type { Clock } from '../../core/time.ts';
import { clientLeft, RequestProblem } from '../../http/problem.ts';
import { problemWords } from '../kit/error-page.tsx';
import { type Frame, Page, renderPage } from '../kit/layout.tsx';
import {
  type PageProblem,
  type PageReply,
  type PageRequest,
  type PageRoute,
  pageReply,
} from '../kit/page.ts';
import { CopyButton, CopyStatus, Icon } from '../kit/parts.tsx';
import {
  type AskRefusal,
  type Delay,
  DelayedPage,
  EndToEndPage,
  GonePage,
  Instructions,
  openBox,
  SecretPage,
  ShareOwn,
} from './secret-page.tsx';

export interface SecretDeps {
  readonly service: Pick<SecretService, 'secretStatus' | 'reveal'>;
  readonly clock: Clock;
}

export function createSecretPages(deps: SecretDeps): PageRoute[] {
  const refuse = (request: PageRequest, problem: PageProblem) => keepAsking(request, deps, problem);
  return [
    {
      name: 'secret',
      get: { limit: 'manage', handle: (request) => ask(request, deps, 200), refuse },
      post: { limit: 'manage', handle: (request) => open(request, deps), refuse },
    },
  ];
}

async function ask(
  request: PageRequest,
  deps: SecretDeps,
  status: number,
  refusal: Partial<AskRefusal> = {},
): Promise<PageReply> {
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return gone(request);
  if (waiting.secret.sealed)
    return pageReply(status, renderPage(<EndToEndPage frame={request.frame} waiting={waiting} />));
  const props = {
    frame: request.frame,
    waiting,
    refusal: { passphrase: null, box: null, notice: null, ...refusal },
  };
  return pageReply(status, renderPage(<SecretPage {...props} />));
}

async function open(request: PageRequest, deps: SecretDeps): Promise<PageReply> {
  const { frame, key, clientPrefix, isAbandoned, caller } = request;
  const form = await request.form();
  if (form.text(openBox.name) !== openBox.value)
    return ask(request, deps, 422, { box: frame.words.say('secret.sureMissing') });
  const passphrase = new Sensitive(form.text('passphrase'));
  const input = { secretKey: key, passphrase, proofs: null, clientPrefix, isAbandoned };
  const outcome = await deps.service.reveal(input, caller);
  switch (outcome.outcome) {
    case 'revealed':
      return pageReply(200, renderPage(<RevealedPage frame={frame} value={textOf(outcome.content)} />));
    case 'abandoned':
      throw new RequestProblem(clientLeft);
    case 'unknown':
    case 'not_sealed':
      return gone(request);
    case 'incomplete_link':
      return ask(request, deps, 422);
    case 'passphrase_missing':
      return ask(request, deps, 422, { passphrase: frame.words.say('secret.passphraseMissing') });
    case 'passphrase_wrong':
      return ask(request, deps, 422, { passphrase: wrongPassphraseText(frame, outcome) });
    case 'attempts_exhausted':
      return exhausted(request, deps, outcome.retryAfterSeconds);
  }
}

function wrongPassphraseText({ words }: Frame, { attemptsLeft, moreAfterSeconds }: WrongPassphrase): string {
  const wait = words.duration(moreAfterSeconds);
  if (attemptsLeft === null) return words.say('secret.passphraseWrongPlain');
  if (attemptsLeft === 0) return words.say('secret.passphraseWrongLast', { wait });
  return words.say('secret.passphraseWrong', { count: attemptsLeft, wait });
}

function gone({ frame }: PageRequest): PageReply {
  return pageReply(404, renderPage(<GonePage frame={frame} />));
}

/** Says when the next guess is possible, unless the secret expires before that. */
async function exhausted(
  request: PageRequest,
  deps: SecretDeps,
  retryAfterSeconds: number,
): Promise<PageReply> {
  const waiting = await deps.service.secretStatus({ secretKey: request.key }, request.caller);
  if (waiting.outcome === 'unknown') return gone(request);
  const { say, duration } = request.frame.words;
  const title = say('secret.exhaustedTitle');
  const left = duration(retryAfterSeconds);
  const delay =
    retryAfterSeconds < waiting.secret.secretTtlSeconds
      ? { title, lead: say('secret.exhausted', { left }), until: deps.clock() + retryAfterSeconds }
      : { title, lead: say('secret.exhaustedForGood'), until: null };
  return delayed(request, 429, delay, { 'retry-after': String(retryAfterSeconds) });
}

function delayed(
  { frame, key }: PageRequest,
  status: number,
  delay: Delay,
  headers: PageReply['headers'] = {},
): PageReply {
  return pageReply(status, renderPage(<DelayedPage frame={frame} delay={delay} secretKey={key} />), headers);
}

/**
 * After a refusal before anything was opened or counted, asks again where that costs no more than the refusal: over a
 * rate limit nothing is looked up (P21), and without a store nothing can be.
 */
async function keepAsking(request: PageRequest, deps: SecretDeps, problem: PageProblem): Promise<PageReply> {
  const { status } = problemWords(problem, request.frame.words);
  const { say } = request.frame.words;
  if (problem.problem === 'stale_form') return ask(request, deps, status, { notice: say('secret.stale') });
  const later = laterOf(request.frame, problem);
  if (problem.problem === 'rate_limited') return delayed(request, status, later);
  return ask(request, deps, status, { notice: later.lead }).catch(() => delayed(request, status, later));
}

function laterOf({ words }: Frame, problem: PageProblem): Delay {
  const wait = words.duration('retryAfterSeconds' in problem ? problem.retryAfterSeconds : 0);
  const lead = problem.problem === 'rate_limited' ? 'secret.rate' : 'secret.unavailable';
  return { title: words.say('secret.laterTitle'), lead: words.say(lead, { wait }), until: null };
}

interface RevealedProps {
  readonly frame: Frame;
  readonly value: string;
}

const RevealedPage: FC<RevealedProps> = ({ frame, value }) => {
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

/**
 * The asker's page, at the answers link: the same for every key. Its script (`client/answers.ts`) derives everything from the end of
 * the link: the link to send, the question, and what opens the answers.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import { Day } from '../kit/day.tsx';
import { Options } from '../kit/field.tsx';
import { formsOf } from '../kit/language.ts';
import { type Frame, Page } from '../kit/layout.tsx';
import { Chip, CopyButton, Icon, ScriptButton, textsFor } from '../kit/parts.tsx';
import { Copied, Handing } from '../secrets/link-actions.tsx';
import { NeedsScripts } from '../secrets/sealed-page.tsx';
import { EndLater } from '../secrets/secret-page.tsx';
import { usualWithin } from '../secrets/typed.ts';
import { RequestNotice } from './answer-page.tsx';

interface AnswersProps {
  readonly frame: Frame;
  readonly plan: Plan;
}

const stops = {
  otherQuestion: 'answers.changed',
  too_many_places: 'answers.tooMany',
  invalid_field: 'answers.tooMany',
} as const;

export const AnswersPage: FC<AnswersProps> = (props) => {
  const { frame } = props;
  const { say, href } = frame;
  return (
    <Page frame={frame} title={say('answers.title')} scripts={['answers']} styles={['answers']}>
      <NeedsScripts
        frame={frame}
        says={['answers.needsScriptsTitle', 'answers.needsScripts', 'answers.orCommand']}
        command="mayfly answers LINK"
        incomplete="answers.incomplete"
      />
      <RequestNotice frame={frame} texts={stops} />
      <div class="receipt" id="request" hidden>
        <div class="sheet">
          <Head frame={frame} />
          <div class="hand-over">
            <Answers frame={frame} />
            <AskLink frame={frame} />
            <Copied frame={frame} />
          </div>
        </div>
        <Keep frame={frame} />
        <Changes {...props} />
        <p class="onward">
          <a class="button quiet" href={href('ask')}>
            <Icon name="plus" />
            {say('ask.another')}
          </a>
        </p>
      </div>
      <EndLater frame={frame} id="unknown" day="gone" title="answers.unknownTitle" lead="answers.unknown" />
    </Page>
  );
};

const Head: FC<{ frame: Frame }> = ({ frame }) => (
  <div class="life life-waiting" id="life">
    {(['waiting', 'opened', 'expired'] as const).map((state) => (
      <Day state={state} />
    ))}
    <h1 id="state" tabindex={-1} data-fresh={frame.say('receipt.readyTitle')} {...stateTexts(frame)} />
    <div class="life-text">
      <q>
        <bdi id="prompt" />
      </q>
      <p class="life-when" id="when" data-text={frame.say('receipt.expires')} />
    </div>
    <div class="watch">
      <p role="status" id="news" data-text={frame.say('answers.news')} />
    </div>
  </div>
);

/** By the request's state, if no answer can be opened. */
export function stateTexts(frame: Frame): Record<string, string> {
  const texts = { open: 'answers.waiting', full: 'answers.done', ended: 'answers.ended' } as const;
  return { 'data-ready': formsOf(frame.messages, 'answers.ready'), ...textsFor(frame, texts) };
}

const fates = {
  new: 'recent.waiting',
  received: 'recent.opened',
  burned: 'answers.takenBack',
  expired: 'recent.expired',
  unknown: 'answers.gone',
  discarded: 'answers.discarded',
  unreadable: 'answers.unreadable',
} as const;

/** The script fills a row for each answer. */
const Answers: FC<{ frame: Frame }> = ({ frame }) => {
  const { say, href } = frame;
  return (
    <section id="arrived" hidden aria-label={say('answers.list')}>
      <ul id="list" class="plain answered" data-secret={href('secret')} {...textsFor(frame, fates)} />
      <template>
        <li>
          <p>
            <strong data-text={say('answers.name')} />
            <span class="hint" />
          </p>
          <a class="button" href="#main" target="_blank" rel="noopener">
            {say('answers.open')}
          </a>
          <details class="chip">
            <summary>{say('answers.discard')}</summary>
            <div class="panel">
              <p>{say('answers.discardHint')}</p>
              <ScriptButton frame={frame} say="answers.discard" class="alarm small" />
            </div>
          </details>
        </li>
      </template>
    </section>
  );
};

const links = {
  link: 'answers.link',
  hint: 'answers.linkHint',
  hintOfCopied: 'answers.linkHint',
  qr: 'answers.qrAlt',
} as const;

const AskLink: FC<{ frame: Frame }> = ({ frame }) => {
  const { say, messages, href, assets } = frame;
  const text = `${say('answers.messageNeed')}\n${say('answers.messageHow')}`;
  const { name, integrity } = assets.script('qr');
  return (
    <div id="handing">
      <Handing
        {...{ frame, link: null, says: links }}
        message={{ locale: messages.locale, isOpen: false }}
        parts={{ subject: say('answers.subject'), text }}
      />
      {/* Runs once the code is wanted. */}
      <template id="draws-qr">
        <script type="module" src={href('asset', name)} integrity={integrity} />
      </template>
    </div>
  );
};

/** Without this link, nothing opens the answers. */
const Keep: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame;
  return (
    <section class="keep" id="keep" aria-labelledby="keep-title">
      <h2 id="keep-title">{say('answers.keep')}</h2>
      <p>{say('answers.keepHint')}</p>
      <p class="own-address">
        <code class="code" id="own-address" dir="ltr" translate="no" />
        <CopyButton frame={frame} target="own-address" class="quiet small" />
      </p>
      <label class="check">
        <input type="checkbox" id="remember" autocomplete="off" aria-describedby="remember-hint" />
        <span>{say('answers.remember')}</span>
      </label>
      <p class="hint" id="remember-hint">
        {say('answers.rememberHint')}
      </p>
    </section>
  );
};

const Changes: FC<AnswersProps> = ({ frame, plan: { ttlMinSeconds, ttlMaxSeconds } }) => {
  const { say, duration } = frame.messages;
  const lifetimes = usualWithin(ttlMinSeconds, ttlMaxSeconds).map((ttl) => [ttl, duration(ttl)] as const);
  return (
    <div class="chips" id="changes">
      <Chip name="change" icon="clock" title={say('lifetime.change')}>
        <div class="field">
          <label for="ttl">{`${say('share.ttl')} ${say('lifetime.fromNow')}`}</label>
          <select id="ttl" autocomplete="off">
            <Options offered={lifetimes} />
          </select>
        </div>
        <ScriptButton frame={frame} id="extend" say="lifetime.save" class="quiet" />
      </Chip>
      <ScriptButton frame={frame} id="more" say="answers.more" icon="plus" class="chip-button" />
      <Chip name="change" icon="x" title={say('answers.close')} class="chip burn">
        <p>{say('answers.closeHint')}</p>
        <ScriptButton frame={frame} id="close" say="answers.close" class="alarm" />
      </Chip>
    </div>
  );
};

/**
 * The page of an ask link, for the sender of an answer: the same for every key. Its script (`client/answer.ts`) fills it in once the question has
 * opened. No field has a name or a form, so that no failure sends anything in plain text.
 */
import type { FC } from 'hono/jsx';
import type { MessageKey } from '../../locale/catalogues.ts';
import { asTyped } from '../kit/field.tsx';
import { type Frame, Page } from '../kit/layout.tsx';
import { Icon, ScriptButton, textsFor } from '../kit/parts.tsx';
import { NeedsScripts } from '../secrets/sealed-page.tsx';
import { EndLater } from '../secrets/secret-page.tsx';
import { Attachment, FilePick } from '../secrets/share-sealing.tsx';
import { Counter } from '../secrets/share-value.tsx';

const stops = { cannot: 'ask.cannot', later: 'answer.later', unreachable: 'ask.unreachable' } as const;

interface NoticeProps {
  readonly frame: Frame;
  /** By the API's code of a refusal, or by the script's own. */
  readonly texts: Readonly<Record<string, MessageKey>>;
  readonly data?: Readonly<Record<string, string | undefined>>;
}

/** What the script of every page of requests gets (`client/requests.ts`). */
export const RequestNotice: FC<NoticeProps> = ({ frame, texts, data = {} }) => {
  const sites = { 'data-api': `${frame.href('api')}/v2`, 'data-base': frame.settings.baseUrl };
  const said = textsFor(frame, { ...stops, ...texts });
  return <p class="note alert" id="notice" role="alert" hidden {...sites} {...said} {...data} />;
};

/** The page once nothing can be sent, or something was. */
const ends = [
  { id: 'full', day: 'opened', title: 'answer.fullTitle', lead: 'answer.full' },
  { id: 'ended', day: 'expired', title: 'answer.endedTitle', lead: 'answer.ended' },
  { id: 'unknown', day: 'gone', title: 'gone.title', lead: 'answer.unknown' },
  { id: 'taken', day: 'burned', title: 'answer.takenTitle', lead: 'answer.takenLead' },
] as const;

export const AnswerPage: FC<{ frame: Frame }> = ({ frame }) => {
  const { visitor, domain, formToken } = frame;
  const by = { 'data-visitor': visitor?.username, 'data-form-token': formToken, 'data-domain': domain?.name };
  return (
    <Page frame={frame} title={frame.say('answer.title')} scripts={['answer']} styles={['answer']}>
      <NeedsScripts
        frame={frame}
        says={['answer.needsScriptsTitle', 'answer.needsScripts', 'answer.orCommand']}
        command="mayfly answer LINK"
        incomplete="secret.incompleteLink"
      />
      <RequestNotice
        frame={frame}
        texts={{ changed: 'answer.changed', reported: 'answer.reported' }}
        data={by}
      />
      <Asked frame={frame} />
      {/* Only this page's memory can still ask about the answer, or take it back. */}
      <EndLater frame={frame} id="sent" day="opened" title="answer.sentTitle" lead="answer.sentLead">
        <p id="outcome" role="status" {...textsFor(frame, { waits: 'answer.waits', over: 'answer.over' })} />
        <div class="row">
          <ScriptButton frame={frame} id="still" say="answer.still" icon="refresh" class="quiet" />
          <ScriptButton frame={frame} id="take-back" say="answer.takeBack" icon="undo" class="quiet" />
        </div>
      </EndLater>
      {ends.map((end) => (
        <EndLater frame={frame} {...end} />
      ))}
    </Page>
  );
};

const Asked: FC<{ frame: Frame }> = ({ frame }) => (
  <template id="asked">
    <div class="arrival asked">
      <h1 tabindex={-1}>{frame.say('answer.title')}</h1>
      <p id="by" data-text={frame.say('answer.by')}>
        {frame.say('answer.byNobody')}
      </p>
      <q>
        <bdi id="prompt" />
      </q>
      <p class="hint">
        <span id="until" data-text={frame.say('receipt.expires')} /> · {frame.say('answer.sure')}
      </p>
      <p id="own" class="row" hidden>
        {frame.say('answer.own')}{' '}
        <ScriptButton frame={frame} id="close" say="answers.close" class="quiet small" />
      </p>
    </div>
    <Answer frame={frame} />
    <p class="aside">
      <ScriptButton frame={frame} id="report" say="answer.report" class="tool" />
    </p>
  </template>
);

const flaws = { tooLarge: 'share.tooLarge', illFormed: 'share.illFormed', empty: 'answer.empty' } as const;

const Answer: FC<{ frame: Frame }> = ({ frame }) => {
  const { say } = frame;
  const kept = (text: MessageKey) => `${say(text)} ${say('share.kept')}`;
  const refusals = {
    'data-unknown_request': kept('answer.unknown'),
    'data-request_full': kept('answer.full'),
    'data-request_ended': kept('answer.ended'),
  };
  const hints = { placeholder: say('share.placeholder'), 'data-or-file': say('share.placeholderFile') };
  return (
    <div id="share" class="sheet">
      <label class="visually-hidden" for="secret">
        {say('answer.label')}
      </label>
      <div class="composer">
        <textarea
          id="secret"
          autocomplete="off"
          {...asTyped}
          dir="auto"
          aria-describedby="stopped"
          {...hints}
        />
        <Attachment frame={frame} tooLarge={say('share.fileTooLarge')} />
        <div class="tools">
          <FilePick frame={frame} />
          <ScriptButton frame={frame} id="generate" say="suggest.submit" icon="dice" class="tool" />
          <Counter frame={frame} />
        </div>
      </div>
      <p class="wrong" id="stopped" role="alert" {...textsFor(frame, flaws)} {...refusals} />
      <div class="send">
        <SealedHere frame={frame} why={say('answer.onlyAsker')} />
        <ScriptButton frame={frame} id="create" say="answer.submit" />
      </div>
      <p class="hint" id="sending" role="status" data-sending={say('share.sending')} />
    </div>
  );
};

export const SealedHere: FC<{ frame: Frame; why: string }> = ({ frame, why }) => (
  <p class="sealed-here">
    <Icon name="lock" />
    <span>
      {frame.say('share.encryptedHere')} <small>{why}</small>
    </span>
  </p>
);

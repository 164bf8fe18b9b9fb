/**
 * The form that asks for a secret: one field and one button. Its script (`client/ask.ts`) encrypts the question, so the field has no name, and the
 * form is hidden without scripts.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { maxPromptCharacters } from '../../protocol/note.ts';
import { asTyped, Options, type OptionsProps } from '../kit/field.tsx';
import { TickBox } from '../kit/form-page.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { Button, ScriptButton } from '../kit/parts.tsx';
import { NeedsScripts } from '../secrets/sealed-page.tsx';
import { offerOf } from '../secrets/typed.ts';
import { RequestNotice, SealedHere } from './answer-page.tsx';
import { stateTexts } from './answers-page.tsx';

interface AskProps {
  readonly frame: Frame;
  readonly plan: Plan;
  /** Verified share domains. */
  readonly domains: readonly string[];
}

export const AskPage: FC<AskProps> = (props) => {
  const { frame } = props;
  const { messages, visitor } = frame;
  const { say } = messages;
  const address = visitor === null ? '' : messages.code(visitor.username);
  const wrong = say('ask.promptWrong', { max: maxPromptCharacters });
  return (
    <Page frame={frame} title={say('ask.title')} scripts={['ask']} styles={['ask']}>
      <NeedsScripts
        frame={frame}
        says={['ask.title', 'ask.needsScripts', 'answer.orCommand']}
        command="mayfly ask"
      />
      <RequestNotice frame={frame} texts={{}} data={{ 'data-wrong': wrong }} />
      <h1>{say('ask.title')}</h1>
      <p class="lead">{say('ask.lead')}</p>
      <PostForm frame={frame} id="share" class="sheet" action={frame.href('ask')} autocomplete="off" hidden>
        <label for="prompt">{say('ask.prompt')}</label>
        <input
          id="prompt"
          type="text"
          autocomplete="off"
          {...asTyped}
          dir="auto"
          required
          placeholder={say('ask.placeholder')}
          aria-describedby="prompt-wrong"
        />
        <p class="wrong" id="prompt-wrong" role="alert" />
        <Choices {...props} />
        <div class="send">
          <SealedHere
            frame={frame}
            why={visitor === null ? say('ask.shownNobody') : say('ask.shown', { address })}
          />
          <Button frame={frame} id="create" say="share.submit" />
        </div>
        <p class="hint" id="sending" role="status" data-sending={say('share.sending')} />
      </PostForm>
      <Mine frame={frame} />
    </Page>
  );
};

const placesOffered = [1, 2, 3, 5, 10, 20] as const;

/** Each choice says in full what it means, so that one row shows them all. */
const Choices: FC<AskProps> = ({ frame, plan, domains }) => {
  const { say, duration } = frame.messages;
  const { choices, preset } = offerOf(plan);
  const times = (text: MessageKey) =>
    choices.map((each) => [each, say(text, { time: duration(Number(each)) })] as const);
  const places = placesOffered.map((count) => [count, say('ask.places', { count })] as const);
  const hosts = [['', say('share.domainOwn')] as const, ...domains.map((name) => [name, name] as const)];
  const box = { name: 'notify', label: say('ask.notify'), wrong: null, isTicked: false };
  return (
    <div class="chips">
      <Choice name="ttl" label={say('share.ttl')} offered={times('share.expires')} chosen={preset} />
      <Choice name="answer-ttl" label={say('ask.keepsLabel')} offered={times('ask.keeps')} chosen={preset} />
      {frame.visitor === null ? null : (
        <>
          <Choice name="places" label={say('ask.placesLabel')} offered={places} chosen={1} />
          {domains.length === 0 ? null : (
            <Choice name="share-domain" label={say('share.domainField')} offered={hosts} chosen="" />
          )}
          <TickBox {...box} />
        </>
      )}
    </div>
  );
};

const Choice: FC<OptionsProps & { name: string; label: string }> = ({ name, label, ...options }) => (
  <select name={name} class="pill" aria-label={label} autocomplete="off">
    <Options {...options} />
  </select>
);

/** What this device remembers; the script fills a row for each. */
const Mine: FC<{ frame: Frame }> = ({ frame }) => {
  const { say, href } = frame;
  return (
    <section id="mine" hidden aria-labelledby="mine-title">
      <h2 id="mine-title">{say('ask.mine')}</h2>
      <ul id="mine-list" class="plain answered" data-answers={href('answers')} {...stateTexts(frame)} />
      <template>
        <li>
          <p>
            <a href={href('ask')}>
              <q>
                <bdi />
              </q>
            </a>
            <span class="hint" />
          </p>
          <ScriptButton frame={frame} say="ask.forget" class="quiet small" />
        </li>
      </template>
    </section>
  );
};

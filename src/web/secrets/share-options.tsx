/**
 * The options of a secret, collapsed into one row. Each summary shows the choice last sent or, with scripts (`client/share.ts`), the
 * current one.
 */
import type { FC, PropsWithChildren } from 'hono/jsx';
import { maxNoteCharacters } from '../../protocol/note.ts';
import { shareFields } from '../client/share-fields.ts';
import {
  asMarkup,
  asTyped,
  controlAttributes,
  Field,
  LineField,
  SelectField,
  TextInput,
} from '../kit/field.tsx';
import { TickBox } from '../kit/form-page.tsx';
import { Lifetime, MailLanguageField, NoticeBoxes } from './fields.tsx';
import { DrawButton } from './generate.tsx';
import { maxPeople, readPeople } from './people.ts';
import { News } from './share-value.tsx';
import { askedLifetime, offerOf, type ShareProps, textsOf } from './typed.ts';

export const Options: FC<ShareProps> = (props) => {
  const { frame, typed, domains } = props;
  const hasAccount = frame.visitor !== null;
  return (
    <fieldset class="chips">
      <legend>{frame.say('share.options')}</legend>
      <Expiry {...props} />
      <Passphrase {...props} />
      {/* Without an account, shown only for text typed before the session ended. */}
      {hasAccount || typed.recipient !== '' ? <Recipient {...props} /> : null}
      {offersCodes(frame) || typed.verify !== '' ? <Verify {...props} /> : null}
      {hasAccount || typed.notify.length > 0 ? <Notices {...props} /> : null}
      {domains.length > 0 || typed.shareDomain !== '' ? <Domain {...props} /> : null}
      <Words {...props} />
      <People {...props} />
    </fieldset>
  );
};

interface OptionProps {
  readonly name: string;
  /** Absent if `chosen` is a sentence. */
  readonly title?: string;
  /** Shown instead of the title, but after it if `done`; `''` if nothing is chosen. */
  readonly chosen: string;
  /** What the script shows in place of `chosen`. */
  readonly said?: Readonly<Record<`data-${string}`, string>>;
  readonly wrong: string | null;
  readonly hasNews?: boolean | undefined;
}

/** Shows that something is chosen, but not what. */
const done = '✓';

const Option: FC<PropsWithChildren<OptionProps>> = (props) => {
  const { name, title, chosen, said, wrong, hasNews = false, children } = props;
  const isSet = title !== undefined && chosen !== '';
  return (
    <details
      class={isSet ? 'chip set' : 'chip'}
      id={`option-${name}`}
      name="option"
      open={hasNews || wrong !== null}
    >
      <summary>
        {title === undefined ? null : <span class="title">{title}</span>}{' '}
        <bdi class="chosen" {...said}>
          {chosen}
        </bdi>
      </summary>
      <div class="panel">{children}</div>
    </details>
  );
};

const Expiry: FC<ShareProps> = (props) => {
  const { frame, plan, typed } = props;
  const { say, duration } = frame.messages;
  const offer = offerOf(plan);
  const { wrong } = textsOf(props, 'ttl-amount');
  const asked = askedLifetime(typed.lifetime, offer, frame.messages);
  const other = say('share.ttlOther');
  const chosen = 'wrong' in asked ? other : say('share.expires', { time: duration(asked.seconds) });
  const said = { 'data-said': say('share.expires'), 'data-other': other };
  return (
    <Option name="ttl" {...{ chosen, said, wrong }}>
      <Lifetime frame={frame} offer={offer} typed={typed.lifetime} wrong={wrong} />
    </Option>
  );
};

const Passphrase: FC<ShareProps> = (props) => {
  const { frame, typed, news } = props;
  const { say } = frame;
  const texts = textsOf(props, 'passphrase', say('share.passphrase'), say('share.passphraseHint'));
  const { wrong, hasNews } = texts;
  const { text } = typed.passphrase;
  const chosen = text === '' ? '' : done;
  return (
    <Option name="passphrase" title={say('share.extraPassphrase')} {...{ chosen, wrong, hasNews }}>
      <Field texts={texts}>
        <div class="with-button">
          <TextInput
            texts={texts}
            value={text}
            attributes={{ dir: 'auto', placeholder: say('share.passphraseOwn') }}
          />
          <DrawButton frame={frame} draw="passphrase" class="quiet small" icon="dice" say="suggest.words" />
          <DrawButton frame={frame} draw="code" class="quiet small" icon="dice" say="share.drawCode" />
        </div>
        <News frame={frame} typed={typed} news={news} field="passphrase" />
      </Field>
    </Option>
  );
};

/** The sender's own words, next to each other, so that no one mistakes the label for the note. */
const Words: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const { say } = frame;
  const note = textsOf(props, 'note', say('note.label'), say('note.hint', { max: maxNoteCharacters }));
  const memo = textsOf(props, 'memo', say('memo.forYou'), say('memo.hint'));
  const chosen = typed.note.trim() || typed.memo.trim();
  return (
    <Option name="memo" title={say('share.note')} chosen={chosen} wrong={note.wrong ?? memo.wrong}>
      <div class="pair">
        <LineField texts={note} typed={typed.note} kind="words" />
        <LineField texts={memo} typed={typed.memo} kind="words" />
      </div>
    </Option>
  );
};

const Recipient: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const { say } = frame;
  const texts = textsOf(props, shareFields.recipient, say('share.recipient'), say('share.recipientHint'));
  const chosen = typed.recipient.trim();
  return (
    <Option name="recipient" title={say('share.for')} chosen={chosen} wrong={texts.wrong}>
      <div class="pair">
        <LineField texts={texts} typed={typed.recipient} kind="address" />
        <MailLanguageField frame={frame} chosen={typed.locale} />
      </div>
    </Option>
  );
};

const offersCodes = ({ visitor, settings }: ShareProps['frame']) => visitor !== null && settings.verify;

/** With scripts, the last line shows only if it applies. */
const Verify: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const { say } = frame;
  const texts = textsOf(props, shareFields.verify, say('share.verifyAddress'), say('share.verifyHint'));
  const chosen = typed.verify.trim() === '' ? '' : done;
  return (
    <Option name="verify" title={say('share.verify')} {...{ chosen }} wrong={texts.wrong}>
      <LineField texts={texts} typed={typed.verify} kind="address" />
      <p class="hint" id="verify-same">
        {say('share.verifySame')}
      </p>
    </Option>
  );
};

const Domain: FC<ShareProps> = (props) => {
  const { frame, domains, typed } = props;
  const { say } = frame;
  const texts = textsOf(props, 'share-domain', say('share.domainField'));
  const names = new Set([...domains, typed.shareDomain].filter((name) => name !== ''));
  const offered = [
    ['', say('share.domainOwn')] as const,
    ...Array.from(names, (name) => [name, name] as const),
  ];
  return (
    <Option name="share-domain" title={say('share.domain')} chosen={typed.shareDomain} wrong={texts.wrong}>
      <SelectField texts={texts} offered={offered} chosen={typed.shareDomain} />
    </Option>
  );
};

const Notices: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const { wrong } = textsOf(props, 'notify');
  const chosen = typed.notify.length > 0 ? done : '';
  return (
    <Option name="notify" title={frame.say('share.notices')} {...{ chosen, wrong }}>
      <NoticeBoxes frame={frame} ticked={typed.notify} wrong={wrong} isTitled />
    </Option>
  );
};

const People: FC<ShareProps> = (props) => {
  const { frame, typed } = props;
  const chosen = typed.people.trim().replaceAll('\n', ', ');
  const { wrong } = textsOf(props, 'people');
  const hasNews = typed.created.length > 0;
  return (
    <Option name="people" title={frame.say('several.send')} {...{ chosen, wrong, hasNews }}>
      <PeopleList {...props} />
    </Option>
  );
};

/** Those who have no link yet, after those who have. The script replaces it with each answer. */
export const PeopleList: FC<Pick<ShareProps, 'frame' | 'typed' | 'refusal'>> = (props) => {
  const { frame, typed } = props;
  const { say } = frame;
  const texts = textsOf(props, 'people', say('several.people'), say('several.hint', { max: maxPeople }));
  const mails = { name: shareFields.mailsEach, label: say('several.mailsEach'), wrong: null };
  const codes = { name: shareFields.verifyEach, label: say('several.verifyEach'), wrong: null };
  const created = typed.created.join('.');
  const count = typed.created.length;
  const total = count + readPeople(typed.people).length;
  return (
    <>
      {created === '' ? null : (
        <p>
          <input type="hidden" name={shareFields.created} value={created} />
          <span id="so-far">{say('several.soFar', { count, total })}</span>{' '}
          <a id="show-so-far" href={frame.href('several', created)}>
            {say('several.showSoFar')}
          </a>
        </p>
      )}
      <Field texts={texts}>
        <textarea {...controlAttributes(texts)} {...asTyped} dir="auto">
          {asMarkup(`\n${typed.people}`)}
        </textarea>
      </Field>
      {frame.visitor === null && !typed.mailsEach ? null : <TickBox {...mails} isTicked={typed.mailsEach} />}
      {offersCodes(frame) || typed.verifyEach ? <TickBox {...codes} isTicked={typed.verifyEach} /> : null}
    </>
  );
};

/** The secret's field, and ways to use a file or a random value instead. The limit shows only once most of it is used. */
import type { FC } from 'hono/jsx';
import { asideName, type DrawableField, drawnName, shareFields, template } from '../client/share-fields.ts';
import { asMarkup, asTyped, controlAttributes, Wrong } from '../kit/field.tsx';
import { formsOf } from '../kit/language.ts';
import type { Frame } from '../kit/layout.tsx';
import { DrawButton, FillButton, GenerateOptions } from './generate.tsx';
import { Attachment, FilePick } from './share-sealing.tsx';
import { type ShareProps, textsOf } from './typed.ts';

export const Value: FC<ShareProps> = (props) => {
  const { frame, plan, typed } = props;
  const { say, size } = frame.messages;
  const { wrong } = textsOf(props, 'secret');
  return (
    <div class="field">
      <label class="visually-hidden" for="secret">
        {say('share.value')}
      </label>
      <div class="composer">
        <Text {...props} />
        <Attachment frame={frame} tooLarge={say('share.fileTooLarge', { size: size(plan.maxSealedBytes) })} />
        <div class="tools">
          <FilePick frame={frame} />
          <FillButton
            frame={frame}
            id="generate"
            class="tool"
            icon="dice"
            say={['', template].includes(typed.secret.drawn) ? 'suggest.submit' : 'suggest.again'}
            data-words={frame.href('words')}
          />
          <GenerateOptions {...props} />
          <DrawButton frame={frame} draw="template" class="tool" icon="list" say="share.template" />
          <Counter frame={frame} />
        </div>
      </div>
      <News {...props} field="secret" />
      <Wrong name="secret" text={wrong} />
      {/* The script explains here why it does not send a form that the server would refuse. */}
      <p
        class="wrong"
        id="stopped"
        role="alert"
        data-too-large={say('share.tooLarge', { size: size(plan.maxValueBytes) })}
      />
    </div>
  );
};

const Text: FC<ShareProps> = (props) => {
  const { frame, plan, typed } = props;
  const { say } = frame;
  const attributes = controlAttributes(textsOf(props, 'secret'));
  return (
    // Parsers drop a line break right after the tag (HTML §13.1.2.5).
    <textarea
      {...attributes}
      aria-describedby={`${attributes['aria-describedby'] ?? ''} stopped`.trim()}
      rows={5}
      required
      autocomplete="off"
      {...asTyped}
      dir="auto"
      placeholder={say('share.placeholder')}
      data-or-file={say('share.placeholderFile')}
      data-limit={plan.maxValueBytes}
    >
      {asMarkup(`\n${typed.secret.text}`)}
    </textarea>
  );
};

/** The script fills this in near the limit. It announces that the limit is near or passed, not every keystroke. */
export const Counter: FC<{ frame: Frame }> = ({ frame }) => (
  <>
    <p
      class="counter"
      id="counter"
      hidden
      data-left={formsOf(frame.messages, 'share.left')}
      data-about={formsOf(frame.messages, 'share.leftAbout')}
      data-over={formsOf(frame.messages, 'share.tooLongBy')}
    />
    <p class="visually-hidden" id="counter-spoken" role="status" />
  </>
);

type NewsProps = Pick<ShareProps, 'frame' | 'typed' | 'news'> & { readonly field: DrawableField };

/** Reports what was just put into a field, and offers to restore the earlier text. */
export const News: FC<NewsProps> = ({ frame, typed, news, field }) => {
  const { drawn, aside } = typed[field];
  return (
    <>
      {news?.field === field ? (
        <p class="news" id={`${field}-news`} role="status">
          {news.text}
        </p>
      ) : null}
      {drawn === '' ? null : <input type="hidden" name={drawnName(field)} value={asMarkup(drawn)} />}
      {aside.map((text, at) => (
        <input type="hidden" name={asideName(field, at)} value={asMarkup(text)} />
      ))}
      {aside.length === 0 ? null : (
        <p class="aside">
          {frame.say('suggest.aside')}
          <FillButton
            frame={frame}
            id={field === 'secret' ? 'take-back' : 'take-back-passphrase'}
            name={shareFields.takeBack}
            value={field}
            class="quiet small"
            icon="undo"
            say="suggest.takeBack"
          />
        </p>
      )}
    </>
  );
};

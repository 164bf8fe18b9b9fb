/**
 * Fields of a secret's forms. People pick a lifetime from a list, or type a number and choose its unit. Both work without scripts (the
 * style sheet hides the number until "other" is chosen), and the bounds are shown in advance.
 */
import type { FC } from 'hono/jsx';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import { type NoticeKind, noticeKinds } from '../../protocol/vocabulary.ts';
import {
  controlAttributes,
  Field,
  type FieldTexts,
  LanguageOptions,
  LineField,
  SelectField,
} from '../kit/field.tsx';
import { TickBoxes } from '../kit/form-page.tsx';
import type { Frame } from '../kit/layout.tsx';
import {
  type LifetimeOffer,
  type LifetimeUnit,
  mailLanguageField,
  noticeField,
  noticesField,
  secondsOf,
  type TypedLifetime,
} from './typed.ts';

export const MailLanguageField: FC<{ frame: Frame; chosen: Locale }> = ({ frame, chosen }) => {
  if (frame.settings.locales.length < 2) return null;
  const label = frame.say('share.mailLanguage');
  const texts: FieldTexts = { name: mailLanguageField, label, wrong: null };
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)}>
        <LanguageOptions frame={frame} chosen={chosen} />
      </select>
    </Field>
  );
};

interface LifetimeProps {
  readonly frame: Frame;
  readonly offer: LifetimeOffer;
  readonly typed: TypedLifetime;
  readonly wrong: string | null;
  /** When the lifetime begins, if not at creation. */
  readonly note?: string;
}

const unitNames: Readonly<Record<LifetimeUnit, MessageKey>> = {
  seconds: 'share.unitSeconds',
  minutes: 'share.unitMinutes',
  hours: 'share.unitHours',
  days: 'share.unitDays',
};

export const Lifetime: FC<LifetimeProps> = (props) => {
  const { frame, offer, typed, note } = props;
  const { say, duration } = frame.messages;
  const texts: FieldTexts = { name: 'ttl', label: say('share.ttl'), note, wrong: null };
  const offered = offer.choices.map((choice) => {
    const left = duration(secondsOf(choice, offer));
    return [choice, choice === 'longest' ? say('lifetime.longest', { left }) : left] as const;
  });
  return (
    <div class="lifetime">
      <SelectField
        texts={texts}
        offered={[...offered, ['other', say('share.ttlOther')]]}
        chosen={typed.choice}
      />
      <FreeLifetime {...props} />
    </div>
  );
};

const FreeLifetime: FC<LifetimeProps> = ({ frame, offer, typed, wrong }) => {
  const { say, duration } = frame.messages;
  const bounds = { min: duration(offer.minSeconds), max: duration(offer.maxSeconds) };
  const amount: FieldTexts = {
    name: 'ttl-amount',
    label: say('share.ttlAmount'),
    hint: say('share.ttlBounds', bounds),
    wrong,
  };
  const unit: FieldTexts = { name: 'ttl-unit', label: say('share.ttlUnit'), wrong: null };
  const units = unitsFor(offer, typed.unit).map((name) => [name, say(unitNames[name])] as const);
  return (
    <div class="free">
      <LineField texts={amount} typed={typed.amount} kind="number" />
      <SelectField texts={unit} offered={units} chosen={typed.unit} />
    </div>
  );
};

/** Offers seconds only if less than a minute is allowed, or if seconds are already chosen. */
function unitsFor(offer: LifetimeOffer, typed: LifetimeUnit): readonly LifetimeUnit[] {
  const hasSeconds = offer.minSeconds < 60 || typed === 'seconds';
  return hasSeconds ? ['seconds', 'minutes', 'hours', 'days'] : ['minutes', 'hours', 'days'];
}

export const noticeTexts: Readonly<Record<NoticeKind, MessageKey>> = {
  read: 'notices.read',
  burned: 'notices.burned',
  expiring: 'notices.expiring',
};

interface NoticeBoxesProps {
  readonly frame: Frame;
  readonly ticked: readonly NoticeKind[];
  readonly wrong: string | null;
  readonly isTitled?: boolean;
}

export const NoticeBoxes: FC<NoticeBoxesProps> = ({ frame, ticked, wrong, isTitled }) => {
  const { messages, visitor } = frame;
  const { say } = messages;
  const { name, value } = noticesField;
  const hint = visitor === null ? say('notices.hint') : say('notices.hintTo', { address: visitor.username });
  const boxes = noticeKinds.map((kind) => ({
    name: noticeField(kind),
    label: say(noticeTexts[kind]),
    isTicked: ticked.includes(kind),
  }));
  return (
    <>
      <input type="hidden" name={name} value={value} />
      <TickBoxes texts={{ name, label: say('notices.legend'), hint, wrong }} {...{ boxes, isTitled }} />
    </>
  );
};

/**
 * Fields of a secret's forms: label, recipient, the mail's language, notices, and the lifetime, which is one of a few choices or a number with a
 * unit. Both work without scripts (the style sheet hides the number unless chosen), and the bounds are visible in advance.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import { type NoticeKind, noticeKinds } from '../../protocol/vocabulary.ts';
import {
  asMarkup,
  asTyped,
  controlAttributes,
  Field,
  type FieldTexts,
  LanguageOptions,
  NumberField,
  Wrong,
} from '../kit/field.tsx';
import { type Form, wholeNumber } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import type { Messages } from '../kit/messages.ts';

interface MemoFieldProps {
  readonly frame: Frame;
  readonly typed: string;
  readonly wrong: string | null;
}

export const MemoField: FC<MemoFieldProps> = ({ frame, typed, wrong }) => {
  const { say } = frame.messages;
  const texts: FieldTexts = {
    name: 'memo',
    label: say('memo.label'),
    hint: say('memo.hint'),
    wrong,
  };
  return (
    <Field texts={texts}>
      <input
        {...controlAttributes(texts)}
        type="text"
        autocomplete="off"
        {...asTyped}
        dir="auto"
        value={asMarkup(typed)}
      />
    </Field>
  );
};

/** Another person's address: the browser neither corrects nor remembers it. */
export const RecipientField: FC<{ texts: FieldTexts; typed: string }> = ({ texts, typed }) => (
  <Field texts={texts}>
    <input
      {...controlAttributes(texts)}
      type="text"
      inputmode="email"
      class="code"
      autocomplete="off"
      {...asTyped}
      value={asMarkup(typed)}
    />
  </Field>
);

const languageField = 'mail-language';

export const MailLanguageField: FC<{ frame: Frame; chosen: Locale }> = ({ frame, chosen }) => {
  if (frame.settings.locales.length < 2) return null;
  const label = frame.messages.say('share.mailLanguage');
  const texts: FieldTexts = { name: languageField, label, wrong: null };
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)}>
        <LanguageOptions frame={frame} chosen={chosen} />
      </select>
    </Field>
  );
};

export function readMailLanguage(form: Form, { settings, messages }: Frame): Locale {
  return settings.locales.find((tag) => tag === form.text(languageField)) ?? messages.locale;
}

const unitSeconds = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type LifetimeUnit = keyof typeof unitSeconds;

/** In seconds, or the longest possible when the form arrives. */
type LifetimeChoice = number | 'longest';

export interface LifetimeOffer {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  readonly choices: readonly LifetimeChoice[];
  readonly preset: LifetimeChoice;
}

export interface TypedLifetime {
  readonly choice: LifetimeChoice | 'other';
  readonly amount: string;
  readonly unit: LifetimeUnit;
}

const usualLifetimesSeconds = [
  300, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 1_209_600, 2_592_000,
];

export function usualWithin(minSeconds: number, maxSeconds: number): number[] {
  return usualLifetimesSeconds.filter((ttl) => ttl >= minSeconds && ttl <= maxSeconds);
}

/** For a new secret: the usual lifetimes within the plan, its default and its longest. */
export function offerOf(plan: Plan): LifetimeOffer {
  const { ttlMinSeconds: minSeconds, ttlMaxSeconds: maxSeconds, ttlDefaultSeconds: preset } = plan;
  const choices = new Set([...usualWithin(minSeconds, maxSeconds), preset, maxSeconds]);
  return { minSeconds, maxSeconds, preset, choices: [...choices].sort((a, b) => a - b) };
}

export function readLifetime(form: Form, offer: LifetimeOffer): TypedLifetime {
  const chosen = form.text('ttl');
  const typed = { amount: form.text('ttl-amount'), unit: unitNamed(form.text('ttl-unit')) };
  if (chosen === 'other') return { choice: 'other', ...typed };
  if (chosen === '') return { choice: offer.preset, ...typed };
  const found = offer.choices.find((choice) => String(choice) === chosen);
  // A choice that is no longer offered (after a log-in or log-out, or too late) appears as if typed.
  return found === undefined ? spelledOut(chosen) : { choice: found, ...typed };
}

function unitNamed(name: string): LifetimeUnit {
  const names = Object.keys(unitSeconds) as LifetimeUnit[];
  return names.find((unit) => unit === name) ?? 'hours';
}

function spelledOut(seconds: string): TypedLifetime {
  const count = wholeNumber(seconds);
  const fitting = (['days', 'hours', 'minutes'] as const).find(
    (unit) => count !== null && count > 0 && count % unitSeconds[unit] === 0,
  );
  if (count === null || fitting === undefined) return { choice: 'other', amount: seconds, unit: 'seconds' };
  return { choice: 'other', amount: String(count / unitSeconds[fitting]), unit: fitting };
}

function lifetimeSeconds({ choice, amount, unit }: TypedLifetime, offer: LifetimeOffer): number | null {
  if (choice !== 'other') return secondsOf(choice, offer);
  const count = wholeNumber(amount.trim());
  return count === null ? null : count * unitSeconds[unit];
}

function secondsOf(choice: LifetimeChoice, { maxSeconds }: LifetimeOffer): number {
  return choice === 'longest' ? maxSeconds : choice;
}

/** The seconds, or what is wrong with them. People learn the bounds and choose again; the service would grant the nearest lifetime. */
export function askedLifetime(
  typed: TypedLifetime,
  offer: LifetimeOffer,
  { say, duration }: Messages,
): { readonly seconds: number } | { readonly wrong: string } {
  const seconds = lifetimeSeconds(typed, offer);
  if (seconds === null) return { wrong: say('share.ttlNumber') };
  const { minSeconds, maxSeconds } = offer;
  if (seconds >= minSeconds && seconds <= maxSeconds) return { seconds };
  return { wrong: say('share.ttlOutOfRange', { min: duration(minSeconds), max: duration(maxSeconds) }) };
}

interface LifetimeProps {
  readonly frame: Frame;
  readonly offer: LifetimeOffer;
  readonly typed: TypedLifetime;
  readonly wrong: string | null;
  /** When it begins, unless at the creation. */
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
  const texts: FieldTexts = {
    name: 'ttl',
    label: say('share.ttl'),
    ...(note === undefined ? {} : { note }),
    wrong: null,
  };
  const labelOf = (choice: LifetimeChoice): string => {
    const left = duration(secondsOf(choice, offer));
    return choice === 'longest' ? say('lifetime.longest', { left }) : left;
  };
  return (
    <div class="lifetime">
      <Field texts={texts}>
        <select {...controlAttributes(texts)}>
          {offer.choices.map((choice) => (
            <option value={choice} selected={choice === typed.choice}>
              {labelOf(choice)}
            </option>
          ))}
          <option value="other" selected={typed.choice === 'other'}>
            {say('share.ttlOther')}
          </option>
        </select>
      </Field>
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
  return (
    <div class="free">
      <NumberField texts={amount} value={typed.amount} />
      <Field texts={unit}>
        <select {...controlAttributes(unit)}>
          {unitsFor(offer, typed.unit).map((name) => (
            <option value={name} selected={name === typed.unit}>
              {say(unitNames[name])}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
};

/** Seconds only if less than a minute is allowed, or if they are already chosen. */
function unitsFor(offer: LifetimeOffer, typed: LifetimeUnit): readonly LifetimeUnit[] {
  const hasSeconds = offer.minSeconds < 60 || typed === 'seconds';
  return hasSeconds ? ['seconds', 'minutes', 'hours', 'days'] : ['minutes', 'hours', 'days'];
}

/** Browsers do not send unticked boxes; this hidden field says that the form has them. */
const sentinel = { name: 'notify', value: 'chosen' } as const;

function fieldOf(kind: NoticeKind): string {
  return `${sentinel.name}-${kind}`;
}

export function readNoticeKinds(form: Form): readonly NoticeKind[] | null {
  if (form.text(sentinel.name) !== sentinel.value) return null;
  return noticeKinds.filter((kind) => form.text(fieldOf(kind)) !== '');
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
  /** Shows the legend to screen readers only: a heading above says the same. */
  readonly isTitled?: boolean;
}

export const NoticeBoxes: FC<NoticeBoxesProps> = ({ frame, ticked, wrong, isTitled }) => {
  const { name, value } = sentinel;
  const invalid = wrong === null ? {} : { 'aria-invalid': 'true' as const };
  return (
    <fieldset
      id={name}
      tabindex={-1}
      aria-describedby={wrong === null ? `${name}-hint` : `${name}-wrong ${name}-hint`}
    >
      <legend class={isTitled === true ? 'visually-hidden' : undefined}>
        {frame.messages.say('notices.legend')}
      </legend>
      <input type="hidden" name={name} value={value} />
      {noticeKinds.map((kind, at) => (
        <label class="check">
          <input
            id={fieldOf(kind)}
            name={fieldOf(kind)}
            type="checkbox"
            value="yes"
            autocomplete="off"
            checked={ticked.includes(kind)}
            {...invalid}
            autofocus={wrong !== null && at === 0}
          />
          <span>{frame.messages.say(noticeTexts[kind])}</span>
        </label>
      ))}
      <Wrong name={name} text={wrong} />
      <NoticeHint frame={frame} />
    </fieldset>
  );
};

const NoticeHint: FC<{ frame: Frame }> = ({ frame: { messages, visitor } }) => (
  <p class="hint" id={`${sentinel.name}-hint`}>
    {visitor === null
      ? messages.say('notices.hint')
      : messages.say('notices.hintTo', { address: visitor.username })}
  </p>
);

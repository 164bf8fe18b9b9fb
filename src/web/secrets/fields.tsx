/**
 * Fields of a secret's forms: the creator's label, the recipient and language of the mail, and the lifetime, which is one of
 * a few choices, or a number and its unit. Both work without scripts (the style sheet hides the second unless chosen), and
 * the bounds are shown before anyone hits them.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import { asMarkup, asTyped, controlAttributes, Field, type FieldTexts, NumberField } from '../kit/field.tsx';
import { type Form, wholeNumber } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';
import type { Words } from '../kit/words.ts';

interface MemoFieldProps {
  readonly frame: Frame;
  readonly typed: string;
  readonly wrong: string | null;
}

export const MemoField: FC<MemoFieldProps> = ({ frame, typed, wrong }) => {
  const { say } = frame.words;
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

/** Somebody else's address, so the browser neither corrects nor remembers it. */
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

/** Absent where only one language is offered. */
export const MailLanguageField: FC<{ frame: Frame; chosen: Locale }> = ({ frame, chosen }) => {
  const { words } = frame;
  const { locales } = frame.settings;
  if (locales.length < 2) return null;
  const texts: FieldTexts = { name: languageField, label: words.say('share.mailLanguage'), wrong: null };
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)}>
        {locales.map((tag) => (
          <option value={tag} lang={tag} selected={tag === chosen}>
            {words.languageName(tag)}
          </option>
        ))}
      </select>
    </Field>
  );
};

/** That of the page if the form names none that is offered. */
export function readMailLanguage(form: Form, { settings, words }: Frame): Locale {
  return settings.locales.find((tag) => tag === form.text(languageField)) ?? words.locale;
}

const unitSeconds = { seconds: 1, minutes: 60, hours: 3_600, days: 86_400 } as const;
type LifetimeUnit = keyof typeof unitSeconds;

/** In seconds, or as long as possible at the time the form arrives. */
type LifetimeChoice = number | 'longest';

/** Which lifetimes a form offers. */
export interface LifetimeOffer {
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Shortest first. */
  readonly choices: readonly LifetimeChoice[];
  readonly preset: LifetimeChoice;
}

export interface TypedLifetime {
  readonly choice: LifetimeChoice | 'other';
  /** With its unit, counts when the choice is `other`. */
  readonly amount: string;
  readonly unit: LifetimeUnit;
}

const usualLifetimesSeconds = [
  300, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 1_209_600, 2_592_000,
];

/** Shortest first. */
export function usualWithin(minSeconds: number, maxSeconds: number): number[] {
  return usualLifetimesSeconds.filter((ttl) => ttl >= minSeconds && ttl <= maxSeconds);
}

/** Of a new secret: the usual lifetimes within the plan, with its default and its longest. */
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
  // A choice that is not offered any more (after a log-in or log-out, or too late) is shown as if it had been typed.
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

/** `null` unless the amount is a whole number. */
function lifetimeSeconds({ choice, amount, unit }: TypedLifetime, offer: LifetimeOffer): number | null {
  if (choice !== 'other') return secondsOf(choice, offer);
  const count = wholeNumber(amount.trim());
  return count === null ? null : count * unitSeconds[unit];
}

function secondsOf(choice: LifetimeChoice, { maxSeconds }: LifetimeOffer): number {
  return choice === 'longest' ? maxSeconds : choice;
}

/**
 * The seconds asked for, or what is wrong with the amount. People are told the bounds and choose again, where the service
 * would grant the nearest lifetime.
 */
export function askedLifetime(
  typed: TypedLifetime,
  offer: LifetimeOffer,
  { say, duration }: Words,
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
  /** With the typed amount. */
  readonly wrong: string | null;
  /** From when it counts, where that is not the creation. */
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
  const { say, duration } = frame.words;
  const texts: FieldTexts = {
    name: 'ttl',
    label: say('share.ttl'),
    ...(note === undefined ? {} : { note }),
    wrong: null,
  };
  const wordsFor = (choice: LifetimeChoice): string => {
    const left = duration(secondsOf(choice, offer));
    return choice === 'longest' ? say('lifetime.longest', { left }) : left;
  };
  return (
    <div class="lifetime">
      <Field texts={texts}>
        <select {...controlAttributes(texts)}>
          {offer.choices.map((choice) => (
            <option value={choice} selected={choice === typed.choice}>
              {wordsFor(choice)}
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
  const { say, duration } = frame.words;
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

/** Seconds only where less than a minute is allowed, or where they were chosen already. */
function unitsFor(offer: LifetimeOffer, typed: LifetimeUnit): readonly LifetimeUnit[] {
  const hasSeconds = offer.minSeconds < 60 || typed === 'seconds';
  return hasSeconds ? ['seconds', 'minutes', 'hours', 'days'] : ['minutes', 'hours', 'days'];
}

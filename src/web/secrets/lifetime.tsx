/**
 * How long a secret may wait: one of the usual lifetimes, or a number and its unit.
 *
 * Owns: both fields. Invariant: the bounds are said before they are hit, and both fields work without scripts: the
 * style sheet folds the free one away as long as it is not chosen.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { type LifetimeUnit, lifetimeChoices, type TypedLifetime } from './share-form.ts';

interface LifetimeProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: TypedLifetime;
  /** What is wrong with the free entry; `null`: nothing. */
  readonly wrong: string | null;
}

const unitNames: Readonly<Record<LifetimeUnit, MessageKey>> = {
  seconds: 'share.unitSeconds',
  minutes: 'share.unitMinutes',
  hours: 'share.unitHours',
  days: 'share.unitDays',
};

export const Lifetime: FC<LifetimeProps> = (props) => {
  const { frame, plan, typed } = props;
  const { say, duration } = frame.words;
  const texts: FieldTexts = { name: 'ttl', label: say('share.ttl'), wrong: null };
  return (
    <div class="lifetime">
      <Field texts={texts}>
        <select {...controlAttributes(texts)}>
          {lifetimeChoices(plan).map((seconds) => (
            <option value={seconds} selected={seconds === typed.choice}>
              {duration(seconds)}
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

const FreeLifetime: FC<LifetimeProps> = ({ frame, plan, typed, wrong }) => {
  const { say, duration } = frame.words;
  const bounds = { min: duration(plan.ttlMinSeconds), max: duration(plan.ttlMaxSeconds) };
  const amount: FieldTexts = {
    name: 'ttl-amount',
    label: say('share.ttlAmount'),
    hint: say('share.ttlBounds', bounds),
    wrong,
  };
  const unit: FieldTexts = { name: 'ttl-unit', label: say('share.ttlUnit'), wrong: null };
  return (
    <div class="free">
      <Field texts={amount}>
        <input
          {...controlAttributes(amount)}
          type="text"
          inputmode="numeric"
          autocomplete="off"
          value={typed.amount}
        />
      </Field>
      <Field texts={unit}>
        <select {...controlAttributes(unit)}>
          {unitsFor(plan, typed.unit).map((name) => (
            <option value={name} selected={name === typed.unit}>
              {say(unitNames[name])}
            </option>
          ))}
        </select>
      </Field>
    </div>
  );
};

/** Seconds only where less than a minute is possible or somebody has asked for them. */
function unitsFor(plan: Plan, typed: LifetimeUnit): readonly LifetimeUnit[] {
  const hasSeconds = plan.ttlMinSeconds < 60 || typed === 'seconds';
  return hasSeconds ? ['seconds', 'minutes', 'hours', 'days'] : ['minutes', 'hours', 'days'];
}

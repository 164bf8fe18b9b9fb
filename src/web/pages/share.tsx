/**
 * The start page: a form to share, or a plain word that only accounts share here.
 *
 * Owns: the form. Invariant: a refused form comes back with everything that was typed; nothing is ever cut off, so the
 * fields have no `maxlength`, which would cut what is pasted.
 */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../domain/plans.ts';
import { type Frame, Page } from '../layout.tsx';
import { controlAttributes, Field, type FieldTexts } from './field.tsx';

export type ShareField = 'secret' | 'passphrase' | 'ttl';

export interface ShareProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: { readonly secret: string; readonly passphrase: string; readonly ttlSeconds: number };
  /** What is wrong, and with which field; `null`: with none of them. */
  readonly refusal: { readonly field: ShareField | null; readonly message: string } | null;
}

const usualLifetimesSeconds = [
  300, 1_800, 3_600, 14_400, 43_200, 86_400, 259_200, 604_800, 1_209_600, 2_592_000,
];

/** The usual lifetimes that the plan allows, its default and its bounds' end among them, shortest first. */
function lifetimeChoices(plan: Plan): number[] {
  const allowed = usualLifetimesSeconds.filter(
    (ttl) => ttl >= plan.ttlMinSeconds && ttl <= plan.ttlMaxSeconds,
  );
  return [...new Set([...allowed, plan.ttlDefaultSeconds, plan.ttlMaxSeconds])].sort((a, b) => a - b);
}

export const SharePage: FC<ShareProps> = ({ frame, plan, typed, refusal }) => {
  const { say, duration } = frame.words;
  const wrongIn = (field: ShareField) => (refusal?.field === field ? refusal.message : null);
  const value: FieldTexts = {
    name: 'secret',
    label: say('share.value'),
    hint: say('share.limit', { count: plan.maxValueBytes }),
    wrong: wrongIn('secret'),
  };
  const passphrase: FieldTexts = {
    name: 'passphrase',
    label: say('share.passphrase'),
    note: say('share.optional'),
    hint: say('share.passphraseHint'),
    wrong: wrongIn('passphrase'),
  };
  const ttl: FieldTexts = { name: 'ttl', label: say('share.ttl'), wrong: wrongIn('ttl') };
  return (
    <Page frame={frame} title={say('share.title')}>
      <h1>{say('share.title')}</h1>
      <p class="lead">{say('share.lead')}</p>
      {refusal === null ? null : (
        <div class="note alert" role="alert">
          {refusal.field === null ? <p>{refusal.message}</p> : null}
          <p>{say('share.refused')}</p>
        </div>
      )}
      <form class="sheet" method="post" action={frame.href('share')} autocomplete="off">
        <Field texts={value}>
          {/* A line break right after the tag belongs to the tag (HTML §13.1.2.5), so one stands before the value. */}
          <textarea {...controlAttributes(value)} rows={6} required spellcheck={false} autocapitalize="off">
            {`\n${typed.secret}`}
          </textarea>
        </Field>
        <div class="pair">
          <Field texts={passphrase}>
            <input
              {...controlAttributes(passphrase)}
              type="text"
              autocomplete="off"
              spellcheck={false}
              autocapitalize="off"
              value={typed.passphrase}
            />
          </Field>
          <Field texts={ttl}>
            <select {...controlAttributes(ttl)}>
              {lifetimeChoices(plan).map((seconds) => (
                <option value={seconds} selected={seconds === typed.ttlSeconds}>
                  {duration(seconds)}
                </option>
              ))}
            </select>
          </Field>
        </div>
        <button type="submit">{say('share.submit')}</button>
      </form>
    </Page>
  );
};

/** For installations where only accounts create. */
export const SharingClosedPage: FC<{ frame: Frame }> = ({ frame }) => (
  <Page frame={frame} title={frame.words.say('share.closedTitle')}>
    <h1>{frame.words.say('share.closedTitle')}</h1>
    <p class="lead">{frame.words.say('share.closed')}</p>
  </Page>
);

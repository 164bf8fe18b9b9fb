/** What the share page is made from, and how it says that a form was refused: on top, with a link to the field that is wrong. */
import type { FC } from 'hono/jsx';
import type { Plan } from '../../core/plans.ts';
import type { Frame } from '../kit/layout.tsx';
import type { ShareField, ShareNews, TypedShare } from './share-form.ts';

export interface ShareRefusal {
  /** `null` if the refusal is about no field. */
  readonly field: ShareField | null;
  readonly message: string;
  /** That nothing happened and nothing is lost. */
  readonly consolation: string;
  readonly needsLogIn: boolean;
}

export interface ShareProps {
  readonly frame: Frame;
  readonly plan: Plan;
  readonly typed: TypedShare;
  readonly news: ShareNews | null;
  /** The caller's share domains. */
  readonly domains: readonly string[];
  readonly refusal: ShareRefusal | null;
}

export function wrongIn({ refusal }: Pick<ShareProps, 'refusal'>): (field: ShareField) => string | null {
  return (field) => (refusal?.field === field ? refusal.message : null);
}

/** Takes the focus unless a field does. */
export const Refused: FC<{ frame: Frame; refusal: ShareRefusal }> = ({ frame, refusal }) => {
  const { say } = frame.words;
  const { field, message } = refusal;
  return (
    <div class="note alert" role="alert" id="refused" tabindex={-1} autofocus={field === null}>
      <h2>
        {field === null ? say('share.wrongTitle') : <a href={`#${field}`}>{say('share.wrongTitle')}</a>}
      </h2>
      {field === null ? <p>{message}</p> : null}
      {refusal.needsLogIn && frame.domain === null ? (
        <p>
          <a href={frame.href('logIn')} target="_blank" rel="noopener">
            {say('share.logIn')}
          </a>
        </p>
      ) : null}
      <p>{refusal.consolation}</p>
    </div>
  );
};

/** Where the script reports that no answer came, or one without this form. */
export const Unsent: FC<{ frame: Frame }> = ({ frame: { words } }) => {
  const { say } = words;
  return (
    <>
      <div id="unsent" role="alert" />
      <template id="no-answer-note">
        <div class="note alert">
          <h2>{say('share.noAnswerTitle')}</h2>
          <p>{say('share.noAnswer')}</p>
          <p data-outcome="unsure">{say('share.noAnswerUnsure')}</p>
          <p data-outcome="unsure-mail">{say('share.noAnswerMail')}</p>
        </div>
      </template>
      <template id="refused-note">
        <div class="note alert">
          {/* The script fills in the answer's title and lead. */}
          <h2>{say('share.noAnswerTitle')}</h2>
          <p />
          <p>{say('share.kept')}</p>
        </div>
      </template>
    </>
  );
};

/**
 * The part of the share form that only an account fills in: who is mailed, on which domain the link is, and what its
 * maker is told.
 *
 * Owns: its fields. Invariant: what was typed stays in the form also when the session it was typed in has ended.
 */
import type { FC } from 'hono/jsx';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';
import { NoticeBoxes } from '../kit/notices.tsx';
import { MailLanguageField, RecipientField } from './fields.tsx';
import type { ShareField, TypedShare } from './share-form.ts';

interface DeliveryProps {
  readonly frame: Frame;
  /** The share domains that the caller may use. */
  readonly domains: readonly string[];
  readonly typed: TypedShare;
  readonly wrongIn: (field: ShareField) => string | null;
}

/** For whoever is logged in; and for whoever was while typing, so that nothing is lost with the log-in. */
export const Delivery: FC<DeliveryProps> = (props) => {
  const { frame, typed, domains } = props;
  const hasAccount = frame.visitor !== null;
  return (
    <>
      {hasAccount || typed.recipient !== '' ? <Recipient {...props} /> : null}
      {domains.length > 0 || typed.shareDomain !== '' ? <Domain {...props} /> : null}
      {hasAccount || typed.notify.length > 0 ? <Notices {...props} /> : null}
    </>
  );
};

const Recipient: FC<DeliveryProps> = (props) => {
  const { frame, typed } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'recipient',
    label: say('share.recipient'),
    note: say('share.optional'),
    hint: say('share.recipientHint'),
    wrong: props.wrongIn('recipient'),
  };
  return (
    <div class="pair">
      <RecipientField texts={texts} typed={typed.recipient} />
      <MailLanguageField frame={frame} chosen={typed.locale} />
    </div>
  );
};

const Domain: FC<DeliveryProps> = (props) => {
  const { frame, domains, typed } = props;
  const { say } = frame.words;
  const texts: FieldTexts = {
    name: 'share-domain',
    label: say('share.domain'),
    wrong: props.wrongIn('share-domain'),
  };
  const offered = typed.shareDomain === '' || domains.includes(typed.shareDomain) ? [] : [typed.shareDomain];
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)}>
        <option value="">{say('share.domainOwn')}</option>
        {[...domains, ...offered].map((domain) => (
          <option value={domain} selected={domain === typed.shareDomain}>
            {domain}
          </option>
        ))}
      </select>
    </Field>
  );
};

/** Unfolded where some are ticked, so that nobody is mailed by surprise. */
const Notices: FC<DeliveryProps> = (props) => {
  const { frame, typed } = props;
  const wrong = props.wrongIn('notify');
  return (
    <details class="notices" open={typed.notify.length > 0 || wrong !== null}>
      <summary>{frame.words.say('share.notices')}</summary>
      <NoticeBoxes frame={frame} ticked={typed.notify} wrong={wrong} isTitled />
    </details>
  );
};

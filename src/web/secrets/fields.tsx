/**
 * The fields that the share form and the receipt have in common: the creator's label, and the recipient and language of
 * the mail.
 */
import type { FC } from 'hono/jsx';
import type { Locale } from '../../locale/catalogues.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import type { Frame } from '../kit/layout.tsx';

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
    note: say('share.optional'),
    hint: say('memo.hint'),
    wrong,
  };
  return (
    <Field texts={texts}>
      <input {...controlAttributes(texts)} type="text" autocomplete="off" dir="auto" value={typed} />
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
      spellcheck={false}
      autocapitalize="off"
      value={typed}
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

/**
 * The language of a mail to somebody else.
 *
 * Owns: the field. Invariant: there is no choice where one language is offered only.
 */
import type { FC } from 'hono/jsx';
import type { Locale } from '../../locale/catalogues.ts';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';
import type { Frame } from '../kit/layout.tsx';

export const MailLanguage: FC<{ frame: Frame; chosen: Locale }> = ({ frame, chosen }) => {
  const { words, locales } = frame;
  if (locales.length < 2) return null;
  const texts: FieldTexts = { name: 'mail-language', label: words.say('share.mailLanguage'), wrong: null };
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

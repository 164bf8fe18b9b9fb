/**
 * The field for the address that a link is mailed to.
 *
 * Owns: its attributes. Invariant: the browser neither corrects nor remembers it: it is somebody else's.
 */
import type { FC } from 'hono/jsx';
import { controlAttributes, Field, type FieldTexts } from '../kit/field.tsx';

export const MailAddress: FC<{ texts: FieldTexts; typed: string }> = ({ texts, typed }) => (
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

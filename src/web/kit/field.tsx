/** A form field with its label, hint and error, wired for screen readers. */
import { raw } from 'hono/html';
import type { FC, PropsWithChildren } from 'hono/jsx';
import type { Frame } from './layout.tsx';

export interface FieldTexts {
  readonly name: string;
  readonly label: string;
  readonly note?: string | undefined;
  readonly hint?: string | undefined;
  readonly wrong: string | null;
  /** Whether its text was just changed, as the element `…-news` says. */
  readonly hasNews?: boolean;
}

/** Returns typed text as markup. The renderer would take ten times as long to escape a megabyte (P21). */
export const asMarkup = (typed: string) => raw(Bun.escapeHTML(typed));

/** Keeps keyboards and browsers from altering what is typed. */
export const asTyped = { autocorrect: 'off', autocapitalize: 'off', spellcheck: false } as const;

export function controlAttributes(texts: FieldTexts): Readonly<Record<string, string>> {
  const { name, hint, wrong, hasNews = false } = texts;
  const described = [
    ...(hasNews ? [`${name}-news`] : []),
    ...(wrong === null ? [] : [`${name}-wrong`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ];
  return {
    id: name,
    name,
    ...(described.length > 0 ? { 'aria-describedby': described.join(' ') } : {}),
    ...(wrong === null ? {} : { 'aria-invalid': 'true' }),
    ...(wrong === null && !hasNews ? {} : { autofocus: 'autofocus' }),
  };
}

export const Field: FC<PropsWithChildren<{ texts: FieldTexts }>> = ({ texts, children }) => (
  <div class="field">
    <label for={texts.name}>
      {texts.label}
      {texts.note === undefined ? null : <span> {texts.note}</span>}
    </label>
    {children}
    <FieldNotes {...texts} hintClass="hint" />
  </div>
);

interface TextInputProps {
  readonly texts: FieldTexts;
  readonly value: string;
  readonly attributes: Readonly<Record<string, string | boolean>>;
}

/** A line that no browser corrects or remembers. */
export const TextInput: FC<TextInputProps> = ({ texts, value, attributes }) => (
  <input
    {...controlAttributes(texts)}
    type="text"
    autocomplete="off"
    {...asTyped}
    value={asMarkup(value)}
    {...attributes}
  />
);

const kinds = {
  words: { dir: 'auto' },
  number: { inputmode: 'numeric' },
  address: { inputmode: 'email', class: 'code' },
} as const;

export const LineField: FC<{ texts: FieldTexts; typed: string; kind: keyof typeof kinds }> = (props) => (
  <Field texts={props.texts}>
    <TextInput texts={props.texts} value={props.typed} attributes={kinds[props.kind]} />
  </Field>
);

export interface OptionsProps {
  readonly offered: readonly (readonly [value: string | number, text: string])[];
  readonly chosen?: string | number;
}

export const Options: FC<OptionsProps> = ({ offered, chosen }) => (
  <>
    {offered.map(([value, text]) => (
      <option value={value} selected={value === chosen}>
        {text}
      </option>
    ))}
  </>
);

export const SelectField: FC<OptionsProps & { texts: FieldTexts }> = ({ texts, ...options }) => (
  <Field texts={texts}>
    <select {...controlAttributes(texts)}>
      <Options {...options} />
    </select>
  </Field>
);

type FieldNotesProps = Pick<FieldTexts, 'name' | 'wrong' | 'hint'> & { readonly hintClass: string };

export const FieldNotes: FC<FieldNotesProps> = ({ name, wrong, hint, hintClass }) => (
  <>
    <Wrong name={name} text={wrong} />
    {hint === undefined ? null : (
      <p class={hintClass} id={`${name}-hint`}>
        {hint}
      </p>
    )}
  </>
);

export const Wrong: FC<{ name: string; text: string | null }> = ({ name, text }) =>
  text === null ? null : (
    <p class="wrong" id={`${name}-wrong`}>
      {text}
    </p>
  );

export const LanguageOptions: FC<{ frame: Frame; chosen: string }> = ({ frame, chosen }) => (
  <>
    {frame.settings.locales.map((tag) => (
      <option value={tag} lang={tag} selected={tag === chosen}>
        {frame.messages.languageName(tag)}
      </option>
    ))}
  </>
);

/** A form field with its label, hint and error, wired for screen readers. */
import type { FC, PropsWithChildren } from 'hono/jsx';

export interface FieldTexts {
  readonly name: string;
  readonly label: string;
  readonly note?: string;
  readonly hint?: string;
  readonly wrong: string | null;
}

/** To spread on the control. */
export function controlAttributes({ name, hint, wrong }: FieldTexts): Readonly<Record<string, string>> {
  const described = [
    ...(wrong === null ? [] : [`${name}-wrong`]),
    ...(hint === undefined ? [] : [`${name}-hint`]),
  ];
  return {
    id: name,
    name,
    ...(described.length > 0 ? { 'aria-describedby': described.join(' ') } : {}),
    ...(wrong === null ? {} : { 'aria-invalid': 'true', autofocus: 'autofocus' }),
  };
}

export const Field: FC<PropsWithChildren<{ texts: FieldTexts }>> = ({ texts, children }) => (
  <div class="field">
    <label for={texts.name}>
      {texts.label}
      {texts.note === undefined ? null : <span> {texts.note}</span>}
    </label>
    {children}
    {texts.wrong === null ? null : (
      <p class="wrong" id={`${texts.name}-wrong`}>
        {texts.wrong}
      </p>
    )}
    {texts.hint === undefined ? null : (
      <p class="hint" id={`${texts.name}-hint`}>
        {texts.hint}
      </p>
    )}
  </div>
);

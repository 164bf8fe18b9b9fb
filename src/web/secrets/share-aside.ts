/**
 * What a person typed into the field of the secret before a value was drawn over it.
 *
 * Owns: the hidden fields that keep it in the form. Invariant: a text that was typed is either in the field or beside
 * it; only what was drawn and left as it was is ever thrown away. Nothing of it is stored or shared.
 */
import type { Form } from '../kit/form.ts';

export interface Aside {
  /** In the field of the secret. */
  readonly secret: string;
  /** What was drawn into that field last; `''`: nothing. */
  readonly drawn: string;
  /** What was typed there before, the newest last. */
  readonly aside: readonly string[];
}

export const drawnField = 'drawn';
/** The button that puts the newest one back. */
export const takeBackField = 'take-back';

export function asideField(at: number): string {
  return `aside-${at}`;
}

export function readAside(form: Form): Pick<Aside, 'drawn' | 'aside'> {
  const aside: string[] = [];
  for (let text = form.text(asideField(0)); text !== ''; text = form.text(asideField(aside.length)))
    aside.push(text);
  return { drawn: form.text(drawnField), aside };
}

/** Makes room for a drawn value. */
export function drawOver<Typed extends Aside>(typed: Typed, value: string): Typed {
  return { ...typed, secret: value, drawn: value, aside: [...typed.aside, ...ownText(typed)] };
}

/**
 * The newest comes into the field. What was typed there instead goes to the far end, so that every one comes in turn.
 */
export function takeBack<Typed extends Aside>(typed: Typed): Typed {
  const newest = typed.aside.at(-1);
  if (newest === undefined) return typed;
  return { ...typed, secret: newest, drawn: '', aside: [...ownText(typed), ...typed.aside.slice(0, -1)] };
}

/** What is in the field, if a person typed it. */
function ownText({ secret, drawn }: Aside): readonly string[] {
  return secret === '' || secret === drawn ? [] : [secret];
}

/**
 * The form of a share domain's face, as it was typed.
 *
 * Owns: the reading of it. Invariant: of the two ways to give a colour the one that was used counts: the text, or the
 * picker when it was moved and the text was left as it was; a colour that is taken with its button counts above both.
 */
import { type DomainBrand, plainBrand } from '../../core/share-domains/share-domains.ts';
import type { Form } from '../kit/form.ts';

/** What each is called in the form. */
export const brandFields = {
  name: 'name',
  colour: 'colour',
  colourDark: 'colour-dark',
  instructionsBefore: 'note-before',
  instructionsAfter: 'note-after',
  locale: 'lang',
  isPublic: 'public',
} as const satisfies Readonly<Record<keyof DomainBrand, string>>;

/** Every field as text; `''` for what is the site's own. */
export interface TypedBrand {
  readonly name: string;
  readonly colour: string;
  readonly colourDark: string;
  readonly instructionsBefore: string;
  readonly instructionsAfter: string;
  readonly locale: string;
  readonly isPublic: boolean;
}

export function typedFrom(brand: DomainBrand): TypedBrand {
  return {
    name: brand.name ?? '',
    colour: brand.colour ?? '',
    colourDark: brand.colourDark ?? '',
    instructionsBefore: brand.instructionsBefore ?? '',
    instructionsAfter: brand.instructionsAfter ?? '',
    locale: brand.locale ?? '',
    isPublic: brand.isPublic,
  };
}

export const untouchedBrand = typedFrom(plainBrand);

export function readBrand(form: Form): TypedBrand {
  return {
    name: form.text(brandFields.name).trim(),
    colour: readColour(form, brandFields.colour),
    colourDark: readColour(form, brandFields.colourDark),
    instructionsBefore: form.text(brandFields.instructionsBefore).trim(),
    instructionsAfter: form.text(brandFields.instructionsAfter).trim(),
    locale: form.text(brandFields.locale),
    isPublic: form.text(brandFields.isPublic) === 'yes',
  };
}

/** `null` for what was left empty. */
export function brandOf(typed: TypedBrand): DomainBrand {
  const given = (text: string) => (text === '' ? null : text);
  return {
    name: given(typed.name),
    colour: given(typed.colour),
    colourDark: given(typed.colourDark),
    instructionsBefore: given(typed.instructionsBefore),
    instructionsAfter: given(typed.instructionsAfter),
    locale: given(typed.locale),
    isPublic: typed.isPublic,
  };
}

export function isColour(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text);
}

function readColour(form: Form, field: string): string {
  const taken = form.text(`take-${field}`);
  if (taken !== '') return taken;
  const text = spelled(form.text(field));
  const picked = spelled(form.text(`${field}-picker`));
  const before = {
    text: spelled(form.text(`${field}-before`)),
    picked: spelled(form.text(`${field}-shown`)),
  };
  const isPicked = isColour(picked) && picked !== before.picked && text === before.text;
  return isPicked ? picked : text;
}

/** As a colour is written, where the text is one: people leave the `#` out. */
function spelled(text: string): string {
  const lower = text.trim().toLowerCase();
  return /^[0-9a-f]{6}$/.test(lower) ? `#${lower}` : lower;
}

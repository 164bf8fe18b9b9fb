/** The forms for a share domain's brand and logo. Swatches are SVG drawings, because the content security policy forbids inline styles. */
import type { FC } from 'hono/jsx';
import { type DomainBrand, plainBrand } from '../../core/share-domain.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { nearestReadable, paletteOf, type Scheme } from '../brand/colours.ts';
import { logoKinds, maxLogoBytes } from '../brand/logo.ts';
import {
  asMarkup,
  controlAttributes,
  Field,
  type FieldTexts,
  LanguageOptions,
  TextInput,
} from '../kit/field.tsx';
import type { Form } from '../kit/form.ts';
import { type FormRefusal, TextField, TickBox } from '../kit/form-page.tsx';
import { type Frame, PostForm } from '../kit/layout.tsx';
import { Button } from '../kit/parts.tsx';

export const brandFields = {
  name: 'name',
  colour: 'colour',
  colourDark: 'colour-dark',
  instructionsBefore: 'note-before',
  instructionsAfter: 'note-after',
  locale: 'lang',
  isPublic: 'public',
} as const satisfies Readonly<Record<keyof DomainBrand, string>>;

export type TypedBrand = { readonly [F in keyof DomainBrand]: F extends 'isPublic' ? boolean : string };

/** Gives each field another value. */
function mapped<To>(brand: object, change: (value: unknown, field: keyof DomainBrand) => unknown): To {
  const fields = Object.entries(brand) as [keyof DomainBrand, unknown][];
  return Object.fromEntries(fields.map(([field, value]) => [field, change(value, field)])) as To;
}

export const typedFrom = (brand: DomainBrand): TypedBrand => mapped(brand, (value) => value ?? '');
export const brandOf = (typed: TypedBrand): DomainBrand =>
  mapped(typed, (value) => (value === '' ? null : value));

export const untouchedBrand = typedFrom(plainBrand);

export function readBrand(form: Form): TypedBrand {
  return mapped(brandFields, (_, field) => {
    const name = brandFields[field];
    if (field === 'colour' || field === 'colourDark') return readColour(form, name);
    return field === 'isPublic' ? form.text(name) === 'yes' : form.text(name).trim();
  });
}

function isColour(text: string): boolean {
  return /^#[0-9a-f]{6}$/.test(text);
}

/** Returns the colour whose button was pressed; otherwise the text, or the picker's colour if only the picker was changed. */
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

/** Adds the `#` that people omit. */
function spelled(text: string): string {
  const lower = text.trim().toLowerCase();
  return /^[0-9a-f]{6}$/.test(lower) ? `#${lower}` : lower;
}

export interface BrandFormProps {
  readonly frame: Frame;
  readonly name: string;
  readonly typed: TypedBrand;
  readonly refusal: FormRefusal | null;
  readonly nearest: Readonly<Record<string, string>>;
}

export const BrandForm: FC<BrandFormProps> = (props) => {
  const { frame, name, typed, refusal } = props;
  return (
    <PostForm frame={frame} action={frame.href('domainBrand', name)} class="sheet" autocomplete="off">
      {/* Enter presses a form's first button, which must save, not take a colour. */}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key or screen reader reaches it; the real one is below */}
      <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
      <h2 class="large">{frame.say('domainBrand.mainTitle')}</h2>
      <TextField
        name="name"
        label={frame.say('domainBrand.name')}
        hint={frame.say('domainBrand.nameHint', { name: frame.brand.name })}
        isOptional
        value={typed.name}
        refusal={refusal}
      />
      <Colours {...props} />
      <h2 class="large part">{frame.say('domainBrand.notesTitle')}</h2>
      <Instructions
        {...props}
        which="instructionsBefore"
        label="domainBrand.before"
        hint="domainBrand.beforeHint"
      />
      <Instructions
        {...props}
        which="instructionsAfter"
        label="domainBrand.after"
        hint="domainBrand.afterHint"
      />
      <h2 class="large part">{frame.say('domainBrand.visitorsTitle')}</h2>
      <Language {...props} which="locale" label="domainBrand.language" hint="domainBrand.languageHint" />
      <div class="field">
        <TickBox
          name={brandFields.isPublic}
          label={frame.say('domainBrand.public')}
          hint={frame.say('domainBrand.publicHint')}
          isTicked={typed.isPublic}
          wrong={null}
        />
      </div>
      <Button frame={frame} id="save" say="domainBrand.submit" />
    </PostForm>
  );
};

interface FieldProps<Which extends keyof DomainBrand> extends Omit<BrandFormProps, 'name'> {
  readonly which: Which;
  readonly label: MessageKey;
  readonly hint: MessageKey;
}

function textsOf({ frame: { say }, refusal, which, label, hint }: FieldProps<keyof DomainBrand>): FieldTexts {
  const name = brandFields[which];
  return { name, label: say(label), hint: say(hint), wrong: refusal?.wrong[name] ?? null };
}

const Colours: FC<BrandFormProps> = (props) => {
  const { frame, typed } = props;
  const own = (scheme: Scheme) => frame.brand.colours[scheme] ?? paletteOf(scheme).leaf ?? '#000000';
  const dark = isColour(typed.colour) ? nearestReadable(typed.colour, 'dark') : own('dark');
  return (
    <div class="pair">
      <ColourField
        {...props}
        which="colour"
        fallback={own('light')}
        label="domainBrand.colour"
        hint="domainBrand.colourHint"
      />
      <ColourField
        {...props}
        which="colourDark"
        fallback={dark}
        label="domainBrand.colourDark"
        hint="domainBrand.colourDarkHint"
      />
    </div>
  );
};

const Instructions: FC<FieldProps<'instructionsBefore' | 'instructionsAfter'>> = (props) => {
  const texts = textsOf(props);
  return (
    <Field texts={texts}>
      <textarea {...controlAttributes(texts)} class="prose" rows={3} dir="auto" autocomplete="off">
        {asMarkup(`\n${props.typed[props.which]}`)}
      </textarea>
    </Field>
  );
};

const Language: FC<FieldProps<'locale'>> = (props) => {
  const { frame, typed } = props;
  const texts = textsOf(props);
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)} autocomplete="off">
        <option value="" selected={typed.locale === ''}>
          {frame.say('account.languageAsked')}
        </option>
        <LanguageOptions frame={frame} chosen={typed.locale} />
      </select>
    </Field>
  );
};

interface ColourFieldProps extends FieldProps<'colour' | 'colourDark'> {
  /** The site's colour, which the picker shows if none was typed. */
  readonly fallback: string;
}

const ColourField: FC<ColourFieldProps> = (props) => {
  const { frame, which, fallback } = props;
  const texts = textsOf(props);
  const { name: field, label } = texts;
  const [typed, nearest] = [props.typed[which], props.nearest[field]];
  const shown = isColour(typed) ? typed : fallback;
  return (
    <div>
      <Field texts={texts}>
        <div class="colour">
          <TextInput
            texts={texts}
            value={typed}
            attributes={{ class: 'code', dir: 'ltr', placeholder: '#rrggbb' }}
          />
          <input
            type="color"
            name={`${field}-picker`}
            value={shown}
            aria-label={frame.say('domainBrand.pick', { colour: label })}
            autocomplete="off"
            data-colour={`#${field}`}
          />
        </div>
        {/* The initial values of the text and the picker, to detect which one was changed. */}
        <input type="hidden" name={`${field}-before`} value={asMarkup(typed)} />
        <input type="hidden" name={`${field}-shown`} value={shown} />
      </Field>
      {nearest === undefined ? null : <Nearest frame={frame} field={field} nearest={nearest} />}
    </div>
  );
};

const Nearest: FC<{ frame: Frame; field: string; nearest: string }> = ({ frame, field, nearest }) => (
  <p class="nearest">
    <Swatch colour={nearest} />
    <button class="quiet small" type="submit" name={`take-${field}`} value={nearest} id={`take-${field}`}>
      {frame.say('domainBrand.take', { colour: frame.messages.code(nearest) })}
    </button>
  </p>
);

const Swatch: FC<{ colour: string }> = ({ colour }) => (
  <svg class="swatch" viewBox="0 0 24 24" aria-hidden="true">
    <rect x="1" y="1" width="22" height="22" rx="5" fill={colour} stroke="currentColor" />
  </svg>
);

interface LogoProps {
  readonly frame: Frame;
  readonly name: string;
  readonly logoName: string | null;
  readonly wrong: string | null;
}

const types = logoKinds.map(({ type }) => type).join(',');

export const DomainLogoForm: FC<LogoProps> = ({ frame, name, logoName, wrong }) => {
  const { say, size } = frame.messages;
  const action = frame.href('domainLogo', name);
  const texts = {
    name: 'logo',
    label: say(logoName === null ? 'domainBrand.logoNew' : 'domainBrand.logoOther'),
    hint: say('domainBrand.logoHint', { size: size(maxLogoBytes) }),
    wrong,
  };
  return (
    <div class="sheet">
      <h2 class="large">{say('domainBrand.logoTitle')}</h2>
      {logoName === null ? null : (
        <PostForm frame={frame} action={action} class="logo-kept">
          <img src={frame.href('logo', logoName)} alt={say('domainBrand.logoAlt')} />
          <input type="hidden" name="remove" value="yes" />
          <Button
            frame={frame}
            class="quiet small"
            id="remove-logo"
            say="domainBrand.logoRemove"
            icon="trash"
          />
        </PostForm>
      )}
      <PostForm frame={frame} action={action} enctype="multipart/form-data">
        <Field texts={texts}>
          <input {...controlAttributes(texts)} type="file" accept={types} required />
        </Field>
        <Button frame={frame} id="send-logo" say="domainBrand.logoSubmit" />
      </PostForm>
    </div>
  );
};

/**
 * How a share domain looks and what it says: the form.
 *
 * Owns: its fields. Invariants: a form that comes back holds everything that was typed; Enter saves what was typed and
 * never takes a colour that was only offered.
 */
import type { FC } from 'hono/jsx';
import type { DomainView } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { DoneNote, RefusalSummary, TextField } from '../account/account-form.tsx';
import type { FormRefusal } from '../account/form-refusal.ts';
import { nearestReadable } from '../brand/brand-colour.ts';
import { paletteOf, type Scheme } from '../brand/colours.ts';
import { controlAttributes, Field } from '../kit/field.tsx';
import { type Frame, Page, PostForm } from '../kit/layout.tsx';
import { brandFields, isColour, type TypedBrand } from './brand-form.ts';
import { ColourField } from './domain-colour.tsx';
import { DomainLogoForm } from './domain-logo.tsx';

/** What the page may say has just happened, as its address names it. */
export const domainBrandNews = ['saved', 'logo', 'logo-removed'] as const;

type DomainBrandNews = (typeof domainBrandNews)[number];

const newsTexts: Readonly<Record<DomainBrandNews, MessageKey>> = {
  saved: 'domainBrand.saved',
  logo: 'domainBrand.logoSaved',
  'logo-removed': 'domainBrand.logoRemoved',
};

export interface DomainBrandProps {
  readonly frame: Frame;
  /** As the address has it. */
  readonly name: string;
  /** `null`: the store does not answer just now. */
  readonly domain: DomainView | null;
  readonly typed: TypedBrand;
  readonly refusal: FormRefusal | null;
  /** Of each colour that cannot be read, the nearest that can. */
  readonly nearest: Readonly<Record<string, string>>;
  readonly news: DomainBrandNews | null;
}

export const DomainBrandPage: FC<DomainBrandProps> = (props) => {
  const { frame, name, domain, refusal, news } = props;
  const { say } = frame.words;
  return (
    <Page frame={frame} title={say('domainBrand.title')} scripts={['colour']}>
      <h1>{say('domainBrand.title')}</h1>
      {domain === null ? null : (
        <p class="lead">{say('domainBrand.lead', { domain: `\u2068${domain.unicodeName}\u2069` })}</p>
      )}
      {news === null ? null : <DoneNote>{say(newsTexts[news])}</DoneNote>}
      <RefusalSummary frame={frame} refusal={refusal} />
      <BrandForm {...props} />
      <DomainLogoForm
        frame={frame}
        name={name}
        logoName={domain?.logoName ?? null}
        wrong={refusal?.wrong.logo ?? null}
      />
      <p>
        <a href={frame.href('domain', name)}>{say('domainBrand.back')}</a>
      </p>
    </Page>
  );
};

const BrandForm: FC<DomainBrandProps> = (props) => {
  const { frame, name, typed, refusal } = props;
  const { say } = frame.words;
  return (
    <PostForm frame={frame} action={frame.href('domainBrand', name)} class="sheet" autocomplete="off">
      {/* The first button of a form is what Enter presses: it must save, not take a colour. */}
      {/* biome-ignore lint/a11y/noAriaHiddenOnFocusable: no key and no reader leads to it; the real one stands below */}
      <button class="visually-hidden" type="submit" tabindex={-1} aria-hidden="true" />
      <TextField
        name="name"
        label={say('domainBrand.name')}
        hint={say('domainBrand.nameHint', { name: frame.brand.name })}
        type="text"
        autocomplete="off"
        isOptional
        value={typed.name}
        refusal={refusal}
      />
      <Colours {...props} />
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
      <Language {...props} />
      <div class="field">
        <label class="check">
          <input
            type="checkbox"
            id="public"
            name={brandFields.isPublic}
            value="yes"
            checked={typed.isPublic}
            autocomplete="off"
            aria-describedby="public-hint"
          />
          <span>{say('domainBrand.public')}</span>
        </label>
        <p class="hint of-box" id="public-hint">
          {say('domainBrand.publicHint')}
        </p>
      </div>
      <button type="submit" id="save">
        {say('domainBrand.submit')}
      </button>
    </PostForm>
  );
};

const Colours: FC<DomainBrandProps> = ({ frame, typed, refusal, nearest }) => {
  const { say } = frame.words;
  const follows = isColour(typed.colour);
  const own = (scheme: Scheme) => frame.brand.colours[scheme] ?? paletteOf(scheme).leaf ?? '#000000';
  const of = (which: 'colour' | 'colourDark', fallback: string) => {
    const field = brandFields[which];
    return {
      frame,
      field,
      typed: typed[which],
      fallback,
      wrong: refusal?.wrong[field] ?? null,
      nearest: nearest[field] ?? null,
    };
  };
  return (
    <div class="pair">
      <ColourField
        {...of('colour', own('light'))}
        label={say('domainBrand.colour')}
        hint={say('domainBrand.colourHint')}
      />
      <ColourField
        {...of('colourDark', follows ? nearestReadable(typed.colour, 'dark') : own('dark'))}
        label={say('domainBrand.colourDark')}
        hint={say('domainBrand.colourDarkHint')}
      />
    </div>
  );
};

interface InstructionsProps extends DomainBrandProps {
  readonly which: 'instructionsBefore' | 'instructionsAfter';
  readonly label: MessageKey;
  readonly hint: MessageKey;
}

const Instructions: FC<InstructionsProps> = ({ frame, typed, refusal, which, label, hint }) => {
  const { say } = frame.words;
  const name = brandFields[which];
  const texts = { name, label: say(label), hint: say(hint), wrong: refusal?.wrong[name] ?? null };
  return (
    <Field texts={texts}>
      <textarea {...controlAttributes(texts)} class="prose" rows={3} dir="auto" autocomplete="off">
        {`\n${typed[which]}`}
      </textarea>
    </Field>
  );
};

const Language: FC<DomainBrandProps> = ({ frame, typed, refusal }) => {
  const { say, languageName } = frame.words;
  const texts = {
    name: brandFields.locale,
    label: say('domainBrand.language'),
    hint: say('domainBrand.languageHint'),
    wrong: refusal?.wrong[brandFields.locale] ?? null,
  };
  return (
    <Field texts={texts}>
      <select {...controlAttributes(texts)} autocomplete="off">
        <option value="" selected={typed.locale === ''}>
          {say('account.languageAsked')}
        </option>
        {frame.locales.map((locale) => (
          <option value={locale} lang={locale} selected={locale === typed.locale}>
            {languageName(locale)}
          </option>
        ))}
      </select>
    </Field>
  );
};

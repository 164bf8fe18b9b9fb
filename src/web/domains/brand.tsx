/** A share domain's brand: name, colours, texts and logo. A refused form keeps what was typed, even if the store is unavailable. */
import type { FC } from 'hono/jsx';
import { ServiceError } from '../../core/errors.ts';
import type { BrandProblem, LogoProblem } from '../../core/share-domain.ts';
import type { DomainView, LogoOutcome } from '../../core/share-domains/service.ts';
import type { MessageKey } from '../../locale/catalogues.ts';
import { AccountPage } from '../account/sections.tsx';
import { maxLogoBytes } from '../brand/logo.ts';
import {
  type AccountRequest,
  type DoneTexts,
  doneIn,
  type FormRefusal,
  forAccount,
  formReply,
  refuseField,
} from '../kit/form-page.tsx';
import type { Messages } from '../kit/language.ts';
import { type PageReply, type PageRoute, seeOther } from '../kit/page.ts';
import {
  BrandForm,
  type BrandFormProps,
  brandFields,
  brandOf,
  DomainLogoForm,
  readBrand,
  type TypedBrand,
  typedFrom,
  untouchedBrand,
} from './brand-form.tsx';
import { type DomainDeps, findDomain, toDomains } from './domain.tsx';

interface Attempt {
  /** Absent if the form was not about the brand. */
  readonly typed?: TypedBrand;
  readonly refusal: FormRefusal | null;
  readonly nearest?: Readonly<Record<string, string>>;
}

export function createBrandPages(deps: DomainDeps): PageRoute[] {
  return [
    {
      name: 'domainBrand',
      get: forAccount(deps, (request) => showBrand(request, deps)),
      post: forAccount(deps, saveBrand, async (request, _, refusal = null) =>
        showBrand(request, deps, { typed: readBrand(await request.form()), refusal }),
      ),
    },
    {
      name: 'domainLogo',
      get: forAccount(deps, ({ frame, key }) => seeOther(frame.href('domainBrand', key))),
      post: {
        ...forAccount(deps, saveLogo, (request, _, refused = null) =>
          showBrand(request, deps, { refusal: refused?.status === 413 ? tooLarge(request) : refused }),
        ),
        takesFile: true,
      },
    },
  ];
}

const doneTexts: DoneTexts = {
  saved: ['domainBrand.saved'],
  logo: ['domainBrand.logoSaved'],
  'logo-removed': ['domainBrand.logoRemoved'],
};

interface BrandPageProps extends BrandFormProps {
  readonly domain: DomainView | null;
  readonly done: readonly string[];
}

const BrandPage: FC<BrandPageProps> = (props) => {
  const { frame, name, domain, refusal, done } = props;
  const shown = domain === null ? null : { domain: `\u2068${domain.unicodeName}\u2069` };
  return (
    <AccountPage
      {...{ frame, done, refusal }}
      {...(shown === null ? {} : { lead: frame.say('domainBrand.lead', shown) })}
      section="domains"
      isBelow
      hasDomains
      back={[frame.href('domain', name), frame.say('domainBrand.back')]}
      title={frame.say('domainBrand.title')}
      scripts={['colour']}
    >
      <BrandForm {...props} />
      <DomainLogoForm
        frame={frame}
        name={name}
        logoName={domain?.logoName ?? null}
        wrong={refusal?.wrong.logo ?? null}
      />
    </AccountPage>
  );
};

async function showBrand(
  request: AccountRequest,
  deps: DomainDeps,
  { typed, refusal, nearest = {} }: Attempt = { refusal: null },
): Promise<PageReply> {
  const { frame, key } = request;
  const domain = await findOrNull(request, deps, refusal !== null);
  if (domain === 'unknown') return toDomains(request, 'gone');
  const shown = typed ?? (domain === null ? untouchedBrand : typedFrom(domain.brand));
  const done = doneIn(request, doneTexts);
  const page = <BrandPage {...{ frame, name: key, domain, typed: shown, refusal, nearest, done }} />;
  return formReply(page, refusal);
}

/** Returns `null` for a refused form if the store is unavailable: that form can be shown without the domain. */
async function findOrNull(
  request: AccountRequest,
  deps: DomainDeps,
  isRefused: boolean,
): Promise<DomainView | 'unknown' | null> {
  try {
    const found = await findDomain(request, deps);
    return found.outcome === 'found' ? found.domain : 'unknown';
  } catch (error) {
    if (isRefused && error instanceof ServiceError) return null;
    throw error;
  }
}

async function saveBrand(request: AccountRequest, deps: DomainDeps): Promise<PageReply> {
  const { frame, key, signedIn } = request;
  const typed = readBrand(await request.form());
  const outcome = await deps.domains.setBrand(signedIn.caller, key, brandOf(typed));
  switch (outcome.outcome) {
    case 'saved':
      return seeOther(`${frame.href('domainBrand', outcome.domain.name)}?done=saved`);
    case 'invalid':
      return showBrand(request, deps, { typed, ...refusalOf(outcome.problems, frame.messages) });
    case 'unknown':
      return toDomains(request, 'gone');
  }
}

const malformedTexts: Readonly<Record<BrandProblem['field'], MessageKey>> = {
  name: 'domainBrand.nameWrong',
  colour: 'domainBrand.colourWrong',
  colourDark: 'domainBrand.colourWrong',
  instructionsBefore: 'domainBrand.textWrong',
  instructionsAfter: 'domainBrand.textWrong',
  locale: 'domainBrand.languageWrong',
  isPublic: 'domainBrand.textWrong',
};

function refusalOf(problems: readonly BrandProblem[], messages: Messages): Attempt {
  const wrong = Object.fromEntries(
    problems.map((problem) => [brandFields[problem.field], textOf(problem, messages)]),
  );
  const nearest = Object.fromEntries(
    problems.flatMap(({ field, nearest: colour }) =>
      colour === undefined ? [] : [[brandFields[field], colour]],
    ),
  );
  return { refusal: { status: 422, wrong, message: null }, nearest };
}

function textOf(
  { field, problem, nearest = '', maxLength = 0 }: BrandProblem,
  { say, code }: Messages,
): string {
  switch (problem) {
    case 'malformed':
    case 'unknown_locale':
      return say(malformedTexts[field]);
    case 'too_long':
      return say('domainBrand.tooLong', { count: maxLength });
    case 'unreadable_colour':
      return say(field === 'colourDark' ? 'domainBrand.tooDark' : 'domainBrand.tooPale', {
        nearest: code(nearest),
      });
  }
}

async function saveLogo(request: AccountRequest, deps: DomainDeps): Promise<PageReply> {
  const { frame, key, signedIn } = request;
  const form = await request.form();
  const isRemoval = form.text('remove') === 'yes';
  const file = form.file('logo');
  if (!isRemoval && file === null) {
    const refusal = refuseField('logo', frame.say('domainBrand.logoMissing'));
    return showBrand(request, deps, { refusal });
  }
  const outcome = await deps.domains.setLogo(signedIn.caller, key, isRemoval ? null : file);
  switch (outcome.outcome) {
    case 'saved': {
      const done = isRemoval ? 'logo-removed' : 'logo';
      return seeOther(`${frame.href('domainBrand', outcome.domain.name)}?done=${done}`);
    }
    case 'invalid':
      return showBrand(request, deps, { refusal: refusalOfLogo(outcome, frame.messages) });
    case 'unknown':
      return toDomains(request, 'gone');
  }
}

const logoTexts: Readonly<Record<LogoProblem, MessageKey>> = {
  too_large: 'domainBrand.logoTooLarge',
  unknown_type: 'domainBrand.logoUnknown',
  unsafe_svg: 'domainBrand.logoUnsafe',
  damaged: 'domainBrand.logoDamaged',
};

function refusalOfLogo(
  { problem, maxBytes }: Extract<LogoOutcome, { outcome: 'invalid' }>,
  { say, size }: Messages,
): FormRefusal {
  const status = problem === 'too_large' ? 413 : 422;
  return refuseField('logo', say(logoTexts[problem], { size: size(maxBytes) }), status);
}

function tooLarge({ frame }: AccountRequest): FormRefusal {
  return refusalOfLogo({ outcome: 'invalid', problem: 'too_large', maxBytes: maxLogoBytes }, frame.messages);
}

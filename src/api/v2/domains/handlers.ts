/**
 * Handlers of API v2 about share domains: one call of the core each, and the outcome's answer.
 *
 * Owns: the operations with their handlers, and the sentences of what is refused. Invariant: the switch from outcomes to
 * answers is exhaustive; a refusal never repeats a text that may be an address with credentials in it.
 */
import type { AccountCaller } from '../../../core/accounts/accounts.ts';
import type { BrandProblem, LogoProblem } from '../../../core/share-domains/brand.ts';
import type {
  AddDomainOutcome,
  BrandOutcome,
  DomainService,
  LogoOutcome,
} from '../../../core/share-domains/service.ts';
import type { DomainNameProblem } from '../../../core/share-domains/share-domains.ts';
import type { Operation, Reply } from '../../../http/operation.ts';
import type { Bind, Contract } from '../describe.ts';
import { encodeProblem, refuse, refuseFields } from '../refusals.ts';
import * as contract from './contract.ts';
import type { AddRequest, BrandRequest, LogoRequest } from './decode.ts';
import { encodeBrand, encodeDomain, encodeDomains, encodeRemoved } from './encode.ts';

function ok(body: unknown): Reply {
  return { status: 200, body };
}

export function createDomainOperations(domains: DomainService, bindAny: Bind): readonly Operation[] {
  /** The operation with a handler that only an account reaches. */
  const bind = <Input>(
    described: Contract<Input>,
    handle: (input: Input, caller: AccountCaller) => Promise<Reply>,
  ): Operation =>
    bindAny(described, (input, caller) =>
      caller.kind === 'account' ? handle(input, caller) : encodeProblem({ problem: 'not_authorized' }),
    );
  return [
    bind(contract.list, async (_input: null, caller) =>
      ok(encodeDomains(await domains.list(caller), domains.maxDomains(caller), caller)),
    ),
    bind(contract.add, async ({ name, ignored }: AddRequest, caller) =>
      answerAdded(await domains.add(caller, name), caller, ignored),
    ),
    bind(contract.find, async (name: string, caller) => {
      const outcome = await domains.find(caller, name);
      return outcome.outcome === 'unknown' ? unknownDomain(name) : ok(encodeDomain(outcome.domain, caller));
    }),
    bind(contract.verify, async (name: string, caller) => {
      const outcome = await domains.verify(caller, name);
      if (outcome.outcome === 'taken') return refuse('domain_taken');
      return outcome.outcome === 'unknown' ? unknownDomain(name) : ok(encodeDomain(outcome.domain, caller));
    }),
    bind(contract.remove, async (name: string, caller) => {
      const { outcome } = await domains.remove(caller, name);
      return outcome === 'unknown' ? unknownDomain(name) : ok(encodeRemoved(name, caller));
    }),
    bind(contract.findBrand, async (name: string, caller) => {
      const outcome = await domains.find(caller, name);
      return outcome.outcome === 'unknown' ? unknownDomain(name) : ok(encodeBrand(outcome.domain, caller));
    }),
    bind(contract.setBrand, async ({ name, changes, prefix }: BrandRequest, caller) =>
      answerBrand(await domains.setBrand(caller, name, changes), name, prefix, caller),
    ),
    bind(contract.setLogo, async ({ name, bytes }: LogoRequest, caller) => {
      if (bytes !== null) return answerLogo(await domains.setLogo(caller, name, bytes), name, caller);
      return refuse('unsupported_media_type', { message: 'The body must be a picture, sent as image/…' });
    }),
    bind(contract.removeLogo, async (name: string, caller) =>
      answerLogo(await domains.setLogo(caller, name, null), name, caller),
    ),
  ];
}

function unknownDomain(domain: string): Reply {
  return refuse('unknown_domain', { extra: { domain } });
}

const reasons: Readonly<Record<Exclude<DomainNameProblem, 'missing'>, string>> = {
  malformed: 'write the name alone, such as secrets.example.com',
  ip_address: 'it is an address',
  not_public: 'it has no public suffix such as com or co.uk',
  public_suffix: 'anybody can register below it',
  own_host: "it is this site's own host",
};

function wrongDomain(message: string): Reply {
  return refuseFields([{ field: 'domain', message }]);
}

function answerAdded(outcome: AddDomainOutcome, caller: AccountCaller, ignored: readonly string[]): Reply {
  switch (outcome.outcome) {
    case 'added':
      return ok(encodeDomain(outcome.domain, caller, ignored));
    case 'invalid_domain':
      return wrongDomain(
        outcome.problem === 'missing'
          ? 'Please enter a domain'
          : `Not a valid public domain: ${reasons[outcome.problem]}`,
      );
    case 'exists':
      return wrongDomain('Duplicate domain');
    case 'taken':
      return refuse('domain_taken');
    case 'too_many':
      return refuse('too_many_domains', { extra: { max: outcome.max } });
    case 'plan_required':
      return refuse('plan_required');
  }
}

/** The wire's names of what can be wrong in a brand. */
const brandFieldNames: Readonly<Record<BrandProblem['field'], string>> = {
  name: 'name',
  colour: 'primary_color',
  colourDark: 'primary_color_dark',
  instructionsBefore: 'instructions_pre_reveal',
  instructionsAfter: 'instructions_post_reveal',
  locale: 'locale',
  isPublic: 'allow_public_homepage',
};

function sentenceOf({ field, problem, nearest, maxLength }: BrandProblem): string {
  switch (problem) {
    case 'malformed':
      return field === 'colour' || field === 'colourDark'
        ? 'Must be a colour, #rgb or #rrggbb'
        : 'Must be a plain text without control characters';
    case 'too_long':
      return `Must be at most ${maxLength} characters`;
    case 'unreadable_colour':
      return `Cannot be read on the page; the nearest that can is ${nearest}`;
    case 'unknown_locale':
      return 'Must be a language that is offered';
  }
}

function answerBrand(outcome: BrandOutcome, name: string, prefix: string, caller: AccountCaller): Reply {
  switch (outcome.outcome) {
    case 'saved':
      return ok(encodeBrand(outcome.domain, caller));
    case 'unknown':
      return unknownDomain(name);
    case 'invalid':
      return refuseFields(
        outcome.problems.map((problem) => ({
          field: prefix + brandFieldNames[problem.field],
          message: sentenceOf(problem),
        })),
      );
  }
}

const logoSentences: Readonly<Record<Exclude<LogoProblem, 'too_large'>, string>> = {
  unknown_type: 'Must be a picture: PNG, JPEG, WebP, GIF or SVG',
  unsafe_svg: 'Must be an SVG that only draws: no scripts, no links, nothing from elsewhere',
  damaged: 'Must be a whole picture: this one is damaged',
};

function answerLogo(outcome: LogoOutcome, name: string, caller: AccountCaller): Reply {
  switch (outcome.outcome) {
    case 'saved':
      return ok(encodeBrand(outcome.domain, caller));
    case 'unknown':
      return unknownDomain(name);
    case 'invalid': {
      const { problem, maxBytes } = outcome;
      if (problem !== 'too_large') return refuseFields([{ field: 'logo', message: logoSentences[problem] }]);
      return refuse('too_large', {
        message: `The logo is larger than the limit of ${maxBytes} bytes`,
        extra: { limit: maxBytes },
      });
    }
  }
}

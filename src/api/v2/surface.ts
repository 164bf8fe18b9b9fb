/**
 * API v2 as one value: its operations bound to the service, and its words for the transport's refusals.
 *
 * Owns: nothing but the binding. Invariant: every contract of `contract.ts` has exactly one handler here.
 */

import type { Links } from '../../core/links.ts';
import type { MailLocaleOf } from '../../core/mail/mailer.ts';
import type { Plans } from '../../core/plans.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import type { Clock } from '../../core/time.ts';
import type { ApiSurface } from '../../http/api.ts';
import type { DialectName } from '../version.ts';
import * as contract from './contract.ts';
import { type Contract, createBind } from './describe.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { createDomainOperations } from './domains/handlers.ts';
import { createHandlers } from './handlers.ts';
import { encodeProblem } from './refusals.ts';

export interface V2Deps {
  readonly service: SecretService;
  readonly domains: DomainService;
  readonly links: Links;
  readonly plans: Plans;
  readonly dialect: DialectName;
  /** This installation's region; `null` where there are none. */
  readonly region: string | null;
  /** `major.minor.patch`, from package.json. */
  readonly version: string;
  readonly locales: readonly string[];
  readonly defaultLocale: string;
  readonly mailLocaleOf: MailLocaleOf;
  /** For the `now` of a list; expiry is judged by the store alone. */
  readonly clock: Clock;
}

/** A contract of managing one record, for whom the dialect lets manage. */
function managed<Input>(described: Contract<Input>, { managementAccess: access }: Dialect): Contract<Input> {
  return { ...described, access };
}

export function createV2(deps: V2Deps): ApiSurface {
  const { version, locales, defaultLocale: locale, region } = deps;
  const dialect = dialectOf(deps.dialect);
  const bind = createBind(dialect);
  const handlers = createHandlers({ ...deps, dialect });
  const fixed = (body: object) => () => ({ status: 200, body: { success: true, ...body } });
  return {
    base: contract.base,
    operations: [
      bind(contract.conceal, handlers.conceal),
      bind(contract.generate, handlers.generate),
      bind(contract.inspect, handlers.inspect),
      bind(contract.secretStatus, handlers.secretStatus),
      bind(contract.secretStatuses, handlers.secretStatuses),
      bind(contract.reveal, handlers.reveal),
      bind(contract.recent, handlers.recent),
      bind(managed(contract.receipt, dialect), handlers.receipt),
      bind(managed(contract.change, dialect), handlers.change),
      bind(managed(contract.burn, dialect), handlers.burn),
      bind(contract.deliver, handlers.deliver),
      bind(contract.serviceStatus, fixed({ status: 'nominal', locale, ...(region !== null && { region }) })),
      bind(contract.version, fixed({ version: versionParts(version), locale })),
      bind(contract.locales, fixed({ locales, default_locale: locale, locale })),
      bind(contract.authcheck, handlers.authcheck),
      bind(contract.guestConceal, handlers.conceal),
      bind(contract.guestGenerate, handlers.generate),
      bind(contract.guestInspect, handlers.inspect),
      bind(contract.guestReveal, handlers.reveal),
      ...createDomainOperations(deps.domains, bind),
    ],
    encodeProblem,
    acceptsTrailingSlash: false,
  };
}

/** Three parts; whatever follows the second dot, a suffix too, stays with the third. */
function versionParts(version: string): readonly string[] {
  const [major = '0', minor = '0', ...rest] = version.split('.');
  return [major, minor, rest.length === 0 ? '0' : rest.join('.')];
}

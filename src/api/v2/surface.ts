/**
 * API v2 as one value: its operations bound to the service, and its words for the transport's refusals.
 *
 * Owns: nothing but the binding. Invariant: every contract of `contract.ts` has exactly one handler here.
 */
import type { DomainService } from '../../domain/domain-outcomes.ts';
import type { Links } from '../../domain/links.ts';
import type { SecretService } from '../../domain/outcomes.ts';
import { type Clock, systemClock } from '../../domain/time.ts';
import type { ApiSurface } from '../../http/mount.ts';
import type { Operation } from '../../http/operation.ts';
import * as contract from './contract.ts';
import { createDomainOperations } from './domains/handlers.ts';
import { createHandlers } from './handlers.ts';
import { encodeProblem } from './refusals.ts';

export interface V2Deps {
  readonly service: SecretService;
  readonly domains: DomainService;
  readonly links: Links;
  /** This installation's region; `null` where there are none. */
  readonly region: string | null;
  /** `major.minor.patch`, from package.json. */
  readonly version: string;
  readonly locales: readonly string[];
  readonly defaultLocale: string;
  /** For the `now` of a list; expiry is judged by the store alone. */
  readonly clock?: Clock;
}

function bind<Input>(described: contract.Contract<Input>, handle: Operation<Input>['handle']): Operation {
  return { ...described, handle } as Operation;
}

export function createV2(deps: V2Deps): ApiSurface {
  const { version, locales, defaultLocale: locale, region } = deps;
  const handlers = createHandlers({ ...deps, clock: deps.clock ?? systemClock });
  const fixed = (body: object) => () => ({ status: 200, body: { success: true, ...body } });
  return {
    base: contract.base,
    operations: [
      bind(contract.conceal, handlers.conceal),
      bind(contract.generate, handlers.generate),
      bind(contract.inspect, handlers.inspect),
      bind(contract.secretStatus, handlers.secretStatus),
      bind(contract.reveal, handlers.reveal),
      bind(contract.recent, handlers.recent),
      bind(contract.receipt, handlers.receipt),
      bind(contract.change, handlers.change),
      bind(contract.burn, handlers.burn),
      bind(contract.deliver, handlers.deliver),
      bind(contract.serviceStatus, fixed({ status: 'nominal', locale, ...(region !== null && { region }) })),
      bind(contract.version, fixed({ version: versionParts(version), locale })),
      bind(contract.locales, fixed({ locales, default_locale: locale, locale })),
      bind(contract.authcheck, handlers.authcheck),
      ...createDomainOperations(deps.domains),
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

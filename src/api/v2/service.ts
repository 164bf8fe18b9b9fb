/** API v2: the service, the caller's account, and the surface that the pipeline serves. */
import { z } from 'zod';
import type { AccountCaller } from '../../core/account.ts';
import type { Plan } from '../../core/plans.ts';
import type { ApiSurface } from '../../http/api.ts';
import { seconds, time } from '../fields.ts';
import { bind, type DialectName } from '../version.ts';
import { batch } from './batch.ts';
import { creationOperations } from './creation.ts';
import { dialectOf } from './dialect.ts';
import { domainOperations } from './domains.ts';
import { type Api, define, ok, type V2Operation } from './operation.ts';
import { receiptOperations } from './receipts.ts';
import { custid, success } from './records.ts';
import { encodeProblem } from './refusals.ts';
import { requestOperations } from './requests.ts';
import { revealOperations } from './reveal.ts';
import { note, secretOperations } from './secrets.ts';

const text = z.string();
const localeTag = text.meta({ examples: ['en'] });
const tag = 'Service';

const open = { method: 'GET', access: 'open', limit: 'none', decode: () => null } as const;

export const serviceStatusAnswer = z
  .object({
    success,
    status: z.literal('nominal'),
    locale: localeTag,
    region: text.optional().meta({
      description: 'Which region answers; absent where there are none.',
      examples: ['eu'],
    }),
  })
  .meta({ id: 'V2ServiceStatusAnswer' });

const serviceStatus = define({
  ...open,
  name: 'v2.status',
  path: '/status',
  document: { summary: 'Whether the service works', tag },
  answers: { description: 'It works.', schema: serviceStatusAnswer, refuses: [] },
  handle: (_input, _caller, { defaultLocale: locale, region }) =>
    ok({
      success: true,
      status: 'nominal',
      locale,
      ...(region !== null && { region }),
    } satisfies z.output<typeof serviceStatusAnswer>),
});

export const versionAnswer = z
  .object({
    success,
    version: z
      .array(text)
      .length(3)
      .meta({ description: 'Major, minor, patch.', examples: [['0', '1', '0']] }),
    locale: localeTag,
  })
  .meta({ id: 'V2VersionAnswer' });

/** Everything after the second dot, even a suffix, is the third part. */
function versionParts(version: string): string[] {
  const [major = '0', minor = '0', ...rest] = version.split('.');
  return [major, minor, rest.length === 0 ? '0' : rest.join('.')];
}

const version = define({
  ...open,
  name: 'v2.version',
  path: '/version',
  document: { summary: 'The version of the service', tag },
  answers: { description: 'Major, minor and patch.', schema: versionAnswer, refuses: [] },
  handle: (_input, _caller, api) =>
    ok({
      success: true,
      version: versionParts(api.version),
      locale: api.defaultLocale,
    } satisfies z.output<typeof versionAnswer>),
});

export const localesAnswer = z
  .object({ success, locales: z.array(localeTag), default_locale: localeTag, locale: localeTag })
  .meta({ id: 'V2LocalesAnswer' });

const locales = define({
  ...open,
  name: 'v2.locales',
  path: '/supported-locales',
  document: { summary: 'The languages of the service', tag },
  answers: { description: 'The languages.', schema: localesAnswer, refuses: [] },
  handle: (_input, _caller, { locales: offered, defaultLocale: locale }) =>
    ok({
      success: true,
      locales: [...offered],
      default_locale: locale,
      locale,
    } satisfies z.output<typeof localesAnswer>),
});

export const authcheckAnswer = z
  .object({
    success,
    custid,
    record: z.object({
      identifier: text,
      custid: text,
      email: text,
      role: z.literal('customer'),
      active: z.boolean(),
      locale: localeTag,
      created: time,
      updated: time,
      plan: z.object({
        identifier: text,
        planid: text,
        options: z
          .object({
            ttl: seconds.meta({ description: 'The longest lifetime of a secret, in seconds.' }),
            size: z.int().min(1).meta({ description: 'The largest value, in bytes of UTF-8.' }),
            max_sealed_bytes: z.int().min(1).meta({
              description:
                'The largest end-to-end secret: bytes of a text, or of a file with its name and its media type.',
            }),
            api: z.literal(true),
            email: z.literal(true).meta({ description: 'A recipient may be named.' }),
            custom_domains: z.boolean(),
          })
          .meta({ description: 'What the plan allows.' }),
      }),
    }),
    details: z.object({ authenticated: z.boolean() }),
  })
  .meta({ id: 'V2AuthcheckAnswer' });

/** Omits facts that we do not know (the last login, the number of secrets). */
function encodeAccount(
  { account }: AccountCaller,
  limits: Plan,
  locale: string,
): z.output<typeof authcheckAnswer> {
  const { username, plan, createdAt } = account;
  return {
    success: true,
    custid: username,
    record: {
      identifier: username,
      custid: username,
      email: username,
      role: 'customer',
      active: true,
      locale,
      created: createdAt,
      updated: createdAt,
      plan: {
        identifier: plan,
        planid: plan,
        // The existing service has more fields: prices, a name, a dark mode.
        options: {
          ttl: limits.ttlMaxSeconds,
          size: limits.maxValueBytes,
          max_sealed_bytes: limits.maxSealedBytes,
          api: true,
          email: true,
          custom_domains: limits.maxDomains > 0,
        },
      },
    },
    details: { authenticated: true },
  };
}

const authcheck = define({
  name: 'v2.authcheck',
  method: 'GET',
  path: '/authcheck',
  access: 'account',
  limit: 'manage',
  document: { summary: 'Whether the credentials are right', tag },
  answers: { description: 'They are; this is the account.', schema: authcheckAnswer, refuses: [] },
  decode: () => null,
  handle: (_input, caller, { plans, defaultLocale }) =>
    caller.kind === 'account'
      ? ok(encodeAccount(caller, plans[caller.account.plan], defaultLocale))
      : encodeProblem({ problem: 'not_authorized' }),
});

const ownOperations: readonly V2Operation[] = [
  ...[...creationOperations, batch, ...secretOperations, ...revealOperations, note, ...receiptOperations],
  ...[serviceStatus, version, locales, authcheck],
];

const isForGuests = ({ path }: V2Operation) => path.startsWith('/guest/');

/** In the order of the document. */
const v2Operations: readonly V2Operation[] = [
  ...ownOperations.filter((operation) => !isForGuests(operation)),
  ...ownOperations.filter(isForGuests),
  ...requestOperations,
  ...domainOperations,
];

type V2Deps = Omit<Api, 'dialect'> & { readonly dialect: DialectName };

export function createV2(deps: V2Deps): ApiSurface {
  const api: Api = { ...deps, dialect: dialectOf(deps.dialect) };
  return {
    base: '/api/v2',
    operations: v2Operations.map((operation) => bind(operation, api)),
    encodeProblem,
    acceptsTrailingSlash: false,
  };
}

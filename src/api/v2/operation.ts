/** Defines v2 operations, adds the refusals that their access, limit and body imply, and creates their guest variants. */
import type { ZodType } from 'zod';
import type { Links } from '../../core/links.ts';
import type { MailLocaleOf } from '../../core/mailer.ts';
import type { Plans } from '../../core/plans.ts';
import type { RequestService } from '../../core/requests/service.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { DomainService } from '../../core/share-domains/service.ts';
import type { Clock } from '../../core/time.ts';
import { type OperationDocument, problemsOf, type Reply } from '../../http/operation.ts';
import type { Unbound } from '../version.ts';
import type { Dialect } from './dialect.ts';
import { codeOfProblem, type RefusalCode, refusalResponses } from './refusals.ts';

export interface Api {
  readonly service: SecretService;
  readonly requests: RequestService;
  readonly domains: DomainService;
  readonly links: Links;
  readonly plans: Plans;
  readonly dialect: Dialect;
  /** This installation's region. */
  readonly region: string | null;
  /** `major.minor.patch`, from package.json. */
  readonly version: string;
  readonly locales: readonly string[];
  readonly defaultLocale: string;
  readonly mailLocaleOf: MailLocaleOf;
  /** For a list's `now`; only the store decides what has expired. */
  readonly clock: Clock;
}

export type V2Operation<Input = unknown> = Unbound<Api, Input>;

type Definition<Input> = Omit<V2Operation<Input>, 'document'> & {
  readonly document: Omit<OperationDocument, 'responses'>;
  readonly answers: {
    readonly description: string;
    readonly schema: ZodType;
    /** The refusals implied by the operation's access and body are added to these. */
    readonly refuses: readonly RefusalCode[];
  };
};

/** What reading, checking and burning a secret have in common, and what creating has. */
export const onSecret = { access: 'anyone', limit: 'manage' } as const;
export const onCreation = { access: 'anyone', scope: 'create', limit: 'create' } as const;

export function define<Input>({ answers, document, ...rest }: Definition<Input>): V2Operation<Input> {
  const { description, schema, refuses } = answers;
  let made: OperationDocument['responses'] | null = null;
  const makeResponses = () => {
    const brought = problemsOf({ ...rest, document }).map((problem) => codeOfProblem[problem]);
    return { 200: { description, schema }, ...refusalResponses([...refuses, ...brought]) };
  };
  // Deferred, because the document is built after startup.
  const described = {
    ...document,
    get responses() {
      made ??= makeResponses();
      return made;
    },
  };
  return { ...rest, document: described };
}

/** Also defines the operation under `/guest`, for newer clients: credentials are not read, and the caller is anonymous. */
export function withGuests<Input>(given: Definition<Input>): readonly V2Operation[] {
  const { scope: _scope, ...ofGuests } = given;
  const { name, path, document } = given;
  const description = [document.description, 'Credentials are not read: the caller is anonymous.'];
  const guests = define({
    ...ofGuests,
    name: `v2.guest.${name.slice('v2.'.length)}`,
    path: `/guest${path}`,
    access: 'open',
    document: {
      ...document,
      summary: `${document.summary}, as a guest`,
      description: description.filter(Boolean).join('\n\n'),
      tag: 'Guests',
    },
  });
  return [define(given), guests];
}

export function jsonBody(schema: ZodType, required: boolean) {
  return { schema, required, contentTypes: ['application/json'] };
}

export function ok(body: unknown): Reply {
  return { status: 200, body };
}

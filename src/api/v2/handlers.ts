/**
 * Handlers of API v2: one call of the core each, and the outcome's answer.
 *
 * Owns: the switch from outcomes to records and refusals, exhaustive. Invariant: only `reveal` asks for a value and only
 * `burn` destroys; with `"continue": false` neither does.
 */
import type { Caller } from '../../core/accounts/accounts.ts';
import type { Links } from '../../core/links.ts';
import type { MailLocaleOf } from '../../core/mail/mailer.ts';
import type { Plans } from '../../core/plans.ts';
import type {
  Abandoned,
  ConcealInput,
  CreationOutcome,
  DeliverOutcome,
  GenerateInput,
  InspectInput,
  InspectOutcome,
  MemoRefusal,
  ReceiptInput,
  ReceiptView,
  RecentInput,
  SecretRefusal,
} from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { Clock } from '../../core/time.ts';
import type { Reply } from '../../http/operation.ts';
import { clientLeft } from '../../http/problem.ts';
import type { BurnRequest, ChangeRequest, Creation, DeliverRequest, RevealRequest } from './decode.ts';
import type { Dialect } from './dialect.ts';
import {
  encodeBurned,
  encodeChanged,
  encodeConcealed,
  encodeDelivered,
  encodeGenerated,
  encodeInspected,
  encodeMetadata,
  encodeReceipt,
  encodeRecent,
  encodeRevealed,
} from './encode.ts';
import { encodeAccount } from './encode-account.ts';
import { encodeStatus, encodeStatuses, encodeUnknownStatus } from './encode-status.ts';
import { encodeProblem, refusals, refuse, refuseAttempts, refuseFields, refuseMails } from './refusals.ts';
import { adjustedLocaleOf, adjustedTtl } from './remarks.ts';

export interface HandlerDeps {
  readonly service: SecretService;
  readonly links: Links;
  readonly plans: Plans;
  readonly defaultLocale: string;
  readonly mailLocaleOf: MailLocaleOf;
  readonly clock: Clock;
  readonly dialect: Dialect;
}

const illFormed = 'Must be well-formed Unicode text';
/** Mail goes out in the owner's name, so that the metadata key alone is never enough for it. */
const ownersAlone = 'owner';
const recipientNeedsAccount = 'An account is required to send emails.';
/** The address is not repeated: v2 never shows one in plain (P18). */
const undeliverable = 'Undeliverable email address';

function ok(body: unknown): Reply {
  return { status: 200, body };
}

export function createHandlers(deps: HandlerDeps) {
  const { service, links, plans, defaultLocale, clock, dialect } = deps;
  const authority = dialect.managementAuthority;
  const languageFor = deps.mailLocaleOf;
  const remarksOn = (
    { asked, ignored }: Pick<Creation<unknown>, 'asked' | 'ignored'>,
    receipt: ReceiptView,
  ) => ({
    adjusted: {
      ...adjustedTtl(asked.ttl, receipt.ttlSeconds),
      ...adjustedLocaleOf(asked.locale, languageFor(asked.locale)),
    },
    ignored,
  });
  return {
    conceal: async (creation: Creation<ConcealInput>, caller: Caller) => {
      const { input, prefix, asked } = creation;
      const outcome = await service.conceal({ ...input, locale: languageFor(asked.locale) }, caller);
      if (outcome.outcome !== 'created') return refuseCreation(outcome, prefix);
      const remarks = remarksOn(creation, outcome.receipt);
      return ok(encodeConcealed(outcome.receipt, { caller, links, remarks }));
    },

    generate: async (creation: Creation<GenerateInput>, caller: Caller) => {
      const { input, prefix, asked } = creation;
      const outcome = await service.generate({ ...input, locale: languageFor(asked.locale) }, caller);
      if (outcome.outcome !== 'created') return refuseCreation(outcome, prefix);
      const remarks = remarksOn(creation, outcome.receipt);
      const value = outcome.value?.expose() ?? '';
      return ok(encodeGenerated(outcome.receipt, value, { caller, links, remarks }));
    },

    inspect: async (input: InspectInput, caller: Caller) =>
      answerInspected(await service.inspect(input, caller), input.secretKey, caller),

    secretStatus: async (secretKey: string, caller: Caller) => {
      const outcome = await service.secretStatus({ secretKey }, caller);
      if (outcome.outcome === 'waiting') return ok(encodeStatus(outcome.secret, caller));
      return dialect.unknownStatusIsAnswered
        ? ok(encodeUnknownStatus(secretKey, caller))
        : refuseSecret(outcome, secretKey);
    },

    secretStatuses: async (secretKeys: readonly string[], caller: Caller) => {
      const asked = [...new Set(secretKeys)];
      const found = await Promise.all(
        asked.map(
          async (secretKey) => [secretKey, await service.secretStatus({ secretKey }, caller)] as const,
        ),
      );
      return ok(encodeStatuses(secretKeys, new Map(found)));
    },

    reveal: async ({ input, checkOnly, ignored }: RevealRequest, caller: Caller) => {
      const { secretKey } = input;
      if (checkOnly) return answerInspected(await service.inspect(input, caller), secretKey, caller, ignored);
      const outcome = await service.reveal(input, caller);
      if (outcome.outcome !== 'revealed') return refuseSecret(outcome, secretKey);
      return ok(encodeRevealed(outcome.secret, outcome.value.expose(), caller, ignored));
    },

    receipt: async (metadataKey: string, caller: Caller) => {
      const outcome = await service.findReceipt({ metadataKey, authority }, caller);
      if (outcome.outcome === 'unknown') return unknownMetadata(metadataKey);
      return ok(encodeReceipt(outcome.receipt, caller, links));
    },

    change: async ({ metadataKey, memo, ignored }: ChangeRequest, caller: Caller) => {
      const input = { metadataKey, authority };
      const outcome =
        memo === undefined
          ? await service.findReceipt(input, caller)
          : await service.setMemo({ ...input, memo }, caller);
      if (outcome.outcome === 'found') return ok(encodeChanged(outcome.receipt, caller, links, ignored));
      return outcome.outcome === 'unknown' ? unknownMetadata(metadataKey) : refuseMemo(outcome);
    },

    burn: async ({ metadataKey, isAbandoned, checkOnly, ignored }: BurnRequest, caller: Caller) => {
      const input = { metadataKey, authority, isAbandoned, proof: null };
      const outcome = checkOnly ? await checkBurn(service, input, caller) : await service.burn(input, caller);
      switch (outcome.outcome) {
        case 'burned':
        case 'found':
          return ok(encodeBurned(outcome.receipt, caller, links, ignored));
        case 'already_gone':
          return refuse('already_gone', { extra: { record: encodeMetadata(outcome.receipt, links) } });
        case 'abandoned':
          return encodeProblem(clientLeft);
        case 'unknown':
          return unknownMetadata(metadataKey);
        case 'passphrase_missing':
        case 'passphrase_wrong':
          return refuse('incorrect_passphrase');
        case 'attempts_exhausted':
          return refuseAttempts(outcome.retryAfterSeconds);
      }
    },

    deliver: async ({ metadataKey, locale: asked, ignored, ...rest }: DeliverRequest, caller: Caller) => {
      const locale = languageFor(asked);
      const outcome = await service.deliver({ ...rest, metadataKey, authority: ownersAlone, locale }, caller);
      if (outcome.outcome === 'unknown') return unknownMetadata(metadataKey);
      if (outcome.outcome !== 'queued') return refuseDelivery(outcome, links);
      const remarks = { adjusted: adjustedLocaleOf(asked, locale), ignored };
      return ok(encodeDelivered(outcome.receipt, caller, links, remarks));
    },

    recent: async (input: RecentInput, caller: Caller) => {
      if (caller.kind !== 'account') return encodeProblem({ problem: 'not_authorized' });
      const outcome = await service.recent(input, caller);
      if (outcome.outcome === 'invalid_cursor') {
        return refuseFields([{ field: 'cursor', message: 'Must be the next_cursor of an earlier page' }]);
      }
      return ok(encodeRecent(outcome.receipts, outcome.nextCursor, caller, links, clock()));
    },

    authcheck: (_input: null, caller: Caller) =>
      caller.kind === 'account'
        ? ok(encodeAccount(caller, plans[caller.account.plan], defaultLocale))
        : encodeProblem({ problem: 'not_authorized' }),
  };
}

/** What a burn would find, without burning. */
async function checkBurn(service: SecretService, input: ReceiptInput, caller: Caller) {
  const looked = await service.findReceipt(input, caller);
  if (looked.outcome === 'unknown' || looked.receipt.secretTtlSeconds !== null) return looked;
  return { outcome: 'already_gone' as const, receipt: looked.receipt };
}

function answerInspected(
  outcome: InspectOutcome,
  secretKey: string,
  caller: Caller,
  ignored: readonly string[] = [],
): Reply {
  if (outcome.outcome !== 'waiting') return refuseSecret(outcome, secretKey);
  return ok(encodeInspected(outcome.secret, caller, ignored));
}

function refuseSecret(refusal: SecretRefusal | Abandoned, secretKey: string): Reply {
  switch (refusal.outcome) {
    case 'abandoned':
      return encodeProblem(clientLeft);
    case 'unknown':
      return refuse('unknown_secret', { extra: { secret_key: secretKey } });
    case 'passphrase_missing':
    case 'passphrase_wrong':
      return refuse('incorrect_passphrase');
    case 'attempts_exhausted':
      return refuseAttempts(refusal.retryAfterSeconds);
  }
}

function unknownMetadata(metadataKey: string): Reply {
  return refuse('unknown_secret', { extra: { metadata_key: metadataKey } });
}

function refuseMemo(refusal: MemoRefusal): Reply {
  return refuseFields([{ field: 'memo', message: messageOf(refusal) }]);
}

function messageOf(refusal: MemoRefusal): string {
  return refusal.outcome === 'ill_formed' ? illFormed : `Must be at most ${refusal.maxCharacters} characters`;
}

function refuseDelivery(
  outcome: Exclude<DeliverOutcome, { outcome: 'queued' | 'unknown' }>,
  links: Links,
): Reply {
  const wrong = (message: string) => refuseFields([{ field: 'recipient', message }]);
  switch (outcome.outcome) {
    case 'in_flight':
      return refuse('delivery_in_flight');
    case 'nothing_to_send':
      return outcome.receipt.secretTtlSeconds === null
        ? refuse('already_gone', { extra: { record: encodeMetadata(outcome.receipt, links) } })
        : wrong('The secret was never sent to an address: name one');
    case 'undeliverable_recipient':
      return wrong(undeliverable);
    case 'recipient_needs_account':
      return refuse('account_required', { message: recipientNeedsAccount });
    case 'too_many_mails':
      return refuseMails(outcome);
  }
}

/** @param prefix what stands before a field's name in the body that was sent */
function refuseCreation(outcome: Exclude<CreationOutcome, { outcome: 'created' }>, prefix: string): Reply {
  const wrong = (name: string, message: string) => refuseFields([{ field: prefix + name, message }]);
  switch (outcome.outcome) {
    case 'nothing_to_share':
      return wrong('secret', 'You did not provide anything to share');
    case 'ill_formed':
      return wrong(outcome.field, illFormed);
    case 'value_too_large':
      return refuse('too_large', {
        message: `The secret is larger than the limit of ${outcome.maxBytes} bytes`,
        extra: { limit: outcome.maxBytes },
      });
    case 'passphrase_too_long':
      return wrong('passphrase', `Must be at most ${outcome.maxBytes} bytes`);
    case 'memo_too_long':
      return wrong('memo', messageOf(outcome));
    case 'recipient_needs_account':
      return refuse('account_required', { message: recipientNeedsAccount });
    case 'notify_needs_account':
      return refuse('account_required', { message: 'An account is required to be notified.' });
    case 'account_required':
      return refuse('account_required', { message: 'An account is required to create secrets.' });
    case 'undeliverable_recipient':
      return wrong('recipient', undeliverable);
    case 'too_many_mails':
      return refuseMails(outcome);
    case 'public_sharing_disabled':
      return refuse('public_sharing_disabled', {
        message: `${refusals.public_sharing_disabled.message}: ${outcome.shareDomain}`,
      });
    case 'unknown_share_domain':
      return wrong('share_domain', `Unknown domain: ${outcome.shareDomain}`);
  }
}

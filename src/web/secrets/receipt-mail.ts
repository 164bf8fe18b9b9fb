/**
 * The mail with the link, sent from the receipt: again, or to another address.
 *
 * Owns: its POST and what is said of every outcome. Invariant: a refusal of any kind gives the form back with what was
 * typed, and an address that was typed stands in no redirect.
 */
import type { DeliverOutcome, ReceiptView } from '../../core/secrets/outcomes.ts';
import { Sensitive } from '../../core/sensitive.ts';
import { type PageReply, type PageRequest, type PageRoute, seeOther } from '../page.ts';
import {
  authority,
  find,
  type ReceiptDeps,
  receiptReply,
  refuseOnReceipt,
  unknownReceipt,
} from './receipt-reply.tsx';
import { type MailAsked, type MailRefusal, mayChooseRecipient, type TypedMail } from './receipt-send.tsx';

/** In the address after a mail was queued: the page then says what became of it, as far as that is true. */
const afterMail = { name: 'mail', value: 'sent' } as const;

export function createReceiptMailPages(deps: ReceiptDeps): PageRoute[] {
  return [
    {
      name: 'sendAgain',
      get: { limit: 'none', handle: ({ frame, key }) => seeOther(frame.href('receipt', key)) },
      post: {
        limit: 'manage',
        handle: (request) => send(request, deps),
        refuse: async (request, problem) => {
          const typed = await typedIn(request);
          return refuseOnReceipt(request, deps, problem, ({ receipt, status, message }) => {
            const refusal = { status, message, field: null, needsLogIn: false };
            return refusedReply(request, deps, typed, receipt, refusal);
          });
        },
      },
    },
  ];
}

/** Whatever the address claims, the words come from the record. */
export function mailTaken({ query, frame }: PageRequest, { delivery }: ReceiptView): MailAsked | null {
  if (delivery === null || query.get(afterMail.name) !== afterMail.value) return null;
  return { typed: { recipient: '', locale: frame.words.locale }, refusal: null };
}

async function typedIn(request: PageRequest): Promise<TypedMail> {
  const { locales, words } = request.frame;
  const form = await request.form();
  const locale = locales.find((tag) => tag === form.text('mail-language')) ?? words.locale;
  return { recipient: form.text('recipient'), locale };
}

async function send(request: PageRequest, deps: ReceiptDeps): Promise<PageReply> {
  const { key, frame, caller } = request;
  const typed = await typedIn(request);
  const { recipient, locale } = typed;
  const address = recipient === '' ? null : new Sensitive(recipient);
  const asked = { metadataKey: key, authority, locale, recipient: address } as const;
  const outcome = await deps.service.deliver(asked, caller);
  if (outcome.outcome === 'unknown') return unknownReceipt(request);
  if (outcome.outcome === 'queued') {
    const page = frame.href('receipt', outcome.receipt.metadataKey);
    return seeOther(`${page}?${afterMail.name}=${afterMail.value}#mail`);
  }
  const found = await find(request, deps);
  if (found.outcome === 'unknown') return unknownReceipt(request);
  const { receipt } = found;
  return refusedReply(request, deps, typed, receipt, refusalOf(request, outcome, receipt, typed));
}

interface Refusal extends MailRefusal {
  readonly status: number;
  readonly headers?: PageReply['headers'];
}

/** The receipt as it now is, with the form and what was wrong. */
function refusedReply(
  request: PageRequest,
  deps: ReceiptDeps,
  typed: TypedMail,
  receipt: ReceiptView,
  { status, headers, ...refusal }: Refusal,
): PageReply {
  return receiptReply(status, request, deps, { receipt, mail: { typed, refusal } }, headers);
}

function refusalOf(
  { frame }: PageRequest,
  refused: Exclude<DeliverOutcome, { outcome: 'queued' | 'unknown' }>,
  receipt: ReceiptView,
  typed: TypedMail,
): Refusal {
  const { say, duration } = frame.words;
  const whole = (status: number, message: string) => ({ status, message, field: null, needsLogIn: false });
  const ofField = (status: number, message: string) => ({
    ...whole(status, message),
    field: 'recipient' as const,
  });
  if (receipt.secretKey === null) return whole(409, say('receipt.mailNothing'));
  switch (refused.outcome) {
    case 'in_flight':
      return whole(409, say('receipt.mailInFlight'));
    case 'nothing_to_send':
      return typed.recipient === '' && mayChooseRecipient(frame, receipt)
        ? ofField(422, say('receipt.mailNobody'))
        : whole(409, say('receipt.mailNothing'));
    case 'undeliverable_recipient':
      return ofField(422, say('share.recipientWrong'));
    case 'recipient_needs_account':
      return frame.visitor === null
        ? { ...whole(403, say('receipt.mailNeedsAccount')), needsLogIn: true }
        : whole(403, say('receipt.mailNeedsMaker'));
    case 'too_many_mails': {
      const { retryAfterSeconds } = refused;
      const headers = { 'retry-after': String(retryAfterSeconds) };
      const message = say('receipt.mailTooMany', { wait: duration(retryAfterSeconds) });
      return { ...whole(429, message), headers };
    }
  }
}

/** A secret's lifetime, and the ready-made message for its link. */
import type { Links } from '../../core/links.ts';
import type { ReceiptView } from '../../core/secrets/outcomes.ts';
import type { Locale, MessageKey } from '../../locale/catalogues.ts';
import { formatMoment, translate } from '../../locale/translate.ts';
import type { MessageParts } from '../client/link-message.ts';

export function expiryOf({ createdAt, ttlSeconds }: Pick<ReceiptView, 'createdAt' | 'ttlSeconds'>): number {
  return createdAt + ttlSeconds;
}

/** Returns whether someone with the link burned the secret, rather than its creator or an operator. */
export function isBurnedByRecipient({ burnedBy }: Pick<ReceiptView, 'burnedBy'>): boolean {
  return burnedBy === 'recipient';
}

export function partLeft({
  secretTtlSeconds,
  ttlSeconds,
}: Pick<ReceiptView, 'secretTtlSeconds' | 'ttlSeconds'>): number {
  return secretTtlSeconds === null || ttlSeconds === 0 ? 0 : Math.min(1, secretTtlSeconds / ttlSeconds);
}

/** Returns the link as the server knows it: without the fragment of an end-to-end secret. `null` once the secret is gone. */
export function linkOf(receipt: ReceiptView, links: Links): string | null {
  return receipt.secretKey === null ? null : links.secretUrl(receipt.secretKey, receipt.shareDomain);
}

/** Builds the message for sending a link. Recipients read it later and elsewhere, so its time is in UTC and says so. */
export function linkMessage(locale: Locale, receipt: ReceiptView): MessageParts {
  const until = { date: formatMoment(locale, expiryOf(receipt)) };
  const lines: readonly (readonly [MessageKey, typeof until] | readonly [MessageKey])[] = [
    ['receipt.messageIntro'],
    ['receipt.messageOnce'],
    ['receipt.messageUntil', until],
    ...(receipt.hasPassphrase ? ([['receipt.messagePassphrase']] as const) : []),
    ...(receipt.verify ? ([['receipt.messageVerify']] as const) : []),
    ...(receipt.sealed ? ([['receipt.messageSealed']] as const) : []),
  ];
  const text = lines.map(([key, params]) => translate(locale, key, params)).join('\n');
  return { subject: translate(locale, 'receipt.messageSubject'), text };
}

/**
 * Bounds on mails to recipients: a mail counts against its sender's account and the mailbox that it goes to, or against
 * neither. No address is kept: mailboxes are counted by a hash under a key that follows from the root, so that all nodes
 * count the same mailbox alike (P18, P21).
 */
import { createHmac } from 'node:crypto';
import type { AccountId } from '../core/accounts/accounts.ts';
import type { MailQuota } from '../core/mail/mailer.ts';
import type { Sensitive } from '../core/sensitive.ts';
import type { LimitedCall, RateLimiter } from './rate-limit.ts';

/** @param key 32 bytes, the same on all nodes */
export function createMailQuota(
  limiter: Pick<RateLimiter, 'takeShared' | 'refundShared'>,
  key: Uint8Array,
): MailQuota {
  /** Mail servers take most addresses without regard to case. */
  const mailboxOf = (address: Sensitive<string>) =>
    createHmac('sha256', key).update(address.expose().toLowerCase()).digest('base64');
  const callsOf = (account: AccountId, address: Sensitive<string>): LimitedCall[] => [
    { name: 'mail', party: 'account', client: account },
    { name: 'mailbox', party: 'account', client: mailboxOf(address) },
  ];
  return {
    async take(account, address) {
      const refusal = await limiter.takeShared(callsOf(account, address));
      if (refusal === null) return { outcome: 'allowed' };
      return { outcome: 'too_many', retryAfterSeconds: refusal.retryAfterSeconds };
    },
    refund: (account, address) => limiter.refundShared(callsOf(account, address)),
  };
}

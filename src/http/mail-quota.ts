/**
 * Bounds on mails to recipients, counted by the rate limiter.
 *
 * Owns: what a mail counts against: its sender's account, and the mailbox that it goes to. Invariant: a mail counts against
 * both or against neither, and no address stays in memory: mailboxes are counted by a hash under a key that this process
 * drew and tells nobody (P18).
 */
import { createHmac } from 'node:crypto';
import type { MailQuota } from '../core/mail/mailer.ts';
import type { Sensitive } from '../core/sensitive.ts';
import { type RandomBytes, systemRandom } from '../crypto/random.ts';
import type { RateLimiter } from './rate-limit.ts';

export function createMailQuota(limiter: RateLimiter, random: RandomBytes = systemRandom): MailQuota {
  const key = random(32);
  /** Mail servers take most addresses without regard to case. */
  const mailboxOf = (address: Sensitive<string>) =>
    createHmac('sha256', key).update(address.expose().toLowerCase()).digest('base64');
  return {
    take(account, address) {
      const ofAccount = limiter.take('mail', 'account', account);
      if (ofAccount !== null) return tooMany(ofAccount);
      const ofMailbox = limiter.take('mailbox', 'account', mailboxOf(address));
      if (ofMailbox === null) return { outcome: 'allowed' };
      limiter.refund('mail', 'account', account);
      return tooMany(ofMailbox);
    },
    refund(account, address) {
      limiter.refund('mail', 'account', account);
      limiter.refund('mailbox', 'account', mailboxOf(address));
    },
  };
}

function tooMany({ retryAfterSeconds }: { readonly retryAfterSeconds: number }) {
  return { outcome: 'too_many', retryAfterSeconds } as const;
}

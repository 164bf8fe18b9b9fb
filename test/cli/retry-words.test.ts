/** A refusal that says when a retry makes sense: the command says it once, whatever the API's own message says. */
import { describe, expect, it } from 'bun:test';
import { MayflyError } from '../../sdk/mayfly.ts';
import { dialectOf } from '../../src/api/v1/dialect.ts';
import { encodeKeyRefusal } from '../../src/api/v1/refusals.ts';
import { encodeProblem, refuse, refuseAttempts, refuseMails } from '../../src/api/v2/refusals.ts';
import { sentenceOf } from '../../src/cli/client.ts';

const chosen = { server: 'https://secrets.example.org', isAnonymous: true, target: null };

function sentence(message: string, retryAfterSeconds: number | null): string {
  return sentenceOf(new MayflyError('unavailable', message, { retryAfterSeconds }), chosen);
}

const exhausted = { outcome: 'attempts_exhausted', retryAfterSeconds: 597 } as const;

const replies = [
  [refuse('unavailable'), 'Temporarily unavailable'],
  [refuse('rate_limited'), 'Too many requests'],
  [refuseMails({ retryAfterSeconds: 2 }), 'Too many mails'],
  [
    refuseAttempts({ ...exhausted, needsCreator: false }),
    'Too many wrong passphrases were tried on this secret',
  ],
  [encodeProblem({ problem: 'storage_full', retryAfterSeconds: 2 }), 'There is no room for another secret'],
] as const;

describe('when to try again', () => {
  for (const [reply, what] of replies) {
    const { message } = reply.body as { message: string };
    it(`appears once after "${message}"`, () => {
      expect(sentence(message, 597)).toBe(`${what}. Try again in 9 minutes 57 seconds.`);
    });

    it(`is left to "${message}" where the server does not say when`, () => {
      expect(sentence(message, null)).toBe(`${message}.`);
    });
  }

  it('is not said where only the creator can lift a lock, in either version', () => {
    const key = '0'.repeat(31);
    const locked = { ...exhausted, needsCreator: true };
    const replies = [refuseAttempts(locked), encodeKeyRefusal(locked, key, dialectOf('documented'))];
    for (const { body } of replies) {
      const { message } = body as { message: string };
      const told = sentenceOf(
        new MayflyError('too_many_attempts', message, { retryAfterSeconds: 597 }),
        chosen,
      );
      expect(told).toMatch(/ stays locked until its creator allows more: ask them\.$/);
    }
  });

  it('follows a message that says nothing of it, whole', () => {
    expect(sentence('Not now', 2)).toBe('Not now. Try again in 2 seconds.');
    expect(sentence('Try again later.', 2)).toBe('Try again later. Try again in 2 seconds.');
  });
});

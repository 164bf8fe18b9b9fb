/** Why a link does not open now, in words, whoever asks: a form or the script of an end-to-end secret. */
import type { WrongPassphrase } from '../../core/secrets/outcomes.ts';
import type { SecretService } from '../../core/secrets/service.ts';
import type { Clock } from '../../core/time.ts';
import type { PageProblem } from '../kit/page.ts';
import type { Words } from '../kit/words.ts';
import type { Delay } from './secret-page.tsx';

export interface SecretDeps {
  readonly service: Pick<SecretService, 'secretStatus' | 'reveal' | 'finishLook'>;
  readonly clock: Clock;
  /** Whether a browser keeps the cookie of the second look from this host. */
  readonly keepsCookies: (host: string) => boolean;
}

export function wrongPassphraseText(
  words: Words,
  { attemptsLeft, moreAfterSeconds }: WrongPassphrase,
): string {
  const wait = words.duration(moreAfterSeconds);
  if (attemptsLeft === null) return words.say('secret.passphraseWrongPlain');
  if (attemptsLeft === 0) return words.say('secret.passphraseWrongLast', { wait });
  return words.say('secret.passphraseWrong', { count: attemptsLeft, wait });
}

export function laterOf(words: Words, problem: PageProblem): Delay {
  const wait = words.duration('retryAfterSeconds' in problem ? problem.retryAfterSeconds : 0);
  const lead = problem.problem === 'rate_limited' ? 'secret.rate' : 'secret.unavailable';
  return { title: words.say('secret.laterTitle'), lead: words.say(lead, { wait }), until: null };
}

/** Wrong guesses at a passphrase, until nobody may make another. */

import { attemptLimits } from '../../src/core/secrets/attempts.ts';
import type { Proofs } from '../../src/core/secrets/end-to-end.ts';
import type { SecretService } from '../../src/core/secrets/service.ts';
import { guess } from './service-bench.ts';

interface Guessed {
  readonly service: Pick<SecretService, 'reveal'>;
  readonly clock: { advance(seconds: number): void };
}

/**
 * As many as a window allows, each from another network.
 * @param proofs of a wrong passphrase, for an end-to-end secret
 */
export async function lockWindow(
  { service }: Pick<Guessed, 'service'>,
  secretKey: string,
  proofs: Proofs | null = null,
): Promise<void> {
  for (let n = 0; n < attemptLimits.perSecret; n += 1) {
    const wrong = guess(secretKey, proofs === null ? 'wrong' : '', `100.64.${n}.0/24`);
    await service.reveal({ ...wrong, proofs }, { kind: 'anonymous' });
  }
}

/** As many as a life allows, and the windows are over. */
export async function lockLife(app: Guessed, secretKey: string, proofs: Proofs | null = null): Promise<void> {
  for (let n = 0; n < attemptLimits.perLife; n += attemptLimits.perSecret) {
    await lockWindow(app, secretKey, proofs);
    app.clock.advance(attemptLimits.windowSeconds);
  }
}

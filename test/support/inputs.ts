/** Inputs of the core with everything optional left out, so that tests give only what they are about. */
import type { CreationOptions, GenerateInput } from '../../src/core/secrets/outcomes.ts';

export const noOptions: CreationOptions = {
  passphrase: null,
  ttlSeconds: null,
  recipient: null,
  shareDomain: null,
  arrivedOn: null,
  clientPrefix: null,
  locale: null,
  notify: null,
  memo: null,
};

export const anyGenerated: GenerateInput = { ...noOptions, length: null, charset: null };

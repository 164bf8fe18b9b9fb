/** Inputs of the core with everything optional left out, so that tests give only what they are about. */
import type { ConcealInput, CreationOptions, GenerateInput } from '../../src/core/secrets/outcomes.ts';

export const noOptions: CreationOptions & Pick<ConcealInput, 'sealed'> = {
  sealed: null,
  passphrase: null,
  ttlSeconds: null,
  recipient: null,
  shareDomain: null,
  arrivedOn: null,
  clientPrefix: null,
  locale: null,
  notify: null,
  memo: null,
  note: null,
  verify: null,
};

const { sealed: _sealed, ...generated } = noOptions;

export const anyGenerated: GenerateInput = { ...generated, length: null, charset: null };

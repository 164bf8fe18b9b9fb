/**
 * A sealed secret with everything that went into it, for tests of the record's format. Seeded random bytes replace
 * argon2id's output, so no test pays for it.
 */
import { deriveSecretId } from '../../src/crypto/derive.ts';
import { type SealInput, type SecretContext, sealSecret } from '../../src/crypto/envelope.ts';
import { createKeyRing, type KeyRing, type RootKey } from '../../src/crypto/keyring.ts';
import { randomText } from '../../src/crypto/random.ts';
import { seededRandom } from './seeded-random.ts';

export interface SealedSample {
  readonly row: Uint8Array;
  readonly secretKey: string;
  readonly context: SecretContext;
  readonly root: RootKey;
  readonly ring: KeyRing;
  readonly value: Uint8Array;
  readonly passphrase: NonNullable<SealInput['passphrase']> | null;
}

export interface SampleOptions {
  readonly seed?: string;
  readonly value?: string;
  readonly hasPassphrase?: boolean;
  readonly owner?: number | null;
  readonly shareDomain?: string;
  readonly kid?: number;
}

const keyAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

export function sealedSample(options: SampleOptions = {}): SealedSample {
  const random = seededRandom(`sample ${options.seed ?? 'one'}`);
  const secretKey = randomText(keyAlphabet, 31, random);
  const root = { kid: options.kid ?? 1, key: random(32) };
  const passphrase =
    options.hasPassphrase === true
      ? { key: random(32), verifierHash: '$2b$04$abcdefghijklmnopqrstuuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ' }
      : null;
  const context = {
    secretId: deriveSecretId(secretKey),
    createdAt: 1_790_000_000,
    expiresAt: 1_790_604_800,
    hasPassphrase: passphrase !== null,
    owner: options.owner ?? null,
    shareDomain: options.shareDomain ?? '',
  };
  const value = new TextEncoder().encode(options.value ?? 'correct horse battery staple');
  const row = sealSecret({ value, secretKey, salt: random(32), passphrase, context, root, random });
  return { row, secretKey, context, root, ring: createKeyRing([root]), value, passphrase };
}

/** argon2id in WebAssembly. Large, so only imported dynamically. */
import { argon2id } from 'hash-wasm';
import type { Stretch } from './sealing.ts';

export const stretch: Stretch = (passphrase, salt) =>
  argon2id({
    password: passphrase,
    salt,
    memorySize: 19_456,
    iterations: 2,
    parallelism: 1,
    hashLength: 32,
    outputType: 'binary',
  });

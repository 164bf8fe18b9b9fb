/** An end-to-end secret that waits, sealed as a client does it. */
import { type Content, seal } from '../../sdk/sealing.ts';
import { stretch } from '../../sdk/stretch.ts';
import type { Caller } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import type { TestApp } from '../support/app.ts';
import { noOptions } from '../support/inputs.ts';

export interface SealedLink {
  /** Path and fragment. */
  readonly link: string;
  readonly path: string;
  readonly fragment: string;
  readonly metadataKey: string;
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'));

export async function makeSealed(
  app: Pick<TestApp, 'service'>,
  content: Content | string,
  passphrase: string | null = null,
  caller: Caller = { kind: 'anonymous' },
  note = '',
  verify = '',
): Promise<SealedLink> {
  const whole = typeof content === 'string' ? ({ kind: 'text', text: content } as const) : content;
  const { sealed, fragment } = await seal({ content: whole, passphrase, note, stretch });
  const input = {
    ...noOptions,
    value: new Sensitive(''),
    passphrase: null,
    ttlSeconds: null,
    verify: new Sensitive(verify),
    sealed: {
      ciphertext: bytes(sealed.ciphertext),
      linkHash: bytes(sealed.link_hash),
      proofHash: bytes(sealed.proof_hash),
      hasPassphrase: sealed.passphrase,
      note: sealed.note === undefined ? null : bytes(sealed.note),
    },
  };
  const made = await app.service.conceal(input, caller);
  if (made.outcome !== 'created') throw new Error(`nothing was made: ${made.outcome}`);
  const { secretKey, metadataKey } = made.receipt;
  if (secretKey === null) throw new Error('what was just made is gone');
  const path = `/secret/${secretKey}`;
  return { link: `${path}#${fragment}`, path, fragment, metadataKey };
}

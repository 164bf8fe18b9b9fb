/** What an opener without the mailbox does to a secret that asks for a code. */
import type { Made } from './calls.ts';
import type { RawAnswer, RawRequest } from './raw-client.ts';

type Ask = (request: RawRequest) => Promise<RawAnswer>;

/** Has a code mailed, and tries others until no more are allowed. */
export async function guessCodes(
  ask: Ask,
  { secretKey }: Made,
  { nonce, passphrase }: { readonly nonce: Buffer; readonly passphrase: string },
): Promise<void> {
  const look = nonce.toString('base64url');
  const call = (end: string, fields: object) =>
    ask({
      method: 'POST',
      path: `/api/v2/secret/${secretKey}/${end}`,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ look, ...fields }),
    });
  const asked = await call('code', {});
  if (asked.status !== 200) throw new Error(`a code was refused: ${asked.status}`);
  await call('code', { look: `${look}=` });
  const wrong = Array.from({ length: 6 }, (_, n) => `00000${n}`);
  for (const code of [...wrong, passphrase]) await call('reveal', { code, passphrase });
}

/** The worker that stretches one passphrase and ends: off the page's thread, under a policy of its own (`assets.ts`). */
import type { Stretch } from '../../../sdk/sealing.ts';
import { stretch } from '../../../sdk/stretch.ts';

export type StretchOrder = Parameters<Stretch>;
/** `null`: it failed. */
export type Stretched = Uint8Array | null;

addEventListener('message', async ({ data }: MessageEvent<StretchOrder>) => {
  postMessage(await stretch(...data).catch(() => null));
});

/** The worker that stretches one passphrase, under its own policy (`web/assets/assets.ts`). */
import type { Stretch } from '../../../sdk/sealing.ts';
import { stretch } from '../../../sdk/stretch.ts';

export type StretchOrder = Parameters<Stretch>;
export type Stretched = Uint8Array | null;

addEventListener('message', async ({ data }: MessageEvent<StretchOrder>) => {
  postMessage(await stretch(...data).catch(() => null));
});

/** The client in `sdk/` as pages on the same origin may load it, as one file. */
import { fileOf } from './assets.ts';
import { bundleSdk } from './sdk-bundle.ts' with { type: 'macro' };

export const sdkFile = fileOf(bundleSdk(), 'text/javascript; charset=utf-8');

/** What the pages run, as the browser gets it. */
import { bundleScripts } from './bundle.ts' with { type: 'macro' };

export const scriptTexts: Readonly<Record<string, string>> = bundleScripts([
  'colour',
  'copy',
  'receipt',
  'reveal',
  'sealed',
  'sealed-link',
  'share',
  'stretch-worker',
  'time',
]);

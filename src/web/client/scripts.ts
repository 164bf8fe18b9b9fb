/**
 * What the pages run, as the browser gets it. Never imported while requests are served: from the sources, a macro that runs then can
 * lose what waits for the event loop.
 */
import { bundleScripts } from './bundle.ts' with { type: 'macro' };

export const scriptTexts = bundleScripts([
  'account',
  'colour',
  'copy',
  'gone',
  'receipt',
  'reveal',
  'sealed',
  'sealed-link',
  'share',
  'stretch-worker',
  'time',
]);

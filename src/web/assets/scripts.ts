/** The pages' scripts. Import it only at the start: from the sources, a macro that runs while requests are served can lose events. */
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

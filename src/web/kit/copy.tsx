/**
 * A button that copies, and where it says what became of it.
 *
 * Owns: the markup that `client/copy.ts` looks for. Invariant: without scripts neither is seen; the text itself stands in a
 * field of the page and can be copied by hand.
 */
import type { FC } from 'hono/jsx';
import { Icon } from './icons.tsx';

/** `target` is the id of the field that is copied. */
export const CopyButton: FC<{ target: string; label: string }> = ({ target, label }) => (
  <button type="button" hidden data-copy={`#${target}`}>
    <Icon name="copy" />
    <span>{label}</span>
  </button>
);

/** One a page, after the button. */
export const CopyStatus: FC<{ copied: string; failed: string }> = ({ copied, failed }) => (
  <p class="copied" id="copied" role="status" data-copied={copied} data-failed={failed} />
);

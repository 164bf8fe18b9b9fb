/**
 * The look: one small style sheet, put together from a file for what all pages share and one for each kind of page.
 *
 * Owns: the order and the packing. Invariant: nothing is loaded from it, system fonts only; text contrast is at least
 * 4.5 : 1 and that of borders and focus marks 3 : 1 in every colour scheme (WCAG 2.2 AA).
 */
import about from './style/about.css' with { type: 'text' };
import account from './style/account.css' with { type: 'text' };
import base from './style/base.css' with { type: 'text' };
import domains from './style/domains.css' with { type: 'text' };
import frame from './style/frame.css' with { type: 'text' };
import print from './style/print.css' with { type: 'text' };
import receipt from './style/receipt.css' with { type: 'text' };
import secret from './style/secret.css' with { type: 'text' };
import share from './style/share.css' with { type: 'text' };

/** Without comments and the blanks at the ends of lines; compression takes care of the rest. */
function pack(css: string): string {
  return css
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .join('');
}

export const styleText = [base, frame, share, receipt, secret, account, domains, about, print]
  .map(pack)
  .join('');

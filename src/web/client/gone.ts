/** The page of a secret that is gone: its ready text is copied, or shared with another app. */
import { beginCopying } from './copying.ts';

beginCopying();

const button = document.querySelector<HTMLButtonElement>('button[data-share-text]');
const text = document.querySelector(button?.dataset.shareText ?? 'none')?.textContent ?? '';
if (button !== null && typeof navigator.share === 'function') {
  button.hidden = false;
  button.addEventListener('click', () => {
    // Closing the sheet without choosing is no error.
    navigator.share({ text }).catch(() => {});
  });
}

/** A text ready for the sender: it is copied, or shared with another app. */
import { beginCopying } from './copying.ts';
import { offerSharing } from './sharing.ts';

export function beginTelling(): void {
  beginCopying();
  const button = document.querySelector<HTMLButtonElement>('button[data-share-text]');
  const text = document.querySelector(button?.dataset.shareText ?? 'none')?.textContent ?? '';
  offerSharing(button, () => ({ text }));
}

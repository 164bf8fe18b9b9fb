/** The page of a secret that is gone: its ready text is copied, or shared with another app. */
import { beginCopying } from './copying.ts';
import { offerSharing } from './sharing.ts';

beginCopying();

const button = document.querySelector<HTMLButtonElement>('button[data-share-text]');
const text = document.querySelector(button?.dataset.shareText ?? 'none')?.textContent ?? '';
offerSharing(button, () => ({ text }));

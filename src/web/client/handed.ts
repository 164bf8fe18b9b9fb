/** What the share form has handed to this page. It is out of the history before anything is shown. */
import { type Handover, readHandover } from './handover.ts';

export function takeHandover(): Handover {
  const handed = readHandover(history.state);
  if (history.state === null) return handed;
  history.replaceState(null, '');
  const heading = document.querySelector('h1');
  if (heading !== null) heading.tabIndex = -1;
  heading?.focus();
  // The form had this page shown from its top. A reload may restore where its reader was; asked earlier, the browser would do so now.
  window.addEventListener('pagehide', () => {
    history.scrollRestoration = 'auto';
  });
  return handed;
}

/** Nothing of it stays where the page may be shown again from. */
export function onLeaving(forget: () => void): void {
  window.addEventListener('pagehide', forget);
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

export function showPassphrase(passphrase: string | null): void {
  const chip = document.getElementById('passphrase-chip');
  const value = document.getElementById('passphrase-value');
  if (chip === null || value === null || passphrase === null) return;
  value.textContent = passphrase;
  chip.hidden = false;
  document.getElementById('passphrase-reminder')?.remove();
  onLeaving(() => {
    value.textContent = '';
  });
}

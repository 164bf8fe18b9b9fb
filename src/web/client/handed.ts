/** What the share form has handed to this page. It is out of the history before anything is shown, so a reload does not have it. */
import { type Handover, readHandover } from './handover.ts';

export function takeHandover(): Handover {
  const handed = readHandover(history.state);
  if (handed.fragment !== null || handed.passphrase !== null) history.replaceState(null, '');
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

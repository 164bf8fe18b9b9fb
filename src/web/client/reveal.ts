/**
 * The recipient's page with scripts: shows what was typed, covers and saves what was opened, and leaves nothing behind.
 *
 * Owns: nothing that the page needs; each part works, or is not missed, without it. Invariants: a press opens once, however
 * often it is repeated; the value is taken out of the page when the page is left, and a page that comes back from a
 * browser's memory asks the server again; nothing is stored, and nothing is copied unless a person presses for it.
 */
function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind | null {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** A button that says the opposite after each press. */
function onToggle(button: HTMLButtonElement | null, toggle: () => void): void {
  const label = button?.querySelector('span') ?? null;
  if (button === null || label === null) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const said = label.textContent ?? '';
    label.textContent = button.dataset.other ?? '';
    button.dataset.other = said;
    toggle();
  });
}

const passphrase = find('#passphrase', HTMLInputElement);
onToggle(find('[data-toggle]', HTMLButtonElement), () => {
  if (passphrase !== null) passphrase.type = passphrase.type === 'text' ? 'password' : 'text';
});

const form = find('form.opening', HTMLFormElement);
let isSent = false;
form?.addEventListener('submit', (event) => {
  // A second press would replace the first one's answer, which holds the value, by one that finds it gone.
  if (isSent) event.preventDefault();
  isSent = true;
  // What stands in a field of visible text, a browser may offer again.
  if (passphrase !== null) passphrase.type = 'password';
});

const value = find('#value', HTMLTextAreaElement);
onToggle(find('[data-cover]', HTMLButtonElement), () => {
  value?.classList.toggle('covered');
});
// Of covered text a browser would copy the dots.
value?.addEventListener('copy', (event) => {
  if (!value.classList.contains('covered')) return;
  event.clipboardData?.setData('text/plain', value.value.slice(value.selectionStart, value.selectionEnd));
  event.preventDefault();
});

/** Saved from memory, so that the list of downloads keeps no address that holds the value. */
const save = find('#save', HTMLAnchorElement);
let saved = '';
if (save !== null) {
  const bytes = Uint8Array.from(atob(save.href.slice(save.href.indexOf(',') + 1)), (byte) =>
    byte.charCodeAt(0),
  );
  saved = URL.createObjectURL(new Blob([bytes], { type: 'text/plain;charset=utf-8' }));
  save.href = saved;
}

window.addEventListener('pagehide', () => {
  if (value !== null) {
    value.value = '';
    value.textContent = '';
  }
  if (passphrase !== null) passphrase.value = '';
  save?.remove();
  URL.revokeObjectURL(saved);
});

window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.replace(location.href);
});

export {};

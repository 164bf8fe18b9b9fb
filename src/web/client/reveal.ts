/**
 * The recipient's page with scripts: toggles the passphrase, covers and saves the value, and cleans up. Only a person's own
 * press opens (a trusted event, DOM §2.9), once, however often it is repeated. The value is removed when the page is left,
 * and a page restored from the browser's memory asks the server again. Nothing is stored, and nothing is copied without a
 * press.
 */
function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind | null {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** A button that swaps its label at each press. */
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
const box = find('#open', HTMLInputElement);
let isPressed = false;
let isSent = false;

/** Disabled, the box is neither sent nor ticked by a program that ticks everything. */
function setPressed(isNow: boolean): void {
  isPressed = isNow;
  if (box === null) return;
  box.disabled = !isNow;
  box.checked = isNow;
}

if (box !== null && form !== null) {
  setPressed(false);
  form.querySelector('.sure')?.remove();
  box.hidden = true;
  form.append(box);
}

form?.querySelector('[type="submit"]')?.addEventListener('click', (event) => {
  const note = document.getElementById('by-program');
  if (note !== null) note.textContent = (event.isTrusted ? '' : note.dataset.text) ?? '';
  if (!event.isTrusted) return event.preventDefault();
  setPressed(true);
  // The form is sent, or found incomplete, before the next task.
  setTimeout(() => setPressed(false));
});

form?.addEventListener('submit', (event) => {
  // A second press would replace the answer that holds the value with one that finds it gone.
  if (!isPressed || isSent) return event.preventDefault();
  isSent = true;
  // Browsers may later suggest the text of a visible field.
  if (passphrase !== null) passphrase.type = 'password';
});

const value = find('#value', HTMLTextAreaElement);
onToggle(find('[data-cover]', HTMLButtonElement), () => {
  value?.classList.toggle('covered');
});
// Browsers would copy the dots of covered text.
value?.addEventListener('copy', (event) => {
  if (!value.classList.contains('covered')) return;
  event.clipboardData?.setData('text/plain', value.value.slice(value.selectionStart, value.selectionEnd));
  event.preventDefault();
});

/** Saved from a blob, so the list of downloads keeps no address that holds the value. */
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

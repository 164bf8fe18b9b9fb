/**
 * The recipient's page with scripts: toggles the passphrase, covers and saves the value, and cleans up. Only a person's own
 * press opens (a trusted event, DOM §2.9), once, however often it is repeated. The value is removed when the page is left,
 * and a page restored from the browser's memory asks the server again. Nothing is stored, and nothing is copied without a
 * press.
 */
import { fragmentIn } from '../../protocol/link.ts';
import { beginCopying } from './copying.ts';
import { listPairs } from './reading-view.ts';
import { beginCover, beginPassphrase, blobOf, endMinute, find, forget, passphraseField } from './shown.ts';

const minuteMs = 60_000;

/** The value's bytes, which the address of the link to save it holds until now. */
function takeBytes(): Uint8Array<ArrayBuffer> {
  const save = find('#save', HTMLAnchorElement);
  const binary = atob(save?.href.split(',')[1] ?? '');
  const bytes = Uint8Array.from(binary, (byte) => byte.charCodeAt(0));
  if (save !== null) save.href = blobOf(bytes, 'text/plain;charset=utf-8');
  return bytes;
}

const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(takeBytes());

beginPassphrase();
beginCover(text);
listPairs(text);
beginCopying();

const form = find('form.opening', HTMLFormElement);
/** What a person ticks without scripts. */
const box = find('.sure input', HTMLInputElement);
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
  const passphrase = passphraseField();
  if (passphrase !== null) passphrase.type = 'password';
});

/** A link with something after `#` leads to an end-to-end secret, so a server that says otherwise is not believed. */
function stopIfSealed(): void {
  const end = location.hash.slice(1);
  if (form === null || fragmentIn(end) === null || document.getElementById(end) !== null) return;
  const note = document.createElement('p');
  note.className = 'note alert';
  note.setAttribute('role', 'alert');
  note.textContent = form.dataset.notSealed ?? '';
  form.replaceWith(note);
  document.getElementById('consequences')?.remove();
}

stopIfSealed();
window.addEventListener('hashchange', stopIfSealed);

if (document.querySelector('.done') !== null) setTimeout(endMinute, minuteMs);

window.addEventListener('pagehide', forget);
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.replace(location.href);
});

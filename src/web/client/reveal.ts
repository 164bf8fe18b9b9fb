/**
 * Runs on the recipient's page. Only a trusted press opens the secret (DOM §2.9), and only once. Leaving the page removes the value, and
 * returning through the back/forward cache reloads the page. Nothing is stored, and only a press copies.
 */
import { lookSeconds } from '../../protocol/limits.ts';
import { fragmentIn } from '../../protocol/link.ts';
import { beginCopying } from './copying.ts';
import { find } from './dom.ts';
import { listPairs } from './opened.ts';
import { beginCover, beginPassphrase, blobOf, endMinute, forget, passphraseField } from './shown.ts';

/** Takes the value's bytes from the address of the link that saves it. */
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
/** The box that people tick without scripts. */
const box = find('.sure input', HTMLInputElement);
let isPressed = false;
let isSent = false;

/** Enables the box only during a press: while disabled, it is not sent, and programs that tick every box cannot tick it. */
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
  // The browser sends the form, or finds it incomplete, before the next task.
  setTimeout(() => setPressed(false));
});

form?.addEventListener('submit', (event) => {
  // The response to a second request, "gone", would replace the one with the value.
  if (!isPressed || isSent) return event.preventDefault();
  isSent = true;
  // Browsers may later suggest the text of a visible field.
  const passphrase = passphraseField();
  if (passphrase !== null) passphrase.type = 'password';
});

/** Stops if the link has a fragment: only an end-to-end link has one, so a server that serves a plain page is lying. */
function stopIfSealed(): void {
  const end = location.hash.slice(1);
  const isEndToEnd = document.querySelector('[name="link-proof"]') !== null;
  if (form === null || isEndToEnd || fragmentIn(end) === null || document.getElementById(end) !== null)
    return;
  const note = document.createElement('p');
  note.className = 'note alert';
  note.setAttribute('role', 'alert');
  note.textContent = form.dataset.notSealed ?? '';
  form.replaceWith(note);
  document.getElementById('consequences')?.remove();
}

stopIfSealed();
window.addEventListener('hashchange', stopIfSealed);

if (document.querySelector('.done') !== null) setTimeout(endMinute, lookSeconds * 1_000);

window.addEventListener('pagehide', forget);
window.addEventListener('pageshow', (event) => {
  if (event.persisted) location.replace(location.href);
});

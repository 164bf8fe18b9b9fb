/** Covers, saves and removes the value shown on a page. */
import { exactTexts } from './copying.ts';
import { at, byId, find } from './dom.ts';

/** Replaces the main part with a template, shown from the top; `null` if the template is missing. */
export function showInstead(selector: string): HTMLElement | null {
  const template = find(selector, HTMLTemplateElement);
  const main = document.getElementById('main');
  if (template === null || main === null) return null;
  main.replaceChildren(document.importNode(template.content, true));
  document.title = template.dataset.title ?? document.title;
  scrollTo({ top: 0, behavior: 'instant' });
  return main;
}

function onToggle(button: HTMLButtonElement | null, toggle: () => void): void {
  const label = button?.querySelector('span') ?? null;
  if (button === null || label === null) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const said = label.textContent ?? '';
    label.textContent = button.dataset.other ?? '';
    button.dataset.other = said;
    for (const icon of button.querySelectorAll('i')) icon.hidden = !icon.hidden;
    toggle();
  });
}

export const passphraseField = () => find('#passphrase', HTMLInputElement);
const valueField = () => at('textarea', 'value');

export function beginPassphrase(): void {
  const field = passphraseField();
  onToggle(find('[data-toggle]', HTMLButtonElement), () => {
    if (field !== null) field.type = field.type === 'text' ? 'password' : 'text';
  });
}

/** @param text the exact text of the field */
export function beginCover(text: string): void {
  const value = valueField();
  const card = value.closest('.opened');
  exactTexts.set(value, text);
  onToggle(find('[data-cover]', HTMLButtonElement), () => {
    card?.classList.toggle('covered');
  });
  // Browsers would copy the field's altered text or, while it is covered, the dots.
  value.addEventListener('copy', (event) => {
    const { selectionStart, selectionEnd } = value;
    const part = value.value.slice(selectionStart, selectionEnd);
    const isWhole = part === value.value;
    if (!isWhole && !card?.classList.contains('covered')) return;
    event.clipboardData?.setData('text/plain', isWhole ? (exactTexts.get(value) ?? part) : part);
    event.preventDefault();
  });
}

const blobs = new Set<string>();

/** Returns a `blob:` address, so that the browser's list of downloads does not keep the value. */
export function blobOf(bytes: Uint8Array<ArrayBuffer>, type: string): string {
  const address = URL.createObjectURL(new Blob([bytes], { type }));
  blobs.add(address);
  return address;
}

/** Removes the value, file and passphrase from the page, and everything that repeats them. */
export function forget(): void {
  const value = valueField();
  exactTexts.clear();
  value.value = '';
  value.textContent = '';
  const passphrase = passphraseField();
  if (passphrase !== null) passphrase.value = '';
  for (const held of document.querySelectorAll('#save, #download, #preview, #file-name, [data-held]'))
    held.remove();
  for (const address of blobs) URL.revokeObjectURL(address);
  blobs.clear();
}

/** The style sheet has shown this already; removes what is over from the page, too. */
export function endMinute(): void {
  for (const still of document.querySelectorAll('.still')) still.remove();
  const over = byId('over');
  over.id = 'once';
  over.classList.remove('over');
}

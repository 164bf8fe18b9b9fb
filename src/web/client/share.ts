/**
 * The share form with scripts: a live count of bytes, a shortcut, and one creation for a double click.
 *
 * Owns: nothing that the page needs; the limit stands there as text, and the server judges it. Invariant: nothing that is
 * typed is sent, stored or kept anywhere before the form is sent.
 */
function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind | null {
  const found = document.getElementById(id);
  return found instanceof kind ? found : null;
}

const form = element('share', HTMLFormElement);
const secret = element('secret', HTMLTextAreaElement);
const create = element('create', HTMLButtonElement);
const generate = element('generate', HTMLButtonElement);
const counter = element('counter', HTMLParagraphElement);
const spoken = element('counter-spoken', HTMLParagraphElement);

const numbers = new Intl.NumberFormat(document.documentElement.lang);
const encoder = new TextEncoder();
let wasOver = false;

function count(): void {
  if (secret === null || counter === null || spoken === null) return;
  const limit = Number(secret.dataset.limit);
  const used = encoder.encode(secret.value).length;
  const isOver = used > limit;
  const text = (isOver ? counter.dataset.over : counter.dataset.within) ?? '';
  counter.textContent = text
    .replace('{used}', numbers.format(used))
    .replace('{limit}', numbers.format(limit));
  counter.classList.toggle('over', isOver);
  counter.hidden = false;
  if (isOver !== wasOver) spoken.textContent = counter.textContent;
  wasOver = isOver;
}

secret?.addEventListener('input', count);
count();

form?.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.isComposing) return;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    if (create?.disabled === false) form.requestSubmit(create);
    return;
  }
  // Enter in a field of the generator generates; anywhere else it creates.
  if (event.target instanceof HTMLInputElement && event.target.name.startsWith('suggest-')) {
    event.preventDefault();
    if (generate?.disabled === false) form.requestSubmit(generate);
  }
});

function setDisabled(isDisabled: boolean): void {
  for (const button of form?.querySelectorAll('button') ?? []) button.disabled = isDisabled;
}

// After the form is on its way: a button that is disabled earlier would not say where the form goes.
form?.addEventListener('submit', () => setTimeout(setDisabled, 0, true));
// Back from the next page, or from a memory of this one.
window.addEventListener('pageshow', () => {
  setDisabled(false);
  count();
});

const shortcut = element('shortcut', HTMLParagraphElement);
if (shortcut !== null) shortcut.hidden = false;

export {};

/** The share form's elements. A refused form replaces the whole page, so they are found anew each time. */
export function element<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind | null {
  const found = document.getElementById(id);
  return found instanceof kind ? found : null;
}

/** Elsewhere a field with the focus opens a keyboard over the page, and there is nothing to drop a file from. */
export const hasMouse = (): boolean => matchMedia('(hover: hover) and (pointer: fine)').matches;

export const shareForm = () => element('share', HTMLFormElement);
export const secretField = () => element('secret', HTMLTextAreaElement);

/** The name under which a field's text goes to the server, also once the field itself has none any more. */
const nameOf = (field: HTMLInputElement | HTMLTextAreaElement) => field.dataset.name ?? field.name;

type TypedField = HTMLInputElement | HTMLTextAreaElement;

/** What only the reader of the secret may see: the value, the passphrase, and texts that drawn values took the place of. */
export function contentFields(): TypedField[] {
  const fields = document.querySelectorAll<TypedField>('#share :is(input, textarea)');
  return [...fields].filter((field) =>
    /^(?:secret|passphrase|(?:passphrase-)?(?:drawn|aside-\d+))$/.test(nameOf(field)),
  );
}

/** From here on no form that is sent by anything but the script can hold them. */
export function takeNames(): void {
  for (const field of contentFields()) {
    field.dataset.name = nameOf(field);
    field.removeAttribute('name');
  }
}

export function namedTexts(): [name: string, text: string][] {
  return contentFields().map((field) => [nameOf(field), field.value]);
}

/** Everything else in the form. */
export function bodyWithout(form: HTMLFormElement): URLSearchParams {
  const content = new Set(contentFields().map(nameOf));
  const body = new URLSearchParams({ 'by-script': '1' });
  for (const [name, text] of new FormData(form))
    if (typeof text === 'string' && !content.has(name)) body.append(name, text);
  return body;
}

/** At the field of the secret. `''`: nothing is wrong any more. */
export function sayWrong(message: string): void {
  const stopped = element('stopped', HTMLParagraphElement);
  if (stopped === null || (message === '' && stopped.textContent === '')) return;
  stopped.textContent = message;
  if (message === '') {
    secretField()?.removeAttribute('aria-invalid');
    return;
  }
  document.getElementById('secret-wrong')?.remove();
  secretField()?.setAttribute('aria-invalid', 'true');
}

/** Shows an error note from a template of the page. */
export function note(template: string, fill: (note: DocumentFragment) => void = () => {}): void {
  const found = element(template, HTMLTemplateElement);
  const place = document.getElementById('unsent');
  if (found === null || place === null) return;
  const filled = document.importNode(found.content, true);
  fill(filled);
  place.replaceChildren(filled);
  place.scrollIntoView({ block: 'nearest' });
}

export function say(id: string, text: string | undefined): void {
  const said = document.getElementById(id);
  if (said !== null && said.textContent !== text) said.textContent = text ?? '';
}

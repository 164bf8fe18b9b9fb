/** The ready message on a receipt, with the link that is shown there, in the language that its reader understands. */
import { type MessageParts, mailtoAddress, withLink } from './link-message.ts';
import { offerSharing } from './sharing.ts';

function message(): HTMLTextAreaElement | null {
  const found = document.getElementById('message');
  return found instanceof HTMLTextAreaElement ? found : null;
}

function shownLink(): string {
  const link = document.getElementById('link');
  return link instanceof HTMLTextAreaElement ? link.value : '';
}

function partsIn({ dataset: { subject = '', text = '' } }: HTMLElement): MessageParts {
  return { subject, text };
}

/** Puts the texts that the page holds together with the link. */
export function showMessage(): void {
  const field = message();
  if (field === null) return;
  const parts = partsIn(field);
  field.value = withLink(parts, shownLink());
  document.getElementById('mailto')?.setAttribute('href', mailtoAddress(parts.subject, field.value));
}

/** The texts of other languages are asked for when they are chosen. One that does not arrive leaves everything as it is. */
async function change(menu: HTMLSelectElement, field: HTMLTextAreaElement): Promise<void> {
  const locale = menu.value;
  try {
    const response = await fetch(`${field.dataset.texts}?in=${encodeURIComponent(locale)}`);
    if (!response.ok) throw new Error('not now');
    const { subject, text } = (await response.json()) as MessageParts;
    if (menu.value !== locale) return;
    Object.assign(field.dataset, { subject, text });
    field.lang = locale;
    showMessage();
  } catch {
    menu.value = field.lang;
  }
}

export function beginMessage(): void {
  const field = message();
  const menu = document.getElementById('message-language');
  if (field === null || !(menu instanceof HTMLSelectElement)) return;
  // What is copied and shared is what the menu says, also where a browser remembers an earlier choice.
  menu.value = field.lang;
  menu.form?.querySelector('button')?.remove();
  menu.addEventListener('change', () => void change(menu, field));
}

export function beginSharing(): void {
  offerSharing(document.querySelector<HTMLButtonElement>('button[data-share]'), () => {
    const field = message();
    const { subject: title, text } = field === null ? { subject: '', text: '' } : partsIn(field);
    return { title, text, url: shownLink() };
  });
}

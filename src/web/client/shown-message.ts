/** The receipt's ready-made message with its link, in the recipient's language. */
import { offerSharing } from './copying.ts';
import { find } from './dom.ts';
import { type MessageParts, mailtoAddress, withLink } from './link-message.ts';

const message = () => find('#message', HTMLTextAreaElement);
const shownLink = () => find('#link', HTMLTextAreaElement)?.value ?? '';

function partsIn({ dataset: { subject = '', text = '' } }: HTMLElement): MessageParts {
  return { subject, text };
}

export function showMessage(): void {
  const field = message();
  if (field === null) return;
  const parts = partsIn(field);
  field.value = withLink(parts, shownLink());
  document.getElementById('mailto')?.setAttribute('href', mailtoAddress(parts.subject, field.value));
}

/** Fetches the message in the chosen language; if that fails, nothing changes. */
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
  const menu = find('#message-language', HTMLSelectElement);
  if (field === null || menu === null) return;
  // A browser may have restored an earlier choice.
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

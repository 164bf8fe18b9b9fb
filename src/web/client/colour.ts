/** Keeps a colour's text and its picker, `input[data-colour="SELECTOR of the text"]`, in sync. Invalid text resets the picker. */
import { find } from './dom.ts';

for (const picker of document.querySelectorAll<HTMLInputElement>('input[data-colour]')) {
  const text = find(picker.dataset.colour ?? 'none', HTMLInputElement);
  picker.addEventListener('input', () => {
    if (text !== null) text.value = picker.value;
  });
  text?.addEventListener('input', () => {
    const typed = text.value.trim().toLowerCase();
    picker.value = /^#[0-9a-f]{6}$/.test(typed) ? typed : picker.defaultValue;
  });
}

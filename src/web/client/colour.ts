/**
 * Keeps a colour's text and its picker, `<input type="color" data-colour="SELECTOR of the text">`, the same. An invalid
 * text resets the picker.
 */
for (const picker of document.querySelectorAll<HTMLInputElement>('input[data-colour]')) {
  const text = document.querySelector(picker.dataset.colour ?? '');
  if (!(text instanceof HTMLInputElement)) continue;
  picker.addEventListener('input', () => {
    text.value = picker.value;
  });
  text.addEventListener('input', () => {
    const typed = text.value.trim().toLowerCase();
    picker.value = /^#[0-9a-f]{6}$/.test(typed) ? typed : picker.defaultValue;
  });
}

export {};

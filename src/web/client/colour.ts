/**
 * A colour's text and its picker, `<input type="color" data-colour="SELECTOR of the text">`, kept the same.
 *
 * Owns: nothing that the page needs; the form tells which of the two was changed. Invariant: a text that is no colour leaves
 * the picker as the page brought it, and never the other way round.
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

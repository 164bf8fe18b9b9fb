/**
 * One line of a person's words that other people read: a secret's note, for anyone with its link, and a request's prompt, for anyone who
 * may answer. All sealed notes have the same length, which hides how long they are.
 */
export const [maxNoteCharacters, sealedNoteBytes] = [140, 576];
export const maxPromptCharacters = 200;

/** Makes one line of a text, without the direction characters around copied telephone numbers. */
export function tidyNote(text: string): string {
  const line = text.replace(/\p{Bidi_Control}/gu, '').trim();
  return line.replace(/\s+/g, ' ');
}

export function flawOfNote(note: string, maxCharacters = maxNoteCharacters): 'too_long' | 'not_text' | null {
  // Control and direction characters, line and paragraph separators, and lone surrogates.
  if (/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u.test(note)) return 'not_text';
  return [...note].length > maxCharacters ? 'too_long' : null;
}

/** A secret's note: one line from its sender, for whoever has the link. All are as long once sealed, so that their length does not show. */
export const [maxNoteCharacters, sealedNoteBytes] = [140, 576];

/** Control and direction characters, line and paragraph separators, and lone surrogates. */
const unwanted = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Makes one line of a text, without the direction characters around copied telephone numbers. */
export function tidyNote(text: string): string {
  const line = text.replace(/\p{Bidi_Control}/gu, '').trim();
  return line.replace(/\s+/g, ' ');
}

/** @param note tidied; counted in code points */
export function flawOfNote(note: string): 'too_long' | 'not_text' | null {
  if (unwanted.test(note)) return 'not_text';
  return [...note].length > maxNoteCharacters ? 'too_long' : null;
}

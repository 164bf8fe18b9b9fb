/** Bytes of UTF-8, of which every one counts (P15). */
export const maxPassphraseBytes = 1024;

/** A second look lasts at most so long, from its claim. */
export const lookSeconds = 60;
/** With the claim's own. */
export const lookAnswers = 3;

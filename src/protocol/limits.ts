/** In bytes of UTF-8, all of them significant (P15). */
export const maxPassphraseBytes = 1024;

/** Maximum duration of a second look, from its claim. */
export const lookSeconds = 60;
/** Including the claim's own answer. */
export const lookAnswers = 3;

/** What the page of an end-to-end secret holds in words for its script (`data-…`). */
export type SealedWord =
  | 'incomplete'
  | 'insecure'
  | 'cannotProve'
  | 'noAnswer'
  | 'unreadable'
  | 'over'
  | 'stretching'
  | 'opening'
  | 'passphraseMissing'
  | 'passphraseWrong'
  | 'pressYourself';

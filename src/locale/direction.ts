/**
 * Which way a language is written.
 *
 * Owns: the list of right-to-left languages (CLDR's characterOrder).
 */
const rightToLeft: ReadonlySet<string> = new Set(['ar', 'he']);

/** @param locale a BCP 47 tag */
export function directionOf(locale: string): 'ltr' | 'rtl' {
  return rightToLeft.has(locale.split('-')[0] ?? '') ? 'rtl' : 'ltr';
}

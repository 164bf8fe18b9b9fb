/**
 * What is made once for a language and kept.
 *
 * Owns: that memory. Invariant: it holds at most one value a language, so it is bounded by the languages that exist.
 * Because making an `Intl` object costs up to 50 µs (0.4 ms the first time in a language) and using it 1 to 4 µs, and a
 * page says dozens of things in less than a millisecond.
 */

/** `create`, called at most once for each locale. */
export function oncePerLocale<T>(create: (locale: string) => T): (locale: string) => T {
  const made = new Map<string, T>();
  return (locale) => {
    const known = made.get(locale);
    if (known !== undefined) return known;
    const value = create(locale);
    made.set(locale, value);
    return value;
  };
}

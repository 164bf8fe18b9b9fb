/** Looks the element up each time, because a response may replace the whole page. */
export function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind | null {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** Returns the message for a count in the page's language. @param forms its plural forms: `one|{count} byte|other|{count} bytes` */
export function countText(forms: string | undefined, count: number): string {
  const { lang } = document.documentElement;
  const texts = forms?.split('|') ?? [];
  const text = texts[texts.indexOf(new Intl.PluralRules(lang).select(count)) + 1] ?? '';
  return text.replace('{count}', new Intl.NumberFormat(lang).format(count));
}

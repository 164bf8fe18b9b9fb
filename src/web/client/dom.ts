/** Looks the element up each time, because a response may replace the whole page. */
export function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind | null {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** Returns the message for a count in the page's language. @param forms its plural forms, as JSON */
export function countText(forms: string | undefined, count: number): string {
  const { lang } = document.documentElement;
  const texts = JSON.parse(forms ?? '{}') as Readonly<Record<string, string>>;
  const text = texts[new Intl.PluralRules(lang).select(count)] ?? texts.other ?? '';
  return text.replace('{count}', new Intl.NumberFormat(lang).format(count));
}

/** Looks the element up each time, because a response may replace the whole page. */
export function find<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind | null {
  const found = document.querySelector(selector);
  return found instanceof kind ? found : null;
}

/** Finds an element by its tag and id. Makes one that no page shows if this page has none. */
export function at<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, id: string) {
  const found = document.querySelector<HTMLElementTagNameMap[Tag]>(`${tag}#${id}`);
  return found ?? document.createElement(tag);
}
/** As `at`, whatever its tag. */
export const byId = (id: string): HTMLElement => document.getElementById(id) ?? document.createElement('p');
export const hide = (id: string, isHidden: boolean) => byId(id).toggleAttribute('hidden', isHidden);
export const press = (id: string, act: () => unknown) => byId(id).addEventListener('click', () => void act());

/** Returns the message for a count in the page's language. @param forms its plural forms: `one|{count} byte|other|{count} bytes` */
export function countText(forms: string | undefined, count: number): string {
  const { lang } = document.documentElement;
  const texts = forms?.split('|') ?? [];
  const text = texts[texts.indexOf(new Intl.PluralRules(lang).select(count)) + 1] ?? '';
  return text.replace('{count}', new Intl.NumberFormat(lang).format(count));
}

/**
 * Gets a page, or posts a form. Lets the browser parse the response: the policy (Trusted Types) forbids turning text into markup.
 * Rejects if no response comes.
 * @param progress gets the part that is sent
 */
export function load(
  address: string,
  body?: URLSearchParams,
  progress?: (part: number) => void,
): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.responseType = 'document';
    request.onload = () => resolve(request);
    request.onerror = () => reject(new Error('no response'));
    request.upload.onprogress = ({ loaded, total }) => progress?.(total > 0 ? loaded / total : 0);
    request.open(body === undefined ? 'GET' : 'POST', address);
    request.send(body ?? null);
  });
}

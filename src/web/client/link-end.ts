/** The end of a link, after `#`: pages keep it in their address, and say so if it is missing. */
import { beginTelling } from './copying.ts';
import { reloadAtTop } from './handover.ts';

/** Keeps the fragment, which links and forms would otherwise drop from the address. */
export function keepFragment(fragment: string): void {
  document.querySelector('a.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  });
  // Burning also needs the fragment.
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#burn-unread, [data-keeps-fragment]'))
    link.href += location.hash;
  window.addEventListener('hashchange', () => {
    if (location.hash === '#main') history.replaceState(null, '', `${location.pathname}#${fragment}`);
    // The person has pasted the whole link over an incomplete one.
    else reloadAtTop();
  });
}

export function stopIncomplete(): void {
  const [page, words] = ['needs-scripts', 'incomplete'].map((id) => document.getElementById(id));
  if (page == null || words == null) return;
  words.previousElementSibling?.remove();
  words.hidden = false;
  page.hidden = false;
  page.classList.remove('late');
  document.getElementById('main')?.replaceChildren(page);
  document.title = words.dataset.title ?? document.title;
  beginTelling();
}

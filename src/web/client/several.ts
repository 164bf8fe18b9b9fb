/** The links of several people that this browser has just sealed: shown until all are copied or saved, as `sealed-link.ts` does with one. */
import { beginCopying } from './copying.ts';
import { find } from './dom.ts';
import { onLeaving, showHandedOver, takeHandover } from './handover.ts';
import { linesOf, tableAddress } from './several-text.ts';

const fields = [...document.querySelectorAll<HTMLElement>('.person-link > code')];
/** The server fills in the links that it encrypted itself. */
const blanks = fields.filter(({ textContent }) => textContent === '');
const all = find('#all', HTMLTextAreaElement);
const table = find('#table', HTMLAnchorElement);
const handover = takeHandover();
const left = new Set(fields.map(({ id }) => `#${id}`));

function show(links: readonly string[]): void {
  const people = fields.map(({ dataset: { name = '' } }, at) => ({ name, link: links[at] ?? '' }));
  for (const [at, field] of fields.entries()) field.textContent = links[at] ?? '';
  for (const shown of [...fields, all]) shown?.parentElement?.toggleAttribute('hidden', links.length === 0);
  if (all !== null) all.value = linesOf(people);
  const titles = JSON.parse(table?.dataset.titles ?? '[]');
  table?.setAttribute('href', tableAddress(titles, people, document.documentElement.lang));
}

if (handover.links?.length === blanks.length) {
  const given = handover.links.values();
  const links = fields.map(({ textContent }) => textContent || (given.next().value ?? ''));
  history.replaceState({ handover: { ...handover, links } }, '');
  show(links);
  document.getElementById('links-gone')?.remove();
  document.addEventListener('click', ({ target }) => {
    const pressed = target instanceof Element ? target.closest<HTMLElement>('#table, [data-copy]') : null;
    if (pressed?.matches('#table, [data-copy="#all"]')) left.clear();
    left.delete(pressed?.dataset.copy ?? '');
    if (left.size === 0) history.replaceState(null, '');
  });
  window.addEventListener('beforeunload', (event) => {
    if (left.size > 0) event.preventDefault();
  });
  onLeaving(() => show([]));
}
showHandedOver(handover);
beginCopying();

/** The links of several people that this browser has just sealed: shown until all are copied or saved, as `sealed-link.ts` does with one. */
import { beginCopying } from './copying.ts';
import { find } from './dom.ts';
import { keepLinks, onLeaving, showHandedOver, takeHandover } from './handover.ts';
import { linesOf, tableAddress } from './several-text.ts';

const fields = [...document.querySelectorAll<HTMLElement>('.person-link > code')];
/** The server fills in the links that it encrypted itself. */
const blanks = fields.filter(({ textContent }) => textContent === '');
const all = find('#all', HTMLTextAreaElement);
const table = find('#table', HTMLAnchorElement);
const handover = takeHandover();

function show(links: readonly string[]): void {
  const people = fields.map(({ dataset: { name = '' } }, at) => ({ name, link: links[at] ?? '' }));
  for (const [at, field] of fields.entries()) field.textContent = links[at] ?? '';
  for (const shown of [...fields, all]) shown?.parentElement?.toggleAttribute('hidden', links.length === 0);
  if (all !== null) all.value = linesOf(people);
  const titles = JSON.parse(table?.dataset.titles ?? '[]');
  table?.setAttribute('href', tableAddress(titles, people, document.documentElement.lang));
}

if (blanks.length > 0 && handover.links.length === blanks.length) {
  const given = handover.links.values();
  const links = fields.map(({ textContent }) => textContent || (given.next().value ?? ''));
  show(links);
  document.getElementById('links-gone')?.remove();
  keepLinks({ ...handover, links }, (at) => {
    const pressed = at.closest<HTMLElement>('#table, [data-copy]');
    const isAll = pressed?.matches('#table, [data-copy="#all"]') === true;
    return [...fields.keys()].filter((place) => isAll || `#${fields[place]?.id}` === pressed?.dataset.copy);
  });
  onLeaving(() => show([]));
}
showHandedOver(handover);
beginCopying();

/** Search over the rows that are shown, and "Select all". A selected row is never hidden. */
import './account.ts';
import { countText, find } from './dom.ts';

const rows = [...document.querySelectorAll<HTMLElement>('.items > .item')];
const pickOf = (row: HTMLElement) => row.querySelector<HTMLInputElement>('.pick > input');

/** Without accents and case. */
const plain = (text: string | null | undefined) =>
  (text ?? '').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

const box = find('#find', HTMLElement);
const status = box?.querySelector('p');
if (box !== null) box.hidden = rows.length < 2;
box?.addEventListener('input', ({ target }) => {
  const typed = target instanceof HTMLInputElement ? target.value : '';
  const words = plain(typed).split(/\s+/);
  let count = 0;
  for (const row of rows) {
    const text = plain(row.querySelector('.item-text')?.textContent);
    const isMatch = words.every((word) => text.includes(word));
    row.hidden = !isMatch && pickOf(row)?.checked !== true;
    if (isMatch) count += 1;
  }
  if (status) status.textContent = typed === '' ? '' : countText(box.dataset.found, count);
});

const selectAll = find('#select-all', HTMLButtonElement);
if (selectAll !== null) selectAll.hidden = false;
selectAll?.addEventListener('click', () => {
  const picks = rows.flatMap((row) => (row.hidden ? [] : (pickOf(row) ?? [])));
  const areAll = picks.every(({ checked }) => checked);
  for (const pick of picks) pick.checked = !areAll;
});

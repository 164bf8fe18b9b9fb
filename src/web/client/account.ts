/** `button[data-shows="SELECTOR"]` shows or hides a typed password. Menus close on Escape or a press elsewhere. */
import { find } from './dom.ts';

function beginShowing(button: HTMLButtonElement): void {
  const field = find(button.dataset.shows ?? 'none', HTMLInputElement);
  if (field === null) return;
  button.hidden = false;
  const turn = () => {
    const { ariaLabel } = button;
    button.ariaLabel = button.dataset.other ?? '';
    button.dataset.other = ariaLabel ?? '';
    field.type = field.type === 'text' ? 'password' : 'text';
  };
  button.addEventListener('click', turn);
  // Browsers would remember the text of a visible field as a suggestion.
  field.form?.addEventListener('submit', () => {
    if (field.type === 'text') turn();
  });
}

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-shows]')) beginShowing(button);

function closeMenus(isKept: (menu: HTMLDetailsElement) => boolean): void {
  for (const menu of document.querySelectorAll<HTMLDetailsElement>('details.more[open]')) {
    if (!isKept(menu)) menu.open = false;
  }
}

document.addEventListener('click', ({ target }) => {
  closeMenus((menu) => target instanceof Node && menu.contains(target));
});

document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape') return;
  const open = document.querySelector('details.more[open]');
  if (open?.contains(document.activeElement) === true) open.querySelector('summary')?.focus();
  closeMenus(() => false);
});

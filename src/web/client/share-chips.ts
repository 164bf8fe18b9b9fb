/** Each option's summary says what is chosen, and one that holds what is wrong opens. */
import { element } from './share-parts.ts';

const trimmed = (id: string) => {
  const field = document.getElementById(id);
  return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value.trim() : '';
};

function tell(name: string, chosen: string): void {
  const option = element(`option-${name}`, HTMLDetailsElement);
  const said = option?.querySelector('.chosen');
  if (!option || !said) return;
  option.classList.toggle('set', chosen !== '');
  if (said.textContent !== chosen) said.textContent = chosen;
}

/** As `share-options.tsx` has it. */
const done = '✓';

/** Such as `7 days`; `null` while a lifetime of one's own is not a number yet. */
function lifetime(): string | null {
  const choice = element('ttl', HTMLSelectElement);
  if (choice?.value !== 'other') return choice?.selectedOptions[0]?.text.trim() ?? null;
  const amount = trimmed('ttl-amount');
  if (!/^[0-9]{1,9}$/.test(amount)) return null;
  const unit = trimmed('ttl-unit').replace(/s$/, '');
  const style = { style: 'unit', unit, unitDisplay: 'long' } as const;
  return new Intl.NumberFormat(document.documentElement.lang, style).format(Number(amount));
}

function tellLifetime(): void {
  const said = document.querySelector<HTMLElement>('#option-ttl .chosen');
  const { said: text = '', other = '' } = said?.dataset ?? {};
  const time = lifetime();
  said?.replaceChildren(time === null ? other : text.replace('{time}', time));
}

/** After every change. */
export function tellChips(): void {
  tellLifetime();
  const isNotified = document.querySelector('#option-notify input:checked') !== null;
  const passphrase = element('passphrase', HTMLInputElement)?.value ?? '';
  tell('notify', isNotified ? done : '');
  tell('passphrase', passphrase === '' ? '' : done);
  for (const name of ['recipient', 'share-domain', 'memo']) tell(name, trimmed(name));
}

/** Those that are open stay so in the form that takes this one's place, unless it opens another of the same row. */
export function keepOpen(answer: Document): void {
  for (const { id } of document.querySelectorAll('#share details[id][open]')) {
    const option = answer.getElementById(id);
    if (!(option instanceof HTMLDetailsElement)) continue;
    option.open ||=
      option.name === '' || answer.querySelector(`details[name="${option.name}"][open]`) === null;
  }
}

/** So that a field inside can be focused. */
export function openAround(field: Element | null): void {
  const option = field?.closest('details');
  if (option) option.open = true;
}

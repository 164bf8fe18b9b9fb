/** Ways to read a value that a script draws: nothing here is copied or saved, the field `#value` is. */
import { glyphsOf, markHidden, pairsIn } from './reading.ts';
import { find } from './shown.ts';

/** A message in the plural form that the count takes in the page's language. */
export function sayCount(place: Element | null, forms: string | undefined, count: number): void {
  if (place === null) return;
  const { lang } = document.documentElement;
  const texts = JSON.parse(forms ?? '{}') as Readonly<Record<string, string>>;
  const text = texts[new Intl.PluralRules(lang).select(count)] ?? texts.other ?? '';
  place.textContent = text.replace('{count}', new Intl.NumberFormat(lang).format(count));
}

function element(name: 'span' | 'bdi' | 'mark', text: string, kind = ''): HTMLElement {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind !== '') made.className = kind;
  return made;
}

/** Letters, digits and symbols of a short line. */
export function drawGlyphs(text: string): void {
  const runs = glyphsOf(text);
  if (runs.length === 0) return;
  document.getElementById('reading')?.classList.add('drawn');
  const drawn = runs.map((run) => (run.kind === 'letter' ? run.text : element('span', run.text, run.kind)));
  document.querySelector('.glyphs')?.replaceChildren(...drawn);
}

export function nameHidden(text: string): void {
  const place = find('#hidden-ones', HTMLDetailsElement);
  const { count, parts } = markHidden(text);
  if (count === 0) place?.remove();
  if (place === null || count === 0) return;
  sayCount(place.querySelector('summary'), place.dataset.forms, count);
  const marks = parts.map(({ name, text: part }) =>
    name === null ? element('bdi', part) : element('mark', name),
  );
  place.querySelector('.marked')?.replaceChildren(...marks);
}

/** A button for each value of lines such as `NAME=value`, before `beginCopying`; the whole text is folded below them. */
export function listPairs(text: string): void {
  const template = find('#pairs', HTMLTemplateElement);
  const reading = document.getElementById('reading');
  const pairs = pairsIn(text);
  if (template === null || reading === null || pairs.length === 0) return;
  const made = document.importNode(template.content, true);
  const list = made.querySelector('.pairs');
  const row = list?.querySelector('li');
  const whole = made.querySelector('details');
  if (!list || !row || !whole) return;
  list.replaceChildren(
    ...pairs.map(({ name, value }, at) => {
      const item = document.importNode(row, true);
      const [said, shown, button] = [item.children[0], item.children[1], item.querySelector('button')];
      said?.append(name);
      shown?.append(value);
      if (shown) shown.id = `pair-${at}`;
      if (button !== null) {
        button.dataset.copy = `#pair-${at}`;
        button.ariaLabel = (button.dataset.label ?? '').replace('{name}', name);
      }
      return item;
    }),
  );
  reading.replaceWith(made);
  whole.append(reading);
  // There the older way of copying needs the field.
  whole.open = !isSecureContext;
  const all = document.querySelector('[data-copy="#value"] span');
  if (all !== null) all.textContent = template.dataset.all ?? '';
}

/**
 * A home for people who share often: once something was shared in this browser, it remembers the options, and the page gives its room to
 * the field. Local storage holds one entry: lists, ticks and numbers that differ from what the page offers; never a text, an address or
 * a name.
 */
import { find } from './dom.ts';

const entryName = 'mayfly-options';

/** Listed one by one, so that nothing else is ever remembered. */
const remembered =
  '#ttl, #ttl-amount, #ttl-unit, #mail-language, #seal, [name^="notify-"], [name^="suggest-"]';

type Choice = HTMLInputElement | HTMLSelectElement;

/** What the page offered, and what was chosen instead. If the page offers something else now, that counts. */
type Entry = Record<string, readonly [offered: string, chosen: string]>;

const choices = () => [...document.querySelectorAll<Choice>(`#share :is(${remembered})`)];
const isTick = (field: Choice): field is HTMLInputElement => /checkbox|radio/.test(field.type);
const keyOf = (field: Choice) =>
  field.type === 'radio' ? `${field.name} ${field.value}` : field.id || field.name;
const chosenIn = (field: Choice) => (isTick(field) ? (field.checked ? '1' : '') : field.value);

function choose(field: Choice, chosen: string): void {
  const before = field.value;
  if (isTick(field)) field.checked = chosen !== '';
  else field.value = chosen;
  // The list no longer has it.
  if (chosenIn(field) !== chosen) field.value = before;
  field.dispatchEvent(new Event('change'));
}

const offered = new Map(choices().map((field) => [keyOf(field), chosenIn(field)]));

/** Returns `null` in browsers that store nothing. */
function stored<Result>(act: (storage: Storage) => Result): Result | null {
  try {
    return act(localStorage);
  } catch {
    return null;
  }
}

/** Returns `null` before the first share. */
const readEntry = () => stored((storage) => JSON.parse(storage.getItem(entryName) ?? 'null') as Entry | null);

/** Call this when something was shared. */
export function rememberOptions(): void {
  const entry: Entry = { ...readEntry() };
  for (const field of choices()) {
    const [key, chosen] = [keyOf(field), chosenIn(field)];
    const preset = offered.get(key) ?? chosen;
    delete entry[key];
    if (chosen !== preset && (field.type !== 'text' || /^\d{1,9}$/.test(chosen)))
      entry[key] = [preset, chosen];
  }
  stored((storage) => storage.setItem(entryName, JSON.stringify(entry)));
}

/** Call this once, and only for a form that nothing was typed into. */
export function recallOptions(): void {
  const entry = readEntry() ?? {};
  for (const field of choices()) {
    const kept = entry[keyOf(field)];
    if (Array.isArray(kept) && kept[0] === chosenIn(field)) choose(field, String(kept[1]));
  }
}

/** Call this for each form that the page shows. @param changed called after the options are back to what the page offers */
export function beginHome(changed: () => void): void {
  const line = find('#remembered', HTMLParagraphElement);
  if (line === null || readEntry() === null) return;
  line.hidden = false;
  find('#forget', HTMLButtonElement)?.addEventListener('click', () => {
    stored((storage) => storage.removeItem(entryName));
    for (const field of choices()) choose(field, offered.get(keyOf(field)) ?? chosenIn(field));
    changed();
    line.replaceChildren(line.dataset.forgotten ?? '');
    line.focus();
  });
}

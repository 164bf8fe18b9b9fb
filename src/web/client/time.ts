/**
 * Shows every `<time data-moment>`, even if added later, in the reader's time zone, in the formats of `locale/translate.ts`. The title
 * contains the full time; a relative time is followed by the short one, because phones show no titles. Relative times update while visible.
 */
import { approximate, type Rough, roughly, type Unit, unitSeconds } from '../../locale/roughly.ts';

const { lang } = document.documentElement;
// Plain `en` would use the American order of day and month.
const dateLocale = lang === 'en' ? 'en-GB' : lang;

const parts = {
  day: 'numeric',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const;

const full = { ...parts, weekday: 'long', month: 'long' } as const;

const forms: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  weekday: full,
  long: { ...parts, month: 'long' },
};

const relativeTimes = new Intl.RelativeTimeFormat(lang);

/** When each `data-left` time ends, counted from when this device first saw the element. */
const ends = new WeakMap<HTMLTimeElement, number>();

function secondsTo(time: HTMLTimeElement): number {
  return Math.round(((ends.get(time) ?? Date.parse(time.dateTime)) - Date.now()) / 1_000);
}

function left({ count, unit, isAbout }: Rough, about: string): string {
  const format = new Intl.NumberFormat(lang, { style: 'unit', unit, unitDisplay: 'long' });
  const value = format.format(count);
  return isAbout ? about.replace('{time}', value) : value;
}

function ahead({ count, unit, isAbout }: Rough, about: string): string {
  const said = relativeTimes.formatToParts(count, unit);
  return isAbout ? approximate(about, said) : relativeTimes.format(count, unit);
}

const pastUnits: readonly (readonly [Unit | 'month' | 'year', number])[] = [
  ['year', 365 * unitSeconds.day],
  ['month', 30 * unitSeconds.day],
  ['day', unitSeconds.day],
  ['hour', unitSeconds.hour],
  ['minute', unitSeconds.minute],
];

/** Rounds down; "just now" in the first minute, or if this device's clock is slow. */
function ago(seconds: number, now: string | undefined): string {
  const [unit, size] = pastUnits.find(([, each]) => seconds >= each) ?? ['second', seconds];
  if (unit === 'second') return now ?? new Intl.RelativeTimeFormat(lang, { numeric: 'auto' }).format(0, unit);
  return relativeTimes.format(-Math.floor(seconds / size), unit);
}

function relativeText(time: HTMLTimeElement): string {
  const { moment, about = '', now } = time.dataset;
  const seconds = secondsTo(time);
  if (moment === 'left') return left(roughly(seconds), about);
  return moment === 'in' && seconds > 0 ? ahead(roughly(seconds), about) : ago(-seconds, now);
}

function exactText(date: Date): string {
  const { timeZoneName: _, year, ...short } = { ...parts, month: 'short' } as const;
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return date.toLocaleString(dateLocale, isThisYear ? short : { ...short, year });
}

function showRelative(time: HTMLTimeElement, date: Date): void {
  const { moment, left: leftSeconds } = time.dataset;
  if (leftSeconds !== undefined) ends.set(time, Date.now() + Number(leftSeconds) * 1_000);
  time.replaceChildren(relativeText(time));
  if (moment === 'left') return;
  const exact = document.createElement('span');
  exact.className = 'exact';
  // A time alone on its line needs no brackets.
  const isAlone = time.parentElement?.matches('.life-when') === true;
  exact.textContent = isAlone ? `· ${exactText(date)}` : `(${exactText(date)})`;
  time.append(' ', exact);
}

function showMoment(time: HTMLTimeElement): void {
  const date = new Date(time.dateTime);
  const { moment = '' } = time.dataset;
  const form = forms[moment];
  time.title = form === undefined ? date.toLocaleString(dateLocale, full) : (time.textContent ?? '');
  if (form !== undefined) time.textContent = date.toLocaleString(dateLocale, form);
  else if (moment === 'short') time.textContent = exactText(date);
  else showRelative(time, date);
}

const unseen = 'time[data-moment]:not([title])';

function showTimes(within: ParentNode): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>(unseen)) showMoment(time);
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (node instanceof HTMLTimeElement && node.matches(unseen)) showMoment(node);
      else if (node instanceof Element) showTimes(node);
    }
  }
}).observe(document.body, { childList: true, subtree: true });

const relative = 'time[title]:is([data-moment="ago"], [data-moment="in"], [data-moment="left"])';

function isUrgent({ dataset }: HTMLTimeElement, seconds: number): boolean {
  return dataset.moment !== 'ago' && seconds > 0 && roughly(seconds).unit === 'second';
}

let timer: ReturnType<typeof setTimeout> | undefined;

/** Updates relative times every minute, or every second if one shows seconds. */
function refresh(): void {
  clearTimeout(timer);
  if (document.visibilityState !== 'visible') return;
  let pauseMs = 60_000;
  for (const time of document.querySelectorAll<HTMLTimeElement>(relative)) {
    const text = relativeText(time);
    if (time.firstChild !== null && time.firstChild.nodeValue !== text) time.firstChild.nodeValue = text;
    if (isUrgent(time, secondsTo(time))) pauseMs = 1_000;
  }
  timer = setTimeout(refresh, pauseMs);
}

showTimes(document);
refresh();
document.addEventListener('visibilitychange', refresh);

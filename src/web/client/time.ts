/**
 * Shows every `<time data-moment>`, also those added later, in the reader's own zone; UTC stays in its title. The forms
 * are those of `locale/times.ts`, so readers in UTC see the same with and without scripts.
 */
const { lang } = document.documentElement;

const parts = {
  day: 'numeric',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const;

const forms: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  weekday: { ...parts, weekday: 'long', month: 'long' },
  long: { ...parts, month: 'long' },
  short: { ...parts, month: 'short' },
};

function sayTimes(within: ParentNode): void {
  for (const time of within.querySelectorAll<HTMLTimeElement>('time[data-moment]:not([title])')) {
    time.title = time.textContent ?? '';
    const locale = lang === 'en' ? 'en-GB' : lang;
    time.textContent = new Date(time.dateTime).toLocaleString(locale, forms[time.dataset.moment ?? '']);
  }
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) if (node instanceof Element) sayTimes(node);
  }
}).observe(document.body, { childList: true, subtree: true });

sayTimes(document);

export {};

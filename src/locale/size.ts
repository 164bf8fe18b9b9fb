/**
 * `54.3 kB`, on one line and as a language writes it. Rounded down, so that no limit promises more than there is. Shared by the pages
 * and their scripts, so that both say the same.
 */

const units = [
  ['megabyte', 1_000_000],
  ['kilobyte', 1_000],
] as const;

const formats = new Map<string, Intl.NumberFormat>();

/** Made once: that costs more than using it. */
function formatIn(locale: string, unit: 'byte' | 'kilobyte' | 'megabyte'): Intl.NumberFormat {
  const key = `${locale} ${unit}`;
  const unitDisplay = unit === 'byte' ? 'long' : 'short';
  const format = formats.get(key) ?? new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay });
  formats.set(key, format);
  return format;
}

export function sizeText(locale: string, bytes: number): string {
  const [unit, size] = units.find(([, each]) => bytes >= each) ?? (['byte', 1] as const);
  const amount = bytes < 100 * size ? Math.floor((bytes * 10) / size) / 10 : Math.floor(bytes / size);
  return formatIn(locale, unit).format(amount).replace(' ', '\u00a0');
}

/** Shared by the pages and their scripts, so that both say the same. */

/** Kept, because making one costs more than using it. */
const formats = new Map<string, Intl.NumberFormat>();

/** `54.3 kB`, on one line and as a language writes it. Rounded down, so that no limit promises more than there is. */
export function sizeText(locale: string, bytes: number): string {
  const [unit, size] =
    bytes < 1_000
      ? (['byte', 1] as const)
      : bytes < 1_000_000
        ? (['kilobyte', 1_000] as const)
        : (['megabyte', 1_000_000] as const);
  const style = { style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short' } as const;
  const format = formats.get(`${locale} ${unit}`) ?? new Intl.NumberFormat(locale, style);
  formats.set(`${locale} ${unit}`, format);
  const amount = bytes < 100 * size ? Math.floor((bytes * 10) / size) / 10 : Math.floor(bytes / size);
  return format.format(amount).replace(' ', '\u00a0');
}

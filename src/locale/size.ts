/** Shared by the pages and their scripts. Cached, because creating a format costs more than using it. */
const formats = new Map<string, Intl.NumberFormat>();

/** Formats bytes as `54.3 kB`, in the locale's format without a possible line break. Rounds down, so that no limit is overstated. */
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

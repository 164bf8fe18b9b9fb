/** `54.3 kB`, as the page's language writes it. */
export function sizeText(bytes: number): string {
  const [amount, unit] =
    bytes < 1_000
      ? [bytes, 'byte']
      : bytes < 1_000_000
        ? [bytes / 1_000, 'kilobyte']
        : [bytes / 1_000_000, 'megabyte'];
  const style = { style: 'unit', unit, unitDisplay: unit === 'byte' ? 'long' : 'short' } as const;
  return new Intl.NumberFormat(document.documentElement.lang, { ...style, maximumFractionDigits: 1 }).format(
    amount,
  );
}

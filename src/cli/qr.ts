/** A QR code for terminals. */

/** Black and white of the fixed colours, whatever the terminal's own are: readers need dark on light. */
const black = 16;
const white = 231;

const inkOf = (isDark: boolean | undefined): number => (isDark === true ? black : white);

/** Two rows of modules to a line of text, with the margin that readers need. */
export async function renderQr(text: string): Promise<string> {
  // Loaded only when asked for.
  const { encodeQR } = await import('qr');
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 2 });
  const lines = Array.from({ length: Math.ceil(rows.length / 2) }, (_none, line) => {
    const [upper = [], lower = []] = rows.slice(2 * line, 2 * line + 2);
    const blocks = upper.map(
      (isDark, column) => `\u001b[38;5;${inkOf(isDark)};48;5;${inkOf(lower[column])}m▀`,
    );
    return `${blocks.join('')}\u001b[0m\n`;
  });
  return lines.join('');
}

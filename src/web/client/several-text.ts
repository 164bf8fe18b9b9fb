/** The links of several people as a text and as a table, built the same way by the page and its script. */
type PersonLinks = readonly { readonly name: string; readonly link: string }[];

export function linesOf(people: PersonLinks): string {
  return people.map(({ name, link }) => `${name}: ${link}`).join('\n');
}

/** Quotes everything, and keeps spreadsheets from reading a name as a formula (OWASP, CSV injection). */
function cell(text: string): string {
  return `"${text.replace(/^[\s\p{Cf}]*[-=+@＝＋－＠]/u, "'$&").replaceAll('"', '""')}"`;
}

/** Splits a label that has an address, such as `Ana <ana@example.org>`. */
export function splitName(label: string): readonly [name: string, address: string] {
  const [, before = label, address = '', after = ''] = /^(.*?) <([^<>]+@[^<>]+)>(.*)/.exec(label) ?? [];
  return [before + after, address];
}

/** Separates columns by semicolons where numbers have a decimal comma, as spreadsheets do there. The byte order mark says UTF-8. */
export function tableAddress(titles: readonly string[], people: PersonLinks, locale: string): string {
  const separator = Intl.NumberFormat(locale).format(0.5).includes(',') ? ';' : ',';
  const rows = people.map(({ name, link }) => [...splitName(name), link]);
  const lines = [titles, ...rows].map((cells) => `${cells.map(cell).join(separator)}\r\n`);
  return `data:text/csv;charset=utf-8,${encodeURIComponent(`\ufeff${lines.join('')}`)}`;
}

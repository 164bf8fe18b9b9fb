/** People, on each line a name, an address or both, or a spreadsheet's table: CSV (RFC 4180) whose titles say which columns count. */
export const maxPeople = 20;
/** Bounds the work of reading. A longer text counts as too many people. */
const maxCharacters = 30_000;

export interface Person {
  readonly line: number;
  readonly name: string;
  /** `''` without one. */
  readonly address: string;
  /** The text from this person on, with its titles. */
  readonly rest: string;
}

/** Column titles in the languages of the pages. They match as a whole, so that no name is taken for one. */
const addressTitle =
  /^(?:(?:adres(?:se)?|indirizzo|endereço de|dirección de) )?(?:e-?mail|mail|e-?post|courriel|correo(?: electrónico)?)(?:[- ]?adres(?:se?)?| address)?$|^(?:adresse électronique|(?:адреса )?(?:(?:ел\.|електронн(?:а|ої)) )?пошт[аи]|メール(?:アドレス)?|(?:电子)?邮[箱件](?:地址)?|(?:عنوان )?(?:ال)?بريد (?:ال)?إلكتروني|אימייל|(?:כתובת )?דוא["״]ל)$/iu;
const nameTitle =
  /^(?:(?:first |last |full |given |family |sur)?names?|(?:vor|nach)name|(?:pré)?nom|nombre|apellidos?|(?:cog|sobre)?nome|(?:voor|achter)?naam|(?:för|efter)?namn|imię|nazwisko|ім.я|прізвище|名前|氏名|姓名|名字|姓|名|الاسم|שם)$/iu;

/** A quotation mark that does not close its cell is one like any other. */
function rowsIn(text: string, delimiter: string): { line: number; cells: string[] }[] {
  const rows = [{ line: 1, cells: [] as string[] }];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${delimiter}\n]*))(${delimiter}|\n|$)`, 'y');
  for (let line = 1; cell.lastIndex < text.length; ) {
    const [whole = '', quoted, plain = '', end] = cell.exec(text) ?? [];
    rows.at(-1)?.cells.push((quoted?.replaceAll('""', '"') ?? plain).replace(/\s+/g, ' ').trim());
    line += whole.split('\n').length - 1;
    if (end === '\n') rows.push({ line, cells: [] });
  }
  return rows.filter(({ cells }) => cells.some((text) => text !== ''));
}

const bare = (word: string) => word.replace(/[<>]/g, '');

export function readPeople(text: string): readonly Person[] {
  if (text.length > maxCharacters)
    return Array(maxPeople + 1).fill({ line: 1, name: '', address: '', rest: '' });
  const delimiter = /[\t;]/.exec(text.replace(/"[^"]*"/g, ''))?.[0] ?? ',';
  const rows = rowsIn(text, delimiter).slice(0, maxPeople + 2);
  const first = rows.length === 1 ? [] : (rows[0]?.cells ?? []);
  const columns = first.map((title) => addressTitle.test(title) || nameTitle.test(title));
  const hasTitles = columns.includes(true);
  const isChosen = (_cell: string, at: number) => columns.filter(Boolean).length < 2 || columns[at] === true;
  const people = hasTitles ? rows.slice(1) : rows;
  const lines = text.split('\n');
  return people.map(({ line, cells }) => {
    const words = cells.filter(isChosen).map((cell) => cell.split(' '));
    const address =
      words
        .flat()
        .map(bare)
        .find((word) => /.@./.test(word)) ?? '';
    const names = words.map((each) => each.filter((word) => bare(word) !== address).join(' '));
    const name = names.filter((each) => each !== '').join(delimiter === ',' && !hasTitles ? ', ' : ' ');
    const rest = [...lines.slice(0, (people[0]?.line ?? 1) - 1), ...lines.slice(line - 1)].join('\n');
    return { line, name, address, rest };
  });
}

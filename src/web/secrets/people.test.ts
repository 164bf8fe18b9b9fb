/** What is read from a list of people: names, addresses, and what spreadsheets copy and save. */
import { describe, expect, it } from 'bun:test';
import { catalogueOf, supportedLocales } from '../../locale/catalogues.ts';
import { maxPeople, readPeople } from './people.ts';

type Read = readonly [line: number, name: string, address: string];

const readAs = (text: string): Read[] =>
  readPeople(text).map(({ line, name, address }) => [line, name, address]);

const lists: Readonly<Record<string, readonly [text: string, people: readonly Read[]]>> = {
  nobody: ['', []],
  'only blank lines': [' \n\t\n\u00a0', []],
  'one name': ['Ana', [[1, 'Ana', '']]],
  'names around blank lines': [
    '\nAna\n\n  Ben \n',
    [
      [2, 'Ana', ''],
      [4, 'Ben', ''],
    ],
  ],
  'names with a comma': [
    'Doe, Jane\nMiller, Max',
    [
      [1, 'Doe, Jane', ''],
      [2, 'Miller, Max', ''],
    ],
  ],
  'addresses alone': ['ana@example.org', [[1, '', 'ana@example.org']]],
  'an address in any place': [
    'Ana Silva <ana@example.org>\nben@example.org Ben\nCem,cem@example.org\ndee@example.org, Dee',
    [
      [1, 'Ana Silva', 'ana@example.org'],
      [2, 'Ben', 'ben@example.org'],
      [3, 'Cem', 'cem@example.org'],
      [4, 'Dee', 'dee@example.org'],
    ],
  ],
  'cells copied from a spreadsheet': [
    'Ana\tana@example.org\n👩‍⚕️ Ben\tben@example.org',
    [
      [1, 'Ana', 'ana@example.org'],
      [2, '👩‍⚕️ Ben', 'ben@example.org'],
    ],
  ],
  'a European CSV, quoted': [
    '"Silva; Ana";ana@example.org\n"Ben ""Bo"" Okafor";ben@example.org',
    [
      [1, 'Silva; Ana', 'ana@example.org'],
      [2, 'Ben "Bo" Okafor', 'ben@example.org'],
    ],
  ],
  'a cell of two lines': [
    '"Ana\nSilva",ana@example.org\nBen',
    [
      [1, 'Ana Silva', 'ana@example.org'],
      [3, 'Ben', ''],
    ],
  ],
  'quotation marks that quote nothing': [
    '"Ana" Silva\n"open\nBen "Bo"',
    [
      [1, '"Ana" Silva', ''],
      [2, '"open', ''],
      [3, 'Ben "Bo"', ''],
    ],
  ],
  'titles, a byte order mark and a column that does not count': [
    '\ufeffFirst name,Last name,Department,E-mail\nAna,Silva,IT,ana@example.org',
    [[2, 'Ana Silva', 'ana@example.org']],
  ],
  'titles of which only one is known': [
    'E-Mail;Mitarbeiterin\nana@example.org;Ana',
    [[2, 'Ana', 'ana@example.org']],
  ],
  'a title over names': ['Name\nAna', [[2, 'Ana', '']]],
  'a title alone, which may be a name': ['Name', [[1, 'Name', '']]],
  'names that begin like titles': [
    'Mail Room\nNamir',
    [
      [1, 'Mail Room', ''],
      [2, 'Namir', ''],
    ],
  ],
  'the name of an account elsewhere': ['@ana', [[1, '@ana', '']]],
};

describe('a list of people', () => {
  for (const [what, [text, people]] of Object.entries(lists)) {
    it(`reads ${what}`, () => expect(readAs(text)).toEqual([...people]));
  }

  it('reads the table that the page itself saves, in every language', () => {
    for (const locale of supportedLocales) {
      const { 'several.name': name, 'signUp.email': email, 'several.link': link } = catalogueOf(locale);
      for (const separator of [',', ';', '\t']) {
        const table = [
          [name, email, link],
          ['Ana', 'ana@example.org', 'https://example.com/secret/x'],
        ];
        const text = table.map((cells) => cells.map((cell) => `"${cell}"`).join(separator)).join('\n');
        expect([locale, readAs(text)]).toEqual([locale, [[2, 'Ana', 'ana@example.org']]]);
      }
    }
  });

  it('keeps the text from each person on, with the titles, so that the rest reads as before', () => {
    const text = '\nName;E-Mail\nAna;ana@example.org\n"Ben\nBo";ben@example.org\n\nCem;cem@example.org';
    const people = readPeople(text);
    expect(people.map(({ rest }) => readPeople(rest).map(({ name }) => name))).toEqual([
      ['Ana', 'Ben Bo', 'Cem'],
      ['Ben Bo', 'Cem'],
      ['Cem'],
    ]);
  });

  it('P21 P24 reads at most two people too many, and takes no longer for a text made to be slow', () => {
    const slow = ['"\n', '"""a\n', '"a""', ',', '"', '@', '<', ' ', ', ', 'a', 'a@\n', '";\n"'];
    for (const part of slow) {
      const begun = performance.now();
      expect(readPeople(part.repeat(30_000 / part.length)).length).toBeLessThanOrEqual(maxPeople + 2);
      expect(readPeople(part.repeat(1_000_000 / part.length)).length).toBe(maxPeople + 1);
      expect(performance.now() - begun).toBeLessThan(200);
    }
  });
});

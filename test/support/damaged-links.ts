/** What happens to links on their way, and what becomes of each: one table for the pages, the command and the client. */

export interface LinkParts {
  /** Without a slash at the end. */
  readonly server: string;
  readonly key: string;
  /** `''` for the link of a plain secret. */
  readonly end: string;
}

/**
 * - `whole`: it is the link, as if nothing had happened.
 * - `incomplete`: the secret is found, and what would open it is known to be missing.
 * - `refused`: it could be another link, or is none.
 */
export type Outcome = 'whole' | 'incomplete' | 'refused';

export interface Damage {
  readonly what: string;
  readonly to: (parts: LinkParts) => string;
  readonly outcome: Outcome;
  /** Of links that it can happen to; `both` when absent. */
  readonly of?: 'plain' | 'sealed';
  /** No address: it can only be handed to the command and the client. */
  readonly isText?: true;
}

export const wholeLink = ({ server, key, end }: LinkParts) =>
  `${server}/secret/${key}${end === '' ? '' : `#${end}`}`;

/** As Microsoft's Safe Links writes it into a mail: the person's click then leads to the link itself. */
const safeLinks = (link: string) =>
  `https://eur03.safelinks.protection.outlook.com/?url=${encodeURIComponent(link)}` +
  '&data=05%7C02%7Cjo%40example.org%7C8f0c1f6b7d2a4c1e9b3a08dd0f5a2e11%7C0%7C0%7C638682%7CUnknown&sdata=Zm9v%2BYmE%3D&reserved=0';

/** Where such a rewriter leads that decodes too little. */
const escaped = (by: string) => (parts: LinkParts) => wholeLink(parts).replace('#', by);

const tails: readonly (readonly [who: string, tail: string])[] = [
  ['a full stop', '.'],
  ['a comma', ','],
  ['a bracket', ')'],
  ['an angle bracket', '>'],
  ['an escaped angle bracket', '%3E'],
  ['quotation marks', '”'],
  ['a semicolon', ';'],
  ['an exclamation mark', '!'],
  ['Markdown', '**'],
  ['Markdown that slants', '_'],
  ['a no-break space', '\u00a0'],
  ['an escaped blank', '%20'],
  ['a zero-width space', '\u200b'],
  ['an escaped zero-width space', '%E2%80%8B'],
  ['a soft hyphen', '\u00ad'],
  ['a byte order mark', '\ufeff'],
  ['a mark of direction', '\u2069'],
  ['Japanese, which has no blanks', 'を開いてください'],
  ['a program that goes on with &', '&utm_source=newsletter'],
  ['an escaped &', '&amp;utm_source=newsletter'],
  ['a session of the way', ';jsessionid=0A1B2C'],
  ['a slash and a full stop', '/.'],
];

const damages: readonly Damage[] = [
  ...tails.map(
    ([who, tail]): Damage => ({
      what: `${who} after it`,
      to: (parts) => `${wholeLink(parts)}${tail}`,
      outcome: 'whole',
    }),
  ),
  {
    what: 'a slash after the key',
    to: (parts) => wholeLink(parts).replace(parts.key, `${parts.key}/`),
    outcome: 'whole',
  },
  {
    what: 'two slashes before the key',
    to: (parts) => wholeLink(parts).replace('secret/', 'secret//'),
    outcome: 'whole',
  },
  {
    what: 'two slashes after the host',
    to: (parts) => wholeLink(parts).replace('/secret/', '//secret/'),
    outcome: 'whole',
  },
  {
    what: 'a chat that adds a query',
    to: (parts) => wholeLink(parts).replace(parts.key, `${parts.key}?fbclid=IwAR0x-1`),
    outcome: 'whole',
  },
  {
    what: 'a query of an in-app browser after the end',
    to: (parts) => `${wholeLink(parts)}?utm_source=ig&igsh=MTc4`,
    outcome: 'whole',
  },
  {
    what: 'a link to highlighted words',
    to: (parts) => `${wholeLink(parts)}${parts.end === '' ? '#' : ''}:~:text=secret`,
    outcome: 'whole',
  },
  { what: 'a filter that escapes #', to: escaped('%23'), outcome: 'whole', of: 'sealed' },
  { what: 'a filter that escapes # twice', to: escaped('%2523'), outcome: 'whole', of: 'sealed' },
  { what: 'a filter that escapes # three times', to: escaped('%252523'), outcome: 'whole', of: 'sealed' },
  { what: 'an escaped # after a slash', to: escaped('/%23'), outcome: 'whole', of: 'sealed' },
  {
    what: 'an escaped #, and what a filter adds',
    to: (parts) => `${escaped('%23')(parts)}&data=05%7C02`,
    outcome: 'whole',
    of: 'sealed',
  },
  {
    what: 'an escaped #, and a full stop',
    to: (parts) => `${escaped('%23')(parts)}.`,
    outcome: 'whole',
    of: 'sealed',
  },
  { what: 'a rewritten link', to: (parts) => safeLinks(wholeLink(parts)), outcome: 'whole', isText: true },
  {
    what: 'a rewritten link with its end',
    to: (parts) => `${safeLinks(wholeLink({ ...parts, end: '' }))}#${parts.end}`,
    outcome: 'whole',
    isText: true,
    of: 'sealed',
  },
  {
    what: 'angle brackets around it',
    to: (parts) => `<${wholeLink(parts)}>`,
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'quotation marks around it',
    to: (parts) => `“${wholeLink(parts)}”,`,
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'blanks around it',
    to: (parts) => `\ufeff \t${wholeLink(parts)}\r\n\r\n`,
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'words after it',
    to: (parts) => `${wholeLink(parts)} opens only once`,
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'a line of a mail that ends in the key',
    to: ({ key, ...parts }) => wholeLink({ ...parts, key: `${key.slice(0, 9)}\r\n${key.slice(9)}` }),
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'a line of a mail that ends in the end',
    to: ({ end, ...parts }) => wholeLink({ ...parts, end: `${end.slice(0, 9)}\n${end.slice(9)}` }),
    outcome: 'whole',
    isText: true,
    of: 'sealed',
  },
  {
    what: 'a quoted line that ends in the end',
    to: ({ end, ...parts }) => `> ${wholeLink({ ...parts, end: `${end.slice(0, 9)}\n> ${end.slice(9)}` })}`,
    outcome: 'whole',
    isText: true,
    of: 'sealed',
  },
  {
    what: 'a quoted-printable line',
    to: ({ key, ...parts }) => wholeLink({ ...parts, key: `${key.slice(0, 9)}=\r\n${key.slice(9)}` }),
    outcome: 'whole',
    isText: true,
  },
  {
    what: 'two links',
    to: (parts) => `${wholeLink(parts)}\n${wholeLink(parts)}`,
    outcome: 'refused',
    isText: true,
  },
  {
    what: 'an end that was cut off',
    to: (parts) => wholeLink({ ...parts, end: '' }),
    outcome: 'incomplete',
    of: 'sealed',
  },
  {
    what: 'an end that was cut',
    to: (parts) => wholeLink({ ...parts, end: parts.end.slice(0, 17) }),
    outcome: 'incomplete',
    of: 'sealed',
  },
  {
    what: 'an end that was cut after an escaped #',
    to: (parts) => escaped('%23')({ ...parts, end: parts.end.slice(0, 17) }),
    outcome: 'incomplete',
    of: 'sealed',
  },
  {
    what: 'an end with a letter too many',
    to: (parts) => `${wholeLink(parts)}a`,
    outcome: 'incomplete',
    of: 'sealed',
  },
  {
    what: 'a key that was cut',
    to: (parts) => wholeLink({ ...parts, key: parts.key.slice(0, 30) }),
    outcome: 'refused',
  },
  {
    what: 'a key with a letter too many',
    to: (parts) => wholeLink({ ...parts, key: `${parts.key}a` }),
    outcome: 'refused',
  },
  { what: 'a lost #', to: (parts) => wholeLink(parts).replace('#', ''), outcome: 'refused', of: 'sealed' },
  {
    what: 'capital letters',
    to: (parts) => wholeLink({ ...parts, key: `A${parts.key.slice(1).toUpperCase()}` }),
    outcome: 'refused',
  },
  {
    what: 'a blank in the key',
    to: (parts) => wholeLink({ ...parts, key: `${parts.key.slice(0, 9)}%20${parts.key.slice(9)}` }),
    outcome: 'refused',
  },
];

/** With the link that each happened to, of a plain or an end-to-end secret. */
export function damagedLinks(parts: LinkParts): readonly (Damage & { readonly text: string })[] {
  const kind = parts.end === '' ? 'plain' : 'sealed';
  return damages
    .filter(({ of = kind }) => of === kind)
    .map((damage) => ({ ...damage, text: damage.to(parts) }));
}

/** Bodies that take a reader of bytes the most work: of each form that an endpoint reads, as long as asked. */

export interface UglyBody {
  readonly label: string;
  readonly contentType: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** What an endpoint reads: `query` is a form in the address, `svg` a picture that is the whole body. */
export type BodyForm = 'json' | 'form' | 'multipart' | 'query' | 'svg';

export interface Asked {
  /** The longest that the endpoint takes. */
  readonly capBytes: number;
  /** A field that it knows, dotted where it is nested. */
  readonly field: string;
  /** The same in a form, before it: what a body needs to get as far as its fields. */
  readonly first?: Readonly<Record<string, string>>;
}

/** `piece` again and again between the two ends, in no more than `capBytes`. */
function fill(
  capBytes: number,
  before: string,
  piece: string | ((n: number) => string),
  after: string,
): Buffer<ArrayBuffer> {
  const room = capBytes - Buffer.byteLength(before) - Buffer.byteLength(after);
  const pieces: string[] = [];
  if (typeof piece === 'string') pieces.push(piece.repeat(Math.floor(room / Buffer.byteLength(piece))));
  else
    for (let n = 0, left = room; ; n += 1) {
      const next = piece(n);
      left -= Buffer.byteLength(next);
      if (left < 0) break;
      pieces.push(next);
    }
  return Buffer.from(`${before}${pieces.join('')}${after}`);
}

type Shape = readonly [before: string, piece: string | ((n: number) => string), after: string];
type Shapes = Readonly<Record<string, Shape>>;

/** `{"a":{"b":` and its end, for the field `a.b`. */
function objectAround(field: string): readonly [string, string] {
  const names = field.split('.');
  return [names.map((name) => `{"${name}":`).join(''), '}'.repeat(names.length)];
}

function jsonShapes(field: string): Shapes {
  const [open, close] = objectAround(field);
  const text = (piece: string): Shape => [`${open}"`, piece, `"${close}`];
  const list = (piece: string): Shape => [`${open}[0`, `,${piece}`, `]${close}`];
  return {
    'one plain text': text('a'),
    'escaped quotes': text('\\"'),
    backslashes: text('\\\\'),
    'escaped letters': text('\\u0061'),
    'escaped surrogates': text('\\ud83d\\ude00'),
    'lone surrogates': text('\\ud83d'),
    'characters of four bytes': text('\u{1f600}'),
    'quotes of HTML': text('<&>'),
    brackets: ['', '[', ''],
    'brackets in the field': [open, '[', ''],
    braces: ['', '{"a":', ''],
    quotes: ['', '"', ''],
    'quotes and colons': ['', '"":', ''],
    'no end of a text': ['{"', 'a', ''],
    'no end of escapes': ['{"', '\\"', ''],
    blanks: ['{', ' ', '}'],
    'line breaks': ['{', '\r\n', '}'],
    'one number': [open, '1', close],
    'one fraction': [`${open}0.`, '1', close],
    'one exponent': [`${open}1e`, '1', close],
    numbers: list('0'),
    'huge numbers': list('1e308'),
    'small fractions': list('0.1'),
    words: list('null'),
    'empty objects': list('{}'),
    'empty lists': list('[]'),
    'empty texts': list('""'),
    'short texts': list('"a"'),
    'objects of one name': list('{"a":0}'),
    'objects of the field': list(`{"${field.split('.').at(-1)}":0}`),
    'many names': ['{"a":0', (n) => `,"a${n}":0`, '}'],
    'many names in the field': [`${open}{"a":0`, (n) => `,"a${n}":0`, `}${close}`],
    'many names of numbers': ['{"a":0', (n) => `,"${n}":0`, '}'],
    'escaped names': ['{"a":0', (n) => `,"\\u0061${n}":0`, '}'],
    'one name again': ['{"a":0', ',"a":0', '}'],
    'one long name': ['{"', 'a', '":0}'],
    'one long escaped name': ['{"', '\\u0061', '":0}'],
    'an end that is wrong': ['[0', ',0', ',]'],
  };
}

function formShapes(field: string, first: Readonly<Record<string, string>>): Shapes {
  const before = Object.entries(first)
    .map((pair) => `${pair.map(encodeURIComponent).join('=')}&`)
    .join('');
  const text = (piece: string): Shape => [`${before}${field}=`, piece, ''];
  return {
    'one plain text': text('a'),
    'escaped letters': text('%41'),
    'escapes of four bytes': text('%F0%9F%98%80'),
    'characters of four bytes': text('\u{1f600}'),
    'escaped quotes of HTML': text('%3C'),
    'quotes of HTML': text('"<'),
    'line breaks': text('%0D%0A'),
    'lone line breaks': text('%0D'),
    commas: text('a,'),
    'at signs': text('a@'),
    dots: text('a.'),
    blanks: text('+'),
    'escaped blanks': text('%20'),
    percents: text('%'),
    'invalid at the end': [`${before}${field}=`, '%41', '%'],
    'not UTF-8 at the end': [`${before}${field}=`, '%41', '%FF'],
    ampersands: [before, '&', ''],
    'equals signs': [before, '=', ''],
    'empty fields': [before, 'a&', ''],
    'fields without a name': [before, '=&', ''],
    'many fields': [before, (n) => `a${n}=&`, ''],
    'many escaped fields': [before, (n) => `%61${n}=&`, ''],
    'many nested fields': [before, (n) => `a[b${n}]=&`, ''],
    'one list': [before, `${field}[]=a&`, ''],
    'one field again': [before, 'a=&', ''],
    'one long name': [before, 'a', '='],
    'one long nested name': [`${before}a[`, '[', ']='],
    'one long escaped name': [before, '%61', '='],
  };
}

const boundary = 'x';

function multipartShapes(field: string, first: Readonly<Record<string, string>>): Shapes {
  const head = (name: string, more = '') =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const before = Object.entries(first)
    .map(([name, value]) => `${head(name)}${value}\r\n`)
    .join('');
  const end = `--${boundary}--\r\n`;
  const text = (piece: string): Shape => [before + head(field), piece, `\r\n${end}`];
  return {
    'one plain text': text('a'),
    'one file': [before + head(field, '; filename="a"'), 'a', `\r\n${end}`],
    zeros: text('\0'),
    'line breaks': text('\r\n'),
    dashes: text('-'),
    'beginnings of a boundary': text('\r\n-'),
    'almost boundaries': text('\r\n--y'),
    'bytes beyond ASCII': text('\u00e9'),
    'characters of four bytes': text('\u{1f600}'),
    'empty parts': [before, (n) => `${head(`a${n}`)}\r\n`, end],
    'empty files': [before, (n) => `${head(`a${n}`, '; filename=""')}\r\n`, end],
    'one empty part again': [before, `${head('a')}\r\n`, end],
    'parts without a head': [before, `--${boundary}\r\n\r\n\r\n`, end],
    'parts without an end': [before, (n) => head(`a${n}`), ''],
    boundaries: [before, `--${boundary}\r\n`, end],
    'lines of a head': [`${before}--${boundary}\r\n`, 'a: b\r\n', `\r\n\r\n${end}`],
    'one long line of a head': [
      `${before}--${boundary}\r\nContent-Disposition: form-data; name="`,
      'a',
      `"\r\n\r\n\r\n${end}`,
    ],
    'parameters of a head': [
      `${before}--${boundary}\r\nContent-Disposition: form-data`,
      '; name="a"',
      `\r\n\r\n\r\n${end}`,
    ],
    'quotes of a head': [
      `${before}--${boundary}\r\nContent-Disposition: form-data; name="`,
      '\\"',
      `"\r\n\r\n\r\n${end}`,
    ],
  };
}

function svgShapes(): Shapes {
  const inside = (piece: Shape[1]): Shape => ['<svg xmlns="http://www.w3.org/2000/svg">', piece, '</svg>'];
  return {
    'one plain text': ['<svg xmlns="http://www.w3.org/2000/svg"><title>', 'a', '</title></svg>'],
    comments: ['', '<!---->', '<svg/>'],
    'comments inside': inside('<!---->'),
    elements: inside('<g/>'),
    'nested elements': ['<svg xmlns="http://www.w3.org/2000/svg">', '<g>', ''],
    attributes: ['<svg xmlns="http://www.w3.org/2000/svg"><g', (n) => ` a${n}=""`, '/></svg>'],
    'ids and references': inside((n) => `<use id="a${n}" href="#a${n + 1}"/>`),
    entities: inside('&amp;'),
    brackets: inside('<'),
    blanks: ['', ' ', '<svg/>'],
  };
}

/** Each shape as a body, the plainest first. */
export function uglyBodies(form: BodyForm, { capBytes, field, first = {} }: Asked): readonly UglyBody[] {
  const [contentType, shapes] = {
    json: () => ['application/json', jsonShapes(field)] as const,
    form: () => ['application/x-www-form-urlencoded', formShapes(field, first)] as const,
    multipart: () => [`multipart/form-data; boundary=${boundary}`, multipartShapes(field, first)] as const,
    query: () => ['', formShapes(field, first)] as const,
    svg: () => ['image/svg+xml', svgShapes()] as const,
  }[form]();
  return Object.entries(shapes).map(([label, shape]) => ({
    label,
    contentType,
    bytes: fill(capBytes, ...shape),
  }));
}

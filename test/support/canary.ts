/**
 * Canaries: texts that must not turn up where they do not belong, in any disguise (the encodings that stores, logs, mails
 * and printers apply). A canary should be random and at least 12 bytes, so that no disguise of it occurs by chance.
 */

export interface Canary {
  /** Names it in reports: `value`, `passphrase`, …, never the text itself. */
  readonly name: string;
  readonly content: string | Uint8Array;
}

export interface Hit {
  readonly canary: string;
  /** The disguise: `raw`, `hex`, `base64 at offset 1`, … */
  readonly form: string;
  /** Offset of its first byte. */
  readonly offset: number;
}

export interface Form {
  readonly form: string;
  readonly bytes: Buffer;
}

const shortestCanary = 8;

/** Every disguise of a canary, each once. */
export function formsOf(content: string | Uint8Array): Form[] {
  const raw = typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content);
  if (raw.length < shortestCanary) throw new RangeError(`a canary has at least ${shortestCanary} bytes`);
  const texts = typeof content === 'string' ? textForms(content) : [];
  const all: Form[] = [{ form: 'raw', bytes: raw }, ...texts, ...byteForms(raw), ...base64Forms(raw)];
  const seen = new Set<string>();
  return all.filter(({ bytes }) => {
    const key = bytes.toString('latin1');
    return !seen.has(key) && seen.add(key);
  });
}

/** Forms that any bytes can take. */
function byteForms(raw: Buffer): Form[] {
  const hex = raw.toString('hex');
  const pairs = hex.match(/../g) ?? [];
  const ascii = (form: string, text: string): Form => ({ form, bytes: Buffer.from(text, 'latin1') });
  return [
    ascii('hex', hex),
    ascii('hex, upper case', hex.toUpperCase()),
    ascii('hex with blanks', pairs.join(' ')),
    ascii('hex with colons', pairs.join(':')),
    ascii('\\x escapes', pairs.map((pair) => `\\x${pair}`).join('')),
    ascii('URL-escaped throughout', pairs.map((pair) => `%${pair.toUpperCase()}`).join('')),
    ascii('URL-escaped throughout, lower case', pairs.map((pair) => `%${pair}`).join('')),
    ascii('a list of numbers', [...raw].join(',')),
    ascii('a list of numbers with blanks', [...raw].join(', ')),
  ];
}

/** Base64 has three forms, by where in a group of three bytes the text begins; its edges depend on the neighbours. */
function base64Forms(raw: Buffer): Form[] {
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), raw]).toString('base64');
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + raw.length) * 8) / 6);
    const sure = encoded.slice(first, last);
    const url = sure.replaceAll('+', '-').replaceAll('/', '_');
    return [
      { form: `base64 at offset ${offset}`, bytes: Buffer.from(sure, 'latin1') },
      { form: `base64url at offset ${offset}`, bytes: Buffer.from(url, 'latin1') },
    ];
  });
}

/** Forms that only texts take. */
function textForms(text: string): Form[] {
  const utf8 = (form: string, escaped: string): Form => ({ form, bytes: Buffer.from(escaped, 'utf8') });
  const littleEndian = Buffer.from(text, 'utf16le');
  const units = Array.from({ length: text.length }, (_, at) =>
    text.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return [
    { form: 'UTF-16, little-endian', bytes: littleEndian },
    { form: 'UTF-16, big-endian', bytes: Buffer.from(littleEndian).swap16() },
    utf8('URL-escaped', encodeURIComponent(text)),
    utf8('form-encoded', new URLSearchParams({ '': text }).toString().slice(1)),
    utf8('JSON-escaped', JSON.stringify(text).slice(1, -1)),
    utf8('JSON-escaped throughout', units.map((unit) => `\\u${unit}`).join('')),
    utf8('HTML-escaped', htmlEscaped(text)),
    utf8('HTML-escaped by the runtime', htmlEscaped(text).replaceAll('&#39;', '&#x27;')),
    utf8('quoted-printable', quotedPrintable(text)),
    utf8('reversed', [...text].reverse().join('')),
  ];
}

const htmlEntities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function htmlEscaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => htmlEntities[character] ?? character);
}

function quotedPrintable(text: string): string {
  return [...Buffer.from(text, 'utf8')]
    .map((byte) =>
      byte === 0x3d || byte < 0x20 || byte > 0x7e
        ? `=${byte.toString(16).toUpperCase().padStart(2, '0')}`
        : String.fromCharCode(byte),
    )
    .join('');
}

/** Whoever searches often has the same canaries each time. */
const formsOfEach = new WeakMap<Canary, readonly Form[]>();

function knownForms(canary: Canary): readonly Form[] {
  const forms = formsOfEach.get(canary) ?? formsOf(canary.content);
  formsOfEach.set(canary, forms);
  return forms;
}

/** The first occurrence of each disguise of each canary in the bytes; empty when nothing leaked. */
export function findCanaries(bytes: Uint8Array | string, canaries: readonly Canary[]): Hit[] {
  const haystack =
    typeof bytes === 'string'
      ? Buffer.from(bytes, 'utf8')
      : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return canaries.flatMap((canary) =>
    knownForms(canary)
      .map(({ form, bytes }) => ({ canary: canary.name, form, offset: haystack.indexOf(bytes) }))
      .filter(({ offset }) => offset >= 0),
  );
}

/** Everything in a value as bytes to search: raw bytes as they are, the rest as it would be printed. */
export function dumpOf(value: unknown): Buffer {
  const parts: Buffer[] = [Buffer.from(Bun.inspect(value, { depth: 20 }))];
  const seen = new Set<unknown>();
  const visit = (each: unknown): void => {
    if (typeof each === 'string') parts.push(Buffer.from(each, 'utf8'));
    if (typeof each !== 'object' || each === null || seen.has(each)) return;
    seen.add(each);
    if (each instanceof Uint8Array) {
      parts.push(Buffer.from(each));
      return;
    }
    if (each instanceof Error)
      parts.push(Buffer.from(`${each.message}\n${each.stack}\n${Bun.inspect(each)}`));
    for (const key of Reflect.ownKeys(each)) visit(Reflect.get(each, key));
  };
  visit(value);
  return Buffer.concat(parts.flatMap((part) => [part, Buffer.from('\n')]));
}

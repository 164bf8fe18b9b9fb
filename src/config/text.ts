/** How text from files, pipes, prompts and settings is read. docs/command.md says what each form drops, and a test checks every input. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Some Windows programs add an invisible byte order mark. */
const mark = /^\uFEFF/;

const forms = {
  /** Byte for byte. */
  exact: (text: string) => text,
  /** A value or passphrase: drops the line break that `echo` adds to a single line, but keeps the one that a private key needs. */
  value: (text: string) => text.replace(mark, '').replace(/^([^\n]*?)\r?\n$/, '$1'),
  /** A key, link, token or address: drops the white space and invisible characters around it. */
  word: (text: string) => text.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, ''),
  /** Several lines, ready to split at `\n`. */
  lines: (text: string) => text.replace(mark, '').replaceAll('\r\n', '\n').replace(/\n$/, ''),
  /** JSON or PEM, whose parsers handle the rest. */
  document: (text: string) => text.replace(mark, ''),
} as const;

export type TextForm = keyof typeof forms;

/** Its message completes a sentence that names the text. */
export class NotText extends Error {
  override readonly name = 'NotText';
}

/** @throws NotText for bytes that are not UTF-8, because they would not survive the round trip */
export function readAs(form: TextForm, given: Uint8Array | string): string {
  if (typeof given === 'string') return forms[form](given);
  try {
    return forms[form](utf8.decode(given));
  } catch {
    throw new NotText('is not UTF-8 text');
  }
}

/** Completes a sentence that names the file. */
export function whyUnread(error: unknown): string {
  return error instanceof NotText ? error.message : 'cannot be read';
}

/**
 * How text from people and programs is read: files, pipes, prompts, settings. docs/command.md says what each form leaves out, and a test
 * holds every door to it.
 */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
/** Some Windows programs begin a text with an invisible byte order mark. */
const mark = /^\uFEFF/;

const forms = {
  /** Byte for byte. */
  exact: (text: string) => text,
  /** A value or passphrase: `echo` ends one line with a line break, while a text of several lines (a private key) needs its own. */
  value: (text: string) => text.replace(mark, '').replace(/^([^\n]*?)\r?\n$/, '$1'),
  /** A key, link, token, address: nothing around it belongs to it. */
  word: (text: string) => text.replace(/^[\s\p{Cf}]+|[\s\p{Cf}]+$/gu, ''),
  /** Several lines, ready to be split at `\n`. */
  lines: (text: string) => text.replace(mark, '').replaceAll('\r\n', '\n').replace(/\n$/, ''),
  /** JSON, PEM: what reads it knows the rest. */
  document: (text: string) => text.replace(mark, ''),
} as const;

export type TextForm = keyof typeof forms;

/** Its message is the end of a sentence that names the text. */
export class NotText extends Error {
  override readonly name = 'NotText';
}

/** @throws NotText when bytes are not UTF-8: what would not come back as it went in is refused */
export function readAs(form: TextForm, given: Uint8Array | string): string {
  if (typeof given === 'string') return forms[form](given);
  try {
    return forms[form](utf8.decode(given));
  } catch {
    throw new NotText('is not UTF-8 text');
  }
}

/** Why a file was not read, as the end of a sentence that names it. */
export function whyUnread(error: unknown): string {
  return error instanceof NotText ? error.message : 'cannot be read';
}

/**
 * The charset that a body says it is in.
 *
 * Values are UTF-8, byte for byte, so nothing is converted. A label is no more than a library's habit as long as it makes
 * no difference: real clients send `charset=ISO-8859-1` with plain ASCII. Where another reader of that label would see
 * another text, the body is refused instead of guessed at.
 */
const utf8Labels: ReadonlySet<string> = new Set(['', 'utf-8', 'utf8', 'unicode-1-1-utf-8']);
/** Charsets in which bytes of ASCII may mean something else than ASCII. */
const shiftsAscii = /^(?:utf-?(?:16|32|7)|ucs|unicode|iso-?10646|iso-?2022|csiso2022|hz|ibm|cp037|ebcdic)/;
/** What is not ASCII, as it stands or in percent-encoding. */
const beyondAscii = /[\u0080-\uffff]|%[89a-fA-F][\da-fA-F]/;

/** @param text the body, read as UTF-8 */
export function isUtf8AsLabelled(contentType: string, text: string): boolean {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;]*))/i.exec(contentType) ?? [];
  const label = (quoted ?? plain ?? '').trim().toLowerCase();
  return utf8Labels.has(label) || !(shiftsAscii.test(label) || beyondAscii.test(text));
}

/**
 * What a mail server said, as it may be shown.
 *
 * Owns: how a reply becomes one line of at most 300 characters. Invariant: a server may quote the message or the envelope
 * in its reply, also broken over lines, so what is named as hidden stands in no line that leaves this file, and is taken
 * out before the line is shortened: a cut would leave a piece of it.
 */
import { toPrintable } from './mailbox.ts';

/** `Handover` in ports.ts. */
const longestReplyLength = 300;
const placeholder = '…';

/**
 * @param reply as the library gives it: lines that each begin with the reply code
 * @param hidden texts that must not be repeated; case does not matter
 * @returns `null` when nothing readable was said
 */
export function toReplyLine(reply: string | null, hidden: readonly string[]): string | null {
  // The longest first: the key is a part of the link.
  const terms = hidden.filter((term) => term !== '').sort((one, other) => other.length - one.length);
  let line = toPrintable(withoutRepeatedCodes(reply ?? ''))
    .replace(/ +/g, ' ')
    .trim();
  for (const term of terms) line = line.replace(patternOf(term), placeholder);
  return line === '' ? null : shorten(line);
}

/** Every line of a reply repeats its code (RFC 5321 §4.2.1); the first is enough, and the others would split words. */
function withoutRepeatedCodes(reply: string): string {
  return reply.replace(/(\r?\n)\d{3}(?:[ -]|$)/gm, '$1').replace(/^(\d{3})-/, '$1 ');
}

/** The term, also where a line break, which is a blank by now, or a soft one of quoted-printable stands in it. */
function patternOf(term: string): RegExp {
  const characters = [...term].map((character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
  return new RegExp(characters.join('(?:=? )?'), 'giu');
}

function shorten(line: string): string {
  if (line.length <= longestReplyLength) return line;
  const start = line.slice(0, longestReplyLength - placeholder.length);
  // Half of a surrogate pair is no character.
  return start.replace(/[\ud800-\udbff]$/, '') + placeholder;
}

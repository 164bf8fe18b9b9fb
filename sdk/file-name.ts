/** What a file from a stranger may be called. */

const maxNameBytes = 255;
/** Control and direction characters, line and paragraph separators, halves of surrogate pairs. */
const unwanted = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** At most so many bytes of UTF-8, without cutting a character. */
export function cut(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/**
 * The last segment of a path of any system, without control and direction characters, at most 255 bytes of UTF-8; `file` if nothing
 * is left that can be a name.
 */
export function safeFileName(name: string): string {
  const segment = name.split(/[/\\]/).at(-1) ?? '';
  const kept = cut(segment.replace(unwanted, ''), maxNameBytes).trim();
  return /^\.{0,2}$/.test(kept) ? 'file' : kept;
}

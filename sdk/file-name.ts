const maxNameBytes = 255;
/** Control and direction characters, line and paragraph separators, and lone surrogates. */
const unwanted = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Cuts the text to at most `maxBytes` of UTF-8, never inside a character. */
export function cut(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** Returns the last segment of a stranger's path without `unwanted` characters, cut to 255 bytes of UTF-8; `file` if nothing is left. */
export function safeFileName(name: string): string {
  const segment = name.split(/[/\\]/).at(-1) ?? '';
  const kept = cut(segment.replace(unwanted, ''), maxNameBytes).trim();
  return /^\.{0,2}$/.test(kept) ? 'file' : kept;
}

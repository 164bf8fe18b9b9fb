const maxNameBytes = 255;
/** Control and direction characters, line and paragraph separators, halves of surrogate pairs. */
const unwanted = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Cut to bytes of UTF-8, at the end of a character. */
export function cut(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** A stranger's file name: the last segment of any system's path, without `unwanted`, at most 255 bytes of UTF-8; `file` if none is left. */
export function safeFileName(name: string): string {
  const segment = name.split(/[/\\]/).at(-1) ?? '';
  const kept = cut(segment.replace(unwanted, ''), maxNameBytes).trim();
  return /^\.{0,2}$/.test(kept) ? 'file' : kept;
}

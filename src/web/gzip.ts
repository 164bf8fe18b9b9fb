/**
 * Compression of what is served (RFC 1952).
 *
 * Owns: the one call. libdeflate takes whole texts, which is all there is here, at a fraction of what a zlib stream with its
 * quarter of a megabyte of state costs for each page.
 */

/** @param level 1–12: the higher the smaller and slower */
export function gzip(content: string | Uint8Array<ArrayBuffer>, level: 6 | 12): Uint8Array<ArrayBuffer> {
  return Bun.gzipSync(content, { library: 'libdeflate', level });
}

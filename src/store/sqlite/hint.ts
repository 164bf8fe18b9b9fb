/**
 * The number by which the index finds an id.
 *
 * Owns: the first 47 bits of an id as an integer, which SQLite keeps in 6 bytes: an index of these is less than half the
 * size of one of whole ids. Two ids may share a hint, so a query always compares the id on the row too.
 */
export function hintOf(id: Uint8Array, offset = 0): number {
  const byte = (index: number): number => id[offset + index] ?? 0;
  const high = ((byte(0) & 0x7f) << 8) | byte(1);
  const low = ((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0;
  return high * 0x1_0000_0000 + low;
}

/** Also the shortest padded length. */
export const leastStepBytes = 256;

/**
 * Returns the padded length of an end-to-end secret's content: a multiple of 256 bytes, or of a sixteenth of the power of two below the
 * length if that is more. So the length reveals little about the content. Idempotent.
 */
export function paddedLength(bytes: number): number {
  const step = Math.max(leastStepBytes, 2 ** (Math.floor(Math.log2(bytes)) - 4));
  return Math.ceil(bytes / step) * step;
}

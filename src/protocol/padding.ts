/** The shortest padded content, and the smallest step between two lengths. */
export const leastStepBytes = 256;

/**
 * How long an end-to-end secret's content is once it is padded: a multiple of 256 bytes or, where that is more, of a sixteenth of the
 * power of two below its length. So the length says little about the content. The padded length of a padded length is itself.
 */
export function paddedLength(bytes: number): number {
  const step = Math.max(leastStepBytes, 2 ** (Math.floor(Math.log2(bytes)) - 4));
  return Math.ceil(bytes / step) * step;
}

/**
 * Texts that are too private for an argument.
 *
 * Owns: reading them from standard input or a file. Invariant: they are taken byte for byte and must be UTF-8: a text
 * that would not come back as it went in is refused.
 */
import { UsageError, type World } from './command.ts';

export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(
      'This is not UTF-8 text. Mayfly carries text: encode other data first, for example with base64.',
    );
  }
}

/** @param source a path, or `-` for standard input */
export async function readTextFrom(source: string, world: World): Promise<string> {
  if (source === '-') return decodeText(await world.terminal.readInput());
  try {
    return decodeText(await world.readFile(source));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`The file ${source} cannot be read.`);
  }
}

import { type ParsedLink, parseLink } from '../src/protocol/link.ts';
import { MayflyError } from './error.ts';

type Other = Exclude<ParsedLink['kind'], 'unknown'>;

/** @throws MayflyError `invalid_key` if the text is neither a key nor a link of the right kind */
export function keyOf(text: string, not: Other): string {
  return partsOf(text, not).key;
}

/** @throws MayflyError as `keyOf` does */
export function partsOf(text: string, not: Other): ParsedLink {
  const parsed = parseLink(text);
  if (parsed !== null && parsed.kind !== not) return parsed;
  const wanted = not === 'receipt' ? 'a secret’s link or key' : 'a receipt’s link or a metadata key';
  throw new MayflyError('invalid_key', `This is not ${wanted}.`);
}

import { type ParsedLink, parseLink } from '../src/protocol/link.ts';
import { MayflyError } from './error.ts';

const names = {
  secret: 'a secret’s link or key',
  receipt: 'a receipt’s link or a metadata key',
  ask: 'a link to answer a request',
  answers: 'a link to the answers to a request',
} as const;

/** @throws MayflyError `invalid_key` if the text is neither a key nor a link of this kind */
export function keyOf(text: string, wanted: 'secret' | 'receipt'): string {
  return partsOf(text, wanted).key;
}

/** A bare key may be a secret's or a receipt's. @throws MayflyError as `keyOf` does */
export function partsOf(text: string, wanted: keyof typeof names): ParsedLink {
  const parsed = parseLink(text);
  const isBare = parsed?.kind === 'unknown' && (wanted === 'secret' || wanted === 'receipt');
  if (parsed?.kind === wanted || (parsed !== null && isBare)) return parsed;
  throw new MayflyError('invalid_key', `This is not ${names[wanted]}.`);
}

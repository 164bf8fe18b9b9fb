/**
 * Proves that a shortkey is shown only to the holder of the metadata key, and that records older than shortkeys still
 * open.
 */
import { expect, it } from 'bun:test';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { derived, input } from '../../test/vectors/boxes.json';
import { generateMetadataKey, generateSecretKey, parseMetadataKey, parseSecretKey } from './keys.ts';
import { shortkeyOf, splitDetails, withShortkey } from './secret.ts';

const random = seededRandom('shortkeys');
const draw = () => ({
  secretKey: generateSecretKey(random, null),
  metadataKey: generateMetadataKey(random, null),
});
/** Random bytes as long as a box with this many buckets. */
const boxOf = (buckets: number) => random(48 + 64 * buckets);

it('is read back as stored, by itself or after a box of any length, together with the box', () => {
  for (const box of [null, boxOf(1), boxOf(2), boxOf(7)]) {
    const { secretKey, metadataKey } = draw();
    const details = withShortkey(box, metadataKey, secretKey);
    expect(details.length).toBe((box?.length ?? 0) + 6);
    expect(splitDetails(details, metadataKey)).toEqual({ box, shortkey: secretKey.slice(0, 6) });
  }
});

it('is kept as the vector says', () => {
  const [metadataKey, secretKey] = [parseMetadataKey(input.metadata_key), parseSecretKey(input.secret_key)];
  if (metadataKey === null || secretKey === null) throw new Error('the vector has no keys');
  expect(withShortkey(null, metadataKey, secretKey).toHex()).toBe(derived.shortkey_kept);
});

it('is absent from the details of earlier versions: nothing, or only a box', () => {
  const { metadataKey } = draw();
  expect(splitDetails(null, metadataKey)).toEqual({ box: null, shortkey: null });
  for (const box of [boxOf(1), boxOf(2), boxOf(7)])
    expect(splitDetails(box, metadataKey)).toEqual({ box, shortkey: null });
});

it('P9: is not revealed by another metadata key, and no two keys mask it alike', () => {
  const { secretKey } = draw();
  const kept = Array.from({ length: 300 }, () => withShortkey(null, draw().metadataKey, secretKey));
  expect(new Set(kept.map((each) => each.toHex())).size).toBe(kept.length);
  const told = kept.map((details) => splitDetails(details, draw().metadataKey).shortkey);
  expect(told.filter((each) => each === shortkeyOf(secretKey))).toEqual([]);
  // Every byte is masked: none keeps its plain value more often than by chance (300 / 256).
  for (let at = 0; at < 6; at += 1)
    expect(kept.filter((details) => details[at] === secretKey.charCodeAt(at)).length).toBeLessThan(12);
});

it('is absent where the bytes were changed to characters that no key has', () => {
  const { secretKey, metadataKey } = draw();
  const details = withShortkey(null, metadataKey, secretKey);
  details[3] = (details[3] ?? 0) ^ 0x80;
  expect(splitDetails(details, metadataKey)).toEqual({ box: null, shortkey: null });
});

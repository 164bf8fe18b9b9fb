/** Proves that a note opens with the link alone, takes nothing from what is sealed beside it, and stays with its row. */
import { describe, expect, it } from 'bun:test';
import {
  openVerifier,
  rewrapped,
  type SampleOptions,
  sealedSample,
  unwrapped,
} from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { sealedNoteBytes } from '../protocol/note.ts';
import { utf8 } from './bytes.ts';
import { hashProof } from './derive.ts';
import { hasNote, open, openNote, openProofs, proveKeys } from './envelope.ts';

describe('the note', () => {
  const kinds: readonly [string, SampleOptions][] = [
    ['a plain secret', { note: utf8('For Ana') }],
    ['a plain secret with a passphrase', { note: utf8('For Ana'), hasPassphrase: true }],
    ['an end-to-end secret', { note: seededRandom('note')(sealedNoteBytes), sealed: true }],
  ];

  it.each(kinds)('of %s is there for whoever has the link, and for nobody else (P9)', (_name, options) => {
    const sample = sealedSample(options);
    const secret = unwrapped(sample);
    const isSealed = options.sealed === true;
    expect(openNote(secret, sample.secretKey, isSealed)).toEqual(options.note ?? null);
    expect(hasNote(secret)).toBe(true);
    expect(openNote(secret, sealedSample({ seed: 'two' }).secretKey, isSealed)).toBeNull();
    expect(openNote(secret, sample.metadataKey, isSealed)).toBeNull();
    expect(openNote(secret, sample.secretKey, !isSealed)).toBeNull();
  });

  it.each(kinds)('of %s takes nothing from what is beside it', (_name, options) => {
    const sample = sealedSample(options);
    const secret = unwrapped(sample);
    const keys = proveKeys(secret, sample.secretKey, sample.passphrase?.key ?? null);
    expect(keys && open(secret, keys)).toEqual(sample.value);
    expect(openVerifier(secret, sample.secretKey)).toBe(sample.passphrase?.verifierHash ?? null);
    const { linkProof } = sample.proofs ?? {};
    expect(openProofs(secret, sample.secretKey)?.linkHash).toEqual(linkProof && hashProof(linkProof));
  });

  it.each(kinds)('of %s is carried over to another root and another expiry (P12)', (_name, options) => {
    const sample = sealedSample(options);
    const carried = rewrapped(sample);
    expect(carried.row).toHaveLength(sample.row.length);
    const secret = unwrapped(carried);
    expect(openNote(secret, sample.secretKey, options.sealed === true)).toEqual(options.note ?? null);
  });

  it('has one length in the row, whatever it says, and none where there is none (P11)', () => {
    const sizeOf = (options: SampleOptions) => sealedSample(options).row.length;
    const [short, long] = [utf8('A'), utf8('\u{1f99f}'.repeat(140))];
    expect(sizeOf({ note: short })).toBe(sizeOf({}) + sealedNoteBytes + 16);
    expect(sizeOf({ note: long })).toBe(sizeOf({ note: short }));
    for (const options of [{}, { hasPassphrase: true }, { sealed: true }]) {
      const secret = unwrapped(sealedSample(options));
      expect([hasNote(secret), openNote(secret, sealedSample().secretKey, false)]).toEqual([false, null]);
    }
  });
});

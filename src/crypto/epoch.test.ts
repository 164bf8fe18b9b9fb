/** The epoch of a row: without its key nothing opens (P10), and it goes with the expiry. */
import { describe, expect, it } from 'bun:test';
import { sampleEpoch, sealedSample } from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { FieldWriter } from './bytes.ts';
import { epochIn, rewrapSecret, unwrapSecret } from './envelope.ts';
import { createKeyRing, type KeyRing } from './keyring.ts';
import type { RandomBytes } from './random.ts';

const keysOf = (ring: KeyRing, random: RandomBytes) => ({ ring, epochKey: sampleEpoch.key, random });

describe('the epoch', () => {
  const sample = sealedSample({ hasPassphrase: true, owner: 7 });
  const { row, context, ring } = sample;
  const another = { epoch: sampleEpoch.epoch + 3, key: seededRandom('another epoch')(32) };

  it('is needed: with link, passphrase and root nothing opens without its key (P10)', () => {
    for (const key of [null, new Uint8Array(32), another.key])
      expect(unwrapSecret(row, context, ring, key).outcome).toBe('damaged');
    expect(rewrapSecret(row, context, { ...keysOf(ring, seededRandom('r')), epochKey: null }, {})).toBeNull();
    expect(epochIn(row)).toBe(sampleEpoch.epoch);
  });

  it('is bound to the row, which does not open as another’s with the same key', () => {
    const moved = row.slice();
    moved.set(new FieldWriter(2).u16(another.epoch).bytes, 11);
    expect(epochIn(moved)).toBe(another.epoch);
    expect(unwrapSecret(moved, context, ring, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('goes with the expiry, in a row as long, and the former key opens it no more', () => {
    const expiresAt = context.expiresAt + 3 * 86_400;
    const to = { expiry: { expiresAt, epoch: another } };
    const moved = rewrapSecret(row, context, keysOf(ring, seededRandom('moved')), to);
    if (moved === null) throw new Error('not rewrapped');
    expect(moved).toHaveLength(row.length);
    expect(epochIn(moved)).toBe(another.epoch);
    const later = { ...context, expiresAt };
    expect(unwrapSecret(moved, later, ring, another.key).outcome).toBe('unwrapped');
    expect(unwrapSecret(moved, later, ring, sampleEpoch.key).outcome).toBe('damaged');
  });

  it('is none in a row of version 2, which keeps its version and its length in another wrapping', () => {
    const old = sealedSample({ isVersion2: true, hasPassphrase: true });
    expect(epochIn(old.row)).toBeNull();
    expect(unwrapSecret(old.row, old.context, old.ring, null).outcome).toBe('unwrapped');
    const expiresAt = context.expiresAt + 60;
    const next = { kid: 2, key: seededRandom('next root')(32) };
    const keys = { ring: old.ring, epochKey: null, random: seededRandom('old') };
    const moved = rewrapSecret(old.row, old.context, keys, {
      root: next,
      expiry: { expiresAt, epoch: another },
    });
    if (moved === null) throw new Error('not rewrapped');
    expect([moved[0], moved.length]).toEqual([2, old.row.length]);
    const later = { ...old.context, expiresAt };
    expect(unwrapSecret(moved, later, createKeyRing([next]), null).outcome).toBe('unwrapped');
  });
});

/** The second look's row: what opens it, what does not, and the frozen vectors by the product and by the reference. */
import { describe, expect, it } from 'bun:test';
import fc from 'fast-check';
import { sealedSample } from '../../test/support/sealed-sample.ts';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import * as reference from '../../test/vectors/look-reference.ts';
import looks from '../../test/vectors/look-row-3.json';
import rows1 from '../../test/vectors/secret-row-1.json';
import { hex } from './bytes.ts';
import * as derive from './derive.ts';
import { open, openProofs, proveKeys, unwrapSecret } from './envelope.ts';
import { createKeyRing } from './keyring.ts';
import { type LookContext, lookRow, rewrapLook, sealLook, unwrapLook } from './look.ts';
import type { SecretContext, UnwrapOutcome, UnwrappedSecret } from './row.ts';

function secretIn(outcome: UnwrapOutcome): UnwrappedSecret {
  if (outcome.outcome !== 'unwrapped') throw new Error(outcome.outcome);
  return outcome.secret;
}

type Options = NonNullable<Parameters<typeof sealedSample>[0]>;

/** A look at a sample, with everything that went into it. */
function lookSample(options: Options = {}) {
  const sample = sealedSample(options);
  const random = seededRandom(`look ${options.seed ?? 'one'}`);
  const unwrapped = secretIn(
    unwrapSecret(sample.row, sample.context, sample.ring, sample.epoch?.key ?? null),
  );
  const context: LookContext = { ...sample.context, until: sample.context.createdAt + 60 };
  const opener = { secretKey: sample.secretKey, nonce: random(16) };
  const { row, root, ring } = sample;
  const look = sealLook({ row, unwrapped, context, ...opener, answersLeft: 2, root, random });
  if (look === null) throw new Error('there was no room');
  return { sample, unwrapped, context, opener, look, root, ring, random };
}

const outcomeOf = (
  { context, opener, look, ring }: ReturnType<typeof lookSample>,
  changes: {
    context?: Partial<LookContext>;
    opener?: Partial<typeof opener>;
    look?: Uint8Array;
    ring?: typeof ring;
  } = {},
) =>
  unwrapLook(
    changes.look ?? look,
    { ...context, ...changes.context },
    { ...opener, ...changes.opener },
    changes.ring ?? ring,
  ).outcome;

describe('a second look', () => {
  it('is as long as the row that it replaces, and opens to the same bytes, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 400 }),
        fc.boolean(),
        fc.boolean(),
        fc.option(fc.maxSafeNat(), { nil: null }),
        fc.constantFrom('', 'secrets.example.org'),
        fc.option(fc.uint8Array({ minLength: 1, maxLength: 300 }), { nil: undefined }),
        fc.boolean(),
        fc.option(fc.constantFrom('ann@example.org'), { nil: undefined }),
        (value, hasPassphrase, sealed, owner, shareDomain, addressBox, isVersion2, codeAddress) => {
          const made = lookSample({
            ...{ value, hasPassphrase, sealed, owner, shareDomain, isVersion2 },
            ...(addressBox && { addressBox }),
            ...(codeAddress && { codeAddress }),
          });
          const { sample, unwrapped, context, opener, look, ring } = made;
          expect(look).toHaveLength(sample.row.length);
          const again = secretIn(unwrapLook(look, context, opener, ring));
          expect(again).toEqual({ ...unwrapped, creator: null, codeAddress: null });
          const keys = proveKeys(again, sample.secretKey, sample.passphrase?.key ?? null);
          expect(keys && hex(open(again, keys))).toBe(hex(sample.value));
          if (sealed) expect(openProofs(again, sample.secretKey)).not.toBeNull();
        },
      ),
      { numRuns: 500 },
    );
  });

  it('still needs the passphrase', () => {
    const { look, context, opener, ring, sample } = lookSample({ hasPassphrase: true });
    const secret = secretIn(unwrapLook(look, context, opener, ring));
    expect(proveKeys(secret, sample.secretKey, null)).toBeNull();
    expect(proveKeys(secret, sample.secretKey, new Uint8Array(32))).toBeNull();
  });

  it('opens with neither another nonce nor another link, and not without its root (P9)', () => {
    const made = lookSample();
    expect(outcomeOf(made)).toBe('unwrapped');
    const nonce = new Uint8Array(made.opener.nonce);
    nonce[15] = (nonce[15] ?? 0) ^ 1;
    expect(outcomeOf(made, { opener: { nonce } })).toBe('damaged');
    expect(outcomeOf(made, { opener: { secretKey: lookSample({ seed: 'two' }).opener.secretKey } })).toBe(
      'damaged',
    );
    const { kid } = made.root;
    expect(outcomeOf(made, { ring: createKeyRing([{ kid, key: new Uint8Array(32) }]) })).toBe('damaged');
    expect(outcomeOf(made, { ring: createKeyRing([{ kid: kid + 1, key: made.root.key }]) })).toBe(
      'unknown_root',
    );
  });

  it('opens with another nonce neither where a store was made to take it for its own', () => {
    const made = lookSample();
    const nonce = new Uint8Array(16).fill(9);
    const look = new Uint8Array(made.look);
    look.set(derive.deriveLookTag(nonce, made.context.secretId), lookRow.tagAt);
    expect(outcomeOf(made, { look, opener: { nonce } })).toBe('damaged');
    expect(outcomeOf(made, { look })).toBe('damaged');
  });

  const changes: readonly Partial<LookContext>[] = [
    { until: 1_790_000_061 },
    { createdAt: 1_790_000_001 },
    { hasPassphrase: true },
    { sealed: true },
    { verify: true },
    { owner: 7 },
    { shareDomain: 'other.example.org' },
    { secretId: new Uint8Array(16) },
  ];
  it.each(changes.map((context) => ({ what: Object.keys(context).join(), context })))(
    'is bound to its record and its end: damaged with another $what',
    ({ context }) => {
      expect(outcomeOf(lookSample(), { context })).toBe('damaged');
    },
  );

  it('is damaged by any changed byte but the count of answers', () => {
    const made = lookSample();
    for (let at = 0; at < made.look.length; at += 1) {
      const look = new Uint8Array(made.look);
      look[at] = (look[at] ?? 0) ^ 1;
      const outcome = outcomeOf(made, { look });
      if (at === lookRow.answersAt) expect(outcome).toBe('unwrapped');
      else expect(outcome).not.toBe('unwrapped');
    }
    for (const length of [0, 1, 55, 56, 71, 72, made.look.length - 1])
      expect(outcomeOf(made, { look: made.look.subarray(0, length) })).toBe('damaged');
  });

  it('is no row of a waiting secret, and such a row is no look', () => {
    const { sample, look, context, opener, ring } = lookSample();
    expect(unwrapSecret(look, sample.context, ring, sample.epoch?.key ?? null).outcome).toBe('damaged');
    expect(unwrapLook(sample.row, context, opener, ring).outcome).toBe('damaged');
  });

  it('under another root is as long, opens as before and keeps its count (P12)', () => {
    const made = lookSample();
    const { look, context, opener, root, random } = made;
    const next = { kid: 300, key: random(32) };
    const rewrapped = rewrapLook(look, context, createKeyRing([root, next]), random, next);
    if (rewrapped === null) throw new Error('not re-wrapped');
    expect(rewrapped).toHaveLength(look.length);
    expect([rewrapped[1], rewrapped[2], rewrapped[lookRow.answersAt]]).toEqual([1, 44, 2]);
    const before = secretIn(unwrapLook(look, context, opener, made.ring));
    expect(secretIn(unwrapLook(rewrapped, context, opener, createKeyRing([next])))).toEqual(before);
    expect(hex(rewrapped)).not.toContain(hex(look.subarray(56, 88)));
    expect(rewrapLook(look, context, createKeyRing([next]), random, next)).toBeNull();
    expect(rewrapLook(look, { ...context, until: 1 }, made.ring, random, next)).toBeNull();
    expect(rewrapLook(made.sample.row, context, made.ring, random, next)).toBeNull();
  });

  it('is another each time, also for the same nonce', () => {
    const made = lookSample();
    const { sample, unwrapped, context, opener, root, random } = made;
    const again = sealLook({ row: sample.row, unwrapped, context, ...opener, answersLeft: 2, root, random });
    expect(again?.subarray(0, 28)).toEqual(made.look.subarray(0, 28));
    expect(hex(again?.subarray(28) ?? new Uint8Array())).not.toBe(hex(made.look.subarray(28)));
  });

  it('has no room in a row of version 1, which opens strictly once', () => {
    const [first] = rows1.cases;
    if (first === undefined) throw new Error('no vector');
    const { input } = first;
    const context: SecretContext = {
      secretId: derive.deriveSecretId(input.secret_key),
      createdAt: input.created_at,
      expiresAt: input.expires_at,
      hasPassphrase: input.passphrase_utf8_hex !== null,
      sealed: false,
      verify: false,
      owner: input.owner,
      shareDomain: input.share_domain,
    };
    const root = { kid: input.kid, key: bytesOf(input.root) };
    const row = bytesOf(first.row);
    const unwrapped = secretIn(unwrapSecret(row, context, createKeyRing([root]), null));
    const opener = { secretKey: input.secret_key, nonce: new Uint8Array(16) };
    const until = { ...context, until: context.expiresAt };
    const random = seededRandom('version 1');
    expect(sealLook({ row, unwrapped, context: until, ...opener, answersLeft: 2, root, random })).toBeNull();
  });
});

describe('the vectors of the second look', () => {
  const samples = looks.cases.map((vector) => {
    const { input } = vector;
    const context: LookContext = {
      secretId: derive.deriveSecretId(input.secret_key),
      createdAt: input.created_at,
      expiresAt: input.expires_at,
      hasPassphrase: input.has_passphrase,
      sealed: input.sealed,
      verify: false,
      owner: input.owner,
      shareDomain: input.share_domain,
      until: input.until,
    };
    const root = { kid: input.kid, key: bytesOf(input.root) };
    const opener = { secretKey: input.secret_key, nonce: bytesOf(input.nonce) };
    return { ...vector, context, root, opener, row: bytesOf(input.row) };
  });

  it.each(samples)(
    '$name: every derivation is the frozen one',
    ({ input, derived, context, opener, root }) => {
      const keys = derive.deriveLookKeys(opener.secretKey, opener.nonce, bytesOf(input.inner_r2));
      const outer = derive.deriveLookOuterKeys(root.key, bytesOf(input.r2));
      const { aad: _aad, ...rest } = derived;
      expect({
        sid: hex(context.secretId),
        tag: hex(derive.deriveLookTag(opener.nonce, context.secretId)),
        look_key: hex(keys.key),
        look_nonce: hex(keys.nonce),
        outer_key: hex(outer.key),
        outer_nonce: hex(outer.nonce),
      }).toEqual(rest);
    },
  );

  it.each(samples)('$name: the product seals and opens the frozen row', (vector) => {
    const { input, context, opener, root, row, look } = vector;
    const ring = createKeyRing([root]);
    const unwrapped = secretIn(unwrapSecret(row, context, ring, null));
    const sealed = sealLook({
      ...{ row, unwrapped, context, ...opener, root, answersLeft: input.answers_left },
      random: fixedRandom(input.inner_r2, input.r2),
    });
    expect(hex(sealed ?? new Uint8Array())).toBe(look);
    const again = secretIn(unwrapLook(bytesOf(look), context, opener, ring));
    expect(again).toEqual({ ...unwrapped, creator: null });
  });

  it.each(samples)(
    '$name: the reference seals and opens the same row',
    ({ input, context, opener, row, look }) => {
      const root = bytesOf(input.root);
      const sealed = reference.sealLookOf(row, {
        ...{ ...opener, context, root, kid: input.kid, until: input.until, answersLeft: input.answers_left },
        r2: bytesOf(input.r2),
        innerR2: bytesOf(input.inner_r2),
      });
      expect(hex(sealed)).toBe(look);
      const held = reference.heldIn(row, opener.secretKey, context, root);
      const opened = reference.openLookOf(bytesOf(look), { ...opener, context, root, until: input.until });
      expect(opened).toEqual(held);
    },
  );
});

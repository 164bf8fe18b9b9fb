/** Idempotent creations against frozen vectors, by the product and by an implementation that shares nothing with it. */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { seededRandom } from '../../test/support/seeded-random.ts';
import { bytesOf, fixedRandom } from '../../test/support/vector-bytes.ts';
import vectors from '../../test/vectors/creations.json';
import { regionLabelOf } from '../../test/vectors/reference.ts';
import * as reference from '../../test/vectors/reference-creations.ts';
import { hex } from './bytes.ts';
import {
  creationMac,
  creationMaterial,
  creationRandom,
  isSameRequest,
  unwrapSeed,
  wrapSeed,
} from './creation.ts';
import { type CreationLabel, deriveCreationBytes, deriveCreationId } from './derive.ts';
import { createKeyRing } from './keyring.ts';
import { randomText } from './random.ts';

type Vector = (typeof vectors.creations)[number];

const keyAlphabet = '0123456789abcdefghijklmnopqrstuvwxyz';
const characterSets: Readonly<Record<string, string>> = {
  lower: 'abcdefghjkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  symbols: '*$!?()#%&+-=@_',
};

const hashOf = (body: string) => new Uint8Array(createHash('sha256').update(body).digest());

function partsOf({ token, key, index, seed, target, body }: Vector) {
  const material = creationMaterial(bytesOf(token), key, index);
  return { material, seed: bytesOf(seed), request: { target, bodyHash: hashOf(body) } };
}

describe.each(vectors.creations)('the creation of $index', (vector) => {
  const { material, seed, request } = partsOf(vector);

  it('has this material and id', () => {
    const wanted = reference.materialOf(bytesOf(vector.token), vector.key, vector.index);
    expect(hex(material)).toBe(wanted.toString('hex'));
    expect(hex(deriveCreationId(material))).toBe(vector.id);
    expect(reference.creationIdOf(wanted).toString('hex')).toBe(vector.id);
  });

  it.each(['secret', 'receipt'] as const)('draws this key of its %s', (what) => {
    const key = what === 'secret' ? vector.secret_key : vector.metadata_key;
    const label = what === 'secret' ? 'creationSecret' : 'creationReceipt';
    const length = vector.region === null ? 31 : 29;
    const text = { alphabet: keyAlphabet, length, isRight: () => true };
    const drawn = reference.drawnText(what, Buffer.from(material), seed, text);
    expect(key.slice(0, length)).toBe(drawn);
    expect(randomText(keyAlphabet, length, creationRandom(label, material, seed))).toBe(drawn);
    if (vector.region !== null) expect(regionLabelOf(key)).toBe(vector.region);
  });

  it('draws this value', () => {
    const sets = vector.generate.charset.map((name) => characterSets[name] ?? '');
    const isRight = (drawn: string) => sets.every((set) => [...drawn].some((each) => set.includes(each)));
    const text = { alphabet: sets.join(''), length: vector.generate.length, isRight };
    expect(reference.drawnText('value', Buffer.from(material), seed, text)).toBe(vector.value);
  });

  it('knows its request by this MAC', () => {
    expect(hex(creationMac(material, seed, request))).toBe(vector.body_mac);
    const mac = reference.bodyMacOf(Buffer.from(material), seed, vector.target, Buffer.from(vector.body));
    expect(mac.toString('hex')).toBe(vector.body_mac);
    expect(isSameRequest(material, seed, request, bytesOf(vector.body_mac))).toBe(true);
    const other = { ...request, target: `${request.target}/` };
    expect(isSameRequest(material, seed, other, bytesOf(vector.body_mac))).toBe(false);
  });

  it('keeps its seed under the root in these bytes, which open for nothing else', () => {
    const root = { kid: vector.kid, key: bytesOf(vector.root) };
    const ring = createKeyRing([root]);
    const [id, row] = [bytesOf(vector.id), bytesOf(vector.wrapped_seed)];
    expect(hex(wrapSeed(root, id, seed, fixedRandom(vector.salt)))).toBe(vector.wrapped_seed);
    expect(hex(unwrapSeed(ring, id, row) ?? new Uint8Array(0))).toBe(vector.seed);
    expect(reference.openSeed(row, root.key, id).toString('hex')).toBe(vector.seed);
    expect(unwrapSeed(createKeyRing([{ ...root, key: new Uint8Array(32) }]), id, row)).toBeNull();
    expect(unwrapSeed(createKeyRing([{ ...root, kid: (vector.kid % 65_535) + 1 }]), id, row)).toBeNull();
    expect(unwrapSeed(ring, id, row.subarray(1))).toBeNull();
    for (let at = 0; at < row.length; at += 1) {
      const flipped = row.map((byte, n) => (n === at ? byte ^ 1 : byte));
      expect(unwrapSeed(ring, id, flipped)).toBeNull();
    }
    const otherId = id.map((byte, n) => (n === 0 ? byte ^ 1 : byte));
    expect(unwrapSeed(ring, otherId, row)).toBeNull();
  });
});

const labels: readonly CreationLabel[] = [
  'creationSecret',
  'creationReceipt',
  'creationValue',
  'creationBody',
];

it('each label gives bytes of its own, and so does each token, key, place and seed', () => {
  const random = seededRandom('creations');
  const [token, seed] = [random(32), random(32)];
  const materials = [
    creationMaterial(token, 'a', 0),
    creationMaterial(random(32), 'a', 0),
    creationMaterial(token, 'b', 0),
    creationMaterial(token, 'a', 1),
    // The key has a length of its own, so it cannot run into the place.
    creationMaterial(token, 'a\0\0\0\0', 0),
    creationMaterial(token, '', 0),
  ];
  const seeds = [seed, random(32)];
  const outputs = materials.flatMap((material) => [
    hex(deriveCreationId(material)),
    ...labels.flatMap((label) => seeds.map((each) => hex(deriveCreationBytes(label, material, each, 16)))),
  ]);
  expect(new Set(outputs).size).toBe(materials.length * (1 + labels.length * seeds.length));
});

it('draws the same bytes in the same order, however they are asked for, up to an end', () => {
  const [material, seed] = [creationMaterial(new Uint8Array(32), 'k', 0), new Uint8Array(32)];
  const whole = deriveCreationBytes('creationValue', material, seed, 8_160);
  for (const step of [1, 39, 64, 65, 1_000]) {
    const random = creationRandom('creationValue', material, seed);
    let drawn = '';
    for (let at = 0; at + step <= whole.length; at += step) drawn += hex(random(step));
    expect(drawn).toBe(hex(whole).slice(0, drawn.length));
    expect(() => {
      for (;;) random(step);
    }).toThrow(RangeError);
  }
});

it('draws keys whose characters are all equally likely', () => {
  const random = seededRandom('uniform creations');
  const counts = new Map<string, number>();
  const keys = 2_000;
  for (let n = 0; n < keys; n += 1) {
    const source = creationRandom('creationSecret', creationMaterial(random(32), `${n}`, 0), random(32));
    for (const character of randomText(keyAlphabet, 31, source))
      counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  const expected = (keys * 31) / 36;
  const chiSquare = [...keyAlphabet]
    .map((each) => (counts.get(each) ?? 0) - expected)
    .reduce((sum, difference) => sum + difference ** 2 / expected, 0);
  // 35 degrees of freedom: above 90 once in a million.
  expect(chiSquare).toBeLessThan(90);
});

/**
 * Someone who holds the whole database and every server key, but no link, opens nothing.
 *
 * The insider is a program that knows the format, gets everything the store was handed and the key ring, and tries every
 * key it can find or derive on every ciphertext it can see, feeding what it opens back in. It must also exploit stores with
 * a seeded defect.
 */
import { describe, expect, it } from 'bun:test';
import { createHash } from 'node:crypto';
import { anonymous } from '../../src/core/account.ts';
import type { NewRecord, StoredDelivery } from '../../src/core/secret.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { unseal } from '../../src/crypto/aead.ts';
import { concat, FieldReader, FieldWriter, hex, utf8 } from '../../src/crypto/bytes.ts';
import {
  type BoxLabel,
  deriveBoxKeys,
  deriveCreatorMask,
  deriveInnerKeys,
  derivePassphraseSalt,
  deriveSecretId,
  deriveVerifierKeys,
} from '../../src/crypto/derive.ts';
import { epochIn, expiryLimitOf, secretAads } from '../../src/crypto/envelope.ts';
import { createKeyRing, type KeyRing } from '../../src/crypto/keyring.ts';
import { underTheRoot } from '../support/sealed-sample.ts';
import { createBench, createCountingHasher, guess } from '../support/service-bench.ts';

const boxTexts: Readonly<Record<BoxLabel, string>> = {
  creator: 'mayfly/1/creator',
  details: 'mayfly/1/details',
  recent: 'mayfly/1/recent',
  note: 'mayfly/1/note',
  address: 'mayfly/1/address',
  cursor: 'mayfly/1/cursor',
  memo: 'mayfly/1/memo',
  answer: 'mayfly/1/answer',
  accountDataKey: 'mayfly/1/adk',
};
const labels = Object.keys(boxTexts) as readonly BoxLabel[];
/** The counting hasher ignores the place. */
const thiefsPlace = { client: '', purpose: 'prove' } as const;

function boxAad(label: BoxLabel, binding: Uint8Array): Uint8Array {
  const text = utf8(boxTexts[label]);
  return new FieldWriter(8 + text.length + binding.length).field(text).field(binding).bytes;
}

/** What the store keeps of a mail. */
type Note = Pick<StoredDelivery, 'noteBox' | 'addressBox'> & Pick<NewRecord, 'receiptId'>;

/** What the insider has: rows, notes of their mails, all other stored bytes, the keys of server and store, and passphrases worth guessing. */
interface Haul {
  readonly records: readonly NewRecord[];
  readonly notes: readonly Note[];
  readonly bytes: readonly Uint8Array[];
  readonly ring: KeyRing;
  /** Of the epochs that are not over. */
  readonly epochKeys: ReadonlyMap<number, Uint8Array>;
  readonly dictionary: readonly string[];
}

interface Opened {
  readonly what: 'row' | 'creator’s key' | 'verifier' | 'value' | `${BoxLabel} box`;
  readonly content: Uint8Array;
}

/** A ciphertext, and how to try a key on it. */
interface Target {
  readonly what: Opened['what'];
  readonly open: (key: Uint8Array) => Uint8Array | null | Promise<Uint8Array | null>;
}

const keyForm = /^[0-9a-z]{31}$/;

/** Every possible key in these bytes: 31 characters of a key's form, any 32 bytes, 64 hex digits. */
function keysIn(bytes: Uint8Array): Uint8Array[] {
  const found: Uint8Array[] = [bytes];
  for (let at = 0; at + 31 <= bytes.length; at += 1) {
    const text = Buffer.from(bytes.subarray(at, at + 31)).toString('latin1');
    if (keyForm.test(text)) found.push(bytes.slice(at, at + 31));
    if (at + 32 <= bytes.length) found.push(bytes.slice(at, at + 32));
    const digits = Buffer.from(bytes.subarray(at, at + 64)).toString('latin1');
    if (/^[0-9a-f]{64}$/.test(digits)) found.push(Buffer.from(digits, 'hex'));
  }
  return found;
}

const boxTarget = (box: Uint8Array, label: BoxLabel, binding: Uint8Array): Target => ({
  what: `${label} box`,
  open: (key) =>
    unseal(deriveBoxKeys(label, key, box.subarray(0, 32)), box.subarray(32), boxAad(label, binding)),
});

/** The address box needs two keys, concatenated: each key is tried with every key found earlier. */
function addressTarget(box: Uint8Array, binding: Uint8Array): Target {
  const { what, open } = boxTarget(box, 'address', binding);
  const earlier: Uint8Array[] = [];
  return {
    what,
    async open(key) {
      const pairs = earlier.flatMap((other) => [concat(key, other), concat(other, key)]);
      if (key.length === 31) earlier.push(key);
      for (const keys of [key, ...(key.length === 31 ? pairs : [])]) {
        const content = await open(keys);
        if (content !== null) return content;
      }
      return null;
    },
  };
}

function noteTargets({ receiptId, noteBox, addressBox }: Note): Target[] {
  return [
    ...(noteBox === null ? [] : [boxTarget(noteBox, 'note', receiptId)]),
    ...(addressBox === null ? [] : [addressTarget(addressBox, receiptId)]),
  ];
}

/** The outer layers, which the roots open, and the targets inside them. */
function underTheRoots(haul: Haul): { opened: Opened[]; targets: Target[] } {
  const opened: Opened[] = [];
  const targets: Target[] = [];
  for (const record of haul.records) {
    const binding = record.receiptId;
    for (const root of haul.ring.all) {
      const epochKey = haul.epochKeys.get(epochIn(record.sealedSecret) ?? 0);
      const row = epochKey && underTheRoot(record.sealedSecret, record, root, epochKey);
      if (!row) continue;
      opened.push({ what: 'row', content: row });
      targets.push(...rowTargets(row, record, haul.dictionary));
    }
    // Without the six shortkey bytes at the end, which are masked with a key that must be found first.
    if (record.detailsBox !== null)
      targets.push(boxTarget(record.detailsBox.subarray(0, -6), 'details', binding));
    if (record.recentBox !== null) targets.push(boxTarget(record.recentBox, 'recent', binding));
    if (record.memoBox !== null) targets.push(boxTarget(record.memoBox, 'memo', binding));
  }
  targets.push(...haul.notes.flatMap(noteTargets));
  const loose = haul.bytes.filter((bytes) => bytes.length > 48);
  for (const bytes of loose)
    for (const label of labels) targets.push(boxTarget(bytes, label, new Uint8Array(0)));
  return { opened, targets };
}

const hasher = createCountingHasher();

/** The secret key under its mask: whatever gives a key with the record's id is the metadata key. */
function creatorTarget(masked: Uint8Array, salt: Uint8Array, { secretId }: NewRecord): Target {
  return {
    what: 'creator’s key',
    open(key) {
      if (key.length !== masked.length) return null;
      const mask = deriveCreatorMask(Buffer.from(key).toString('latin1'), salt);
      const secretKey = masked.map((byte, at) => byte ^ (mask[at] ?? 0));
      const id = deriveSecretId(Buffer.from(secretKey).toString('latin1'));
      return hex(id) === hex(secretId) ? secretKey : null;
    },
  };
}

/** The value, the bcrypt hash, the link and the recipient's address of a row without its outer layer. */
function rowTargets(row: Uint8Array, record: NewRecord, dictionary: readonly string[]): Target[] {
  const reader = new FieldReader(row);
  const [salt, masked, address] = [reader.raw(32), reader.raw(31), reader.field()];
  const [verifier, body] = [reader.field(), reader.rest()];
  const aad = secretAads(record, expiryLimitOf(record.sealedSecret) ?? 0, 0).record;
  const valueWith = (key: Uint8Array, passphraseKey: Uint8Array | null): Uint8Array | null => {
    const inner = deriveInnerKeys(Buffer.from(key).toString('latin1'), passphraseKey, salt);
    return unseal(inner, body.subarray(32), aad);
  };
  const value: Target = {
    what: 'value',
    async open(key) {
      const plain = valueWith(key, null);
      if (plain !== null || key.length !== 31) return plain;
      for (const passphrase of dictionary) {
        const passphraseSalt = derivePassphraseSalt(Buffer.from(key).toString('latin1'), salt);
        const guessed = valueWith(key, await hasher.stretch(utf8(passphrase), passphraseSalt, thiefsPlace));
        if (guessed !== null) return guessed;
      }
      return null;
    },
  };
  const forTheCreator = [
    creatorTarget(masked, salt, record),
    ...(address.length === 0 ? [] : [addressTarget(address, record.receiptId)]),
  ];
  if (verifier.length === 0) return [value, ...forTheCreator];
  const verifierOf = (key: Uint8Array) =>
    unseal(deriveVerifierKeys(Buffer.from(key).toString('latin1'), salt), verifier, aad);
  return [value, ...forTheCreator, { what: 'verifier', open: verifierOf }];
}

/** Opens everything it can, searching each opened content for more keys until nothing new is found. */
async function attack(haul: Haul): Promise<Opened[]> {
  const { opened, targets } = underTheRoots(haul);
  const closed = new Set(targets);
  const tried = new Set<string>();
  const guesses = haul.dictionary.flatMap((text) => [utf8(text), digestOf(text)]);
  let sources = [
    ...haul.bytes,
    ...haul.ring.all.map(({ key }) => key),
    ...guesses,
    ...opened.map(({ content }) => content),
  ];
  while (sources.length > 0) {
    const keys = sources.flatMap(keysIn).filter((key) => !tried.has(hex(key)) && tried.add(hex(key)));
    sources = [];
    for (const target of closed) {
      for (const key of keys) {
        const content = await target.open(key);
        if (content === null) continue;
        closed.delete(target);
        opened.push({ what: target.what, content });
        sources.push(content);
        break;
      }
    }
  }
  return opened;
}

const digestOf = (text: string): Uint8Array => createHash('sha256').update(text).digest();

const secrets = {
  open: 'the value without passphrase',
  guarded: 'the value with passphrase',
  passphrase: 'hunter2!',
  quoted: 'what the server quotes',
  memo: 'what the creator notes',
  note: 'what the recipient reads first',
};

/** Uses a service and returns everything its store was handed. `defect` returns what else the store keeps of a record. */
async function haulOf(
  defect: (record: NewRecord, known: { metadataKey: string; dataKey: Uint8Array }) => Uint8Array[] = () => [],
) {
  const kept: Uint8Array[] = [];
  const notes: Note[] = [];
  const keep = (value: unknown): void => {
    if (value instanceof Uint8Array) kept.push(value.slice());
    else if (typeof value === 'string') kept.push(utf8(value));
    else if (typeof value === 'object' && value !== null) for (const each of Object.values(value)) keep(each);
  };
  const bench = createBench({
    wrap: (store) =>
      new Proxy<ServiceParts['store']>(store, {
        get(target, name) {
          const method: unknown = Reflect.get(target, name);
          if (
            typeof method !== 'function' ||
            name === 'findSecret' ||
            name === 'findReceipt' ||
            name === 'findToken'
          )
            return method;
          return (...args: unknown[]) => {
            keep(args);
            if (name === 'setDelivery') {
              const [receiptId, { noteBox, addressBox }] = args as Parameters<typeof target.setDelivery>;
              notes.push({ receiptId, noteBox, addressBox });
            }
            return Reflect.apply(method, target, args);
          };
        },
      }),
  });
  const caller = await bench.signUp('jo@example.org');
  const one = await bench.share(secrets.open, {
    caller,
    recipient: 'alan@example.com',
    memo: new Sensitive(secrets.memo),
  });
  const note = new Sensitive(secrets.note);
  const two = await bench.share(secrets.guarded, { caller, passphrase: secrets.passphrase, note });
  await bench.service.reveal(guess(two.secretKey, 'wrong'), anonymous);
  await bench.service.settled();
  bench.mailReply = `554 refused: ${secrets.quoted}`;
  const elsewhere = { recipient: new Sensitive('second@example.net'), locale: 'en' };
  await bench.service.deliver({ ...elsewhere, metadataKey: one.metadataKey, authority: 'owner' }, caller);
  await bench.service.settled();
  const dataKey = caller.dataKey.expose();
  const extra = [one, two].flatMap(({ metadataKey }, at) => {
    const record = bench.records[at];
    return record === undefined ? [] : defect(record, { metadataKey, dataKey });
  });
  const epochs = await Promise.all(bench.records.map(({ expiresAt }) => bench.memory.epochFor(expiresAt)));
  const haul: Haul = {
    records: bench.records,
    notes,
    bytes: [...kept, ...extra],
    ring: bench.deps.ring,
    epochKeys: new Map(epochs.map(({ epoch, key }) => [epoch, key])),
    dictionary: ['123456', 'password', secrets.passphrase],
  };
  return { haul, keys: { one, two, token: caller.token, dataKey } };
}

type HaulOf = Awaited<ReturnType<typeof haulOf>>;

/** How every kept bcrypt hash begins. */
const verifierMark = '$2b$04$';

/** How much of the secrets is in what was opened. */
function gains(opened: readonly Opened[], { keys }: HaulOf) {
  const all = concat(...opened.map(({ content }) => content));
  const holds = (text: string | Uint8Array) => Buffer.from(all).includes(Buffer.from(text as string));
  return {
    values: [secrets.open, secrets.guarded].filter(holds).length,
    passphraseHashes: holds(verifierMark) ? 1 : 0,
    passphrases: holds(secrets.passphrase) ? 1 : 0,
    secretKeys: [keys.one, keys.two].filter(({ secretKey }) => holds(secretKey)).length,
    metadataKeys: [keys.one, keys.two].filter(({ metadataKey }) => holds(metadataKey)).length,
    dataKeys: holds(keys.dataKey) ? 1 : 0,
    recipients: holds('al*****@e*****.com') || holds('alan@') ? 1 : 0,
    newRecipients: holds('second@example.net') ? 1 : 0,
    replies: holds(secrets.quoted) ? 1 : 0,
    memos: holds(secrets.memo) ? 1 : 0,
    notes: holds(secrets.note) ? 1 : 0,
  };
}

const nothing = {
  values: 0,
  passphraseHashes: 0,
  passphrases: 0,
  secretKeys: 0,
  metadataKeys: 0,
  dataKeys: 0,
  recipients: 0,
  newRecipients: 0,
  replies: 0,
  memos: 0,
  notes: 0,
};

describe('an insider with the database and every server key', () => {
  it('P9: opens the outer layers and nothing under them: no value, no hash, no metadata key', async () => {
    const stolen = await haulOf();
    const opened = await attack(stolen.haul);
    expect(opened.map(({ what }) => what)).toEqual(['row', 'row']);
    expect(gains(opened, stolen)).toEqual(nothing);
  });

  it('P10: opens nothing at all once the epochs’ keys are destroyed, not even with the links', async () => {
    const { haul, keys } = await haulOf();
    const links = [keys.one, keys.two].flatMap((key) => [key.secretKey, key.metadataKey]);
    const withLinks = { ...haul, dictionary: [...haul.dictionary, ...links] };
    const valuesIn = (opened: readonly Opened[]) => opened.filter(({ what }) => what === 'value').length;
    expect(valuesIn(await attack(withLinks))).toBe(2);
    const opened = await attack({ ...withLinks, epochKeys: new Map() });
    expect(opened.filter(({ what }) => what === 'row' || what === 'value' || what === 'verifier')).toEqual(
      [],
    );
    const all = concat(utf8(''), ...opened.map(({ content }) => content));
    for (const value of [secrets.open, secrets.guarded])
      expect(Buffer.from(all).includes(Buffer.from(value))).toBe(false);
  });

  it('P9: does not find the keys, the passphrase or the recipient in clear either', async () => {
    const { haul, keys } = await haulOf();
    const all = Buffer.concat(haul.bytes.map((bytes) => Buffer.from(bytes)));
    const secretsInClear = [
      keys.one.secretKey,
      keys.one.metadataKey,
      keys.two.secretKey,
      keys.two.metadataKey,
      keys.one.secretKey.slice(0, 6),
      keys.two.secretKey.slice(0, 6),
      keys.token,
      Buffer.from(keys.token, 'hex'),
      Buffer.from(keys.dataKey),
      'alan@example.com',
      'al*****@e*****.com',
      'second@example.net',
      'se*****@e*****.net',
      ...Object.values(secrets),
      verifierMark,
    ];
    expect(secretsInClear.filter((secret) => all.includes(secret))).toEqual([]);
  });

  it('P9: would have both values of a store that keeps the metadata key in clear (self-test)', async () => {
    const stolen = await haulOf((_record, { metadataKey }) => [utf8(`key=${metadataKey};`)]);
    expect(gains(await attack(stolen.haul), stolen)).toMatchObject({
      values: 2,
      passphraseHashes: 1,
      secretKeys: 2,
      recipients: 1,
      newRecipients: 1,
      replies: 1,
      memos: 1,
      notes: 1,
    });
  });

  it('P9: would have both values of a store that keeps the account’s data key in clear (self-test)', async () => {
    const stolen = await haulOf((_record, { dataKey }) => [concat(utf8('....'), dataKey)]);
    expect(gains(await attack(stolen.haul), stolen)).toMatchObject({
      values: 2,
      metadataKeys: 2,
      secretKeys: 2,
    });
  });

  it('P9: would have everything of a store that keeps the API token (self-test)', async () => {
    const stolen = await haulOf();
    const withToken = { ...stolen.haul, bytes: [...stolen.haul.bytes, utf8(stolen.keys.token)] };
    expect(gains(await attack(withToken), stolen)).toMatchObject({ values: 2, dataKeys: 1, metadataKeys: 2 });
  });

  it('P9: opens not even the outer layers without the key ring', async () => {
    const stolen = await haulOf();
    const ring = createKeyRing([{ kid: stolen.haul.ring.current.kid, key: new Uint8Array(32).fill(1) }]);
    expect(await attack({ ...stolen.haul, ring })).toEqual([]);
  });
});

describe('someone with the link and no database', () => {
  it('P9: has nothing to open; with the database and no key ring, neither', async () => {
    const { haul, keys } = await haulOf();
    const ring = { ...haul.ring, all: [] };
    const bytes = [...haul.bytes, utf8(keys.one.secretKey), utf8(keys.two.secretKey)];
    const opened = await attack({ ...haul, ring, bytes });
    expect(opened.filter(({ what }) => what === 'value' || what === 'verifier')).toEqual([]);
  });
});

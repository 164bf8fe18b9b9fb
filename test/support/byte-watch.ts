/**
 * Watches bytes that must be wiped after use: records every byte array that passes through the runtime's encoders,
 * ciphers and copies while something runs, with its content at that moment.
 *
 * The arrays themselves are kept, not copies, so whether they were wiped shows afterwards.
 */
import { spyOn } from 'bun:test';
import { createCipheriv, createDecipheriv } from 'node:crypto';

interface Sighting {
  readonly array: Uint8Array;
  readonly content: Buffer;
}

export interface Watched<Result> {
  readonly result: Result;
  /** How many recorded arrays contained this content (a text in UTF-8) when seen. */
  countOf(content: Uint8Array | string): number;
  /** How many of those arrays are not all zeros now. */
  leftOf(content: Uint8Array | string): number;
  /** How many of those arrays still contain it. */
  holdersOf(content: Uint8Array): number;
  /** How many arrays with exactly this content were overwritten with zeros. */
  wipedOf(content: Uint8Array): number;
}

const [key, nonce] = [new Uint8Array(32), new Uint8Array(12)];
const cipher = Object.getPrototypeOf(createCipheriv('aes-256-gcm', key, nonce));
const decipher = Object.getPrototypeOf(createDecipheriv('aes-256-gcm', key, nonce));
const typedArray = Object.getPrototypeOf(Uint8Array.prototype);

/** Which value of each method holds the bytes. */
const watchedMethods = [
  [TextEncoder.prototype, 'encode', 'result'],
  [TextDecoder.prototype, 'decode', 'argument'],
  [cipher, 'update', 'argument'],
  [decipher, 'update', 'result'],
  [typedArray, 'set', 'argument'],
  [Buffer.prototype, 'toString', 'receiver'],
] as const;

type Method = (this: unknown, ...args: unknown[]) => unknown;

function around(
  owner: Record<string, Method>,
  name: string,
  before: (receiver: unknown, args: readonly unknown[]) => void,
  after: (result: unknown) => void = () => {},
) {
  const original = owner[name] as Method;
  return spyOn(owner, name).mockImplementation(function (this: unknown, ...args: unknown[]) {
    before(this, args);
    const result = Reflect.apply(original, this, args);
    after(result);
    return result;
  });
}

export async function watchBytes<Result>(deed: () => Promise<Result>): Promise<Watched<Result>> {
  const seen: Sighting[] = [];
  const wiped: Buffer[] = [];
  const note = (array: unknown): void => {
    if (array instanceof Uint8Array) seen.push({ array, content: copyOf(array) });
  };
  const spies = watchedMethods.map(([owner, name, side]) =>
    around(
      owner,
      name,
      (receiver, args) => {
        if (side !== 'result') note(side === 'receiver' ? receiver : args[0]);
      },
      (result) => {
        if (side === 'result') note(result);
      },
    ),
  );
  spies.push(
    around(typedArray, 'fill', (receiver, [byte]) => {
      note(receiver);
      if (receiver instanceof Uint8Array && byte === 0) wiped.push(copyOf(receiver));
    }),
  );
  try {
    return { result: await deed(), ...findings(seen, wiped) };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

function findings(seen: readonly Sighting[], wiped: readonly Buffer[]): Omit<Watched<unknown>, 'result'> {
  const holding = (wanted: Uint8Array | string) => seen.filter(({ content }) => content.includes(wanted));
  return {
    countOf: (wanted) => holding(wanted).length,
    leftOf: (wanted) => holding(wanted).filter(({ array }) => array.some((byte) => byte !== 0)).length,
    holdersOf: (wanted) => holding(wanted).filter(({ array }) => copyOf(array).includes(wanted)).length,
    wipedOf: (wanted) => wiped.filter((content) => content.equals(wanted)).length,
  };
}

/** Copied byte by byte, because the fast ways to copy are being watched. */
function copyOf(array: Uint8Array): Buffer {
  const copy = Buffer.alloc(array.length);
  for (const [n, byte] of array.entries()) copy[n] = byte;
  return copy;
}

/** Proves which passwords are accepted, and that all of them lead to the data key in the same way. */
import { describe, expect, it, spyOn } from 'bun:test';
import { seededRandom } from '../../../test/support/seeded-random.ts';
import { createCountingHasher } from '../../../test/support/service-bench.ts';
import * as bytes from '../../crypto/bytes.ts';
import { Sensitive } from '../sensitive.ts';
import { makePassword, openWithPassword, refusalOf } from './passwords.ts';

const username = 'jo.doe@example.org';
const refused = (password: string, isCommon = false) => refusalOf(password, username, async () => isCommon);

describe('a password', () => {
  it('is taken as it is, from ten characters to 256, whatever they are', async () => {
    for (const password of [
      'abcdefghij',
      '          ',
      'ä'.repeat(10),
      '🧺'.repeat(10),
      '🧺'.repeat(256),
      'x'.repeat(256),
      'nul \0 and \n lines',
    ]) {
      expect(await refused(password)).toBeNull();
    }
  });

  it('is counted in characters, not in the units or bytes that they take', async () => {
    const tooShort = { outcome: 'password_too_short', minLength: 10 } as const;
    const tooLong = { outcome: 'password_too_long', maxLength: 256 } as const;
    for (const password of ['', 'abcdefghi', '🧺'.repeat(9)])
      expect(await refused(password)).toEqual(tooShort);
    for (const password of ['x'.repeat(257), '🧺'.repeat(257), 'x'.repeat(1_000_000)])
      expect(await refused(password)).toEqual(tooLong);
  });

  it('is refused when it is no well-formed text, because it could not be compared as received', async () => {
    expect(await refused('a lone \ud800 half')).toEqual({ outcome: 'password_ill_formed' });
    expect(await refused('ends in half \udbff')).toEqual({ outcome: 'password_ill_formed' });
  });

  it.each([
    'jo.doe@example.org',
    'JO.DOE@example.org!',
    '12jo.doe3456',
    'Jo.Doe2026!!',
    '--jo.doe--jo.doe--',
    'jo.doejo.doe@example.org',
  ])('is refused when it is made of the address: %p', async (password) => {
    expect(await refused(password)).toEqual({ outcome: 'password_common' });
  });

  it.each(['jo.doe likes tea', 'jodoe@example.com', 'example.org 123', '1234.5678.9'])(
    'is not refused for having something in common with the address: %p',
    async (password) => {
      expect(await refused(password)).toBeNull();
    },
  );

  it('is refused when everybody tries it, and the list is asked for nothing that is refused anyway', async () => {
    expect(await refused('qwertyuiop', true)).toEqual({ outcome: 'password_common' });
    let asked = 0;
    const counting = async () => {
      asked += 1;
      return false;
    };
    await refusalOf('short', username, counting);
    await refusalOf('x'.repeat(300), username, counting);
    expect(asked).toBe(0);
    await refusalOf('long enough', username, counting);
    expect(asked).toBe(1);
  });
});

describe('what is kept of a password', () => {
  const random = seededRandom('passwords');
  const dataKey = random(32);
  const make = (text: string) =>
    makePassword(
      { hasher: createCountingHasher(), random },
      { password: new Sensitive(text), dataKey, setAt: 7, client: '' },
    );

  it('has a salt of its own, so that equal passwords look different', async () => {
    const [one, two] = [await make('the same words'), await make('the same words')];
    expect([one.salt.length, one.verifier.length, one.setAt]).toEqual([16, 32, 7]);
    expect(bytes.hex(one.salt)).not.toBe(bytes.hex(two.salt));
    expect(bytes.hex(one.verifier)).not.toBe(bytes.hex(two.verifier));
  });

  it('opens the data key for the password, and for nothing else, after one stretching each time', async () => {
    const stored = await make('the right words');
    const hasher = createCountingHasher();
    const open = (text: string, from: typeof stored | null = stored) =>
      openWithPassword(hasher, from, new Sensitive(text), '');
    expect(bytes.hex((await open('the right words')) ?? new Uint8Array(0))).toBe(bytes.hex(dataKey));
    expect(await open('the wrong words')).toBeNull();
    expect(await open('')).toBeNull();
    expect(await open('the right words', null)).toBeNull();
    expect(hasher.stretched).toBe(4);
  });

  it('compares as many bytes where there is no password as where there is one (P17)', async () => {
    const stored = await make('the right words');
    const comparing = spyOn(bytes, 'equalInConstantTime');
    try {
      for (const from of [stored, null])
        await openWithPassword(createCountingHasher(), from, new Sensitive('the wrong words'), '');
      const lengths = comparing.mock.calls.map(([a, b]) => [a.length, b.length]);
      expect(lengths).toEqual([
        [32, 32],
        [32, 32],
      ]);
    } finally {
      comparing.mockRestore();
    }
  });

  it('does not open with the verifier of one password and the box of another', async () => {
    const [one, two] = [await make('the first words'), await make('the second words')];
    const mixed = { ...one, wrappedDataKey: two.wrappedDataKey };
    await expect(
      openWithPassword(createCountingHasher(), mixed, new Sensitive('the first words'), ''),
    ).rejects.toMatchObject({ code: 'damaged' });
  });

  it('is made and compared without leaving the password or the stretched bytes behind', async () => {
    const seen: Uint8Array[] = [];
    const hasher = createCountingHasher();
    const watching: typeof hasher = {
      ...hasher,
      async stretch(text, salt, place) {
        const stretched = await hasher.stretch(text, salt, place);
        seen.push(text, stretched);
        return stretched;
      },
    };
    const password = new Sensitive('to be forgotten');
    const given = { password, dataKey, setAt: 7, client: '' };
    const stored = await makePassword({ hasher: watching, random }, given);
    await openWithPassword(watching, stored, password, '');
    expect(seen).toHaveLength(4);
    for (const each of seen) expect(each.every((byte) => byte === 0)).toBe(true);
  });
});

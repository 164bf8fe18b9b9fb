/** Secret bytes are wiped right after use: values, passphrases, stretched keys, data keys, random bytes. */

import { describe, expect, it } from 'bun:test';
import { anonymous, type BegunSession, type HashPlace, type SignedIn } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { seal, unseal } from '../../src/crypto/aead.ts';
import { type RandomBytes, randomText, systemRandom } from '../../src/crypto/random.ts';
import { randomBelow } from '../../src/protocol/drawing.ts';
import {
  createAccountBench,
  label,
  locale,
  otherPassword,
  password,
  sessionOf,
} from '../accounts/account-bench.ts';
import { watchBytes } from '../support/byte-watch.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { createBench, createCountingHasher, guess } from '../support/service-bench.ts';

const value = 'a value that is read once';
const passphrase = 'a passphrase of some length';
const note = 'a note that is read before';

/** A hasher that also gives every stretched key to the test. */
function watchedHasher() {
  const hasher = createCountingHasher();
  const stretched: Uint8Array[] = [];
  return {
    stretched,
    hasher: {
      ...hasher,
      async stretch(text: Uint8Array, salt: Uint8Array, place: HashPlace) {
        const key = await hasher.stretch(text, salt, place);
        stretched.push(key);
        return key;
      },
    },
  };
}

const isWiped = (bytes: Uint8Array): boolean => bytes.length > 0 && bytes.every((byte) => byte === 0);

interface Ended {
  readonly outcome: string;
  readonly session?: BegunSession;
}

describe('a secret’s value, passphrase and note', () => {
  it('are wiped when it has been sealed', async () => {
    const { hasher, stretched } = watchedHasher();
    const bench = createBench({ deps: { hasher } });
    const watched = await watchBytes(() => bench.share(value, { passphrase, note: new Sensitive(note) }));
    for (const text of [value, passphrase, note]) {
      expect(watched.countOf(text)).toBeGreaterThan(0);
      expect([text, watched.leftOf(text)]).toEqual([text, 0]);
    }
    expect(stretched.map(isWiped)).toEqual([true]);
  });

  it.each(['reveal', 'inspect'] as const)('are wiped by a right guess: %s', async (way) => {
    const { hasher, stretched } = watchedHasher();
    const bench = createBench({ deps: { hasher } });
    const { secretKey } = await bench.share(value, { passphrase });
    stretched.length = 0;
    const watched = await watchBytes<Ended>(() =>
      bench.service[way](guess(secretKey, passphrase), anonymous),
    );
    expect(watched.result.outcome).toBe(way === 'reveal' ? 'revealed' : 'waiting');
    expect([watched.countOf(value) > 0, watched.leftOf(value)]).toEqual([way === 'reveal', 0]);
    expect([watched.countOf(passphrase) > 0, watched.leftOf(passphrase)]).toEqual([true, 0]);
    expect(stretched.map(isWiped)).toEqual([true]);
  });

  it('are wiped by a burn by the link, which does not even open the value', async () => {
    const { hasher, stretched } = watchedHasher();
    const bench = createBench({ deps: { hasher } });
    const { secretKey } = await bench.share(value, { passphrase });
    stretched.length = 0;
    const watched = await watchBytes<Ended>(() =>
      bench.service.burnByRecipient(guess(secretKey, passphrase)),
    );
    expect(watched.result.outcome).toBe('burned');
    expect(watched.countOf(value)).toBe(0);
    expect([watched.countOf(passphrase) > 0, watched.leftOf(passphrase)]).toEqual([true, 0]);
    expect(stretched.map(isWiped)).toEqual([true]);
  });

  it('are wiped by a second look', async () => {
    const { hasher, stretched } = watchedHasher();
    const bench = createBench({ deps: { hasher } });
    const { secretKey } = await bench.share(value, { passphrase });
    const asking = { ...guess(secretKey, passphrase), look: new Uint8Array(16).fill(7) };
    for (const event of ['revealed', 'revealed_again']) {
      stretched.length = 0;
      const watched = await watchBytes<Ended>(() => bench.service.reveal(asking, anonymous));
      expect([watched.result.outcome, bench.events.at(-1)?.event]).toEqual(['revealed', event]);
      expect([watched.countOf(value) > 0, watched.leftOf(value)]).toEqual([true, 0]);
      expect([watched.countOf(passphrase) > 0, watched.leftOf(passphrase)]).toEqual([true, 0]);
      expect(stretched.map(isWiped)).toEqual([true]);
    }
  });

  it('are wiped by a wrong guess', async () => {
    const { hasher, stretched } = watchedHasher();
    const bench = createBench({ deps: { hasher } });
    const { secretKey } = await bench.share(value, { passphrase });
    stretched.length = 0;
    const wrong = 'a passphrase of no account';
    const watched = await watchBytes(() => bench.service.reveal(guess(secretKey, wrong), anonymous));
    expect([watched.countOf(wrong) > 0, watched.leftOf(wrong)]).toEqual([true, 0]);
    expect(stretched.map(isWiped)).toEqual([true]);
  });
});

describe('an account’s data key', () => {
  const email = 'jo@example.org';

  /** Runs `deed`; returns whether the account's data key was seen, how often it was left, and how often wiped. */
  async function seenIn(
    deed: (bench: ReturnType<typeof createAccountBench>, signedIn: SignedIn) => Promise<Ended>,
    wanted: string,
  ): Promise<[boolean, number, number]> {
    const bench = createAccountBench();
    const { signedIn } = await bench.person(email);
    const dataKey = signedIn.caller.dataKey.expose();
    const watched = await watchBytes(() => deed(bench, signedIn));
    expect(watched.result.outcome).toBe(wanted);
    return [watched.countOf(dataKey) > 0, watched.leftOf(dataKey), watched.wipedOf(dataKey)];
  }

  it('is wiped after a log-in', async () => {
    expect(await seenIn((bench) => bench.logIn(email), 'logged_in')).toEqual([true, 0, 1]);
  });

  it('is wiped after a change of the password', async () => {
    const [current, next] = [new Sensitive(password), new Sensitive(otherPassword)];
    const change: Parameters<typeof seenIn>[0] = (bench, signedIn) =>
      bench.accounts.changePassword(signedIn, { current, next, tokens: 'keep', locale });
    expect(await seenIn(change, 'changed')).toEqual([true, 0, 1]);
  });

  it('is wiped when it has proven the password that deletes the account', async () => {
    const deletion: Parameters<typeof seenIn>[0] = (bench, signedIn) =>
      bench.accounts.deleteAccount(signedIn, { password: new Sensitive(password), locale });
    expect(await seenIn(deletion, 'deleted')).toEqual([true, 0, 1]);
  });

  it.each(['signed_up', 'reset'] as const)('is wiped when it was drawn: %s', async (wanted) => {
    const bench = createAccountBench();
    if (wanted === 'reset') await bench.person(email);
    const ticket = await (wanted === 'reset' ? bench.resetTicket(email) : bench.signUpTicket(email));
    const input = { ticket, password: new Sensitive(password), label, locale, clientPrefix: '' };
    const watched = await watchBytes<Ended>(() =>
      wanted === 'reset'
        ? bench.accounts.resetPassword({ ...input, existingToken: new Sensitive(''), tokens: 'keep' })
        : bench.accounts.signUp(input),
    );
    expect(watched.result.outcome).toBe(wanted);
    const { caller } = await bench.open(sessionOf(watched.result));
    const dataKey = caller.dataKey.expose();
    expect([watched.countOf(dataKey) > 0, watched.leftOf(dataKey)]).toEqual([true, 0]);
  });
});

describe('bytes in the cipher', () => {
  it('are wiped when the tag does not match', async () => {
    const keys = { key: new Uint8Array(32).fill(7), nonce: new Uint8Array(12).fill(9) };
    const sealed = seal(keys, Buffer.from(value), new Uint8Array(0));
    sealed[sealed.length - 1] = (sealed[sealed.length - 1] ?? 0) ^ 1;
    const watched = await watchBytes(async () => unseal(keys, sealed, new Uint8Array(0)));
    expect([watched.result, watched.countOf(value) > 0, watched.leftOf(value)]).toEqual([null, true, 0]);
  });
});

describe('bytes that a text or a number was drawn from', () => {
  const noting = (drawn: Uint8Array[]): RandomBytes => {
    const random = seededRandom('wiped');
    return (length) => {
      const bytes = random(length);
      drawn.push(bytes);
      return bytes;
    };
  };

  it('are wiped, including rejected ones', async () => {
    const drawn: Uint8Array[] = [];
    const random = noting(drawn);
    const watched = await watchBytes(async () => randomText('0123456789abcdef', 200, random));
    for (let n = 0; n < 50; n += 1) randomBelow(3_000_000_000, random);
    expect(drawn.length).toBeGreaterThan(51);
    expect(drawn.map(isWiped)).not.toContain(false);
    expect([watched.countOf(watched.result) > 0, watched.leftOf(watched.result)]).toEqual([true, 0]);
  });

  it('do not stay in the system’s random pool after being handed out', async () => {
    const watched = await watchBytes(async () => systemRandom(32));
    expect(watched.countOf(watched.result)).toBeGreaterThan(0);
    expect(watched.holdersOf(watched.result)).toBe(0);
  });
});

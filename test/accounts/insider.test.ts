/**
 * Someone who holds everything ever stored about accounts opens no data key (P9), and finds no password, no token and
 * no ticket in it; and none of these appears in events, log lines or prints (P18).
 *
 * The insider tries every 32 bytes found anywhere as a key on every wrapped data key. The self-tests give it stores
 * with a defect to exploit.
 */
import { describe, expect, it } from 'bun:test';
import { openDataKey } from '../../src/core/accounts/data-key.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import { hex } from '../../src/crypto/bytes.ts';
import { deriveFormToken, hashToken } from '../../src/crypto/derive.ts';
import { toFields } from '../../src/ops/log-lines.ts';
import { type Canary, dumpOf, findCanaries } from '../support/canary.ts';
import { createAccountBench, label, locale, sessionOf } from './account-bench.ts';

const email = 'canary-7hq2-4vz8@example.org';
const first = 'cnry first password 8Xw3';
const second = 'cnry second password 5Tz6';
const third = 'cnry third password 2Lk9';

/** An account's life: signed up, token made, password changed, refused, reset; returns every key that it had. */
async function lifeOfAnAccount() {
  const stretched: Uint8Array[] = [];
  const bench = createAccountBench({
    wrapHasher: (hasher) => ({
      ...hasher,
      async stretch(text, salt, place) {
        const key = await hasher.stretch(text, salt, place);
        stretched.push(key.slice());
        return key;
      },
    }),
  });
  const { accounts } = bench;
  const { signedIn, sessionToken } = await bench.person(email, first);
  const signUpTicket = await bench.mailedTicket('sign_up', email);
  const made = await accounts.createToken(signedIn, {
    name: 'x',
    scopes: ['read-recent'],
    expiresAt: null,
    password: new Sensitive(first),
    locale,
  });
  if (made.outcome !== 'created') throw new Error(made.outcome);
  const change = {
    current: new Sensitive(first),
    next: new Sensitive(second),
    tokens: 'keep',
    locale,
  } as const;
  expect(await accounts.changePassword(signedIn, change)).toEqual({ outcome: 'changed' });
  await bench.logIn(email, first);
  const later = sessionOf(await bench.logIn(email, second)).token.expose();
  const resetTicket = await bench.resetTicket(email);
  const reset = await accounts.resetPassword({
    clientPrefix: '',
    ticket: resetTicket,
    password: new Sensitive(third),
    existingToken: made.token,
    tokens: 'keep',
    label,
    locale,
  });
  const last = sessionOf(reset).token.expose();
  await accounts.settled();
  const token = made.token.expose();
  return {
    bench,
    stretched,
    dataKey: signedIn.caller.dataKey.expose(),
    bearers: { sessionToken, later, last, signUpTicket, resetTicket, token },
    prints: [made.token, reset, bench.mails],
  };
}

type Life = Awaited<ReturnType<typeof lifeOfAnAccount>>;

function bytesIn(value: unknown): Uint8Array[] {
  if (value instanceof Uint8Array) return [value];
  if (typeof value === 'string') {
    const digits = value.match(/[0-9a-f]{64}/g) ?? [];
    return [Buffer.from(value), ...digits.map((text) => Buffer.from(text, 'hex'))];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(bytesIn) : [];
}

/** How many of the wrapped data keys the insider opens with anything stored, or derived from it. */
function attack(stored: unknown): number {
  const all = bytesIn(stored);
  const windows = all.flatMap((bytes) =>
    Array.from({ length: Math.max(0, bytes.length - 31) }, (_, at) => bytes.slice(at, at + 32)),
  );
  const derived = all
    .filter(({ length }) => length === 32)
    .flatMap((bytes) => [hashToken(bytes), deriveFormToken(bytes)]);
  const keys = [...new Map([...windows, ...derived, ...all].map((key) => [hex(key), key])).values()];
  const boxes = [...new Map(all.filter(({ length }) => length > 80).map((box) => [hex(box), box])).values()];
  return boxes.filter((box) => keys.some((key) => openDataKey(box, key) !== null)).length;
}

describe('an insider with all that was ever stored of an account', () => {
  it('P9: opens no data key', async () => {
    const { bench } = await lifeOfAnAccount();
    // Three passwords, three sessions and a token.
    expect(bytesIn(bench.handed).filter(({ length }) => length > 80)).toHaveLength(7);
    expect(attack(bench.handed)).toBe(0);
  });

  it('P9: opens it with a token, a session or the password, which are what a person has', async () => {
    const { bench, bearers, stretched } = await lifeOfAnAccount();
    for (const name of ['token', 'sessionToken', 'later', 'last'] as const)
      expect(attack([...bench.handed, bearers[name]])).toBe(1);
    for (const name of ['signUpTicket', 'resetTicket'] as const)
      expect(attack([...bench.handed, bearers[name]])).toBe(0);
    expect(attack([...bench.handed, stretched])).toBe(3);
  });

  it('P9: would open all of a store that keeps the stretched password or a session’s token (self-test)', async () => {
    const { bench, bearers, stretched } = await lifeOfAnAccount();
    expect(attack([...bench.handed, { verifier: stretched[0] }])).toBeGreaterThan(0);
    expect(attack([...bench.handed, { label: `session ${bearers.last}` }])).toBeGreaterThan(0);
  });
});

function canariesOf({ bearers, dataKey, stretched }: Life): Canary[] {
  return [
    ...[first, second, third].map((content, at) => ({ name: `password ${at + 1}`, content })),
    ...Object.entries(bearers).flatMap(([name, content]) => [
      { name, content },
      { name: `${name}, its bytes`, content: Buffer.from(content, 'hex') },
    ]),
    { name: 'data key', content: dataKey },
    ...stretched.map((content, at) => ({ name: `stretched ${at}`, content })),
  ];
}

describe('a canary in passwords, tokens, tickets and the address', () => {
  it('P9 P18: is in nothing that the store was handed', async () => {
    const life = await lifeOfAnAccount();
    expect(findCanaries(dumpOf(life.bench.handed), canariesOf(life))).toEqual([]);
  });

  it('P18: is in no event, no log line and no print of an outcome or a mail', async () => {
    const life = await lifeOfAnAccount();
    const canaries = [...canariesOf(life), { name: 'address', content: email }];
    const { events } = life.bench;
    expect(events.map(({ event }) => event)).toEqual([
      'account_mail_ended',
      'signed_up',
      'password_changed',
      'log_in_refused',
      'logged_in',
      'account_mail_ended',
      'account_mail_ended',
      'account_mail_ended',
      'password_changed',
      'account_mail_ended',
    ]);
    expect(findCanaries(dumpOf(events), canaries)).toEqual([]);
    const lines = events.map((event) => JSON.stringify(toFields(event)));
    expect(findCanaries(lines.join('\n'), canaries)).toEqual([]);
    expect(lines.join('\n')).not.toContain('withheld');
    const [token, , mails] = life.prints;
    expect(findCanaries(dumpOf([token, mails]), canaries)).toEqual([]);
    // The account in an outcome includes its address, which pages show to its owner.
    expect(findCanaries(dumpOf(life.prints), canariesOf(life))).toEqual([]);
  });

  it('P18: would be found in a store that keeps a password as the browser’s name (self-test)', async () => {
    const life = await lifeOfAnAccount();
    for (const leak of [`Firefox ${second}`, Buffer.from(life.bearers.last, 'hex'), life.stretched[0]]) {
      expect(findCanaries(dumpOf([...life.bench.handed, { leak }]), canariesOf(life)).length).toBeGreaterThan(
        0,
      );
    }
  });
});

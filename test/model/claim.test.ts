/** The claim over a primary, its standbys and failovers: every order of everything that can happen, within stated bounds. */
import { describe, expect, it } from 'bun:test';
import { count, limitMs } from '../support/counts.ts';
import { claimModel } from './claim.ts';
import { explore } from './explore.ts';
import { allRules, type Bounds, type Rules } from './world.ts';

const maxStates = 1_000_000;

/** Two readers under every fault, and three with fewer faults: the third reads what another's answer made of the secret. */
const spaces: readonly Bounds[] = count<readonly Bounds[]>({
  usual: [
    { readers: 2, promotions: 1, crashes: 1, nameChanges: 1, restores: 0, cuts: 1, cancels: 1, undoTries: 1 },
    { readers: 3, promotions: 1, crashes: 0, nameChanges: 0, restores: 0, cuts: 1, cancels: 1, undoTries: 1 },
    { readers: 2, promotions: 1, crashes: 0, nameChanges: 2, restores: 1, cuts: 0, cancels: 0, undoTries: 1 },
  ],
  long: [
    { readers: 2, promotions: 1, crashes: 0, nameChanges: 2, restores: 1, cuts: 1, cancels: 1, undoTries: 1 },
    { readers: 2, promotions: 1, crashes: 1, nameChanges: 2, restores: 0, cuts: 1, cancels: 1, undoTries: 1 },
    { readers: 2, promotions: 2, crashes: 0, nameChanges: 0, restores: 0, cuts: 2, cancels: 2, undoTries: 2 },
    { readers: 3, promotions: 1, crashes: 0, nameChanges: 1, restores: 0, cuts: 1, cancels: 1, undoTries: 1 },
    { readers: 3, promotions: 1, crashes: 1, nameChanges: 0, restores: 0, cuts: 1, cancels: 1, undoTries: 1 },
  ],
});

const inWords = (bounds: Bounds) =>
  Object.entries(bounds)
    .map(([name, most]) => `${most} ${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}`)
    .join(', ');

const twice = 'the value was released twice';
const resurrected = 'the value was released after it was gone';

/** Of each rule, what happens without it, and the least that has to go wrong for it. */
const defects: readonly { rule: keyof Rules; readers: number; faults: Partial<Bounds>; fault: string }[] = [
  { rule: 'waits', readers: 2, faults: {}, fault: twice },
  { rule: 'heedsNotices', readers: 2, faults: { cancels: 1 }, fault: twice },
  { rule: 'checksNames', readers: 2, faults: { nameChanges: 1 }, fault: twice },
  { rule: 'undoesByToken', readers: 3, faults: { cuts: 1 }, fault: twice },
  { rule: 'proves', readers: 3, faults: { cancels: 1 }, fault: resurrected },
  { rule: 'settles', readers: 3, faults: { cancels: 1 }, fault: resurrected },
  { rule: 'writesAgain', readers: 2, faults: { nameChanges: 2 }, fault: twice },
  { rule: 'checksTables', readers: 2, faults: { restores: 1 }, fault: twice },
];

const noFaults = {
  promotions: 1,
  crashes: 0,
  nameChanges: 0,
  restores: 0,
  cuts: 0,
  cancels: 0,
  undoTries: 1,
};

describe('P1, P2, P6: the claim, in every order', () => {
  for (const bounds of spaces) {
    it(
      `releases a value once and never after "gone": ${inWords(bounds)}`,
      () => {
        const model = claimModel(allRules, bounds);
        const { stateCount, fault, trail, landmarks } = explore(model, maxStates);
        expect([fault, trail]).toEqual([null, []]);
        expect([...landmarks].sort()).toEqual(Object.keys(model.landmarks).sort());
        console.log(`claim model: ${stateCount} states with ${inWords(bounds)}`);
      },
      limitMs(60_000),
    );
  }

  for (const { rule, readers, faults, fault } of defects) {
    it(
      `has a trail without the rule "${rule}"`,
      () => {
        const bounds = { ...noFaults, ...faults, readers };
        const found = explore(claimModel({ ...allRules, [rule]: false }, bounds), maxStates);
        console.log(`without "${rule}", ${found.fault}:\n  ${found.trail.join('\n  ')}`);
        expect(found.fault).toBe(fault);
        expect(explore(claimModel(allRules, bounds), maxStates).fault).toBeNull();
      },
      limitMs(60_000),
    );
  }
});

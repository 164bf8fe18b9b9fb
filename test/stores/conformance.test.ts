/**
 * Every store keeps every promise of the ports, and every check catches the defect it is meant for.
 */
import { describe, expect, it } from 'bun:test';
import { AssertionError } from 'node:assert';
import type { Means, OpenStore } from './conformance/check.ts';
import { conformanceChecks } from './conformance.ts';
import { openDefective, seededDefects } from './defects.ts';
import { processDefects } from './process-defects.ts';
import { openMemorySubject, openSqliteSubject } from './subjects.ts';

const stores: { name: string; open: OpenStore; has: readonly Means[] }[] = [
  { name: 'memory', open: openMemorySubject, has: ['openSecond', 'holdClaims'] },
  { name: 'SQLite', open: openSqliteSubject, has: ['openSecond', 'reopen', 'holdWrites'] },
];

for (const { name, open, has } of stores) {
  describe(`the ${name} store`, () => {
    for (const check of conformanceChecks.filter(({ needs }) =>
      needs.every((means) => has.includes(means)),
    )) {
      it(`${check.promise}: ${check.name}`, () => check.run(open));
    }
  });
}

describe('the conformance checks', () => {
  for (const seeded of seededDefects) {
    it(`fail when ${seeded.defect}`, async () => {
      const check = conformanceChecks.find((each) => each.name === seeded.caughtBy);
      expect(check).toBeDefined();
      const verdict = await check?.run(() => openDefective(seeded)).catch((error: unknown) => error);
      // The check itself must object; any other error does not count.
      expect(verdict).toBeInstanceOf(AssertionError);
    });
  }

  for (const seeded of processDefects) {
    it(`pass in one process when ${seeded.defect}`, async () => {
      const check = conformanceChecks.find((each) => each.name === seeded.caughtBy);
      await check?.run(async () => {
        const subject = await openDefective(seeded);
        return { ...subject, openSecond: async () => subject.store };
      });
    });
  }

  it('have unique names', () => {
    expect(new Set(conformanceChecks.map((each) => each.name)).size).toBe(conformanceChecks.length);
  });
});

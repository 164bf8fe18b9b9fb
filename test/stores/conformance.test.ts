/**
 * Every store keeps every promise of the ports, and every check notices the defect it is there for.
 */
import { describe, expect, it } from 'bun:test';
import { AssertionError } from 'node:assert';
import type { OpenStore } from './conformance/check.ts';
import { conformanceChecks } from './conformance.ts';
import { openDefective, seededDefects } from './defects.ts';
import { openMemorySubject, openSqliteSubject } from './subjects.ts';

/** `lasts`: beyond its process, which also shares it with others. */
const stores: { name: string; open: OpenStore; lasts: boolean }[] = [
  { name: 'memory', open: openMemorySubject, lasts: false },
  { name: 'SQLite', open: openSqliteSubject, lasts: true },
];

for (const { name, open, lasts } of stores) {
  describe(`the ${name} store`, () => {
    for (const check of conformanceChecks.filter((each) => lasts || !(each.needsRestart || each.needsHold))) {
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
      // Not any error: the check itself has to be the one that objects.
      expect(verdict).toBeInstanceOf(AssertionError);
    });
  }

  it('have names of their own', () => {
    expect(new Set(conformanceChecks.map((each) => each.name)).size).toBe(conformanceChecks.length);
  });
});

/**
 * The DNS as a table, for tests of what follows from its answers.
 *
 * Whatever is not in the table does not exist.
 */
import type { DnsAnswer, Resolver } from '../../src/core/share-domains/check.ts';

export interface Zone {
  readonly resolver: Resolver;
  /** Questions in order, such as `txt _mayfly-challenge-….example.com`. */
  readonly asked: readonly string[];
  /** Sets the records of one kind for a name; no values removes them. */
  set(kind: 'txt' | 'cname' | 'addresses', name: string, ...values: string[]): void;
  fail(kind: 'txt' | 'cname' | 'addresses', name: string): void;
  /** No question is answered until it resolves. */
  hold(gate: Promise<void>): void;
}

export function createZone(): Zone {
  const answers = new Map<string, DnsAnswer>();
  const asked: string[] = [];
  let held: Promise<void> = Promise.resolve();
  const ask = (kind: string) => async (name: string) => {
    asked.push(`${kind} ${name}`);
    await held;
    return answers.get(`${kind} ${name}`) ?? { outcome: 'none' as const };
  };
  return {
    resolver: { txt: ask('txt'), cname: ask('cname'), addresses: ask('addresses') },
    asked,
    set: (kind, name, ...values) =>
      void answers.set(
        `${kind} ${name}`,
        values.length > 0 ? { outcome: 'found', values } : { outcome: 'none' },
      ),
    fail: (kind, name) => void answers.set(`${kind} ${name}`, { outcome: 'failed' }),
    hold(gate) {
      held = gate;
    },
  };
}

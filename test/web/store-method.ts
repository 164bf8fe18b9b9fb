/** Replaces one method of the store: for faults, counts and seeded defects. */
import type { MemoryStore } from '../stores/memory.ts';

export function withMethod<Name extends keyof MemoryStore>(
  store: MemoryStore,
  name: Name,
  method: MemoryStore[Name],
): MemoryStore {
  return new Proxy(store, { get: (target, asked) => (asked === name ? method : Reflect.get(target, asked)) });
}

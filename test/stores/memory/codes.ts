/** Codes in memory: of each secret, all that were stored, oldest first. */
import type { SecretId } from '../../../src/core/keys.ts';
import { type CodeStore, codeSeconds, type NewCode, type StoredCode } from '../../../src/core/ports/codes.ts';
import { isWaiting } from '../../../src/core/secret.ts';
import type { UnixSeconds } from '../../../src/core/time.ts';
import { codeAt } from '../../../src/store/store.ts';

type KeptCode = NewCode & StoredCode;

const isSame = (one: Uint8Array, other: Uint8Array) => Buffer.compare(one, other) === 0;

export function createMemoryCodes(
  now: () => UnixSeconds,
  lifeOf: (id: SecretId) => Parameters<typeof isWaiting>[0] | null,
): { readonly store: CodeStore; forgetDeleted(): void; setBack(to: UnixSeconds): void } {
  const bySecret = new Map<string, KeptCode[]>();
  const codesOf = (id: SecretId): KeptCode[] => bySecret.get(id.toHex()) ?? [];
  const lastOf = (id: SecretId, lookTag: Uint8Array) =>
    codesOf(id).findLast((each) => isSame(each.lookTag, lookTag)) ?? null;
  return {
    store: {
      async putCode(id, { lookTag, codeTag }) {
        const life = lifeOf(id);
        if (life === null || !isWaiting(life, now())) return null;
        const last = lastOf(id, lookTag);
        const at = Math.max(now(), last?.at ?? 0);
        const kept = codesOf(id).filter((each) => each !== last || each.at !== at);
        const code: KeptCode = { lookTag: lookTag.slice(), codeTag: codeTag.slice(), at, state: 'queued' };
        bySecret.set(id.toHex(), [...kept, code]);
        return at;
      },
      async findCode(id, lookTag) {
        const last = lastOf(id, lookTag);
        return last !== null && now() < last.at + codeSeconds ? last.codeTag.slice() : null;
      },
      async setCodeState(id, codeTag, state) {
        const changed = codesOf(id).map((each) =>
          isSame(each.codeTag, codeTag) ? { ...each, state } : each,
        );
        if (changed.length > 0) bySecret.set(id.toHex(), changed);
      },
      listCodes: async (id) => codesOf(id).map((each) => codeAt(each, now())),
    },
    /** What is still valid then keeps its remaining duration, and nothing is valid again. */
    setBack(to) {
      const by = Math.max(0, now() - to);
      for (const [hex, codes] of bySecret)
        bySecret.set(
          hex,
          codes.map((each) => (each.at > to - codeSeconds ? { ...each, at: each.at - by } : each)),
        );
    },
    forgetDeleted() {
      for (const hex of bySecret.keys())
        if (lifeOf(Uint8Array.fromHex(hex) as Uint8Array as SecretId) === null) bySecret.delete(hex);
    },
  };
}

/**
 * Simulates an engine whose claims, and further answers, can still be undone before they are confirmed, as when a replica does not answer.
 * Until then the secret is `unavailable`.
 */
import { ServiceError } from '../../../src/core/errors.ts';
import type { SecretId } from '../../../src/core/keys.ts';
import type { Store } from '../../../src/store/store.ts';
import { clientStays, type HeldClaims } from '../conformance/check.ts';

export interface UnconfirmedPlay {
  readonly store: Store;
  holdClaims(): HeldClaims;
}

export function playUnconfirmed(store: Store): UnconfirmedPlay {
  let isHolding = false;
  const held = new Map<string, () => Promise<unknown>>();
  const refuse = (): never => {
    throw new ServiceError('unavailable', 'A claim of this secret is not confirmed.');
  };
  const assertKnown = (id: SecretId | undefined): void => {
    if (id !== undefined && held.has(id.toHex())) refuse();
  };
  return {
    store: {
      ...store,
      async findSecret(id) {
        assertKnown(id);
        return store.findSecret(id);
      },
      async claim(target, isAbandoned, look = null) {
        assertKnown(target.secretId);
        if (!isHolding) return store.claim(target, isAbandoned, look);
        if (isAbandoned()) return 'abandoned';
        const secret = await store.findSecret(target.secretId);
        if (secret?.rowVersion !== target.rowVersion) return 'gone';
        held.set(secret.secretId.toHex(), () => store.claim(secret, clientStays, look));
        return refuse();
      },
      async findLook(id, tag) {
        assertKnown(id);
        return store.findLook(id, tag);
      },
      async takeAnswer(id, tag, isAbandoned) {
        assertKnown(id);
        if (!isHolding) return store.takeAnswer(id, tag, isAbandoned);
        if (isAbandoned()) return 'abandoned';
        if ((await store.findLook(id, tag)) === null) return 'gone';
        held.set(id.toHex(), () => store.takeAnswer(id, tag, clientStays));
        return refuse();
      },
      async endLook(id, tag) {
        assertKnown(id);
        return store.endLook(id, tag);
      },
      async findReceipt(...args) {
        const receipt = await store.findReceipt(...args);
        assertKnown(receipt?.secretId);
        return receipt;
      },
      async findLives(ids) {
        if (held.size > 0) for (const id of ids) assertKnown((await store.findReceipt(id))?.secretId);
        return store.findLives(ids);
      },
      async burn(id, isAbandoned) {
        if (held.size > 0) assertKnown((await store.findReceipt(id))?.secretId);
        return store.burn(id, isAbandoned);
      },
      async burnFound(target, isAbandoned) {
        assertKnown(target.secretId);
        return store.burnFound(target, isAbandoned);
      },
    },
    holdClaims() {
      isHolding = true;
      const end = (): (() => Promise<unknown>)[] => {
        const claims = [...held.values()];
        isHolding = false;
        held.clear();
        return claims;
      };
      return {
        async confirm() {
          for (const decide of end()) await decide();
        },
        async undo() {
          end();
        },
      };
    },
  };
}

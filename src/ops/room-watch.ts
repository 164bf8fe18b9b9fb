/**
 * Whether there is room for new secrets (P21, P23): the log says it once at each turn, whatever is refused meanwhile.
 *
 * A refusal is noted at once. That there is room again only a look notes, every 20 s, so that a store at its brink cannot flood the log.
 */
import { ServiceError } from '../core/errors.ts';
import type { RoomStore, SecretStore } from '../core/ports/secrets.ts';
import type { Log } from './log.ts';

export interface RoomWatch extends Pick<SecretStore, 'put'> {
  /** As last noted. */
  isFull(): boolean;
  /** Asks the store. Never rejects: an answer that says nothing of room changes nothing. */
  look(): Promise<void>;
}

function saysFull(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'storage_full';
}

export function createRoomWatch(store: RoomStore & Pick<SecretStore, 'put'>, log: Log): RoomWatch {
  let isFull = false;

  function note(now: boolean): void {
    if (now === isFull) return;
    isFull = now;
    log({ event: now ? 'storage_full' : 'storage_free' });
  }

  return {
    isFull: () => isFull,
    async look() {
      try {
        await store.assertRoom();
        note(false);
      } catch (error) {
        if (saysFull(error)) note(true);
      }
    },
    async put(record) {
      try {
        await store.put(record);
      } catch (error) {
        if (saysFull(error)) note(true);
        throw error;
      }
    },
  };
}

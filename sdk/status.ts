/** Whether a secret still waits. */
import { MayflyError } from './error.ts';
import type { CallOptions } from './limit.ts';
import { toStatus, type WaitingSecret } from './records.ts';

/** A read: it is repeated as often as the client allows. */
export type Get = (path: string, options?: CallOptions) => Promise<object>;

/** `null` once it is gone. */
export async function statusOf(get: Get, key: string, options?: CallOptions): Promise<WaitingSecret | null> {
  try {
    return toStatus(await get(`/secret/${key}/status`, options));
  } catch (error) {
    if (error instanceof MayflyError && error.code === 'unknown_secret') return null;
    throw error;
  }
}

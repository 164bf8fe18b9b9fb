/**
 * Shared by the process that loses power and the test that examines what is left: the form of the ledger, and records
 * identified by a number.
 */
import { createHash } from 'node:crypto';
import type { ReceiptId, SecretId } from '../../src/core/keys.ts';
import { lookAnswers, lookRow, lookSeconds, type NewLook } from '../../src/core/look-store.ts';
import type { Burner } from '../../src/core/secret.ts';

export type Deed = 'put' | 'claim' | 'burn' | 'answer 1' | 'answer 2' | 'done';

export type LedgerLine =
  | { readonly began: Deed; readonly n: number }
  | { readonly promised: Deed; readonly n: number };

export const powerlossSteps = 60;
export const powerlossTime = 1_800_000_000;

const bytesOf = (text: string): Uint8Array => new Uint8Array(createHash('sha256').update(text).digest());

export function idsOf(n: number): { secretId: SecretId; receiptId: ReceiptId } {
  return {
    secretId: bytesOf(`secret ${n}`).slice(0, 16) as SecretId,
    receiptId: bytesOf(`receipt ${n}`).slice(0, 16) as ReceiptId,
  };
}

/** Either less than a page or several pages. */
export function sealedOf(n: number): Uint8Array {
  const block = bytesOf(`sealed ${n}`);
  return new Uint8Array(Buffer.concat(Array.from({ length: n % 7 === 0 ? 300 : 20 }, () => block)));
}

/** Who burns a secret, if somebody does. */
export const burnerOf = (n: number): Burner => (n % 3 === 0 ? 'recipient' : 'creator');

/** Every other secret is claimed with a look. */
export const hasLook = (n: number): boolean => n % 2 === 1;
export const tagOf = (n: number): Uint8Array => bytesOf(`tag ${n}`).slice(0, lookRow.tagBytes);

export function lookFor(n: number): NewLook {
  const sealedLook = sealedOf(n).map((byte) => byte ^ 255);
  sealedLook.set([lookRow.version, 255, 255]);
  sealedLook[lookRow.answersAt] = lookAnswers - 1;
  sealedLook.set(tagOf(n), lookRow.tagAt);
  return { sealedLook, until: powerlossTime + lookSeconds };
}

/** What is known of one secret at some moment. */
export interface Knowledge {
  began: Set<Deed>;
  promised: Set<Deed>;
}

/** The ledger's content at a power cut after sync `n`, for each `n` from 1: all lines before the next sync. */
export function knowledgeAtSyncs(ledger: string): Map<number, Knowledge>[] {
  const moments: Map<number, Knowledge>[] = [];
  let secrets = new Map<number, Knowledge>();
  const copy = () =>
    new Map(
      [...secrets].map(([n, { began, promised }]) => [
        n,
        { began: new Set(began), promised: new Set(promised) },
      ]),
    );
  for (const line of ledger.trim().split('\n')) {
    if (line.startsWith('sync ')) {
      secrets = copy();
      moments.push(secrets);
      continue;
    }
    const { n, ...deed } = JSON.parse(line) as LedgerLine;
    const known = secrets.get(n) ?? { began: new Set(), promised: new Set() };
    secrets.set(n, known);
    if ('began' in deed) known.began.add(deed.began);
    else known.promised.add(deed.promised);
  }
  return moments;
}

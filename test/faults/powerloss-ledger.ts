/**
 * Shared by the process that loses power and the test that examines what is left: the form of the ledger, and records
 * identified by a number.
 */

import { createHash } from 'node:crypto';
import type { ReceiptId, RequestId, SecretId } from '../../src/core/keys.ts';
import { lookRow, type NewLook } from '../../src/core/ports/looks.ts';
import type { AnswerId } from '../../src/core/request.ts';
import { lookAnswers, lookSeconds } from '../../src/protocol/limits.ts';
import type { Burner } from '../../src/protocol/vocabulary.ts';

/** `gone`: somebody was told that the secret does not wait any more. */
export type Deed = 'put' | 'claim' | 'burn' | 'gone' | 'answer 1' | 'answer 2' | 'done';

export type LedgerLine =
  | { readonly began: Deed; readonly n: number }
  | { readonly promised: Deed; readonly n: number }
  /** A step of the script that the store refused. */
  | { readonly failed: number };

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

/** Every fifth secret is an answer to a request, all of them to the same one: it has places enough, and ends after the test. */
export const isAnswer = (n: number): boolean => n % 5 === 2;
export const answerOf = (n: number) => ({
  requestId: bytesOf('request').slice(0, 16) as RequestId,
  id: bytesOf(`answer ${n}`).slice(0, 16) as AnswerId,
  box: bytesOf(`box ${n}`),
});

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

/** What was known at a power cut: all lines before the next moment. */
export interface Moment {
  readonly secrets: Map<number, Knowledge>;
  /** Whether there was a line since the moment itself. */
  isNew: boolean;
}

/** Moment `n` is at `n - 1`. */
export function momentsIn(ledger: string): Moment[] {
  const moments: Moment[] = [];
  const before = { secrets: new Map<number, Knowledge>(), isNew: true };
  const copyOf = ({ secrets }: Moment): Moment => ({
    secrets: new Map(
      Array.from(secrets, ([n, { began, promised }]) => [
        n,
        { began: new Set(began), promised: new Set(promised) },
      ]),
    ),
    isNew: false,
  });
  for (const line of ledger.trim().split('\n')) {
    const now = moments.at(-1) ?? before;
    if (line.startsWith('moment ')) {
      moments.push(copyOf(now));
      continue;
    }
    const noted = JSON.parse(line) as LedgerLine;
    if ('failed' in noted) continue;
    const { n, ...deed } = noted;
    const known = now.secrets.get(n) ?? { began: new Set(), promised: new Set() };
    now.secrets.set(n, known);
    now.isNew = true;
    if ('began' in deed) known.began.add(deed.began);
    else known.promised.add(deed.promised);
  }
  return moments;
}

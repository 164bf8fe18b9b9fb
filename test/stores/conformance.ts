/**
 * The promises of `core/ports/` as named checks, for every store. A check knows neither the test framework nor the
 * store's internals: it opens a fresh store, drives its wall clock, and rejects with what was broken. Power loss, full
 * disks and races between processes are tested separately.
 */
import { accountAccessChecks } from './conformance/account-access.ts';
import { accountChecks } from './conformance/accounts.ts';
import { answerChecks } from './conformance/answers.ts';
import { attemptChecks } from './conformance/attempts.ts';
import { burnChecks } from './conformance/burns.ts';
import type { ConformanceCheck } from './conformance/check.ts';
import { claimChecks } from './conformance/claims.ts';
import { clockChecks } from './conformance/clock.ts';
import { codeChecks } from './conformance/codes.ts';
import { creationChecks } from './conformance/creations.ts';
import { deletionChecks } from './conformance/deletion.ts';
import { domainChecks } from './conformance/domains.ts';
import { endToEndChecks } from './conformance/end-to-end.ts';
import { epochChecks } from './conformance/epochs.ts';
import { expiryChecks } from './conformance/expiry.ts';
import { lockChecks } from './conformance/locks.ts';
import { lookChecks } from './conformance/looks.ts';
import { mailChecks } from './conformance/mail.ts';
import { memoChecks } from './conformance/memos.ts';
import { passwordChecks } from './conformance/passwords.ts';
import { receiptChecks } from './conformance/receipts.ts';
import { requestChecks } from './conformance/requests.ts';
import { rotationChecks } from './conformance/rotation.ts';
import { secretChecks } from './conformance/secrets.ts';
import { sessionChecks } from './conformance/sessions.ts';
import { sweepChecks } from './conformance/sweeps.ts';
import { twoHandleChecks } from './conformance/two-handles.ts';

export const conformanceChecks: readonly ConformanceCheck[] = [
  ...secretChecks,
  ...claimChecks,
  ...burnChecks,
  ...lookChecks,
  ...clockChecks,
  ...receiptChecks,
  ...mailChecks,
  ...memoChecks,
  ...expiryChecks,
  ...epochChecks,
  ...endToEndChecks,
  ...attemptChecks,
  ...lockChecks,
  ...codeChecks,
  ...accountChecks,
  ...accountAccessChecks,
  ...passwordChecks,
  ...sessionChecks,
  ...sweepChecks,
  ...deletionChecks,
  ...domainChecks,
  ...rotationChecks,
  ...creationChecks,
  ...requestChecks,
  ...answerChecks,
  ...twoHandleChecks,
];

/**
 * Checks of decisions between several servers on one store, where a guard inside one process is not enough. Calls
 * through two handles may be decided in any order, so only checks that do not rely on an order are repeated here.
 */
import { strict as assert } from 'node:assert';
import { randomBytes } from 'node:crypto';
import { accountChecks } from './accounts.ts';
import { answerChecks } from './answers.ts';
import { attemptChecks } from './attempts.ts';
import { burnChecks } from './burns.ts';
import { type ConformanceCheck, check, countOf, putNew, throughTwo } from './check.ts';
import { claimChecks } from './claims.ts';
import { codeChecks } from './codes.ts';
import { creationChecks } from './creations.ts';
import { domainChecks } from './domains.ts';
import { epochChecks } from './epochs.ts';
import { lockChecks } from './locks.ts';
import { lookChecks } from './looks.ts';
import { mailChecks } from './mail.ts';
import { requestChecks } from './requests.ts';
import { rotationChecks } from './rotation.ts';

const alsoThroughTwo: readonly string[] = [
  'the first mail of a new record is in flight from its creation on',
  'no mail is queued for a secret that no longer waits',
  'of many that ask at once for domains to check each domain goes to one, and to another when the lease has ended',
  'a domain that was taken and not checked is due again after its lease, as long unchecked as before',
  'the check value of a root stays what it first was',
  'of many that keep a check of one root at once, all are told the same',
  'of many that ask for the key of one epoch at once, all are given the same',
  'each day has a key of its own, of 32 bytes',
  'of fifty that reserve a creation at once one is told so, and the others get its row',
  'of many records for one reservation at once one is stored',
  'a reservation is taken over after 30 seconds and not before, by one of many, and only by the seed it has',
  'the open requests of an account have no more places than its plan allows',
  'a notice of a request may be mailed once an hour, if one is wanted',
  'the requests of a locked account are unknown until it is unlocked',
];

function checkNamed(name: string): ConformanceCheck {
  const named = [
    ...accountChecks,
    ...domainChecks,
    ...mailChecks,
    ...creationChecks,
    ...epochChecks,
    ...requestChecks,
  ].find((each) => each.name === name);
  if (named === undefined) throw new Error(`there is no check "${name}"`);
  return named;
}

const box = () => new Uint8Array(randomBytes(40));

const ownChecks: readonly ConformanceCheck[] = [
  check('port', 'of many that queue a mail of one secret at once one may hand it over', async ({ store }) => {
    const { receiptId } = await putNew(store);
    for (let round = 0; round < 5; round += 1) {
      const staleAt = store.now() + 60;
      const boxes = Array.from({ length: 20 }, () => ({ noteBox: box(), addressBox: box() }));
      const asked = await Promise.all(
        boxes.map((each) => store.queueDelivery(receiptId, { staleAt, ...each })),
      );
      assert.deepEqual([countOf(asked, 'queued'), countOf(asked, 'in_flight')], [1, 19]);
      const { delivery } = (await store.findReceipt(receiptId)) ?? {};
      const kept = { state: 'queued', at: store.now(), staleAt, ...boxes[asked.indexOf('queued')] };
      assert.deepEqual(delivery, kept);
      await store.setDelivery(receiptId, {
        state: 'refused',
        staleAt: null,
        noteBox: null,
        addressBox: null,
      });
    }
  }),
];

/** Held writes are held for one handle's caller only, and reopened data already has two handles. */
const isForTwo = ({ needs }: ConformanceCheck): boolean => needs.every((means) => means === 'holdClaims');

export const twoHandleChecks: readonly ConformanceCheck[] = [
  ...claimChecks,
  ...burnChecks,
  ...lookChecks,
  ...attemptChecks,
  ...lockChecks,
  ...codeChecks,
  ...rotationChecks,
  ...answerChecks,
  ...alsoThroughTwo.map(checkNamed),
  ...ownChecks,
]
  .filter(isForTwo)
  .map(throughTwo);

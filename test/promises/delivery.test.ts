/**
 * A receipt never claims more about a mail than is known, neither while the mail is under way nor after its process died.
 *
 * Runs a real server whose mail server never greets, kills it while the mail waits, and then reads what it stored, at
 * times that the test chooses.
 */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { rm } from 'node:fs/promises';
import { anonymous } from '../../src/core/account.ts';
import { firstTrySeconds } from '../../src/core/mailer.ts';
import type { Delivery } from '../../src/core/secret.ts';
import type { ServiceParts } from '../../src/core/secrets/service.ts';
import type { MachineClock, UnixSeconds } from '../../src/core/time.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { openPostOffice } from '../mail/post-office.ts';
import { createBench } from '../support/service-bench.ts';
import { createAccount, makeDataDir, startServer } from '../support/started-server.ts';

interface Answered {
  readonly metadataKey: string;
  readonly createdAt: UnixSeconds;
  readonly delivery: Delivery;
}

/** A mail server that accepts connections and never says anything. */
async function openSilentOffice() {
  const connected = Promise.withResolvers<void>();
  const office = await openPostOffice([], { onConnect: () => connected.resolve() });
  return { office, connected: connected.promise };
}

/** Creates with a recipient, waits until the mail is being handed over, and kills the server. */
async function createAndKill(dataDir: string): Promise<Answered> {
  const { basic } = await createAccount(dataDir, 'jo@example.org');
  const { office, connected } = await openSilentOffice();
  await using _office = office;
  await using server = await startServer({ dataDir, env: { MAYFLY_SMTP_URL: office.url } });
  const response = await fetch(`http://127.0.0.1:${server.port}/api/v2/secret/conceal`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: basic },
    body: JSON.stringify({ secret: 'x', recipient: 'alan@example.org' }),
  });
  const { record } = JSON.parse(await response.text());
  await connected;
  server.kill('SIGKILL');
  await server.exited;
  const { key: metadataKey, created: createdAt, delivery } = record.metadata;
  return { metadataKey, createdAt, delivery };
}

let dataDir = '';
let answered: Answered;
beforeAll(async () => {
  dataDir = await makeDataDir();
  answered = await createAndKill(dataDir);
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

/**
 * Of a machine that has restarted since, where it is exactly `seconds` after the creation: the wall clock and the time since boot of this
 * one do not tick together, so their difference is a second off now and then.
 */
function later(createdAt: UnixSeconds, seconds: number): MachineClock {
  return { wall: () => createdAt + seconds, sinceBoot: () => 0, bootId: 'after a restart' };
}

/** What the receipt says to another process, `seconds` after the creation. */
async function deliveryAfter(
  seconds: number,
  defect: (store: ServiceParts['store']) => ServiceParts['store'] = (store) => store,
) {
  const { metadataKey, createdAt } = answered;
  await using store = await openSqliteStore({ directory: dataDir, clock: later(createdAt, seconds) });
  const { service } = createBench({ deps: { store: defect(store) } });
  const found = await service.findReceipt({ metadataKey, authority: 'holder' }, anonymous);
  if (found.outcome !== 'found') throw new Error(found.outcome);
  return { state: found.receipt.state, mail: found.receipt.delivery };
}

describe('a mail whose server never says a word', () => {
  it('does not hold up the creation, whose answer says that the mail is queued (P6)', () => {
    const { delivery, createdAt } = answered;
    expect(delivery).toEqual({ state: 'queued', at: createdAt, reply: null });
  });

  it('is reported as not sent once its process was killed and its time is over, while the secret still waits (P6)', async () => {
    const { createdAt } = answered;
    const queued = { state: 'queued', at: createdAt, reply: null } as const;
    expect(await deliveryAfter(firstTrySeconds - 1)).toEqual({ state: 'new', mail: queued });
    const lost = { state: 'not_sent', at: createdAt + firstTrySeconds, reply: null } as const;
    expect(await deliveryAfter(firstTrySeconds)).toEqual({ state: 'new', mail: lost });
  });

  it('would look queued forever if the store forgot how long to believe it (self-test)', async () => {
    const forgetful = (store: ServiceParts['store']): ServiceParts['store'] => ({
      ...store,
      async findReceipt(...args) {
        const receipt = await store.findReceipt(...args);
        if (receipt === null || receipt.delivery === null) return receipt;
        return { ...receipt, delivery: { ...receipt.delivery, state: 'queued', at: receipt.createdAt } };
      },
    });
    expect((await deliveryAfter(10 * firstTrySeconds, forgetful)).mail?.state).toBe('queued');
  });
});

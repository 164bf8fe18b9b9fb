import { describe, expect, it } from 'bun:test';
import type { HashPlace } from '../core/account.ts';
import { ServiceError } from '../core/errors.ts';
import { createHashQueue, type QueueLimits } from './slow-hashes.ts';

const limits: QueueLimits = {
  ...{ maxInFlight: 1, maxWaiting: 16, maxWaitingPerClient: 4, maxWaitingPerNetwork: 6, maxProofsInARow: 3 },
};

/** A queue whose jobs end one by one, only when the test says so. */
function createGatedQueue(changed: Partial<QueueLimits> = {}) {
  const queue = createHashQueue({ ...limits, ...changed });
  const started: string[] = [];
  const running: PromiseWithResolvers<void>[] = [];
  const runs: Promise<unknown>[] = [];
  let refused = 0;

  function work(name: string): () => Promise<void> {
    return () => {
      started.push(name);
      const gate = Promise.withResolvers<void>();
      running.push(gate);
      return gate.promise;
    };
  }

  function keep(run: Promise<unknown>): void {
    runs.push(
      run.catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.code !== 'busy') throw error;
        refused += 1;
      }),
    );
  }

  return {
    queue,
    started,
    running: () => running.length,
    refused: () => refused,
    ask: (name: string, purpose: HashPlace['purpose'], client = name) =>
      keep(queue.run({ client, purpose }, work(name))),
    async settle() {
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
    },
    async endOne() {
      running.shift()?.resolve();
      await this.settle();
    },
    async endAll() {
      await this.settle();
      while (running.length > 0) await this.endOne();
      await Promise.all(runs);
    },
  };
}

describe('the queue for slow hashes', () => {
  it('gives all clients of one IPv6 /48 a share, and leaves the rest to others (P21)', async () => {
    const gated = createGatedQueue();
    gated.ask('running', 'create');
    for (let n = 0; n < 40; n += 1) gated.ask('crowd', 'create', `2001:db8:1:${n}00::/56`);
    await gated.settle();
    expect(gated.refused()).toBe(40 - limits.maxWaitingPerNetwork);
    for (const client of ['2001:db8:2:0::/56', '192.0.2.0/24', '198.51.100.0/24', '7'])
      gated.ask('another', 'create', client);
    await gated.settle();
    expect(gated.refused()).toBe(40 - limits.maxWaitingPerNetwork);
    await gated.endAll();
  });

  it('runs so many at once, and the others of a client in the order they came (P24)', async () => {
    const gated = createGatedQueue({ maxInFlight: 2 });
    for (const name of ['1', '2', '3', '4', '5']) gated.ask(name, 'prove', 'one client');
    await gated.settle();
    expect(gated.started).toEqual(['1', '2']);
    await gated.endOne();
    expect([gated.started, gated.running()]).toEqual([['1', '2', '3'], 2]);
    await gated.endAll();
    expect(gated.started).toEqual(['1', '2', '3', '4', '5']);
  });

  it('refuses a client beyond its share at once, without running it, while another gets in (P21)', async () => {
    const gated = createGatedQueue();
    for (let n = 0; n < 90; n++) gated.ask('greedy', 'create');
    await gated.settle();
    expect(gated.refused()).toBe(90 - 1 - 4);
    gated.ask('modest', 'create');
    await gated.endAll();
    expect(gated.refused()).toBe(90 - 1 - 4);
    expect(gated.started).toHaveLength(1 + 4 + 1);
    expect(gated.started).toContain('modest');
  });

  it('gives clients turns, so that one does not wait for all that another has asked for (P21)', async () => {
    const gated = createGatedQueue();
    for (const name of ['a0', 'a1', 'a2', 'a3']) gated.ask(name, 'prove', 'a');
    for (const name of ['b1', 'b2']) gated.ask(name, 'prove', 'b');
    gated.ask('c1', 'prove', 'c');
    await gated.endAll();
    expect(gated.started).toEqual(['a0', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('keeps a full line of creations out of the way of log-ins and protected reveals (P21)', async () => {
    const gated = createGatedQueue();
    for (let n = 0; n < 90; n++) gated.ask('creation', 'create', `client ${n}`);
    await gated.settle();
    expect(gated.refused()).toBe(90 - 1 - 16);
    for (let n = 0; n < 12; n++) gated.ask('log-in', 'prove', `person ${n}`);
    gated.ask('reveal', 'prove');
    await gated.settle();
    expect(gated.refused()).toBe(90 - 1 - 16);
    await gated.endOne();
    expect(gated.started).toEqual(['creation', 'log-in']);
    await gated.endAll();
    expect(gated.started.filter((name) => name === 'log-in')).toHaveLength(12);
    expect(gated.started).toContain('reveal');
  });

  it('lets a creation through after so many proofs, however many wait (P21)', async () => {
    const gated = createGatedQueue();
    for (let n = 0; n < 10; n++) gated.ask('p', 'prove', `person ${n}`);
    for (let n = 0; n < 3; n++) gated.ask('c', 'create', `client ${n}`);
    await gated.endAll();
    expect(gated.started.join('')).toBe('pppp' + 'c' + 'ppp' + 'c' + 'ppp' + 'c');
  });

  it('counts the places of a client for each purpose, so that its creations do not lock it out', async () => {
    const gated = createGatedQueue();
    for (let n = 0; n < 9; n++) gated.ask('create', 'create', 'an office');
    gated.ask('log-in', 'prove', 'an office');
    await gated.settle();
    expect(gated.refused()).toBe(9 - 1 - 4);
    await gated.endOne();
    expect(gated.started).toEqual(['create', 'log-in']);
    await gated.endAll();
  });

  it('frees the place of work that failed, and of a client that has been served', async () => {
    const queue = createHashQueue({ ...limits, maxWaitingPerClient: 1 });
    const place: HashPlace = { client: 'one', purpose: 'prove' };
    for (let time = 0; time < 5; time++) {
      const failing = queue.run(place, () => Promise.reject(new Error('no')));
      const next = queue.run(place, async () => 'yes');
      await expect(failing).rejects.toThrow('no');
      expect(await next).toBe('yes');
    }
  });
});

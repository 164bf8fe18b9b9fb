/** Proves that a link's status names the sender, but shows no more than any holder of the link may know. */
import { describe, expect, it } from 'bun:test';
import { createBench } from '../../../test/support/service-bench.ts';
import { anonymous } from '../account.ts';

describe('the sender', () => {
  it('is shown to anyone who holds the link, obfuscated', async () => {
    const bench = createBench();
    const caller = await bench.signUp('josephine@example.org');
    const { secretKey } = await bench.share('v', { caller });
    for (const asking of [anonymous, caller]) {
      const told = await bench.service.secretStatus({ secretKey }, asking);
      expect(told).toMatchObject({
        outcome: 'waiting',
        sender: { name: null, address: 'jo*****@e*****.org' },
      });
    }
  });

  it('is absent when the secret was made without an account, or that account is gone', async () => {
    const gone = { now: false };
    const bench = createBench({
      wrap: (store) => ({
        ...store,
        findAccountById: async (id) => (gone.now ? null : store.findAccountById(id)),
      }),
    });
    const made = await bench.share('v');
    expect(await bench.service.secretStatus(made, anonymous)).toMatchObject({ sender: null });
    const owned = await bench.share('v', { caller: await bench.signUp('jo@example.org') });
    gone.now = true;
    expect(await bench.service.secretStatus(owned, anonymous)).toMatchObject({ sender: null });
  });
});

/**
 * Accounts while the standby does not answer, and after the failover that follows: nobody is told what that makes untrue. A decision in
 * doubt is visible to everybody on the primary, so an answer that rests on one is in doubt, too.
 */
import { describe, expect, it } from 'bun:test';
import { createAccountStore } from '../../../src/store/postgres/accounts.ts';
import { createDeletionStore } from '../../../src/store/postgres/deletion.ts';
import { createDomainStore } from '../../../src/store/postgres/domains.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { openPostgresStore } from '../../../src/store/postgres/store.ts';
import { createTokenStore } from '../../../src/store/postgres/tokens.ts';
import { startPair } from '../../support/postgres.ts';
import { accountNamed, newAccount, newToken } from '../conformance/account-fixtures.ts';
import { createSettableClock, putNew } from '../conformance/check.ts';
import { newDomain } from '../conformance/domain-fixtures.ts';

const nodeOn = (engine: Engine) => ({
  ...createAccountStore(engine),
  ...createTokenStore(engine),
  ...createDomainStore(engine),
  ...createDeletionStore(engine),
});

const username = 'ann@example.org';

describe('an account over PostgreSQL whose standby does not answer', () => {
  it('P16: nothing is called gone, locked or taken that a failover could undo', async () => {
    await using pair = await startPair();
    const clock = createSettableClock();
    const open = () => openEngine({ url: pair.url, clock });
    const [one, other] = [await open(), await open()];
    const [node, second] = [nodeOn(one), nodeOn(other)];
    // It believes whatever it sees.
    const credulous = await openEngine({ url: pair.url, clock, durability: 'engine' });
    const hopeful = nodeOn(credulous);
    const token = newToken();
    const ann = await node.createAccount(newAccount(username), newToken());
    const bob = await node.createAccount(newAccount('bob@example.org'), newToken());
    if (ann === null || bob === null) throw new Error('no accounts');
    const { tokenId } = await node.addToken(ann.id, token);
    await node.addDomain(newDomain(ann.id, 'share.example.org'), 1);

    const decisions = (on: typeof node) => [
      () => on.revokeToken(ann.id, tokenId),
      () => on.removeDomain(ann.id, 'share.example.org'),
      () => on.createAccount(newAccount('eve@example.org'), newToken()),
      () => on.lockAccount(ann.id),
      () => on.deleteAccount(bob.id),
    ];
    pair.freezeStandby();
    const codes = async (on: typeof node) => {
      const settled = await Promise.allSettled(decisions(on).map((decide) => decide()));
      return settled.map((each) => (each.status === 'rejected' ? each.reason.code : each.value));
    };
    const inDoubt = decisions(node).map(() => 'unavailable');
    expect(await codes(node)).toEqual(inDoubt);
    expect(await codes(second)).toEqual(inDoubt);
    // As the answers would be without the proof.
    expect(await codes(hopeful)).toEqual([false, false, null, false, false]);

    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    expect((await second.findToken(token.tokenHash))?.token.tokenId).toBe(tokenId);
    expect((await second.findAccountById(ann.id))?.lockedAt).toBeNull();
    expect(await codes(second)).toEqual([
      true,
      true,
      expect.objectContaining({ id: expect.any(Number) }),
      true,
      true,
    ]);
    expect(await codes(node)).toEqual([false, false, null, false, false]);
    await Promise.all([one.close(), other.close(), credulous.close()]);
  });

  it('P10: a deletion goes on after a failover from the last batch that was confirmed', async () => {
    await using pair = await startPair();
    const clock = createSettableClock();
    const open = () => openPostgresStore({ url: pair.url, clock });
    const [one, other] = [await open(), await open()];
    const { id } = await accountNamed(one, username);
    const records = await Promise.all(Array.from({ length: 50 }, () => putNew(one, { owner: id })));
    await one.deleteAccount(id);
    expect(await one.continueDeletion(id, 10)).toEqual({ outcome: 'more', burned: 10 });
    pair.freezeStandby();
    await expect(one.continueDeletion(id, 10)).rejects.toMatchObject({ code: 'unavailable' });
    await pair.killPrimary();
    await pair.promote();
    await pair.addStandby();
    expect(await other.listDeletions(10)).toEqual([id]);
    expect(await other.continueDeletion(id, 10)).toEqual({ outcome: 'more', burned: 20 });
    expect(await one.continueDeletion(id, 100)).toEqual({ outcome: 'finished', burned: 50 });
    const receipts = await Promise.all(records.map(({ receiptId }) => other.findReceipt(receiptId)));
    expect(receipts.filter((each) => each?.state === 'burned')).toHaveLength(50);
    for (const store of [one, other]) await store[Symbol.asyncDispose]();
  });
});

/**
 * What an account's owner is told while the standby does not answer: nothing that a failover could make untrue. A decision in doubt is
 * visible to everybody on the primary, so an answer that rests on one is in doubt, too.
 */
import { describe, expect, it } from 'bun:test';
import { createAccountStore, createTokenStore } from '../../../src/store/postgres/accounts.ts';
import { createDeletionStore } from '../../../src/store/postgres/deletion.ts';
import { createDomainStore } from '../../../src/store/postgres/domains.ts';
import { type Engine, openEngine } from '../../../src/store/postgres/engine.ts';
import { startPair } from '../../support/postgres.ts';
import { newAccount, newToken } from '../conformance/account-fixtures.ts';
import { createSettableClock } from '../conformance/check.ts';
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
    const hopeful = nodeOn({ ...other, prove: async () => {} });
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
    await Promise.all([one.close(), other.close()]);
  });
});

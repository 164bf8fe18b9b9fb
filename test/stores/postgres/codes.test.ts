/** Codes through two nodes: one opener's last code counts at both, whichever took it and however far apart their times are. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type PostgresServer, startPostgres } from '../../support/postgres.ts';
import { putNew } from '../conformance/check.ts';
import { countWhere, openNodes } from './two-nodes.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server[Symbol.asyncDispose]());

const tag = (fill: number) => new Uint8Array(16).fill(fill);

describe('codes of several nodes', () => {
  it('P14: the last one counts at both, also where it was taken by a node whose time is behind', async () => {
    await using nodes = await openNodes(server);
    const { secretId } = await putNew(nodes.one, { verify: true });
    const lookTag = tag(1);
    await nodes.one.putCode(secretId, { lookTag, codeTag: tag(2) });
    // As another node has stored it, whose time is ahead.
    await nodes.ask('UPDATE codes SET at = at + 2');
    await nodes.other.putCode(secretId, { lookTag, codeTag: tag(3) });
    for (const n of [0, 1]) expect(await nodes.node(n).findCode(secretId, lookTag)).toEqual(tag(3));
  });

  it('of many at once for one opener one is found, the same at both, and those of others are there too', async () => {
    await using nodes = await openNodes(server);
    const { secretId } = await putNew(nodes.one, { verify: true });
    const puts = Array.from({ length: 40 }, (_, n) =>
      nodes.node(n).putCode(secretId, { lookTag: tag(n % 4), codeTag: tag(100 + n) }),
    );
    const times = await Promise.all(puts);
    expect(times.every((at) => at !== null)).toBe(true);
    // One row an opener and second: the puts may take more than one.
    const rows = new Set(times.map((at, n) => `${n % 4} ${at}`));
    expect(await countWhere(nodes, 'codes')).toBe(rows.size);
    for (let look = 0; look < 4; look += 1) {
      const found = await nodes.one.findCode(secretId, tag(look));
      expect(((found?.[0] ?? 0) - 100) % 4).toBe(look);
      expect(await nodes.other.findCode(secretId, tag(look))).toEqual(found);
    }
  });

  it('P6: go with a record that a node of the version before deletes, which knows no codes', async () => {
    await using nodes = await openNodes(server);
    const [gone, kept] = [
      await putNew(nodes.one, { verify: true }),
      await putNew(nodes.one, { verify: true }),
    ];
    for (const { secretId } of [gone, kept])
      await nodes.one.putCode(secretId, { lookTag: tag(1), codeTag: tag(2) });
    await nodes.ask('DELETE FROM records WHERE secret_id = $1', [gone.secretId]);
    expect(await nodes.other.listCodes(gone.secretId)).toEqual([]);
    expect(await nodes.other.listCodes(kept.secretId)).toHaveLength(1);
  });

  it('P1: none is stored while the secret’s claim is not decided, nor after it', async () => {
    await using nodes = await openNodes(server);
    const { secretId } = await putNew(nodes.one, { verify: true });
    const put = () => nodes.other.putCode(secretId, { lookTag: tag(1), codeTag: tag(2) });
    const claim = ["UPDATE records SET state = 'r', ended_at = created_at"] as const;
    expect(await nodes.during([claim], put)).toBeNull();
    expect(await countWhere(nodes, 'codes')).toBe(0);
  });
});

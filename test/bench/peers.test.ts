/** Other services are started with their own arguments, asked in their own form, and counted with all their processes. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGenerator } from '../../bench/generators.ts';
import { startBareBun } from '../../bench/load.ts';
import { measurePeers, type PeersFigures, renderPeers, startPeers } from '../../bench/peers.ts';
import { treeOf } from '../../bench/processes.ts';
import { sendOnce } from '../support/raw-client.ts';

let folder = '';
let program = '';
let redis = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "mayfly's peers-"));
  const write = (name: string, line: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    return path;
  };
  program = write(
    'service',
    `exec '${process.execPath}' '${join(import.meta.dir, 'peer-stand-in.ts')}' "$@"`,
  );
  redis = write('redis', `printf '%s ' "$@" >said; exec sleep 600`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const size = { rounds: 2, tripsPerRound: 20, connections: 4, passphraseTrips: 0 };

describe('the peers', () => {
  it('are measured beside a bare server, and end with their databases', async () => {
    const paths = { yopass: program, redis, ots: program };
    let figures: PeersFigures;
    let ports: number[];
    {
      await using stack = new AsyncDisposableStack();
      const peers = await startPeers(paths, folder, stack);
      expect(peers.map(({ server }) => treeOf(server.pid).length)).toEqual([2, 2, 1]);
      const said = (name: string) => Bun.file(join(folder, name, 'said')).text();
      expect(await said('yopass-synced')).toEndWith('--appendonly yes --appendfsync always ');
      ports = peers.map(({ server }) => server.port);
      const generator = stack.use(await startGenerator('raw'));
      figures = await measurePeers(generator, stack.use(await startBareBun()), peers, size);
    }
    for (const port of ports)
      await expect(sendOnce(port, Buffer.from('GET / HTTP/1.1\r\n\r\n'))).rejects.toThrow();
    expect(figures.all.flatMap(({ create, trip }) => [create.rounds.length, trip.rounds.length])).toEqual(
      Array(6).fill(2),
    );
    const report = renderPeers(figures, paths, size);
    expect(report).not.toContain('was not measured');
    expect(report.match(/^\| Luzifer ots \|/gm)).toHaveLength(2);
    expect(report).toContain('service (SHA-256 ');
  });

  it('that are not there are left out, and named', async () => {
    await using stack = new AsyncDisposableStack();
    const peers = await startPeers({ yopass: program }, folder, stack);
    expect(peers).toEqual([]);
    const none = { bun: { label: 'bare', kind: 'create-v1-form', rounds: [] }, all: [] } as const;
    const report = renderPeers(none, {}, size);
    expect(report).toContain('Yopass with Redis was not measured: give `--yopass PATH --redis PATH`.');
    expect(report).toContain('Luzifer ots was not measured: give `--ots PATH`.');
  });
});

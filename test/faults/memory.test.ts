/**
 * What a core file of the server would hold. Of a secret that was shared and read end to end it holds nothing: neither the text, nor
 * the file, its name, the passphrase or the end of a link (P9, P18).
 */
import { expect, test } from 'bun:test';
import { rm } from 'node:fs/promises';
import { createClient } from '../../sdk/mayfly.ts';
import { shareEndToEnd } from '../support/end-to-end-life.ts';
import { memoryOf } from '../support/process-memory.ts';
import { createAccount, makeDataDir, startServer } from '../support/started-server.ts';

/** The unique part of each text, as JavaScript's strings may hold it. */
function formsOf(texts: readonly string[]): readonly (readonly [string, Buffer])[] {
  return texts
    .map((text) => /[0-9a-f]{18}/.exec(text)?.[0] ?? text)
    .flatMap((part) => [[part, Buffer.from(part)] as const, [part, Buffer.from(part, 'utf16le')] as const]);
}

function foundIn(pid: number, texts: readonly string[]): string[] {
  const forms = formsOf(texts);
  const found = new Set<string>();
  let searchedBytes = 0;
  for (const bytes of memoryOf(pid)) {
    searchedBytes += bytes.length;
    for (const [part, form] of forms) if (bytes.includes(form)) found.add(part);
  }
  expect(searchedBytes).toBeGreaterThan(10_000_000);
  return [...found];
}

async function temporary(): Promise<{ dataDir: string } & AsyncDisposable> {
  const dataDir = await makeDataDir();
  return { dataDir, [Symbol.asyncDispose]: () => rm(dataDir, { recursive: true, force: true }) };
}

test('the memory of a server holds nothing of what was shared and read end to end, and that of a plain secret is found (self-test)', async () => {
  await using folder = await temporary();
  const { dataDir } = folder;
  const owner = await createAccount(dataDir, 'owner@example.org');
  await using server = await startServer({ dataDir, env: { MAYFLY_LOG_LEVEL: 'debug' } });
  const life = await shareEndToEnd(server.port, owner, () => {});
  const texts = [...life.values, ...life.passphrases, ...life.ends];
  expect(foundIn(server.pid, texts)).toEqual([]);
  await life.read();
  expect(foundIn(server.pid, texts)).toEqual([]);
  const plain = createClient({ server: `http://127.0.0.1:${server.port}` });
  const value = 'plain 0123456789abcdef01';
  const { link } = await plain.conceal({ value, plain: true });
  expect((await plain.reveal(link)).value).toBe(value);
  expect(foundIn(server.pid, [value])).toEqual(['0123456789abcdef01']);
}, 60_000);

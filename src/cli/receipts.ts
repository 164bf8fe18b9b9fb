/**
 * Commands for people, with their receipts: `mayfly burn|recent`.
 *
 * Owns: their words. Invariant: they know only the client (`sdk/`), and need the credentials of an account.
 */
import type { Receipt } from '../../sdk/mayfly.ts';
import { timeOf } from './accounts.ts';
import { readLink, serverOption, withClient } from './client.ts';
import { type Command, type ExitCode, type Input, printResult, UsageError, type World } from './command.ts';

function secondsOf(time: Date | null): number | null {
  return time === null ? null : time.getTime() / 1000;
}

function jsonOf(receipt: Receipt) {
  return {
    metadata_key: receipt.metadataKey,
    state: receipt.state,
    secret_ttl: receipt.secretTtlSeconds,
    created: secondsOf(receipt.createdAt),
    received: secondsOf(receipt.receivedAt),
    burned: secondsOf(receipt.burnedAt),
    recipient: receipt.recipient,
    share_domain: receipt.shareDomain,
  };
}

function lineOf(receipt: Receipt): string {
  const created = timeOf(receipt.createdAt.getTime() / 1000);
  return [receipt.metadataKey, receipt.state, created, receipt.recipient ?? ''].join('\t').trimEnd();
}

async function runBurn(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world);
  return withClient(input, world, link, async (client) => {
    const receipt = await client.burn(link);
    if (!input.json) world.terminal.err('Burned: nobody can read it any more.\n');
    printResult(world, input, jsonOf(receipt), []);
    return 0;
  });
}

const maxLimit = 1_000;

function parseLimit(text: string): number {
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit) throw new UsageError(`--limit takes 1 to ${maxLimit}.`);
  return limit;
}

async function runRecent(input: Input, world: World): Promise<ExitCode> {
  const limit = parseLimit(input.texts.limit ?? '20');
  return withClient(input, world, null, async (client) => {
    const receipts: Receipt[] = [];
    for await (const receipt of client.recent({ pageSize: Math.min(limit, 200) })) {
      receipts.push(receipt);
      if (receipts.length === limit) break;
    }
    if (receipts.length === 0) world.terminal.err('There is nothing yet.\n');
    printResult(world, input, receipts.map(jsonOf), receipts.map(lineOf));
    return 0;
  });
}

export const receiptCommands: readonly Command[] = [
  {
    path: ['burn'],
    summary: 'destroy an unread secret by its metadata key',
    words: ['[METADATA_KEY]'],
    options: serverOption,
    example: 'mayfly burn 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj',
    run: runBurn,
  },
  {
    path: ['recent'],
    summary: "list the account's receipts, newest first",
    words: [],
    options: { limit: { type: 'string', value: 'N', doc: 'how many; 20 without it' }, ...serverOption },
    example: 'mayfly recent --limit 5',
    run: runRecent,
  },
];

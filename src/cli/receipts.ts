/** Commands for receipts: `mayfly burn|deliver|memo|ttl|unlock|recent`, and how a receipt is printed. */

import { unexpectedFrom } from '../../sdk/error.ts';
import {
  type Delivery,
  type MayflyClient,
  MayflyError,
  parseLink,
  type Receipt,
  type Remarks,
} from '../../sdk/mayfly.ts';
import { receiptStates } from '../protocol/vocabulary.ts';
import {
  type ChosenClient,
  parseTtl,
  passphraseOptions,
  readLink,
  readPassphrase,
  receiptAddress,
  serverOption,
  withClient,
} from './client.ts';
import { type Command, type ExitCode, type Input, printResult, UsageError, type World } from './command.ts';
import { passphraseFor } from './second-look.ts';
import { durationWords, timeOf } from './terminal.ts';

function secondsOf(time: Date | null): number | null {
  return time === null ? null : time.getTime() / 1000;
}

function jsonOf(receipt: Receipt) {
  return {
    metadata_key: receipt.metadataKey,
    state: receipt.state,
    sealed: receipt.isSealed,
    secret_ttl: receipt.secretTtlSeconds,
    created: secondsOf(receipt.createdAt),
    received: secondsOf(receipt.receivedAt),
    burned: secondsOf(receipt.burnedAt),
    burned_by: receipt.burnedBy,
    recipient: receipt.recipient,
    delivery: deliveryJsonOf(receipt.delivery),
    notify: receipt.notify,
    share_domain: receipt.shareDomain,
    memo: receipt.memo,
    locked: receipt.locked && { by: receipt.locked.by, until: secondsOf(receipt.locked.until) },
  };
}

function deliveryJsonOf(delivery: Delivery | null) {
  return delivery === null ? null : { ...delivery, at: secondsOf(delivery.at) };
}

const deliveryWords: Readonly<Record<Delivery['state'], string>> = {
  queued: 'is being sent',
  accepted: 'was taken by the mail server',
  refused: 'was refused by the mail server',
  given_up: 'was put off by the mail server until the last try',
  not_sent: 'was not sent',
};

/**
 * A reply comes from a foreign server, a memo from any holder of the key: control characters could take over the terminal, so they
 * are not printed.
 */
export function plain(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}

function deliveryLinesOf({ delivery, recipient }: Receipt): string[] {
  if (delivery === null) return [];
  const time = timeOf(delivery.at.getTime() / 1000);
  const reply = delivery.reply === null ? '' : `: ${plain(delivery.reply)}`;
  return [`mail to ${recipient ?? 'the recipient'} ${deliveryWords[delivery.state]}, ${time}${reply}`];
}

export function waitingWords(
  { hasPassphrase, isSealed }: { readonly hasPassphrase: boolean | null; readonly isSealed: boolean },
  ttlSeconds: number,
): string {
  const traits = [
    ...(isSealed ? ['end to end'] : []),
    ...(hasPassphrase === true ? ['with a passphrase'] : []),
  ];
  return ['waiting', ...traits, `for another ${durationWords(ttlSeconds)}`].join(', ');
}

/** As the pages say it. */
export const stateWords: Readonly<Record<Receipt['state'], string>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

function stateLineOf(receipt: Receipt): string {
  const { state, burnedBy, secretTtlSeconds } = receipt;
  if (secretTtlSeconds !== null) return waitingWords(receipt, secretTtlSeconds);
  return burnedBy === 'recipient' ? 'burned by the recipient' : stateWords[state];
}

function lockLinesOf({ locked }: Receipt): string[] {
  if (locked === null) return [];
  const until = secondsOf(locked.until);
  const ends = until === null ? 'until you allow more: see mayfly unlock' : `until ${timeOf(until)}`;
  return [`locked after too many wrong passphrases, ${ends}`];
}

function memoLinesOf({ memo }: Receipt): string[] {
  return memo === '' ? [] : [`memo: ${plain(memo)}`];
}

/** Prints state, lock, mail status and memo; without an account the state, as on the page. Returns 1 when the secret is gone. */
export async function printReceipt(
  chosen: ChosenClient,
  link: string,
  input: Input,
  world: World,
): Promise<ExitCode> {
  const shown = await orOnPage(chosen, chosen.client.receipt(link), () => stateOnPage(chosen, world));
  const isPage = !('metadataKey' in shown);
  const json = isPage ? shown : { waiting: shown.secretTtlSeconds !== null, ...jsonOf(shown) };
  const lines = isPage
    ? [stateWords[shown.state]]
    : [stateLineOf(shown), ...lockLinesOf(shown), ...deliveryLinesOf(shown), ...memoLinesOf(shown)];
  printResult(world, input, json, lines);
  return json.waiting ? 0 : 1;
}

export function remarksJsonOf({ adjusted, ignored }: Remarks) {
  const { ttlSeconds: ttl } = adjusted;
  return {
    ...(ttl === undefined ? {} : { adjusted: { ttl } }),
    ...(ignored.length === 0 ? {} : { ignored }),
  };
}

/** Printed with `--json` too: what was not done as asked must not go unnoticed. */
export function printRemarks({ adjusted: { ttlSeconds }, ignored }: Remarks, { terminal }: World): void {
  if (ttlSeconds !== undefined) {
    const { asked, granted } = ttlSeconds;
    const wanted = typeof asked === 'number' ? durationWords(asked) : plain(asked);
    terminal.err(`The lifetime is ${durationWords(granted)}: the server does not allow ${wanted}.\n`);
  }
  if (ignored.length > 0)
    terminal.err(`The server ignored unknown fields: ${ignored.map(plain).join(', ')}.\n`);
}

function lineOf(receipt: Receipt): string {
  const created = timeOf(receipt.createdAt.getTime() / 1000);
  const { metadataKey, state, recipient, memo } = receipt;
  return [metadataKey, stateWords[state], created, recipient ?? '', plain(memo)].join('\t').trimEnd();
}

/** Without an account the holder of a metadata key may watch and burn on the receipt's page, so this sends what its script and form do. */
async function orOnPage<Result, OnPage>(
  { isAnonymous }: ChosenClient,
  asked: Promise<Result>,
  onPage: () => Promise<OnPage>,
): Promise<Result | OnPage> {
  return asked.catch((error: unknown) => {
    if (isAnonymous && error instanceof MayflyError && error.code === 'not_authorized') return onPage();
    throw error;
  });
}

/** @throws MayflyError */
async function askPage(
  { server, target }: ChosenClient,
  [method, path, expected]: readonly ['GET' | 'POST', string, number],
  { fetch }: World,
): Promise<Response> {
  const address = receiptAddress(server, target?.key ?? '');
  const init = { method, redirect: 'manual', signal: AbortSignal.timeout(30_000) } as const;
  const response = await fetch(`${address}/${path}`, init).catch((cause: unknown) => {
    throw new MayflyError('unreachable', '', { cause });
  });
  if (response.status === 404) throw new MayflyError('unknown_secret', '');
  if (response.status !== expected) throw unexpectedFrom(response);
  return response;
}

async function stateOnPage(chosen: ChosenClient, world: World) {
  const response = await askPage(chosen, ['GET', 'state', 200], world);
  const answer = (await response.json().catch(() => null)) as { readonly state?: unknown } | null;
  const state = receiptStates.find((known) => known === answer?.state);
  if (state === undefined) throw unexpectedFrom(response);
  return { waiting: state === 'new' || state === 'viewed', metadata_key: chosen.target?.key, state };
}

async function burnOnPage(chosen: ChosenClient, world: World): Promise<object> {
  if ((await stateOnPage(chosen, world)).waiting) {
    await askPage(chosen, ['POST', 'burn', 303], world);
    const after = await stateOnPage(chosen, world);
    if (after.state === 'burned') return after;
  }
  throw new MayflyError('already_gone', 'The secret was read, burned or has expired');
}

/** With its own link instead of the metadata key, by anyone who could read it, with the passphrase that this takes. */
async function burnUnread(client: MayflyClient, link: string, input: Input, world: World): Promise<object> {
  const given = await readPassphrase(input, world);
  const passphrase = await passphraseFor(client, link, given, { isRepeated: false }, world);
  await client.burnUnread(link, passphrase === undefined ? {} : { passphrase });
  return { secret_key: parseLink(link)?.key, state: 'burned' };
}

async function burnManaged(
  chosen: ChosenClient,
  link: string,
  { flags, texts }: Input,
  world: World,
): Promise<object> {
  if (flags.has('passphrase') || texts['passphrase-file'] !== undefined)
    throw new UsageError("A passphrase goes with a secret's link. With a metadata key none is needed.");
  return orOnPage(chosen, chosen.client.burn(link).then(jsonOf), () => burnOnPage(chosen, world));
}

async function runBurn(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world);
  return withClient(input, world, link, async (client, chosen) => {
    const burned = await (chosen.target?.kind === 'secret'
      ? burnUnread(client, link, input, world)
      : burnManaged(chosen, link, input, world));
    if (!input.json) world.terminal.err('Burned: nobody can read it any more.\n');
    return printResult(world, input, burned, []);
  });
}

async function runDeliver(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  const [, recipient] = input.words;
  return withClient(input, world, link, async (client) => {
    const receipt = await client.deliver(link, recipient === undefined ? {} : { recipient });
    if (!input.json) world.terminal.err('The mail is being sent. mayfly status tells what becomes of it.\n');
    return printResult(world, input, jsonOf(receipt), []);
  });
}

function printMemo(receipt: Receipt, input: Input, world: World): ExitCode {
  const { memo } = receipt;
  if (memo === '' && !input.json) world.terminal.err('There is no memo.\n');
  return printResult(world, input, jsonOf(receipt), memo === '' ? [] : [plain(memo)]);
}

/** Without a text it shows the memo; an empty one removes it. */
async function runMemo(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  const [, memo] = input.words;
  return withClient(input, world, link, async (client) => {
    if (memo === undefined) return printMemo(await client.receipt(link), input, world);
    const receipt = await client.setMemo(link, memo);
    const done = memo === '' ? 'The memo is removed.\n' : 'The memo is kept. Only the creator sees it.\n';
    if (!input.json) world.terminal.err(done);
    return printResult(world, input, jsonOf(receipt), []);
  });
}

/** 1 when the secret is gone. */
function printTtl(receipt: Receipt, input: Input, world: World): ExitCode {
  const { secretTtlSeconds, state } = receipt;
  const isGone = secretTtlSeconds === null;
  if (isGone && !input.json) world.terminal.err(`The secret is gone: ${stateWords[state]}.\n`);
  printResult(world, input, jsonOf(receipt), isGone ? [] : [durationWords(secretTtlSeconds)]);
  return isGone ? 1 : 0;
}

/** Without a time it shows how long the secret may still wait. */
async function runTtl(input: Input, world: World): Promise<ExitCode> {
  const [, time] = input.words;
  const ttlSeconds = time === undefined ? null : parseTtl(time, 'TIME');
  const link = await readLink(input, world, 'receipt');
  return withClient(input, world, link, async (client) => {
    if (ttlSeconds === null) return printTtl(await client.receipt(link), input, world);
    const receipt = await client.setTtl(link, ttlSeconds);
    printRemarks(receipt, world);
    // Read in this very moment.
    if (receipt.secretTtlSeconds === null) return printTtl(receipt, input, world);
    if (!input.json)
      world.terminal.err(`It now opens for another ${durationWords(receipt.secretTtlSeconds)}.\n`);
    return printResult(world, input, { ...jsonOf(receipt), ...remarksJsonOf(receipt) }, []);
  });
}

async function runUnlock(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  return withClient(input, world, link, async (client) => {
    const receipt = await client.allowMore(link);
    if (!input.json) world.terminal.err('The wrong passphrases are forgotten: it may be tried again.\n');
    return printResult(world, input, jsonOf(receipt), []);
  });
}

const maxLimit = 1_000;

function parseLimit(text: string): number {
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit) throw new UsageError(`--limit takes a whole number, 1 to ${maxLimit}.`);
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
    return printResult(world, input, receipts.map(jsonOf), receipts.map(lineOf));
  });
}

export const receiptCommands: readonly Command[] = [
  {
    path: ['burn'],
    summary: 'destroy an unread secret, by its link, receipt or metadata key',
    words: ['[LINK]'],
    options: { ...passphraseOptions, ...serverOption },
    example: 'mayfly burn 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj',
    examples: ['mayfly burn https://secrets.example.org/secret/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd'],
    run: runBurn,
  },
  {
    path: ['deliver'],
    summary: "send the recipient's mail again, or to another address",
    words: ['[METADATA_KEY]', '[EMAIL]'],
    options: serverOption,
    example: 'mayfly deliver 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj alan@example.org',
    run: runDeliver,
  },
  {
    path: ['memo'],
    summary: "show the creator's own label, change it, or remove it with an empty text",
    words: ['[METADATA_KEY]', '[TEXT]'],
    options: serverOption,
    example: 'mayfly memo 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj wifi-of-the-office',
    run: runMemo,
  },
  {
    path: ['ttl'],
    summary: 'show how long an unread secret may still wait, or give it another time from now on',
    words: ['[METADATA_KEY]', '[TIME]'],
    options: serverOption,
    example: 'mayfly ttl 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj 3d',
    run: runTtl,
  },
  {
    path: ['unlock'],
    summary: 'allow more tries at the passphrase of an unread secret, after too many wrong ones',
    words: ['[METADATA_KEY]'],
    options: serverOption,
    example: 'mayfly unlock 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj',
    run: runUnlock,
  },
  {
    path: ['recent'],
    summary: "list the account's receipts, newest first",
    options: { limit: { type: 'string', value: 'N', doc: 'how many; 20 without it' }, ...serverOption },
    example: 'mayfly recent --limit 5',
    run: runRecent,
  },
];

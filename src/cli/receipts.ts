/** `mayfly burn|deliver|memo|ttl|unlock|recent`, and how receipts are printed. */
import { unexpectedFrom } from '../../sdk/error.ts';
import {
  type Created,
  type Delivery,
  type Generated,
  type MayflyClient,
  MayflyError,
  parseLink,
  type Receipt,
  type Remarks,
} from '../../sdk/mayfly.ts';
import { receiptLink } from '../protocol/link.ts';
import { receiptStates } from '../protocol/vocabulary.ts';
import {
  type ChosenClient,
  type PeopleWorld,
  parseTtl,
  passphraseOptions,
  readLink,
  readPassphrase,
  withClient,
} from './client.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  parseNumber,
  printDone,
  printResult,
  UsageError,
  type World,
  warn,
} from './command.ts';
import { drawLook, passphraseFor, withCode } from './second-look.ts';
import { durationWords, timeOf } from './terminal.ts';

function secondsOf(time: Date | null): number | null {
  return time === null ? null : time.getTime() / 1000;
}

function jsonOf(receipt: Receipt) {
  return {
    metadata_key: receipt.metadataKey,
    state: receipt.state,
    sealed: receipt.isSealed,
    verify: receipt.needsCode,
    secret_ttl: receipt.secretTtlSeconds,
    created: secondsOf(receipt.createdAt),
    received: secondsOf(receipt.receivedAt),
    burned: secondsOf(receipt.burnedAt),
    burned_by: receipt.burnedBy,
    recipient: receipt.recipient,
    delivery: receipt.delivery && { ...receipt.delivery, at: secondsOf(receipt.delivery.at) },
    notify: receipt.notify,
    share_domain: receipt.shareDomain,
    memo: receipt.memo,
    codes: receipt.codes?.map(({ state, at }) => ({ state, at: secondsOf(at) })) ?? null,
    locked: receipt.locked && { by: receipt.locked.by, until: secondsOf(receipt.locked.until) },
  };
}

const deliveryWords: Readonly<Record<Delivery['state'], string>> = {
  queued: 'is being sent',
  accepted: 'was accepted by the mail server',
  refused: 'was refused by the mail server',
  given_up: 'was deferred by the mail server until the last try',
  not_sent: 'was not sent',
};

/** Replaces control characters, which could take over the terminal: replies and memos come from strangers. */
export function plain(text: string): string {
  return text.replace(/\p{C}/gu, ' ');
}

function deliveryLinesOf({ delivery, recipient }: Receipt, isSeen: boolean): string[] {
  if (delivery === null) return [];
  const time = timeOf(delivery.at.getTime() / 1000, isSeen);
  const reply = delivery.reply === null ? '' : `: ${plain(delivery.reply)}`;
  return [`Email to ${recipient ?? 'the recipient'} ${deliveryWords[delivery.state]}, ${time}${reply}`];
}

export function waitingWords(
  { hasPassphrase, isSealed, needsCode }: Pick<Receipt, 'hasPassphrase' | 'isSealed' | 'needsCode'>,
  ttlSeconds: number,
): string {
  const traits = [
    ...(isSealed ? ['end-to-end encrypted'] : []),
    ...(hasPassphrase === true ? ['with a passphrase'] : []),
    ...(needsCode ? ['asks for a code'] : []),
  ];
  return ['Not opened yet', ...traits, `expires in ${durationWords(ttlSeconds)}`].join(' · ');
}

export const stateWords: Readonly<Record<Receipt['state'], string>> = {
  new: 'waiting',
  viewed: 'waiting',
  received: 'opened',
  burned: 'burned',
  expired: 'expired',
};

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export function stateLineOf(receipt: Receipt): string {
  const { state, burnedBy, secretTtlSeconds } = receipt;
  if (secretTtlSeconds !== null) return waitingWords(receipt, secretTtlSeconds);
  return burnedBy === 'recipient' ? 'Burned by the recipient' : capitalised(stateWords[state]);
}

function lockLinesOf({ locked }: Receipt, isSeen: boolean): string[] {
  if (locked === null) return [];
  const until = secondsOf(locked.until);
  const ends = until === null ? 'until you run mayfly unlock' : `until ${timeOf(until, isSeen)}`;
  return [`Locked after too many wrong ${locked.by}s, ${ends}`];
}

/** Prints state, lock, email status and memo; without an account, only the state, from the page. Returns 1 if the secret is gone. */
export async function printReceipt(
  chosen: ChosenClient,
  link: string,
  input: Input,
  world: PeopleWorld,
): Promise<ExitCode> {
  const shown = await orOnPage(chosen, chosen.client.receipt(link), () => stateOnPage(chosen, world));
  const isPage = !('metadataKey' in shown);
  const json = isPage ? shown : { waiting: shown.secretTtlSeconds !== null, ...jsonOf(shown) };
  const { isOutputSeen: seen } = world.terminal;
  const lines = isPage
    ? [shown.waiting ? 'Not opened yet' : capitalised(stateWords[shown.state])]
    : [
        stateLineOf(shown),
        ...lockLinesOf(shown, seen),
        ...deliveryLinesOf(shown, seen),
        ...(shown.codes ?? []).map(
          ({ state, at }) => `A code ${deliveryWords[state]}, ${timeOf(at.getTime() / 1000, seen)}`,
        ),
        ...(shown.memo === '' ? [] : [`Memo: ${plain(shown.memo)}`]),
      ];
  printResult(world, input, json, lines);
  return json.waiting ? 0 : 1;
}

export function createdJsonOf(created: Created | Generated, server: string) {
  return {
    link: created.link,
    secret_key: created.secretKey,
    metadata_key: created.metadataKey,
    receipt: receiptLink(created.metadataKey, server),
    ttl: created.ttlSeconds,
    sealed: created.isSealed,
    verify: created.needsCode,
    created: secondsOf(created.createdAt),
    ...(created.repeated && { repeated: true, state: created.state }),
    ...('value' in created ? { value: created.value } : {}),
    ...remarksJsonOf(created),
  };
}

function remarksJsonOf({ adjusted, ignored }: Remarks) {
  const { ttlSeconds: ttl } = adjusted;
  return {
    ...(ttl === undefined ? {} : { adjusted: { ttl } }),
    ...(ignored.length === 0 ? {} : { ignored }),
  };
}

/** Prints even with `--json`, because the server changed what was requested. */
export function printRemarks({ adjusted: { ttlSeconds }, ignored }: Remarks, world: World): void {
  if (ttlSeconds !== undefined) {
    const { asked, granted } = ttlSeconds;
    const wanted = typeof asked === 'number' ? durationWords(asked) : plain(asked);
    warn(world, `Expires in ${durationWords(granted)}: the server does not allow ${wanted}.`);
  }
  if (ignored.length > 0) warn(world, `The server ignored unknown fields: ${ignored.map(plain).join(', ')}.`);
}

function lineOf(receipt: Receipt, isSeen: boolean): string {
  const created = timeOf(receipt.createdAt.getTime() / 1000, isSeen);
  const { metadataKey, state, recipient, memo } = receipt;
  return [metadataKey, stateWords[state], created, recipient ?? '', plain(memo)].join('\t').trimEnd();
}

/** Without an account, a metadata key still works on the receipt's page, so `onPage` sends what the page's script and form would. */
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

async function askPage(
  { server, target }: ChosenClient,
  [method, path, expected]: readonly ['GET' | 'POST', string, number],
  { fetch }: PeopleWorld,
): Promise<Response> {
  const address = receiptLink(target?.key ?? '', server);
  const init = { method, redirect: 'manual', signal: AbortSignal.timeout(30_000) } as const;
  const response = await fetch(`${address}/${path}`, init).catch((cause: unknown) => {
    throw new MayflyError('unreachable', '', { cause });
  });
  if (response.status === 404) throw new MayflyError('unknown_secret', '');
  if (response.status !== expected) throw unexpectedFrom(response);
  return response;
}

async function stateOnPage(chosen: ChosenClient, world: PeopleWorld) {
  const response = await askPage(chosen, ['GET', 'state', 200], world);
  const answer = (await response.json().catch(() => null)) as { readonly state?: unknown } | null;
  const state = receiptStates.find((known) => known === answer?.state);
  if (state === undefined) throw unexpectedFrom(response);
  return { waiting: state === 'new' || state === 'viewed', metadata_key: chosen.target?.key, state };
}

async function burnOnPage(chosen: ChosenClient, world: PeopleWorld): Promise<object> {
  if ((await stateOnPage(chosen, world)).waiting) {
    await askPage(chosen, ['POST', 'burn', 303], world);
    const after = await stateOnPage(chosen, world);
    if (after.state === 'burned') return after;
  }
  throw new MayflyError('already_gone', 'The secret was read, burned or has expired');
}

/** Anyone who can open the secret may burn it, with its link and passphrase. */
async function burnUnread(
  client: MayflyClient,
  link: string,
  input: Input,
  world: PeopleWorld,
): Promise<object> {
  const given = await readPassphrase(input, world);
  const look = drawLook();
  const passphrase = await passphraseFor(client, link, given, look, world);
  await withCode(client, link, look, world, (code) =>
    client.burnUnread(link, { look: look.nonce, passphrase, code }),
  );
  return { secret_key: parseLink(link)?.key, state: 'burned' };
}

async function burnManaged(
  chosen: ChosenClient,
  link: string,
  { flags, texts }: Input,
  world: PeopleWorld,
): Promise<object> {
  if (flags.has('passphrase') || texts['passphrase-file'] !== undefined)
    throw new UsageError('Only a secret’s link needs a passphrase, not a metadata key.');
  return orOnPage(chosen, chosen.client.burn(link).then(jsonOf), () => burnOnPage(chosen, world));
}

async function runBurn(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const link = await readLink(input, world);
  return withClient(input, world, link, async (client, chosen) => {
    const burned = await (chosen.target?.kind === 'secret'
      ? burnUnread(client, link, input, world)
      : burnManaged(chosen, link, input, world));
    return printDone(world, input, burned, 'Burned. The link no longer works.');
  });
}

async function runDeliver(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  const [, recipient] = input.args;
  return withClient(input, world, link, async (client) => {
    const receipt = await client.deliver(link, { recipient });
    const sent = 'Sending the email. See mayfly status for the result.';
    return printDone(world, input, jsonOf(receipt), sent);
  });
}

function printMemo(receipt: Receipt, input: Input, world: PeopleWorld): ExitCode {
  const { memo } = receipt;
  if (memo === '') return printDone(world, input, jsonOf(receipt), 'No memo.', false);
  return printResult(world, input, jsonOf(receipt), [plain(memo)]);
}

/** Without a text, shows the memo; with an empty one, removes it. */
async function runMemo(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  const [, memo] = input.args;
  return withClient(input, world, link, async (client) => {
    if (memo === undefined) return printMemo(await client.receipt(link), input, world);
    const receipt = await client.setMemo(link, memo);
    const done = memo === '' ? 'Memo removed.' : 'Memo saved. Only you see it.';
    return printDone(world, input, jsonOf(receipt), done);
  });
}

/** Returns 1 if the secret is gone. */
function printTtl(receipt: Receipt, input: Input, world: PeopleWorld): ExitCode {
  const { secretTtlSeconds, state } = receipt;
  if (secretTtlSeconds !== null)
    return printResult(world, input, jsonOf(receipt), [durationWords(secretTtlSeconds)]);
  printDone(world, input, jsonOf(receipt), `The secret is gone: ${stateWords[state]}.`, false);
  return 1;
}

async function runTtl(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const [, time] = input.args;
  const ttlSeconds = time === undefined ? null : parseTtl(time, 'TIME');
  const link = await readLink(input, world, 'receipt');
  return withClient(input, world, link, async (client) => {
    if (ttlSeconds === null) return printTtl(await client.receipt(link), input, world);
    const receipt = await client.setTtl(link, ttlSeconds);
    printRemarks(receipt, world);
    // The secret was opened in the meantime.
    if (receipt.secretTtlSeconds === null) return printTtl(receipt, input, world);
    const json = { ...jsonOf(receipt), ...remarksJsonOf(receipt) };
    return printDone(world, input, json, `It now expires in ${durationWords(receipt.secretTtlSeconds)}.`);
  });
}

async function runUnlock(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const link = await readLink(input, world, 'receipt');
  return withClient(input, world, link, async (client) => {
    const receipt = await client.allowMore(link);
    return printDone(world, input, jsonOf(receipt), 'Unlocked: passphrases and codes can be tried again.');
  });
}

const maxLimit = 1_000;

async function runRecent(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const limit = parseNumber(input.texts.limit ?? '20', '--limit', maxLimit);
  return withClient(input, world, null, async (client) => {
    const receipts: Receipt[] = [];
    for await (const receipt of client.recent({ pageSize: Math.min(limit, 200) })) {
      receipts.push(receipt);
      if (receipts.length === limit) break;
    }
    if (receipts.length === 0) world.terminal.err('Nothing shared yet.\n');
    const lines = receipts.map((receipt) => lineOf(receipt, world.terminal.isOutputSeen));
    return printResult(world, input, receipts.map(jsonOf), lines);
  });
}

export const receiptCommands: readonly Command<PeopleWorld>[] = [
  command('burn [LINK]', {
    summary: 'destroy an unread secret, by its link, receipt or metadata key',
    options: passphraseOptions,
    example: 'mayfly burn 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj',
    examples: ['mayfly burn https://secrets.example.org/secret/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd'],
    run: runBurn,
  }),
  command('deliver [METADATA_KEY] [EMAIL]', {
    summary: 'send the recipient’s email again, or to another address',
    example: 'mayfly deliver 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj alan@example.org',
    run: runDeliver,
  }),
  command('memo [METADATA_KEY] [TEXT]', {
    summary: 'show your private label, change it, or remove it with an empty text',
    example: 'mayfly memo 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj wifi-of-the-office',
    run: runMemo,
  }),
  command('ttl [METADATA_KEY] [TIME]', {
    summary: 'show when an unread secret expires, or set a new lifetime from now',
    example: 'mayfly ttl 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj 3d',
    run: runTtl,
  }),
  command('unlock [METADATA_KEY]', {
    summary: 'allow passphrases and codes again after too many wrong ones',
    example: 'mayfly unlock 9p0zq4nq1m8h3d6w2k5y7r0c4v8b1xj',
    run: runUnlock,
  }),
  command('recent', {
    summary: 'list the account’s receipts, newest first',
    options: { limit: { value: 'N', doc: 'how many; default: 20' } },
    example: 'mayfly recent --limit 5',
    run: runRecent,
  }),
];

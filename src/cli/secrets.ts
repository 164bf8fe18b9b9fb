/**
 * Commands for people: `mayfly share|generate|status`, on top of the client (`sdk/`).
 */

import {
  type Created,
  type CreateOptions,
  type Generated,
  type MayflyClient,
  MayflyError,
  type WaitingSecret,
} from '../../sdk/mayfly.ts';
import { allCharacterSets, type CharacterSet, generatedLength } from '../protocol/drawing.ts';
import { type NoticeKind, noticeKinds } from '../protocol/vocabulary.ts';
import {
  type ChosenClient,
  parseTtl,
  passphraseOptions,
  readLink,
  readNewPassphrase,
  readSharedFile,
  readValue,
  receiptAddress,
  sentenceOf,
  serverOption,
  withClient,
} from './client.ts';
import type { Clipboard } from './clipboard.ts';
import {
  addressForm,
  type Command,
  type ExitCode,
  type Input,
  type OptionUsage,
  printResult,
  readTextFrom,
  refuse,
  UsageError,
  type World,
} from './command.ts';
import { createdJsonOf, receiptsFollow } from './created.ts';
import { type Assignment, fileLabel, maxVariables, parseEnvFile } from './env-file.ts';
import { renderQr } from './qr.ts';
import { printReceipt, printRemarks, stateWords, waitingWords } from './receipts.ts';
import { noClipboard } from './reveal.ts';
import { assertForMany, shareLines } from './share-lines.ts';
import { timeOf } from './terminal.ts';

const creationOptions: Readonly<Record<string, OptionUsage>> = {
  ttl: { type: 'string', value: 'TIME', doc: 'how long it may wait: 90s, 30m, 12h, 7d, 2w, or seconds' },
  ...passphraseOptions,
  recipient: {
    type: 'string',
    value: 'EMAIL',
    form: addressForm,
    doc: 'mail the link to this address; needs an account and --plain',
  },
  notify: {
    type: 'string',
    value: 'KINDS',
    choices: [...noticeKinds, 'none'],
    isList: true,
    doc: `mail the account: of ${noticeKinds.join()}, or none; needs an account`,
  },
  'share-domain': { type: 'string', value: 'DOMAIN', doc: "use this domain of the account's for the link" },
  memo: { type: 'string', value: 'TEXT', doc: 'a label for the creator alone, up to 500 characters' },
  qr: { type: 'boolean', doc: 'show the link as a QR code too, on standard error' },
  copy: { type: 'boolean', doc: 'put the link on the clipboard too' },
  plain: { type: 'boolean', doc: 'let the server encrypt it, and see it; otherwise only the link opens it' },
  'idempotency-key': {
    type: 'string',
    value: 'KEY',
    doc: 'ask again where an answer is lost; with --plain, the same command again within a day makes no second secret. Needs an account',
  },
  ...serverOption,
};

function parseNotify(text: string): NoticeKind[] {
  if (text === 'none') return [];
  return text.split(',').map((word) => {
    const kind = noticeKinds.find((known) => known === word.trim());
    if (kind === undefined)
      throw new UsageError(`--notify takes ${noticeKinds.join(', ')}, separated by commas, or none.`);
    return kind;
  });
}

const recipientNeedsPlain =
  '--recipient needs --plain: the server can mail only a link that it knows, and what opens an end-to-end secret never reaches it.';

async function readCreation(input: Input, world: World): Promise<CreateOptions> {
  const { ttl, recipient, notify, memo, 'share-domain': shareDomain } = input.texts;
  const { 'idempotency-key': idempotencyKey } = input.texts;
  const plain = input.flags.has('plain');
  if (recipient !== undefined && !plain) throw new UsageError(recipientNeedsPlain);
  const passphrase = await readNewPassphrase(input, world);
  return {
    plain,
    ...(ttl === undefined ? {} : { ttlSeconds: parseTtl(ttl, '--ttl') }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(recipient === undefined ? {} : { recipient }),
    ...(shareDomain === undefined ? {} : { shareDomain }),
    ...(notify === undefined ? {} : { notify: parseNotify(notify) }),
    ...(memo === undefined ? {} : { memo }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

function copyWords(isCopied: boolean, { isSure }: Clipboard): string {
  if (!isCopied) return 'The link could not be put on the clipboard.';
  return isSure ? 'The link is on the clipboard.' : 'The link was sent to the clipboard of your terminal.';
}

/** What becomes of the link besides being printed; an exit code: it was refused, in words. */
async function openLinkCopies(
  input: Input,
  world: World,
): Promise<((link: string) => Promise<void>) | ExitCode> {
  const clipboard = input.flags.has('copy') ? await world.openClipboard() : undefined;
  if (clipboard === null) return refuse(world, input, 'no_clipboard', `${noClipboard} Nothing was shared.`);
  return async (link) => {
    if (input.flags.has('qr')) world.terminal.show(await renderQr(link));
    if (clipboard === undefined) return;
    const isCopied = await clipboard.copy(link);
    if (!isCopied || !input.json) world.terminal.err(`${copyWords(isCopied, clipboard)}\n`);
  };
}

/** Creates it, and gives the link to everything that was asked for. */
async function create(
  input: Input,
  world: World,
  work: (client: MayflyClient) => Promise<Created | Generated>,
): Promise<ExitCode> {
  const copies = await openLinkCopies(input, world);
  if (typeof copies === 'number') return copies;
  return withClient(input, world, null, async (client, { server }) => {
    const created = await work(client);
    const code = printCreated(created, server, input, world);
    await copies(created.link);
    return code;
  });
}

function repeatedWords({ state, secretTtlSeconds }: Created): string {
  const now = secretTtlSeconds === null ? `, and is gone: ${stateWords[state]}` : '';
  return `It was shared before with this idempotency key${now}.\n`;
}

function printCreated(created: Created | Generated, server: string, input: Input, world: World): ExitCode {
  const expires = created.createdAt.getTime() / 1000 + created.ttlSeconds;
  printRemarks(created, world);
  if (!input.json) {
    if (created.repeated) world.terminal.err(repeatedWords(created));
    world.terminal.err(
      created.secretTtlSeconds === null
        ? 'Its receipt:\n'
        : `It opens once, until ${timeOf(expires)}. Watch or burn it here, and keep this address to yourself:\n`,
    );
    world.terminal.err(`  ${receiptAddress(server, created.metadataKey)}\n`);
  }
  const lines = 'value' in created ? [created.value, created.link] : [created.link];
  return printResult(world, input, createdJsonOf(created, server), lines);
}

function assertForEnvFile({ words, texts, flags }: Input): void {
  if (words.length > 0) throw new UsageError('Share either a value or file, or the lines of --env-file.');
  if (flags.has('exact'))
    throw new UsageError('--exact has no meaning with --env-file: its quotes say what is in a value.');
  if (flags.has('qr') || flags.has('copy'))
    throw new UsageError('--qr and --copy show one link: they do not go with --env-file.');
  assertForMany('env-file', texts);
}

/** @throws UsageError that names the lines and never shows their text */
async function readEnvFile(file: string, world: World): Promise<readonly Assignment[]> {
  const read = parseEnvFile(await readTextFrom(file, 'lines', world));
  if (read.outcome === 'refused') {
    const lines = read.refusals.map(({ line, problem }) => `${fileLabel(file)}, line ${line}: ${problem}.`);
    throw new UsageError(`${lines.slice(0, 10).join('\n')}\nNothing was shared.`);
  }
  const { length } = read.assignments;
  if (length === 0)
    throw new UsageError(`There is nothing to share: ${fileLabel(file)} has no NAME=value line.`);
  if (length > maxVariables)
    throw new UsageError(`At most ${maxVariables} values are shared at once, and there are ${length}.`);
  return read.assignments;
}

type SharedByName = ReadonlyMap<string, Created>;

/** @param failed what stopped it, if not all were shared */
function printShared(
  shared: SharedByName,
  failed: { readonly error: string; readonly name: string } | null,
  server: string,
  input: Input,
  { terminal }: World,
): void {
  const secrets = Object.fromEntries(
    [...shared].map(([name, created]) => [name, createdJsonOf(created, server)]),
  );
  if (input.json) terminal.out(`${JSON.stringify({ ...failed, secrets })}\n`);
  if (input.json || shared.size === 0) return;
  terminal.err(receiptsFollow);
  for (const [name, { metadataKey }] of shared)
    terminal.err(`  ${receiptAddress(server, metadataKey)}  ${name}\n`);
}

/** Each has a key of its own; not with its name, which stays here. */
function keyFor({ idempotencyKey }: CreateOptions, n: number): Pick<CreateOptions, 'idempotencyKey'> {
  return idempotencyKey === undefined ? {} : { idempotencyKey: `${idempotencyKey} ${n + 1}` };
}

/**
 * Each link is printed as soon as it is there: without it, what was shared could not be read any more. A name stays here, because it
 * would tell what its secret opens; who wants a label gives `--memo`.
 */
async function shareEach(
  assignments: readonly Assignment[],
  creation: CreateOptions,
  chosen: ChosenClient,
  input: Input,
  world: World,
): Promise<ExitCode> {
  const shared = new Map<string, Created>();
  for (const [n, { name, value }] of assignments.entries()) {
    try {
      const own = keyFor(creation, n);
      const created = await chosen.client.conceal({ ...creation, ...own, value });
      printRemarks(created, world);
      if (!input.json) world.terminal.out(`${name}=${created.link}\n`);
      shared.set(name, created);
    } catch (error) {
      if (!(error instanceof MayflyError)) throw error;
      printShared(shared, { error: error.code, name }, chosen.server, input, world);
      world.terminal.err(
        `${name}: ${sentenceOf(error, chosen)}\n` +
          `${shared.size} of ${assignments.length} were shared: ${name} and what follows it were not.\n`,
      );
      return 1;
    }
  }
  printShared(shared, null, chosen.server, input, world);
  return 0;
}

async function shareEnvFile(file: string, input: Input, world: World): Promise<ExitCode> {
  assertForEnvFile(input);
  const assignments = await readEnvFile(file, world);
  const creation = await readCreation(input, world);
  return withClient(input, world, null, (_, chosen) =>
    shareEach(assignments, creation, chosen, input, world),
  );
}

async function runShare(input: Input, world: World): Promise<ExitCode> {
  const envFile = input.texts['env-file'];
  const { lines } = input.texts;
  if (lines !== undefined) return shareLines(lines, () => readCreation(input, world), input, world);
  if (envFile !== undefined) return shareEnvFile(envFile, input, world);
  const isFile = input.words.length > 0 && input.words[0] !== '-';
  if (!isFile && input.texts['passphrase-file'] === '-')
    throw new UsageError('Standard input holds the value: put the passphrase in a file.');
  if (isFile) {
    const file = await readSharedFile(input, world);
    const creation = await readCreation(input, world);
    return create(input, world, (client) => client.conceal({ ...creation, file }));
  }
  const creation = await readCreation(input, world);
  const value = await readValue(input, world);
  if (value === '') throw new UsageError('There is nothing to share: standard input is empty.');
  return create(input, world, (client) => client.conceal({ ...creation, value }));
}

function parseCharset(text: string): CharacterSet[] {
  return text.split(',').map((word) => {
    const set = allCharacterSets.find((known) => known === word.trim());
    if (set === undefined)
      throw new UsageError(`--charset takes ${allCharacterSets.join(', ')}, separated by commas.`);
    return set;
  });
}

function parseLength(text: string): number {
  const length = /^[1-9][0-9]{0,2}$/.test(text) ? Number(text) : 0;
  const { min, max } = generatedLength;
  if (length < min || length > max) throw new UsageError(`--length takes a whole number, ${min} to ${max}.`);
  return length;
}

async function runGenerate(input: Input, world: World): Promise<ExitCode> {
  const { length, charset } = input.texts;
  const generation = {
    ...(await readCreation(input, world)),
    ...(length === undefined ? {} : { length: parseLength(length) }),
    ...(charset === undefined ? {} : { charset: parseCharset(charset) }),
  };
  return create(input, world, (client) => client.generate(generation));
}

function printWaiting(secret: WaitingSecret, input: Input, world: World): ExitCode {
  const { hasPassphrase, isSealed, secretTtlSeconds } = secret;
  const json = {
    waiting: true,
    has_passphrase: hasPassphrase,
    sealed: isSealed,
    secret_ttl: secretTtlSeconds,
  };
  return printResult(world, input, json, [waitingWords(secret, secretTtlSeconds)]);
}

/** A bare key does not say what it is: it is tried as a secret's, then as a receipt's. */
async function runStatus(input: Input, world: World): Promise<ExitCode> {
  const link = await readLink(input, world);
  return withClient(input, world, link, async (client, chosen) => {
    const { kind, server } = chosen.target ?? {};
    const secret = kind === 'receipt' ? null : await client.status(link);
    if (secret !== null) return printWaiting(secret, input, world);
    if (kind !== 'secret') return printReceipt(chosen, link, input, world);
    if (server !== chosen.server) throw new MayflyError('unknown_secret', '');
    printResult(world, input, { waiting: false }, ['gone']);
    return 1;
  });
}

export const secretCommands: readonly Command[] = [
  {
    path: ['share'],
    summary: 'share a file, or the text on standard input, end to end; print the link',
    words: ['[FILE]'],
    options: {
      ...creationOptions,
      exact: {
        type: 'boolean',
        doc: 'share the input byte for byte: otherwise the line break after a single line and a byte order mark are left out',
      },
      lines: {
        type: 'string',
        value: 'FILE',
        doc: 'share each line as a secret of its own, up to 100, - for standard input; print their links in order',
      },
      'env-file': {
        type: 'string',
        value: 'FILE',
        doc: 'share each NAME=value line, - for standard input; print NAME=LINK lines for mayfly run; names stay here',
      },
    },
    example: 'mayfly share report.pdf',
    examples: [
      'mayfly share --ttl 1h < password.txt',
      'mayfly share < id_ed25519',
      'mayfly share --env-file .env --ttl 1d > links.txt',
      'mayfly share --qr --passphrase',
    ],
    run: runShare,
  },
  {
    path: ['generate'],
    summary: 'draw a random value and share it; print it and its link',
    options: {
      length: {
        type: 'string',
        value: 'N',
        doc: `${generatedLength.min} to ${generatedLength.max} characters; ${generatedLength.default} without it`,
      },
      charset: {
        type: 'string',
        value: 'SETS',
        choices: allCharacterSets,
        isList: true,
        doc: `of ${allCharacterSets.join()}; all without it`,
      },
      ...creationOptions,
    },
    example: 'mayfly generate --length 20',
    examples: ['mayfly generate --charset lower,digits --plain --recipient alan@example.org'],
    run: runGenerate,
  },
  {
    path: ['status'],
    summary:
      'show whether a secret is unread, by its link or receipt; for an account also lock, mail and memo',
    words: ['[LINK]'],
    options: serverOption,
    example: 'mayfly status https://secrets.example.org/secret/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd',
    run: runStatus,
  },
];

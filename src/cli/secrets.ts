/** `mayfly share|generate|status`. */
import { basename } from 'node:path';
import {
  type Created,
  type CreateOptions,
  type Generated,
  type MayflyClient,
  MayflyError,
  type SharedFile,
  type WaitingSecret,
} from '../../sdk/mayfly.ts';
import { allCharacterSets, generatedLength } from '../protocol/drawing.ts';
import { receiptLink } from '../protocol/link.ts';
import { type NoticeKind, noticeKinds } from '../protocol/vocabulary.ts';
import {
  type PeopleWorld,
  parseTtl,
  passphraseOptions,
  readLink,
  readPassphrase,
  serverOption,
  withClient,
} from './client.ts';
import {
  addressForm,
  type Command,
  command,
  type ExitCode,
  type Input,
  type OptionUsage,
  parseNumber,
  printResult,
  Refusal,
  readTextFrom,
  say,
  UsageError,
  valueIsNoArgument,
  type World,
  warn,
} from './command.ts';
import { createdJsonOf, printReceipt, printRemarks, stateWords, waitingWords } from './receipts.ts';
import { noClipboard } from './reveal.ts';
import { noteFor, noteWords } from './second-look.ts';
import { shareMany } from './share-many.ts';
import { durationWords, timeOf } from './terminal.ts';

export const shareDomainOption: OptionUsage = {
  value: 'DOMAIN',
  doc: 'use one of the account’s own domains for the link',
};

const creationOptions: Readonly<Record<string, OptionUsage>> = {
  ttl: { value: 'TIME', doc: 'when it expires: 90s, 30m, 12h, 7d, 2w, or seconds' },
  ...passphraseOptions,
  verify: {
    value: 'EMAIL',
    form: addressForm,
    doc: 'opening it also takes a code that is emailed to this address; needs an account',
  },
  recipient: {
    value: 'EMAIL',
    form: addressForm,
    doc: 'email the link to this address; needs an account and --plain',
  },
  notify: {
    value: 'KINDS',
    choices: [...noticeKinds, 'none'],
    isList: true,
    doc: `events to email the account about: ${noticeKinds.join()}, or none; needs an account`,
  },
  'share-domain': shareDomainOption,
  memo: { value: 'TEXT', doc: 'a label that only you see, up to 500 characters' },
  note: { value: 'TEXT', doc: 'one line for the recipient, shown before opening, up to 140 characters' },
  qr: { doc: 'also show the link as a QR code, on standard error' },
  copy: { doc: 'also copy the link to the clipboard' },
  plain: { doc: 'not end to end: the server encrypts it, and sees it' },
  'idempotency-key': {
    value: 'KEY',
    doc: 'safe retries: with --plain, repeating the command within 24 hours creates no second secret. Needs an account',
  },
  ...serverOption,
};

export const exactOption: OptionUsage = {
  doc: 'share the input byte for byte; otherwise a byte order mark and the line break after a single line are dropped',
};

function parseList<Word extends string>(
  option: string,
  text: string,
  choices: readonly Word[],
  or = '',
): Word[] {
  return text.split(',').map((word) => {
    const chosen = choices.find((known) => known === word.trim());
    if (chosen === undefined)
      throw new UsageError(`--${option} takes ${choices.join(', ')}, separated by commas${or}.`);
    return chosen;
  });
}

function parseNotify(text: string): NoticeKind[] {
  return text === 'none' ? [] : parseList('notify', text, noticeKinds, ', or none');
}

const recipientNeedsPlain =
  '--recipient needs --plain: the server never gets the whole link of an end-to-end secret, so it cannot email it.';

async function readCreation(input: Input, world: World): Promise<CreateOptions> {
  const { ttl, verify, recipient, notify, memo, note, 'share-domain': shareDomain } = input.texts;
  const { 'idempotency-key': idempotencyKey } = input.texts;
  const plain = input.flags.has('plain');
  if (recipient !== undefined && !plain) throw new UsageError(recipientNeedsPlain);
  if (verify === '') throw new UsageError('--verify takes an email address.');
  const passphrase = await readNewPassphrase(input, world);
  const texts = { passphrase, verify, recipient, shareDomain, memo, note, idempotencyKey };
  return {
    ...texts,
    plain,
    ttlSeconds: ttl === undefined ? ttl : parseTtl(ttl, '--ttl'),
    notify: notify === undefined ? notify : parseNotify(notify),
  };
}

/** Fixed black and white, because QR readers need dark on light. */
const inkOf = (isDark: boolean | undefined): number => (isDark === true ? 16 : 231);

/** Draws two rows of modules per line of text, with the margin that QR readers need. */
export async function renderQr(text: string): Promise<string> {
  const { encodeQR } = await import('qr');
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 2 });
  const lines = Array.from({ length: Math.ceil(rows.length / 2) }, (_none, line) => {
    const [upper = [], lower = []] = rows.slice(2 * line, 2 * line + 2);
    const blocks = upper.map(
      (isDark, column) => `\u001b[38;5;${inkOf(isDark)};48;5;${inkOf(lower[column])}m▀`,
    );
    return `${blocks.join('')}\u001b[0m\n`;
  });
  return lines.join('');
}

/** Creates the secret; prints, draws and copies its link. @throws Refusal */
async function create(
  input: Input,
  world: PeopleWorld,
  work: (client: MayflyClient) => Promise<Created | Generated>,
): Promise<ExitCode> {
  const clipboard = input.flags.has('copy') ? await world.openClipboard() : undefined;
  if (clipboard === null) throw new Refusal('no_clipboard', `${noClipboard} Nothing was shared.`);
  return withClient(input, world, null, async (client, { server }) => {
    const created = await work(client);
    printCreated(created, server, input, world);
    if (input.flags.has('qr')) world.terminal.show(await renderQr(created.link));
    if (clipboard === undefined) return 0;
    const words = clipboard.isSure ? 'Link copied.' : 'The link was sent to your terminal’s clipboard.';
    if (await clipboard.copy(created.link)) say(world, input, words, true);
    else warn(world, 'The link could not be copied.');
    return 0;
  });
}

function repeatedWords({ state, secretTtlSeconds }: Created): string {
  const now = secretTtlSeconds === null ? `, and is now ${stateWords[state]}` : '';
  return `Already shared with this idempotency key${now}.`;
}

function printCreated(created: Created | Generated, server: string, input: Input, world: World): void {
  const { isErrorSeen, tint } = world.terminal;
  const createdAt = created.createdAt.getTime() / 1000;
  const expires = timeOf(createdAt + created.ttlSeconds, isErrorSeen, createdAt);
  printRemarks(created, world);
  if (created.repeated) say(world, input, repeatedWords(created));
  const receipt =
    created.secretTtlSeconds === null
      ? 'Its receipt'
      : `Opens once${created.needsCode ? ', with a code by email' : ''}. Expires in ${durationWords(created.secretTtlSeconds)} (${expires}).\nWatch or burn it`;
  say(world, input, `${receipt} (only for you): ${receiptLink(created.metadataKey, server)}`);
  const link = tint('out', 'link', created.link);
  const lines = 'value' in created ? [created.value, link] : [link];
  printResult(world, input, createdJsonOf(created, server), lines);
}

/** Prompts twice, because a typo could not be corrected later. */
async function readNewPassphrase(input: Input, world: World): Promise<string | undefined> {
  const first = await readPassphrase(input, world);
  if (!input.flags.has('passphrase')) return first;
  const again = await world.terminal.askHidden('Repeat passphrase: ');
  if (again !== first) throw new UsageError('The two passphrases differ.');
  return first;
}

/** @throws UsageError that does not repeat the argument, because it may be the secret */
async function readSharedFile(input: Input, world: World): Promise<SharedFile> {
  const [path = ''] = input.args;
  if (input.flags.has('exact'))
    throw new UsageError('--exact does not work with a file, which is always shared byte for byte.');
  if (input.flags.has('plain'))
    throw new UsageError(
      'Files are only shared end to end. With --plain, pipe the text in: mayfly share --plain < FILE',
    );
  try {
    return { name: basename(path), type: '', bytes: await world.readFile(path) };
  } catch (error) {
    const isFound = error instanceof Error && 'code' in error && error.code !== 'ENOENT';
    throw new UsageError(
      isFound ? `This file cannot be read (${error.code}).` : `No such file. ${valueIsNoArgument}`,
    );
  }
}

/** @throws UsageError if it is empty */
export async function readValue(noun: string, verb: string, input: Input, world: World): Promise<string> {
  const { terminal } = world;
  if (terminal.isInteractive) terminal.err(`Type the ${noun}, then press Ctrl-D on a new line:\n`);
  const value = await readTextFrom('-', input.flags.has('exact') ? 'exact' : 'value', world);
  if (value === '') throw new UsageError(`Nothing to ${verb}: standard input is empty.`);
  return value;
}

async function runShare(input: Input, world: PeopleWorld): Promise<ExitCode> {
  for (const option of ['lines', 'env-file'] as const) {
    const file = input.texts[option];
    if (file !== undefined) return shareMany(option, file, () => readCreation(input, world), input, world);
  }
  const isFile = input.args.length > 0 && input.args[0] !== '-';
  if (!isFile && input.texts['passphrase-file'] === '-')
    throw new UsageError('The value comes from standard input: put the passphrase in a file.');
  const file = isFile ? await readSharedFile(input, world) : null;
  const creation = await readCreation(input, world);
  if (file !== null) return create(input, world, (client) => client.conceal({ ...creation, file }));
  const value = await readValue('secret', 'share', input, world);
  return create(input, world, (client) => client.conceal({ ...creation, value }));
}

async function runGenerate(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const { length, charset } = input.texts;
  const { min, max } = generatedLength;
  const generation = {
    ...(await readCreation(input, world)),
    ...(length === undefined ? {} : { length: parseNumber(length, '--length', max, min) }),
    ...(charset === undefined ? {} : { charset: parseList('charset', charset, allCharacterSets) }),
  };
  return create(input, world, (client) => client.generate(generation));
}

function printWaiting(secret: WaitingSecret, note: string | null, input: Input, world: World): ExitCode {
  const json = {
    waiting: true,
    has_passphrase: secret.hasPassphrase,
    sealed: secret.isSealed,
    verify: secret.needsCode,
    secret_ttl: secret.secretTtlSeconds,
    note,
  };
  const words = note === null ? [] : [noteWords(note)];
  return printResult(world, input, json, [waitingWords(secret, secret.secretTtlSeconds), ...words]);
}

/** Tries a bare key first as a secret key, then as a metadata key. */
async function runStatus(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const link = await readLink(input, world);
  return withClient(input, world, link, async (client, chosen) => {
    const { kind, server } = chosen.target ?? {};
    const secret = kind === 'receipt' ? null : await client.status(link);
    if (secret !== null) return printWaiting(secret, await noteFor(client, link), input, world);
    if (kind !== 'secret') return printReceipt(chosen, link, input, world);
    if (server !== chosen.server) throw new MayflyError('unknown_secret', '');
    printResult(world, input, { waiting: false }, ['Gone: opened, burned or expired, or the link is wrong.']);
    return 1;
  });
}

export const secretCommands: readonly Command<PeopleWorld>[] = [
  command('share [FILE]', {
    summary: 'share a file, or text from standard input, end to end; print the link',
    options: {
      ...creationOptions,
      exact: exactOption,
      lines: {
        value: 'FILE',
        doc: 'share each line as a separate secret, up to 100 (-: standard input); print their links in order',
      },
      'env-file': {
        value: 'FILE',
        doc: 'share each NAME=value line (-: standard input); print NAME=LINK lines for mayfly run; names are not sent',
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
  }),
  command('generate', {
    summary: 'generate and share a random value; print it and its link',
    options: {
      length: {
        value: 'N',
        doc: `${generatedLength.min} to ${generatedLength.max} characters; default: ${generatedLength.default}`,
      },
      charset: {
        value: 'SETS',
        choices: allCharacterSets,
        isList: true,
        doc: `some of ${allCharacterSets.join()}; default: all`,
      },
      ...creationOptions,
    },
    example: 'mayfly generate --length 20',
    examples: ['mayfly generate --charset lower,digits --plain --recipient alan@example.org'],
    run: runGenerate,
  }),
  command('status [LINK]', {
    summary:
      'show whether a secret is unread, by its link or receipt; with an account also lock, mail and memo',
    example: 'mayfly status https://secrets.example.org/secret/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd',
    run: runStatus,
  }),
];

/**
 * `mayfly share --lines` and `--env-file`: many secrets from one file.
 *
 * Prints each link as soon as it is known, because a secret without its link is lost. Names in an environment file are not sent, because
 * they would reveal what a secret opens.
 */
import { type CreateOptions, type MayflyClient, MayflyError } from '../../sdk/mayfly.ts';
import { receiptLink } from '../protocol/link.ts';
import { type PeopleWorld, sentenceOf, withClient } from './client.ts';
import { type ExitCode, type Input, readTextFrom, UsageError, type World } from './command.ts';
import { fileLabel, maxVariables, parseEnvFile } from './env-file.ts';
import { createdJsonOf, printRemarks } from './receipts.ts';

type Result = Awaited<ReturnType<MayflyClient['batch']>>[number];

interface Item {
  /** Such as `line 3`, or a name. */
  readonly label: string;
  readonly value: string;
}

interface Source {
  /** @throws UsageError with line numbers but never the text */
  read(file: string, world: World): Promise<readonly Item[]>;
  /** Yields results in the order of the items; may stop at the first failure. */
  share(client: MayflyClient, items: readonly Item[], creation: CreateOptions): AsyncIterable<Result>;
  /** @param link `null` if not shared */
  toLine(label: string, link: string | null): string;
  toJson(results: readonly (readonly [label: string, Result])[], server: string): object;
  /** Completes "2 of 3 were shared". */
  restOf(label: string): string;
}

const maxLines = 100;

function jsonOf(result: Result, server: string): object {
  return result instanceof MayflyError ? { error: result.code } : createdJsonOf(result, server);
}

/** One request for all lines; individual lines may fail. The link of line n is printed as line n. */
const lines: Source = {
  async read(file, world) {
    const texts = (await readTextFrom(file, 'lines', world)).split('\n');
    const empty = texts.indexOf('');
    if (empty !== -1)
      throw new UsageError(
        texts.length === 1 ? 'Nothing to share.' : `Line ${empty + 1} is empty. Nothing was shared.`,
      );
    if (texts.length > maxLines)
      throw new UsageError(`Too many lines: ${texts.length}. The limit is ${maxLines}.`);
    return texts.map((value, n) => ({ label: `line ${n + 1}`, value }));
  },
  async *share(client, items, { idempotencyKey, ...creation }) {
    const secrets = items.map(({ value }) => ({ ...creation, value }));
    yield* await client.batch(secrets, { idempotencyKey });
  },
  toLine: (_label, link) => `${link ?? ''}\n`,
  toJson: (results, server) => ({ secrets: results.map(([, result]) => jsonOf(result, server)) }),
  restOf: () => '',
};

/** One request per variable, with its own idempotency key, until one fails. */
const envFile: Source = {
  async read(file, world) {
    const read = parseEnvFile(await readTextFrom(file, 'lines', world));
    if (read.outcome === 'refused') {
      const problems = read.refusals.map((each) => `${fileLabel(file)}, line ${each.line}: ${each.problem}.`);
      throw new UsageError(`${problems.slice(0, 10).join('\n')}\nNothing was shared.`);
    }
    const { length } = read.assignments;
    if (length === 0) throw new UsageError(`Nothing to share: ${fileLabel(file)} has no NAME=value line.`);
    if (length > maxVariables)
      throw new UsageError(`Too many values: ${length}. The limit is ${maxVariables}.`);
    return read.assignments.map(({ name, value }) => ({ label: name, value }));
  },
  async *share(client, items, creation) {
    const { idempotencyKey: key } = creation;
    for (const [n, { value }] of items.entries()) {
      const own = key === undefined ? {} : { idempotencyKey: `${key} ${n + 1}` };
      const result = await client.conceal({ ...creation, ...own, value }).catch((error: unknown) => {
        if (error instanceof MayflyError) return error;
        throw error;
      });
      yield result;
      if (result instanceof MayflyError) return;
    }
  },
  toLine: (name, link) => (link === null ? '' : `${name}=${link}\n`),
  toJson(results, server) {
    const failed = results.find(([, result]) => result instanceof MayflyError);
    const shared = results.filter((each) => each !== failed);
    const secrets = Object.fromEntries(shared.map(([name, result]) => [name, jsonOf(result, server)]));
    return failed === undefined ? { secrets } : { ...jsonOf(failed[1], server), name: failed[0], secrets };
  },
  restOf: (name) => `: not ${name} and those after it`,
};

const sources = { lines, 'env-file': envFile } as const;

function assertForMany(option: keyof typeof sources, { args, texts, flags }: Input): void {
  if (args.length > 0 || (texts.lines !== undefined && texts['env-file'] !== undefined))
    throw new UsageError('Share one of these: a value, a file, --lines or --env-file.');
  const ofOne = ['exact', 'qr', 'copy'].find((name) => flags.has(name));
  if (ofOne !== undefined)
    throw new UsageError(`--${ofOne} works with a single secret, not with --${option}.`);
  if (texts.recipient !== undefined)
    throw new UsageError(
      `--recipient does not work with --${option}: the emails would not say which link is which.`,
    );
  if (texts[option] === '-' && texts['passphrase-file'] === '-')
    throw new UsageError('The values come from standard input: put the passphrase in a file.');
}

const receiptsFollow = 'Each opens once. Watch or burn them (only for you):\n';

export async function shareMany(
  option: keyof typeof sources,
  file: string,
  readCreation: () => Promise<CreateOptions>,
  input: Input,
  world: PeopleWorld,
): Promise<ExitCode> {
  assertForMany(option, input);
  const { read, share, toLine, toJson, restOf } = sources[option];
  const items = await read(file, world);
  const creation = await readCreation();
  return withClient(input, world, null, async (client, chosen) => {
    const { terminal } = world;
    const results: [label: string, Result][] = [];
    for await (const result of share(client, items, creation)) {
      const label = items[results.length]?.label ?? '';
      results.push([label, result]);
      if (!input.json) terminal.out(toLine(label, result instanceof MayflyError ? null : result.link));
    }
    if (input.json) terminal.out(`${JSON.stringify(toJson(results, chosen.server))}\n`);
    const shared = results.filter(([, result]) => !(result instanceof MayflyError)).length;
    if (!input.json && shared > 0) terminal.err(receiptsFollow);
    for (const [label, result] of results) {
      if (result instanceof MayflyError) {
        terminal.err(`${label}: ${sentenceOf(result, chosen)}\n`);
        continue;
      }
      printRemarks(result, world);
      if (!input.json) terminal.err(`  ${receiptLink(result.metadataKey, chosen.server)}  ${label}\n`);
    }
    if (shared === items.length) return 0;
    terminal.err(`${shared} of ${items.length} were shared${restOf(results.at(-1)?.[0] ?? '')}.\n`);
    return 1;
  });
}

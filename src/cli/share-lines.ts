/** `mayfly share --lines`: each line of a file is a secret of its own, and all are shared with one request. */
import { type CreateOptions, MayflyError } from '../../sdk/mayfly.ts';
import { type ChosenClient, receiptAddress, sentenceOf, withClient } from './client.ts';
import { type ExitCode, type Input, readTextFrom, UsageError, type World } from './command.ts';
import { createdJsonOf, receiptsFollow } from './created.ts';
import { printRemarks } from './receipts.ts';

const maxLines = 100;

function assertForLines({ words, texts, flags }: Input): void {
  if (words.length > 0 || texts['env-file'] !== undefined)
    throw new UsageError('Share either a value or file, or the lines of one file.');
  if (flags.has('exact') || flags.has('qr') || flags.has('copy'))
    throw new UsageError('--exact, --qr and --copy are for one secret: they do not go with --lines.');
  assertForMany('lines', texts);
}

/** What would do something else than meant for each of many secrets, whatever they are read from. */
export function assertForMany(source: 'lines' | 'env-file', texts: Input['texts']): void {
  if (texts.recipient !== undefined)
    throw new UsageError(
      `--recipient does not go with --${source}: the mails would not say which link is which.`,
    );
  if (texts[source] === '-' && texts['passphrase-file'] === '-')
    throw new UsageError('Standard input holds the values: put the passphrase in a file.');
}

/** @throws UsageError that names lines and never shows their text */
async function readLines(file: string, world: World): Promise<readonly string[]> {
  const lines = (await readTextFrom(file, 'lines', world)).split('\n');
  const empty = lines.indexOf('');
  if (empty !== -1)
    throw new UsageError(
      lines.length === 1 ? 'There is nothing to share.' : `Line ${empty + 1} is empty. Nothing was shared.`,
    );
  if (lines.length > maxLines)
    throw new UsageError(`At most ${maxLines} lines are shared at once, and there are ${lines.length}.`);
  return lines;
}

type Results = Awaited<ReturnType<ChosenClient['client']['batch']>>;

/** Each link is on the line of its value; where one was not shared, the line is empty. */
function printResults(results: Results, chosen: ChosenClient, input: Input, world: World): ExitCode {
  const { terminal } = world;
  const shared = results.filter((each) => !(each instanceof MayflyError));
  if (input.json) {
    const secrets = results.map((each) =>
      each instanceof MayflyError ? { error: each.code } : createdJsonOf(each, chosen.server),
    );
    terminal.out(`${JSON.stringify({ secrets })}\n`);
  } else {
    for (const each of results) terminal.out(each instanceof MayflyError ? '\n' : `${each.link}\n`);
    if (shared.length > 0) terminal.err(receiptsFollow);
  }
  for (const [n, each] of results.entries()) {
    if (each instanceof MayflyError) terminal.err(`line ${n + 1}: ${sentenceOf(each, chosen)}\n`);
    else {
      printRemarks(each, world);
      if (!input.json) terminal.err(`  ${receiptAddress(chosen.server, each.metadataKey)}  line ${n + 1}\n`);
    }
  }
  if (shared.length === results.length) return 0;
  terminal.err(`${shared.length} of ${results.length} were shared.\n`);
  return 1;
}

export async function shareLines(
  file: string,
  readCreation: () => Promise<CreateOptions>,
  input: Input,
  world: World,
): Promise<ExitCode> {
  assertForLines(input);
  const lines = await readLines(file, world);
  const { idempotencyKey, ...creation } = await readCreation();
  const items = lines.map((value) => ({ ...creation, value }));
  const options = idempotencyKey === undefined ? {} : { idempotencyKey };
  return withClient(input, world, null, async (client, chosen) =>
    printResults(await client.batch(items, options), chosen, input, world),
  );
}

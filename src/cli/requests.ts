/** `mayfly requests` lists open requests for secrets, and ends one used for phishing. The server cannot read their prompts. */
import { noAccountId } from '../core/account.ts';
import type { ListedRequest } from '../core/ports/requests.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  printDone,
  printResult,
  Refusal,
  UsageError,
} from './command.ts';
import { type OpenAccounts, type OperatorWorld, withAccounts } from './operator.ts';
import { plural, timeOf } from './terminal.ts';

const pageRequests = 500;

async function openRequests({ store }: OpenAccounts): Promise<readonly ListedRequest[]> {
  const found: ListedRequest[] = [];
  for (let after: string | null = null; ; after = found.at(-1)?.cursor ?? null) {
    const page: ListedRequest[] = await store.listRequests(pageRequests, after);
    found.push(...page);
    if (page.length < pageRequests) return found;
  }
}

async function runRequests(input: Input, world: OperatorWorld): Promise<ExitCode> {
  const { end } = input.texts;
  return withAccounts(world, async (accounts) => {
    const requests = await openRequests(accounts);
    if (end !== undefined) return endOne(end, requests, accounts, input, world);
    if (requests.length === 0) world.terminal.err('No open requests.\n');
    const time = (seconds: number) => timeOf(seconds, world.terminal.isOutputSeen);
    const find = ({ owner }: ListedRequest) => accounts.store.findAccountById(owner ?? noAccountId);
    const owners = await Promise.all(requests.map(find));
    const json = requests.map(({ id, reports, createdAt: created, until, taken: answers, places }, n) => {
      const username = owners[n]?.username ?? null;
      return { id: id.toHex(), username, reports, created, until, answers, places };
    });
    const lines = json.map(({ id, username, reports, created, until, answers, places }) => {
      const by = username ?? 'without an account';
      const taken = `${answers} of ${plural(places, 'answer')}`;
      return [id, plural(reports, 'report'), by, time(created), `until ${time(until)}`, taken].join('\t');
    });
    return printResult(world, input, json, lines);
  });
}

/** @param given an id, or its first eight digits or more, as the log has them */
async function endOne(
  given: string,
  requests: readonly ListedRequest[],
  { store }: OpenAccounts,
  input: Input,
  world: OperatorWorld,
): Promise<ExitCode> {
  if (!/^[0-9a-f]{8,32}$/.test(given))
    throw new UsageError(
      'ID must be the one that mayfly requests prints, or at least its first 8 characters.',
    );
  const [request, ...others] = requests.filter(({ id }) => id.toHex().startsWith(given));
  if (others.length > 0)
    throw new Refusal('several', `Several requests begin with ${given}: give more of the ID.`);
  if (request === undefined || !(await store.endRequest(request.id)))
    throw new Refusal('no_request', `There is no open request ${given}.`);
  const id = request.id.toHex();
  const done = `Ended ${id}. It takes no more answers; those that came can still be opened.`;
  return printDone(world, input, { id, ended: true }, done);
}

export const requestCommands: readonly Command<OperatorWorld>[] = [
  command('requests', {
    summary: 'list open requests for secrets, most reported first, or end one',
    options: { end: { value: 'ID', doc: 'end this request for ever' } },
    example: 'mayfly requests',
    examples: ['mayfly requests --end 3da4d968282db489'],
    run: runRequests,
  }),
];

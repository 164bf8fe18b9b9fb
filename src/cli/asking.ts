/**
 * `mayfly ask|answers|answer`: a secret from a person who has neither an account nor this command.
 *
 * While the command waits, the ask link goes to standard error: standard output has only the value. The answers link is then shown to a
 * person alone, because a job's log must not hold it.
 */
import { basename } from 'node:path';
import { type Answer, type Answers, type Asked, type MayflyClient, MayflyError } from '../../sdk/mayfly.ts';
import { type PeopleWorld, parseTtl, readLink, withClient } from './client.ts';
import {
  type Command,
  command,
  type ExitCode,
  type Input,
  parseNumber,
  printDone,
  printResult,
  Refusal,
  say,
  UsageError,
  type World,
} from './command.ts';
import { plain, stateWords } from './receipts.ts';
import { assertOneDestination, type Destination, openDestination, outOptions, revealInto } from './reveal.ts';
import { exactOption, readValue, renderQr, shareDomainOption } from './secrets.ts';
import { timeOf } from './terminal.ts';

const quoted = (prompt: string): string => `“${plain(prompt)}”`;
const secondsOf = (time: Date): number => time.getTime() / 1000;

/** Shows where to answer, and to a person how to go on. */
export async function showAsked(
  { askLink, answersLink, request }: Asked,
  { terminal }: World,
): Promise<void> {
  const until = timeOf(secondsOf(request.until), terminal.isErrorSeen);
  const link = terminal.tint('err', 'link', askLink);
  terminal.show(`Anyone with this link can answer ${quoted(request.prompt)}, until ${until}:\n${link}\n`);
  if (!terminal.isErrorSeen) return;
  terminal.show(await renderQr(askLink));
  terminal.show(`It stays open if you stop waiting. To go on: mayfly answers --wait '${answersLink}'\n`);
}

/** Returns the link of the next answer that can be opened. @throws Refusal if none can come any more */
export async function nextAnswer(client: MayflyClient, answersLink: string, world: World): Promise<string> {
  return world.terminal.waiting('Waiting for an answer', async () => {
    for await (const { request, answers } of client.watchAnswers(answersLink)) {
      const link = answers.find(({ state }) => state === 'new')?.link ?? null;
      if (link !== null) return link;
      if (request.state !== 'open') break;
    }
    throw new Refusal('no_answer', 'There is no answer to open, and none can come any more.');
  });
}

/** Opens as many answers as are wanted, as they come. */
async function openNext(
  { client, answersLink, count }: { client: MayflyClient; answersLink: string; count: number },
  destination: Destination,
  input: Input,
  world: PeopleWorld,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  for (let opened = 0; opened < count; opened += 1) {
    const link = await nextAnswer(client, answersLink, world).catch(async (error: unknown) => {
      if (destination.to === 'file') await destination.file.drop();
      throw error;
    });
    code = (await revealInto(destination, client, link, input, world)) || code;
  }
  return code;
}

async function runAsk(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const { answers = '1', ttl, 'share-domain': shareDomain } = input.texts;
  const count = parseNumber(answers, '--answers', 20);
  const isWaiting = input.flags.has('wait');
  if (input.texts.out !== undefined && (!isWaiting || count > 1))
    throw new UsageError('--out needs --wait, and takes one answer.');
  assertOneDestination(input);
  const options = {
    prompt: input.args[0] ?? '',
    answers: count,
    notify: input.flags.has('notify'),
    ttlSeconds: ttl === undefined ? ttl : parseTtl(ttl, '--ttl'),
    shareDomain,
  };
  return withClient(input, world, null, async (client) => {
    const destination = await openDestination(input, world);
    const asked = await client.ask(options);
    const { askLink, answersLink } = asked;
    if (isWaiting) {
      await showAsked(asked, world);
      return openNext({ client, answersLink, count }, destination, input, world);
    }
    say(world, input, 'Give away the first link. Keep the second: it reads the answers, by mayfly answers.');
    const json = { ask_link: askLink, answers_link: answersLink, until: secondsOf(asked.request.until) };
    return printResult(world, input, json, [world.terminal.tint('out', 'link', askLink), answersLink]);
  });
}

function stateOf({ link, state, isDiscarded }: Answer): string {
  if (isDiscarded) return 'discarded';
  if (link === null) return 'damaged';
  return state === 'unknown' ? 'gone' : stateWords[state];
}

function printAnswers({ request, answers }: Answers, input: Input, world: World): ExitCode {
  const { prompt, state, left } = request;
  const until = timeOf(secondsOf(request.until), world.terminal.isErrorSeen);
  say(world, input, `${quoted(prompt)}: ${state}, ${left} of ${request.answers} to come, until ${until}.`);
  const listed = answers.map((answer) => ({ state: stateOf(answer), created: secondsOf(answer.createdAt) }));
  const lines = listed.map((each, at) =>
    [at + 1, each.state, timeOf(each.created, world.terminal.isOutputSeen)].join('\t'),
  );
  const json = { prompt, state, left, until: secondsOf(request.until), answers: listed };
  return printResult(world, input, json, lines);
}

async function runAnswers(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const { open, discard } = input.texts;
  const actions = ['open', 'discard', 'wait', 'close'].filter(
    (name) => input.flags.has(name) || input.texts[name] !== undefined,
  );
  if (actions.length > 1) throw new UsageError('Use one of --open, --discard, --wait and --close.');
  assertOneDestination(input);
  const number = parseNumber(open ?? discard ?? '1', `--${actions[0] ?? 'open'}`, 100);
  const link = await readLink(input, world, 'answers');
  return withClient(input, world, link, async (client) => {
    if (input.flags.has('wait')) {
      const destination = await openDestination(input, world);
      return openNext({ client, answersLink: link, count: 1 }, destination, input, world);
    }
    if (input.flags.has('close')) {
      const { state } = await client.changeRequest(link, { close: true });
      return printDone(world, input, { state }, 'Closed. It takes no more answers.');
    }
    const found = await client.answers(link);
    if (open === undefined && discard === undefined) return printAnswers(found, input, world);
    const answer = found.answers[number - 1];
    if (answer === undefined) throw new Refusal('no_answer', `There is no answer ${number}.`);
    if (discard !== undefined) {
      await client.discardAnswer(link, answer.secretKey);
      const json = { secret_key: answer.secretKey };
      return printDone(world, input, json, 'Discarded. Another answer can take its place.');
    }
    if (answer.link === null)
      throw new Refusal('unreadable', 'This answer is damaged, or of another request.');
    return revealInto(await openDestination(input, world), client, answer.link, input, world);
  });
}

async function readAnswer(input: Input, world: World) {
  const { file: path } = input.texts;
  if (path === undefined) return { value: await readValue('answer', 'send', input, world) };
  const bytes = await world.readFile(path).catch(() => {
    throw new UsageError('The file cannot be read.');
  });
  return { file: { name: basename(path), type: '', bytes } };
}

async function runAnswer(input: Input, world: PeopleWorld): Promise<ExitCode> {
  if (input.args[0] === '-') throw new UsageError('Standard input has the answer: pass LINK as an argument.');
  const link = await readLink(input, world, 'ask');
  return withClient(input, world, link, async (client) => {
    const { prompt, state, askedBy } = await client.inspectRequest(link);
    const since = askedBy && timeOf(secondsOf(askedBy.since), false).slice(0, 10);
    const who = askedBy
      ? `${plain(askedBy.username)} (an account since ${since})`
      : 'somebody without an account';
    say(world, input, `Asked by ${who}: ${quoted(prompt)}`);
    if (state === 'full') throw new MayflyError('request_full', 'It has all the answers it asked for');
    if (state === 'ended') throw new MayflyError('request_ended', 'It has ended');
    const sent = await client.answer(link, await readAnswer(input, world));
    const json = { secret_key: sent.secretKey, link: sent.link };
    return printDone(world, input, json, 'Sent. Only the asker can read it.');
  });
}

const links = 'https://secrets.example.org';

export const askingCommands: readonly Command<PeopleWorld>[] = [
  command('ask PROMPT', {
    summary: 'ask a person for a secret: print a link to answer, and one that reads the answers',
    options: {
      wait: { doc: 'wait for the answer and open it: print a text, or save a file in this folder' },
      answers: { value: 'N', doc: 'how many answers to take, 1 to 20; default: 1' },
      ttl: { value: 'TIME', doc: 'how long it takes answers: 90s, 30m, 12h, 7d, 2w, or seconds' },
      notify: { doc: 'email the account when answers come, at most once an hour; needs an account' },
      'share-domain': shareDomainOption,
      ...outOptions,
    },
    example: "mayfly ask 'Password of the NAS' --wait",
    run: runAsk,
  }),
  command('answers [LINK]', {
    summary: 'list the answers to a request, open or discard one, or close the request',
    options: {
      open: { value: 'N', doc: 'open answer N, once' },
      discard: { value: 'N', doc: 'burn answer N unread; another can take its place' },
      wait: { doc: 'wait for an answer that can be opened, and open it' },
      close: { doc: 'take no more answers' },
      ...outOptions,
    },
    example: `mayfly answers ${links}/answers/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd#LCfDntTh4Z3sV4zfB7qRDw`,
    run: runAnswers,
  }),
  command('answer LINK', {
    summary: 'answer a request, with text from standard input or a file',
    options: {
      file: { value: 'FILE', doc: 'send a file' },
      exact: exactOption,
    },
    example: `mayfly answer ${links}/ask/2gm6ci1q0tn9n5z4yrcq3a6i0y1x5wd#F6IgZIId-32Mg3kYXgHj1lSjEWYsOfYGNrXRsEiXFBA`,
    run: runAnswer,
  }),
];

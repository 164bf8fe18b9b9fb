/**
 * What the tools of `mayfly mcp` do, over the client.
 *
 * A model reads every result and every refusal. None has a value, a file's content, or what opens a secret, and none repeats what a server
 * or a stranger wrote (P18). Values, links and nonces stay in this process and in the folder's files.
 */
import { type Answers, type Created, MayflyError, parseLink } from '../../sdk/mayfly.ts';
import type { ChosenClient } from './client.ts';
import { Refusal } from './command.ts';
import { type Folder, refuse } from './mcp-folder.ts';
import { stateLineOf, waitingWords } from './receipts.ts';
import { contentOf } from './reveal.ts';
import { drawLook, endLook, isUnsure, revealWith, type SecondLook } from './second-look.ts';
import { durationWords } from './terminal.ts';

export interface Agent extends Pick<ChosenClient, 'client' | 'isAnonymous'> {
  readonly folder: Folder;
}

export type Tools = ReturnType<typeof createTools>;
type Fetch = Readonly<Record<'link' | 'into', string>>;

const gone =
  'There is no such secret at this server: it was read, burned or has expired, or the link is wrong.';
const sentences: Readonly<Record<string, string>> = {
  unknown_secret: gone,
  incomplete_link:
    'The link is incomplete: the 22 characters after # are missing or damaged. It was not opened.',
  code_required: 'This secret asks for a code by email: a person can open it with mayfly reveal.',
  insecure_address: 'This server does not use https, which encrypting end to end requires. Nothing was sent.',
  unreachable: 'The server could not be reached.',
  account_required: 'The server requires an account for this: a person can log in by mayfly login.',
  invalid_field: 'The server does not take this. A prompt is one line of plain text.',
};

/** Uses the error's code alone, because its message may be the server's. */
export function refusalWords(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (!(error instanceof MayflyError)) return 'This failed for an unexpected reason.';
  const { code, retryAfterSeconds } = error;
  const words = sentences[code] ?? `The server refused (${code}).`;
  return retryAfterSeconds === null ? words : `${words} Try again in ${durationWords(retryAfterSeconds)}.`;
}

/** Shorter than the minute after which clients usually give up. */
const usualWaitMs = 50_000;
const endMs = 2_000;

/** Opens a link into a new file. @param looks of answers that did not arrive, by key */
async function fetchInto({ client, folder }: Agent, looks: Map<string, SecondLook>, { link, into }: Fetch) {
  const { kind, key } = parseLink(link) ?? { kind: null, key: '' };
  if (kind !== 'secret' && kind !== 'unknown') refuse('This is not a secret’s link.');
  const waiting = looks.has(key) ? null : ((await client.status(link)) ?? refuse(gone));
  if (waiting?.hasPassphrase === true)
    refuse('This secret has a passphrase: a person can open it with mayfly reveal.');
  const look = looks.get(key) ?? drawLook();
  const file = await folder.create(into);
  looks.set(key, look);
  try {
    const content = contentOf(await revealWith(client, link, undefined, look));
    await file.keep(content);
    looks.delete(key);
    await endLook(client, link, look);
    return `Received, ${Buffer.byteLength(content)} bytes, in ${into}.`;
  } catch (error) {
    await file.drop();
    if (error instanceof MayflyError && !isUnsure(error)) looks.delete(key);
    if (!looks.has(key)) throw error;
    return refuse('The value has not arrived. Make the same call again within a minute to get it.');
  }
}

/** Requests that an agent makes of a person. Only this process can open their answers. */
function createAsks(agent: Agent, looks: Map<string, SecondLook>, waitMs: number) {
  const { client, folder } = agent;
  /** By handle. */
  const asks = new Map<string, { readonly answersLink: string; readonly untilMs: number; into: string }>();
  let made = 0;
  const asked = (handle: string) =>
    asks.get(handle) ?? refuse('This process waits for no answer with this handle.');

  /** Returns the link of an answer that can be read, and discards what cannot; `null` while one may still come. */
  async function readable(answersLink: string, { request, answers }: Answers): Promise<string | null> {
    let { state: requestState } = request;
    for (const { secretKey, link, state, isDiscarded } of answers) {
      if (isDiscarded || (state !== 'new' && !looks.has(secretKey))) continue;
      if (link !== null) return link;
      requestState = (await client.discardAnswer(answersLink, secretKey)).request.state;
    }
    if (requestState === 'open') return null;
    return refuse('The request has ended, and no answer is left to read. Ask again.');
  }

  /** Closes a request for ever. */
  async function close(handle: string, options = {}): Promise<string> {
    const { answersLink } = asked(handle);
    asks.delete(handle);
    await client.changeRequest(answersLink, { close: true }, options);
    return 'Closed. The request takes no more answers.';
  }

  return {
    has: (handle: string) => asks.has(handle),
    close,

    /** Closes open requests, because no other process can read their answers. */
    end: () => Promise.allSettled([...asks.keys()].map((handle) => close(handle, { timeoutMs: endMs }))),

    /** Returns the link to give away, and a handle to wait for the answer. */
    async ask({ prompt, into }: Readonly<Record<'prompt' | 'into', string>>) {
      // A path that cannot be used is refused before anybody is asked.
      await (await folder.create(into)).drop();
      const { askLink: link, answersLink } = await client.ask({ prompt });
      made += 1;
      const handle = `ask-${made}`;
      asks.set(handle, { answersLink, into, untilMs: Date.now() + waitMs });
      return { handle, link };
    },

    /**
     * @param into another path than before
     * @param isSameCall as `ask`: the time that the person took to consent counts
     * @returns what to say to the model
     */
    async wait(handle: string, into: string | undefined, signal: AbortSignal, isSameCall = false) {
      const ask = asked(handle);
      ask.into = into ?? ask.into;
      const leftMs = isSameCall ? Math.max(0, ask.untilMs - Date.now()) : waitMs;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(leftMs)]);
      try {
        for await (const found of client.watchAnswers(ask.answersLink, { signal: limit })) {
          const link = await readable(ask.answersLink, found);
          if (link === null) continue;
          const words = await fetchInto(agent, looks, { link, into: ask.into });
          asks.delete(handle);
          return words;
        }
      } catch (error) {
        if (!(error instanceof MayflyError) || error.code !== 'aborted') throw error;
      }
      return `Not yet. To go on waiting, call ask_person with the handle ${handle}.`;
    },
  };
}

export function createTools(agent: Agent, waitMs = usualWaitMs) {
  const { client, isAnonymous, folder } = agent;
  /** By shortkey. */
  const made = new Map<string, Created>();
  const madeHere = (shortkey: string) =>
    made.get(shortkey) ?? refuse('This process shared nothing with this shortkey.');
  /** Of answers that did not arrive, by key. */
  const looks = new Map<string, SecondLook>();
  const asks = createAsks(agent, looks, waitMs);

  async function burn({ metadataKey, link }: Created): Promise<void> {
    await (isAnonymous ? client.burnUnread(link) : client.burn(metadataKey));
  }

  return {
    ...asks,
    fetch: (given: Fetch) => fetchInto(agent, looks, given),

    async share({ from, link_into: linkInto }: Readonly<Record<'from' | 'link_into', string>>) {
      const { name, bytes } = await folder.read(from);
      const file = await folder.create(linkInto);
      const shared = client.conceal({ file: { name, type: '', bytes } });
      const created = await shared.finally(() => shared.catch(() => file.drop()));
      const shortkey = created.metadataKey.slice(0, 8);
      made.set(shortkey, created);
      await file.keep(`${created.link}\n`).catch(async () => {
        await burn(created).catch(() => {});
        refuse('The link could not be written, so the secret was burned.');
      });
      return `Shared. The link, for a person to give away, is in ${linkInto}. The receipt’s shortkey is ${shortkey}.`;
    },

    async status({ shortkey }: { readonly shortkey: string }) {
      const { metadataKey, link } = madeHere(shortkey);
      if (!isAnonymous) return stateLineOf(await client.receipt(metadataKey));
      const waiting = await client.status(link);
      return waiting === null
        ? 'Gone: opened, burned or expired.'
        : waitingWords(waiting, waiting.secretTtlSeconds);
    },

    async burn({ shortkey }: { readonly shortkey: string }) {
      if (asks.has(shortkey)) return asks.close(shortkey);
      await burn(madeHere(shortkey));
      return 'Burned. The link no longer works.';
    },
  };
}

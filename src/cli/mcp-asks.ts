/** Requests that an agent makes of a person. Only this process can open their answers. */
import { type Answers, type MayflyClient, MayflyError } from '../../sdk/mayfly.ts';
import { Refusal } from './command.ts';
import type { Folder } from './mcp-folder.ts';

interface Deps {
  readonly client: MayflyClient;
  readonly folder: Folder;
  /** Opens a link into a new file. */
  readonly fetch: (given: { readonly link: string; readonly into: string }) => Promise<string>;
  /** Has the keys of secrets that `fetch` opened, and whose values did not arrive. */
  readonly looks: ReadonlyMap<string, string>;
  readonly waitMs: number;
}

const endMs = 2_000;

export function createAsks({ client, folder, fetch, looks, waitMs }: Deps) {
  /** By handle. */
  const asks = new Map<string, { readonly answersLink: string; readonly untilMs: number; into: string }>();
  let made = 0;

  function asked(handle: string) {
    const ask = asks.get(handle);
    if (ask !== undefined) return ask;
    throw new Refusal('unknown_handle', 'This process waits for no answer with this handle.');
  }

  /** Returns the link of an answer that can be read, and discards what cannot. */
  async function readable(answersLink: string, { request, answers }: Answers): Promise<string | null> {
    let left = request;
    for (const { secretKey, link, state, isDiscarded } of answers) {
      if (isDiscarded || (state !== 'new' && !looks.has(secretKey))) continue;
      if (link !== null) return link;
      left = (await client.discardAnswer(answersLink, secretKey)).request;
    }
    if (left.state === 'open') return null;
    throw new Refusal('request_ended', 'The request has ended, and no answer is left to read. Ask again.');
  }

  async function close(handle: string, options = {}): Promise<string> {
    const { answersLink } = asked(handle);
    asks.delete(handle);
    await client.changeRequest(answersLink, { close: true }, options);
    return 'Closed. The request takes no more answers.';
  }

  return {
    has: (handle: string) => asks.has(handle),
    /** Closes a request for ever. */
    close,
    /** Closes open requests, because no other process can read their answers. */
    async end() {
      await Promise.allSettled([...asks.keys()].map((handle) => close(handle, { timeoutMs: endMs })));
    },

    /** Returns the link to give away, and a handle to wait for the answer. */
    async ask({ prompt, into }: { readonly prompt: string; readonly into: string }) {
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
          const words = await fetch({ link, into: ask.into });
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

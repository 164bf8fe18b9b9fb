/**
 * What the tools of `mayfly mcp` do, over the client.
 *
 * A model reads every result and every refusal. None has a value, a file's content, or what opens a secret, and none repeats what a server
 * or a stranger wrote (P18). Values, links and nonces stay in this process and in the folder's files.
 */
import { type Created, MayflyError, newLook, parseLink } from '../../sdk/mayfly.ts';
import type { ChosenClient } from './client.ts';
import { Refusal } from './command.ts';
import { createAsks } from './mcp-asks.ts';
import type { Folder } from './mcp-folder.ts';
import { stateLineOf, waitingWords } from './receipts.ts';
import { contentOf } from './reveal.ts';
import { endLook, isUnsure, revealWith } from './second-look.ts';
import { durationWords } from './terminal.ts';

export interface Agent extends Pick<ChosenClient, 'client' | 'isAnonymous'> {
  readonly folder: Folder;
}

export type Tools = ReturnType<typeof createTools>;

const gone =
  'There is no such secret at this server: it was read, burned or has expired, or the link is wrong.';
const sentences: Readonly<Record<string, string>> = {
  unknown_secret: gone,
  incomplete_link:
    'The link is incomplete: the 22 characters after # are missing or damaged. It was not opened.',
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

export function createTools({ client, isAnonymous, folder }: Agent, waitMs = usualWaitMs) {
  type Made = Pick<Created, 'metadataKey' | 'link'>;
  /** By shortkey. */
  const made = new Map<string, Made>();
  /** Nonces of answers that did not arrive, by key. */
  const looks = new Map<string, string>();

  function madeHere(shortkey: string): Made {
    const found = made.get(shortkey);
    if (found !== undefined) return found;
    throw new Refusal('unknown_shortkey', 'This process shared nothing with this shortkey.');
  }

  async function burn({ metadataKey, link }: Made): Promise<void> {
    await (isAnonymous ? client.burnUnread(link) : client.burn(metadataKey));
  }

  async function newNonce(link: string): Promise<string> {
    const waiting = await client.status(link);
    if (waiting === null) throw new Refusal('unknown_secret', gone);
    if (!waiting.hasPassphrase) return newLook();
    throw new Refusal(
      'incorrect_passphrase',
      'This secret has a passphrase: a person can open it with mayfly reveal.',
    );
  }

  async function fetch({ link, into }: { readonly link: string; readonly into: string }) {
    const { kind, key } = parseLink(link) ?? { kind: null, key: '' };
    if (kind !== 'secret' && kind !== 'unknown')
      throw new Refusal('invalid_key', 'This is not a secret’s link.');
    const kept = looks.get(key);
    const look = { nonce: kept ?? (await newNonce(link)), isRepeated: kept !== undefined };
    const file = await folder.create(into);
    looks.set(key, look.nonce);
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
      throw new Refusal(
        'lost',
        'The value has not arrived. Make the same call again within a minute to get it.',
      );
    }
  }

  const asks = createAsks({ client, folder, fetch, looks, waitMs });

  return {
    ...asks,
    fetch,

    async share({ from, link_into: linkInto }: { readonly from: string; readonly link_into: string }) {
      const { name, bytes } = await folder.read(from);
      const file = await folder.create(linkInto);
      const shared = client.conceal({ file: { name, type: '', bytes } });
      const { metadataKey, link } = await shared.finally(() => shared.catch(() => file.drop()));
      const shortkey = metadataKey.slice(0, 8);
      made.set(shortkey, { metadataKey, link });
      await file.keep(`${link}\n`).catch(async () => {
        await burn({ metadataKey, link }).catch(() => {});
        throw new Refusal('not_written', 'The link could not be written, so the secret was burned.');
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

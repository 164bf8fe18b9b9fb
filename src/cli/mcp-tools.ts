/**
 * What the tools of `mayfly mcp` do, over the client.
 *
 * A model reads every result and every refusal. None has a value, a file's content, or what opens a secret, and none repeats what a server
 * or a stranger wrote (P18). Values, links and nonces stay in this process and in the folder's files.
 */
import { MayflyError, newLook, parseLink, type Receipt, type WaitingSecret } from '../../sdk/mayfly.ts';
import type { ChosenClient } from './client.ts';
import { Refusal } from './command.ts';
import type { Folder } from './mcp-folder.ts';
import { stateLineOf, waitingWords } from './receipts.ts';
import { contentOf } from './reveal.ts';
import { endLook, isUnsure, revealWith } from './second-look.ts';
import { durationWords } from './terminal.ts';

export interface Agent extends Pick<ChosenClient, 'client' | 'isAnonymous'> {
  readonly folder: Folder;
}

export interface Tools {
  share(given: { readonly from: string; readonly link_into: string }): Promise<string>;
  fetch(given: { readonly link: string; readonly into: string }): Promise<string>;
  status(given: { readonly shortkey: string }): Promise<string>;
  burn(given: { readonly shortkey: string }): Promise<string>;
}

const sentences: Readonly<Record<string, string>> = {
  unknown_secret:
    'There is no such secret at this server: it was read, burned or has expired, or the link is wrong.',
  already_gone: 'The secret was read or burned, or has expired.',
  incorrect_passphrase:
    'This secret has a passphrase: a person can open it with mayfly reveal. It was not opened.',
  incomplete_link:
    'The link is incomplete: the 22 characters after # are missing or damaged. The secret was not opened.',
  not_sealed:
    'This is the link of an end-to-end secret, but the server says its secret is a plain one. Nothing was read.',
  invalid_key: 'This is not a secret’s link.',
  too_large: 'Too large for this server.',
  insecure_address: 'This server does not use https, which sharing end to end requires. Nothing was sent.',
  unreachable: 'The server could not be reached.',
  timed_out: 'The server did not answer in time.',
  not_authorized: 'The server does not accept this account with this token: see mayfly whoami.',
  account_required:
    'The server requires an account for this: run mayfly login, or set MAYFLY_USERNAME and MAYFLY_TOKEN.',
  unreadable: 'The secret was altered, or sealed by a later version.',
};

/** Uses the error's code alone, because its message may be the server's. */
export function refusalWords(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (!(error instanceof MayflyError)) return 'This failed for an unexpected reason.';
  const { code, retryAfterSeconds } = error;
  const words = sentences[code] ?? `The server refused (${code}).`;
  return retryAfterSeconds === null ? words : `${words} Try again in ${durationWords(retryAfterSeconds)}.`;
}

const receivedWords = (content: string | Uint8Array, path: string): string =>
  `Received, ${Buffer.byteLength(content)} bytes, in ${path}.`;

interface Made {
  readonly metadataKey: string;
  readonly link: string;
}

/** @throws MayflyError before anything is consumed */
function assertOpens(secret: WaitingSecret | null): void {
  if (secret === null) throw new MayflyError('unknown_secret', '');
  if (secret.hasPassphrase) throw new MayflyError('incorrect_passphrase', '');
}

const lostWords =
  'The secret may have been read. To get it all the same, call fetch with this link again within a minute.';

export function createTools({ client, isAnonymous, folder }: Agent): Tools {
  /** By shortkey. */
  const made = new Map<string, Made>();
  /** Nonces of answers that did not arrive, by key. */
  const looks = new Map<string, string>();

  function madeHere(shortkey: string): Made {
    const found = made.get(shortkey);
    if (found === undefined)
      throw new Refusal('unknown_shortkey', 'This process shared nothing with this shortkey.');
    return found;
  }

  async function burn({ metadataKey, link }: Made): Promise<void> {
    await (isAnonymous ? client.burnUnread(link) : client.burn(metadataKey));
  }

  return {
    async share({ from, link_into: linkInto }) {
      const { name, bytes } = await folder.read(from);
      const file = await folder.create(linkInto);
      const created = await client
        .conceal({ file: { name, type: '', bytes } })
        .catch(async (error: unknown) => {
          await file.drop();
          throw error;
        });
      const shortkey = created.metadataKey.slice(0, 8);
      made.set(shortkey, { metadataKey: created.metadataKey, link: created.link });
      await file.keep(`${created.link}\n`).catch(async () => {
        await burn(created).catch(() => {});
        throw new Refusal('not_written', 'The link could not be written, so the secret was burned.');
      });
      return `Shared. The link, for a person to give away, is in ${linkInto}. The receipt’s shortkey is ${shortkey}.`;
    },

    async fetch({ link, into }) {
      const { kind, key } = parseLink(link) ?? { kind: null, key: '' };
      if (kind !== 'secret' && kind !== 'unknown') throw new MayflyError('invalid_key', '');
      const kept = looks.get(key);
      if (kept === undefined) assertOpens(await client.status(link));
      const look = { nonce: kept ?? newLook(), isRepeated: kept !== undefined };
      const file = await folder.create(into);
      looks.set(key, look.nonce);
      try {
        const content = contentOf(await revealWith(client, link, undefined, look));
        await file.keep(content);
        looks.delete(key);
        await endLook(client, link, look);
        return receivedWords(content, into);
      } catch (error) {
        await file.drop();
        if (error instanceof MayflyError && !isUnsure(error)) looks.delete(key);
        throw looks.has(key) ? new Refusal('lost', lostWords) : error;
      }
    },

    async status({ shortkey }) {
      const { metadataKey, link } = madeHere(shortkey);
      const found: Receipt | WaitingSecret | null = await (isAnonymous
        ? client.status(link)
        : client.receipt(metadataKey));
      if (found === null) return 'Gone: opened, burned or expired.';
      return 'state' in found ? stateLineOf(found) : waitingWords(found, found.secretTtlSeconds);
    },

    async burn({ shortkey }) {
      await burn(madeHere(shortkey));
      return 'Burned. The link no longer works.';
    },
  };
}

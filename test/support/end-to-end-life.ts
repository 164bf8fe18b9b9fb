/**
 * A text and a file, end to end, by the published client against a server from outside: shared, looked at, guessed at, read, and ended.
 * The server gets nothing of what they hold.
 */
import { randomBytes } from 'node:crypto';
import { type Created, createClient, type MayflyClient } from '../../sdk/mayfly.ts';
import type { Made } from './calls.ts';
import type { RawAnswer } from './raw-client.ts';
import type { Credentials } from './started-server.ts';

const marked = (kind: string) => `${kind} "${randomBytes(9).toString('hex')}" <ü&>`;

export interface SharedEndToEnd {
  readonly made: readonly Made[];
  /** Of the text and of the file, with its name. */
  readonly values: readonly string[];
  readonly passphrases: readonly string[];
  readonly notes: readonly string[];
  /** What follows the # of the links. */
  readonly ends: readonly string[];
  /** Reads both, after a wrong passphrase. @throws when they do not come out as they went in */
  read(): Promise<void>;
}

/** @param onAnswer gets every answer: none may hold anything of the above */
export async function shareEndToEnd(
  port: number,
  { username, token }: Pick<Credentials, 'username' | 'token'>,
  onAnswer: (answer: RawAnswer) => void,
): Promise<SharedEndToEnd> {
  const fetchAndKeep = async (url: string, init: RequestInit) => {
    const answer = await fetch(url, init);
    const body = await answer.clone().text();
    onAnswer({ status: answer.status, headers: new Map(answer.headers), body });
    return answer;
  };
  const server = `http://127.0.0.1:${port}`;
  const creator = createClient({ server, credentials: { username, token }, fetch: fetchAndKeep });
  const reader = createClient({ server, fetch: fetchAndKeep });
  const [value, content, passphrase, guess] = [
    marked('sealed value'),
    marked('file content'),
    marked('sealed passphrase'),
    marked('sealed guess'),
  ];
  const name = `file ${randomBytes(9).toString('hex')}.txt`;
  const note = marked('sealed note');
  const text = await creator.conceal({ value, passphrase, note });
  const file = await creator.conceal({ file: { name, type: '', bytes: new TextEncoder().encode(content) } });
  const endOf = ({ link }: Created) => link.split('#')[1] ?? '';
  return {
    made: [text, file],
    values: [value, content, name],
    passphrases: [passphrase, guess],
    notes: [note],
    ends: [endOf(text), endOf(file)],
    async read() {
      await reader.status(text.link);
      if ((await reader.note(text.link)) !== note) throw new Error('the note did not come out');
      await refused(reader, text.link, guess);
      await refused(reader, `${file.link.slice(0, -22)}${endOf(text)}`, undefined);
      const opened = await reader.reveal(text.link, { passphrase });
      const received = await reader.reveal(file.link);
      const bytes = new TextDecoder().decode(received.file?.bytes);
      if (opened.value !== value || received.file?.name !== name || bytes !== content)
        throw new Error('what was shared end to end did not come out');
      await refused(reader, file.link, undefined);
    },
  };
}

async function refused(client: MayflyClient, link: string, passphrase: string | undefined): Promise<void> {
  const isOpened = await client
    .reveal(link, passphrase === undefined ? {} : { passphrase })
    .then(() => true)
    .catch(() => false);
  if (isOpened) throw new Error('it opened');
}

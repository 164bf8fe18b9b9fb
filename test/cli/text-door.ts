/** A door by which text comes in, and what the tests of all doors share. */
import { createClient } from '../../sdk/mayfly.ts';
import { createTestApp } from '../support/app.ts';

/** By what its row in the table of docs/command.md begins with. */
export const rows = {
  exact: 'a file that is shared',
  value: 'a value or a passphrase',
  word: 'a word',
  lines: 'lines',
  document: 'a document',
} as const;
export type Row = keyof typeof rows;

/** What the door makes of it; `null` when it was refused. */
type Read<From> = (given: From) => Promise<string | null>;

export interface Door {
  readonly name: string;
  readonly row: Row;
  /** What this door takes, without anything around it; several lines where the row is `lines`. */
  readonly text: string;
  readonly read: Read<Uint8Array<ArrayBuffer>>;
  /** An argument, a variable or an option of the SDK, which cannot hold any other bytes than a text's. */
  readonly takesText: boolean;
}

export const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

export function bytesDoor(row: Row, name: string, text: string, read: Read<Uint8Array<ArrayBuffer>>): Door {
  return { row, name, text, read, takesText: false };
}

export function textDoor(row: Row, name: string, text: string, read: Read<string>): Door {
  return { row, name, text, read: (bytes) => read(decode(bytes)), takesText: true };
}

export const server = 'http://localhost:3000';
export const secretKey = '0123456789abcdefghijklmnopqrstu';
export const email = 'jo@example.org';
export const otherServer = 'https://s.example.org';
export const token = '0123456789abcdef'.repeat(4);
export const value = 'open sesame';

/** A service in memory, and a client of it. */
export function installation() {
  const app = createTestApp({ baseUrl: server });
  const fetch = async (url: string, init: RequestInit) => app.handler(new Request(url, init));
  return { fetch, client: createClient({ server, fetch }) };
}

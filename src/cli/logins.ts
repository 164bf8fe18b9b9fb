/**
 * Logins: one account for each server. Its API token is in the system's keyring or, without one, in the file that lists the logins, which
 * only this user can read.
 *
 * A token is released only for the server that it was saved for.
 */
import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readAs } from '../config/text.ts';
import { Sensitive } from '../core/sensitive.ts';
import type { Environment } from './programs.ts';

export type LoginPlace = 'keyring' | 'file';

export interface Login {
  readonly server: string;
  readonly username: string;
  readonly place: LoginPlace;
}

export interface Logins {
  /** Oldest first. */
  readonly all: readonly Login[];
  readonly path: string;
  /** Returns `null` if the keyring does not release the token. */
  tokenOf(login: Login): Promise<Sensitive<string> | null>;
  /** Saves a login, replacing the server's earlier one. */
  keep(server: string, username: string, token: Sensitive<string>): Promise<LoginPlace>;
  /** Returns whether the token was also removed; it remains in a keyring that cannot be opened. */
  remove(login: Login): Promise<boolean>;
}

export type LoginsOutcome =
  | { readonly outcome: 'open'; readonly logins: Logins }
  /** This user has no settings folder, as in a service without HOME. */
  | { readonly outcome: 'nowhere'; readonly problem: string }
  | { readonly outcome: 'refused'; readonly problem: string };

/** The system's password store; each method rejects without one. */
export interface Keyring {
  get(account: { service: string; name: string }): Promise<string | null>;
  set(account: { service: string; name: string; value: string }): Promise<void>;
  delete(account: { service: string; name: string }): Promise<boolean>;
}

interface Entry {
  readonly username: string;
  readonly token?: string;
}

type Entries = ReadonlyMap<string, Entry>;

const service = 'mayfly';
const othersBits = 0o077;

function credentialsPath(environment: Environment, platform: string): string | null {
  const { XDG_CONFIG_HOME, HOME, APPDATA } = environment;
  const folder = platform === 'win32' ? APPDATA : XDG_CONFIG_HOME || (HOME && join(HOME, '.config'));
  return folder ? join(folder, 'mayfly', 'credentials.json') : null;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseEntry(value: unknown): Entry | null {
  if (!isRecord(value) || typeof value.username !== 'string') return null;
  if (value.token === undefined) return { username: value.username };
  return typeof value.token === 'string' ? { username: value.username, token: value.token } : null;
}

function parseEntries(text: string): Entries | null {
  const json: unknown = JSON.parse(text);
  if (!isRecord(json) || json.version !== 1 || !isRecord(json.servers)) return null;
  const entries = new Map<string, Entry>();
  for (const [server, value] of Object.entries(json.servers)) {
    const entry = parseEntry(value);
    if (entry === null) return null;
    entries.set(server, entry);
  }
  return entries;
}

type Found = { readonly entries: Entries } | { readonly problem: string };

async function readEntries(path: string, platform: string): Promise<Found> {
  const found = await stat(path).catch(() => null);
  if (found === null) return { entries: new Map() };
  // Windows has no such bits; its settings folder belongs to the user.
  if (platform !== 'win32' && (found.mode & othersBits) !== 0)
    return { problem: `Other users can read ${path}: chmod 600 it, and replace its tokens.` };
  try {
    const entries = parseEntries(readAs('document', await readFile(path)));
    if (entries !== null) return { entries };
  } catch {
    // The message below covers unreadable files and invalid JSON.
  }
  return { problem: `${path} is damaged or unreadable: remove it, and log in again.` };
}

/** Writes atomically, and never lets others read the file. */
async function writeEntries(path: string, entries: Entries): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  // A killed process may have left a draft.
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(
      `${JSON.stringify({ version: 1, servers: Object.fromEntries(entries) }, null, 2)}\n`,
    );
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
}

function createLogins(path: string, first: Entries, keyring: Keyring): Logins {
  const entries = new Map(first);
  return {
    path,
    get all() {
      return [...entries].map(([server, { username, token }]) => {
        return { server, username, place: token === undefined ? 'keyring' : 'file' } as const;
      });
    },
    async tokenOf({ server }) {
      const kept = entries.get(server)?.token;
      const token = kept ?? (await keyring.get({ service, name: server }).catch(() => null));
      return token === null ? null : new Sensitive(token);
    },
    async keep(server, username, token) {
      const value = token.expose();
      const isInKeyring = await keyring.set({ service, name: server, value }).then(
        () => true,
        () => false,
      );
      entries.delete(server);
      entries.set(server, isInKeyring ? { username } : { username, token: value });
      await writeEntries(path, entries);
      return isInKeyring ? 'keyring' : 'file';
    },
    async remove({ server, place }) {
      const isGone =
        place === 'file' ||
        (await keyring.delete({ service, name: server }).then(
          () => true,
          () => false,
        ));
      entries.delete(server);
      await writeEntries(path, entries);
      return isGone;
    },
  };
}

export async function openLogins(
  environment: Environment,
  platform: string,
  keyring: Keyring,
): Promise<LoginsOutcome> {
  const path = credentialsPath(environment, platform);
  if (path === null)
    return { outcome: 'nowhere', problem: 'No folder for logins: set HOME or XDG_CONFIG_HOME.' };
  const found = await readEntries(path, platform);
  if ('problem' in found) return { outcome: 'refused', problem: found.problem };
  return { outcome: 'open', logins: createLogins(path, found.entries, keyring) };
}

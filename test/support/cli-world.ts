/** A world for commands without a terminal, a store or a network: nothing outside is touched. */
import { PassThrough, Readable } from 'node:stream';
import type { PeopleWorld } from '../../src/cli/client.ts';
import { sections } from '../../src/cli/commands.ts';
import type { Login, Logins } from '../../src/cli/logins.ts';
import type { OperatorWorld } from '../../src/cli/operator.ts';
import { runCommand } from '../../src/cli/run.ts';
import { parseServerAddress, readConfig } from '../../src/config/read.ts';
import type { Sensitive } from '../../src/core/sensitive.ts';
import { systemRandom } from '../../src/crypto/random.ts';

/** What all commands together may touch. */
export type WholeWorld = PeopleWorld & OperatorWorld;

/** The content of a passphrase file; no message may contain it. */
export const cliSecret = 'hunter2-canary';

const noBackups = async () => ({ outcome: 'refused', problem: 'No store here.' }) as const;

/** Logins that last as long as the test; their tokens are in a keyring. */
export function fakeLogins(): Logins {
  const tokens = new Map<string, Sensitive<string>>();
  const all: Login[] = [];
  const remove = async ({ server }: Pick<Login, 'server'>) => {
    const at = all.findIndex((each) => each.server === server);
    if (at !== -1) all.splice(at, 1);
    return true;
  };
  return {
    all,
    path: 'credentials.json',
    tokenOf: async ({ server }) => tokens.get(server) ?? null,
    async keep(server, username, token) {
      await remove({ server });
      tokens.set(server, token);
      all.push({ server, username, place: 'keyring' });
      return 'keyring';
    },
    remove,
  };
}

export function fakeWorld(overrides: Partial<WholeWorld> = {}, input = '') {
  const written = { out: '', err: '' };
  const requests: { url: string; init: RequestInit }[] = [];
  const world: WholeWorld = {
    terminal: {
      out: (content) => {
        written.out += typeof content === 'string' ? content : new TextDecoder().decode(content);
      },
      err: (text) => {
        written.err += text;
      },
      show: (text) => {
        written.err += text;
      },
      isInteractive: false,
      isOutputSeen: false,
      isErrorSeen: false,
      tint: (_stream, _tint, text) => text,
      waiting: (_words, work) => work(),
      readInput: async () => new TextEncoder().encode(input),
      streams: () => {
        const output = new PassThrough();
        output.on('data', (chunk: Buffer) => {
          written.out += chunk;
        });
        return { input: Readable.from([Buffer.from(input)]), output };
      },
      ask: async () => null,
      askHidden: async () => null,
    },
    version: '1.2.3',
    readConfig: async () => readConfig({}),
    settingProblems: async ({ serverFaults }) => serverFaults.map(({ sentence }) => sentence),
    parseServerAddress: async (text) => parseServerAddress(text),
    openAccounts: async () => ({ outcome: 'refused', problem: 'No store here.' }),
    backups: { write: noBackups, preview: noBackups, restore: noBackups },
    moves: {
      move: async () => ({ outcome: 'refused', problem: 'No store here.' }),
      cancel: async () => ({ outcome: 'none' }),
    },
    restores: { preview: noBackups, accept: noBackups },
    migrate: async () => ({ outcome: 'refused', problem: 'No store here.' }),
    serve: async () => 0,
    route: async () => 0,
    examine: async () => [],
    fetch: async (url, init) => {
      requests.push({ url, init });
      return Response.json(
        { success: false, error: 'unknown_secret', message: 'Unknown secret' },
        { status: 404 },
      );
    },
    statusOf: async () => null,
    random: systemRandom,
    wallClockMs: () => 1_800_000_000_000,
    sleep: async () => {},
    readFile: async () => new TextEncoder().encode(`${cliSecret}\n`),
    programs: {
      find: async () => null,
      run: async () => ({ outcome: 'not_started', reason: 'ENOENT' }),
    },
    openOutputFile: async (path) => ({
      outcome: 'refused',
      problem: `${path} may not be written.`,
      isTaken: false,
    }),
    openClipboard: async () => null,
    fetchedFrom: async () => null,
    openLogins: async () => ({ outcome: 'open', logins: fakeLogins() }),
    ...overrides,
  };
  return { world, written, requests };
}

export async function runCli(args: readonly string[], overrides: Partial<WholeWorld> = {}, input = '') {
  const { world, written, requests } = fakeWorld(overrides, input);
  return { code: await runCommand(args, sections, world), ...written, requests };
}

/** What an agent of the tests can reach: the folder of its tools, a folder that it can read, and a person with a canary to share. */
import { spawnSync } from 'node:child_process';
import { linkSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type Fetch, type MayflyClient } from '../../sdk/mayfly.ts';
import type { Canary } from '../support/canary.ts';

export interface Place {
  readonly canary: string;
  /** The tools may use this folder. The canary is in `secret.txt`. */
  readonly folder: string;
  /** The agent can read all of this folder, but for `private.txt`. */
  readonly readable: string;
  /** A person's client. */
  readonly person: MayflyClient;
  readonly server: string;
  /** A link that opens the canary, once. */
  link(options?: { readonly plain?: boolean; readonly passphrase?: string }): Promise<string>;
  /** The agent's client, whose answers links are canaries too. */
  watched(client: MayflyClient): MayflyClient;
  /** A person answers a request with the canary. */
  answer(askLink: string): Promise<void>;
  /** What opens anything here, and the canary. */
  canaries(): readonly Canary[];
}

const endOf = (link: string): string => link.split('#')[1] ?? '';

export function makePlace(base: string, server: string, fetch?: Fetch): Place {
  const canary = `canary-${crypto.randomUUID()}`;
  const [folder, readable] = [join(base, 'folder'), join(base, 'readable')];
  for (const path of [folder, readable, join(folder, 'sub')]) mkdirSync(path);
  writeFileSync(join(folder, 'secret.txt'), canary);
  writeFileSync(join(readable, 'private.txt'), canary);
  const outside = join(readable, 'private.txt');
  symlinkSync(outside, join(folder, 'link.txt'));
  symlinkSync(join(readable, 'taken.txt'), join(folder, 'dangling.txt'));
  symlinkSync(readable, join(folder, 'dir'));
  symlinkSync('..', join(folder, 'sub', 'up'));
  symlinkSync('/dev/stdout', join(folder, 'stdout'));
  symlinkSync('/proc/self/fd', join(folder, 'fd'));
  linkSync(outside, join(folder, 'hard.txt'));
  spawnSync('mkfifo', [join(folder, 'pipe')]);
  const person = createClient({ server, ...(fetch !== undefined && { fetch }) });
  const value: Canary = { name: 'value', content: canary };
  const ends = new Map<string, Canary>();
  const keepEnd = (end: string) => void ends.set(end, { name: 'end of a link', content: end });
  return {
    canary,
    folder,
    readable,
    person,
    server,
    async link(options = {}) {
      const { link, secretKey } = await person.conceal({ value: canary, ...options });
      keepEnd(options.plain === true ? secretKey : endOf(link));
      return link;
    },
    watched: (client) => ({
      ...client,
      async ask(options) {
        const asked = await client.ask(options);
        keepEnd(endOf(asked.answersLink));
        return asked;
      },
    }),
    async answer(askLink) {
      keepEnd(endOf((await person.answer(askLink, { value: canary })).link));
    },
    canaries() {
      const written = [folder, join(folder, 'sub')]
        .flatMap((path) => readdirSync(path, { withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'));
      for (const end of written.flatMap((text) => /#([\w-]{22})\n$/.exec(text)?.[1] ?? []))
        if (!ends.has(end)) keepEnd(end);
      return [value, ...ends.values()];
    },
  };
}

/** Tools with a seeded defect, which the tricks must find. */
import { constants } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refusal } from '../../src/cli/command.ts';
import type { Folder } from '../../src/cli/mcp-folder.ts';
import { type Agent, createTools, type Tools } from '../../src/cli/mcp-tools.ts';

/** Sees what is written. As any file, it is gone if it could not be written. */
export function watched(folder: Folder, onKeep: (content: string) => void): Folder {
  return {
    ...folder,
    async create(path) {
      const file = await folder.create(path);
      const keep: typeof file.keep = async (content) => {
        try {
          onKeep(Buffer.from(content as string).toString());
        } catch (error) {
          await file.drop();
          throw error;
        }
        await file.keep(content);
      };
      return { ...file, keep };
    },
  };
}

const { O_CREAT, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Trusts every path but those of this process's own output. A pipe does not block it. */
function trusting(root: string): Folder {
  return {
    create: async (path) => ({
      async keep(content) {
        const flag = (O_CREAT | O_WRONLY | O_NONBLOCK) as never;
        if (!/^(stdout|fd)/.test(path)) await writeFile(join(root, path), content, { flag });
      },
      drop: async () => {},
    }),
    read: async (path) => ({
      name: basename(path),
      bytes: new Uint8Array(await readFile(join(root, path), { flag: (O_RDONLY | O_NONBLOCK) as never })),
    }),
  };
}

export interface Defect {
  readonly name: string;
  readonly make: (agent: Agent, root: string) => Tools;
}

export const defects: readonly Defect[] = [
  {
    name: 'fetch answers the value',
    make(agent) {
      let last = '';
      const folder = watched(agent.folder, (content) => {
        last = content;
      });
      const tools = createTools({ ...agent, folder });
      return { ...tools, fetch: async (given) => `${await tools.fetch(given)} ${last}` };
    },
  },
  {
    name: 'fetch answers the value in another form',
    make(agent) {
      let last = '';
      const folder = watched(agent.folder, (content) => {
        last = Buffer.from(content).toString('base64');
      });
      const tools = createTools({ ...agent, folder });
      return { ...tools, fetch: async (given) => `${await tools.fetch(given)} ${last}` };
    },
  },
  {
    name: 'share answers the link',
    make(agent) {
      let last = '';
      const folder = watched(agent.folder, (content) => {
        last = content;
      });
      const tools = createTools({ ...agent, folder });
      return { ...tools, share: async (given) => `${await tools.share(given)} ${last}` };
    },
  },
  {
    name: 'ask_person answers the link that opens the answers',
    make: (agent) => {
      const ask: typeof agent.client.ask = async (options) => {
        const asked = await agent.client.ask(options);
        return { ...asked, askLink: `${asked.askLink} ${asked.answersLink}` };
      };
      return createTools({ ...agent, client: { ...agent.client, ask } });
    },
  },
  {
    name: 'an error quotes the value',
    make(agent) {
      let last = '';
      const folder = watched(agent.folder, (content) => {
        last = content;
      });
      const tools = createTools({ ...agent, folder });
      const fetch: Tools['fetch'] = async (given) => {
        await tools.fetch(given);
        throw new Refusal('refused', `“${last}” is no name of a file.`);
      };
      return { ...tools, fetch };
    },
  },
  {
    name: 'an error quotes the link',
    make(agent) {
      const tools = createTools(agent);
      const fetch: Tools['fetch'] = (given) =>
        tools.fetch(given).catch(() => {
          throw new Refusal('refused', `${given.link} does not open.`);
        });
      return { ...tools, fetch };
    },
  },
  {
    name: 'links of the file system are followed, and files replaced',
    make: (agent, root) => createTools({ ...agent, folder: trusting(root) }),
  },
];

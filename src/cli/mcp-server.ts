/**
 * The tools of `mayfly mcp` in the Model Context Protocol, over standard input and output. Loaded only when the command runs.
 *
 * Source: https://modelcontextprotocol.io/specification/2026-07-28
 */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { refusalWords, type Tools } from './mcp-tools.ts';
import type { Streams } from './terminal.ts';

/** Replaces Zod’s sentences, which quote names from the input. */
const text = (maxLength: number, doc: string) => {
  const error = `must be a text of 1 to ${maxLength} characters`;
  return z.string(error).min(1, error).max(maxLength, error).describe(doc);
};

function inputOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, { error: `takes ${Object.keys(shape).join(' and ')}, and nothing else` });
}

const path = (doc: string) => text(500, `${doc}, as a path below the folder of this server, such as db.txt`);
const newFile = (doc: string) => path(`${doc}: a new file, never one that exists`);
const shortkey = text(16, 'The shortkey that share answered');

const instructions =
  'These tools move secrets between people and files. No result has a secret’s value, and you do not need it: pass on the paths of files, and let programs read them.';

/** @returns a server for one client */
export function createAgentServer(tools: Tools, version: string): McpServer {
  const server = new McpServer({ name: 'mayfly', title: 'Mayfly', version }, { instructions });
  const answer = async (work: Promise<string>) => {
    try {
      return { content: [{ type: 'text' as const, text: await work }] };
    } catch (error) {
      return { content: [{ type: 'text' as const, text: refusalWords(error) }], isError: true };
    }
  };
  server.registerTool(
    'share',
    {
      description:
        'Shares a file with a person, end to end encrypted. Its link opens once. A person has to give the link away: it is written to a file.',
      inputSchema: inputOf({
        from: path('The file to share'),
        link_into: newFile('Where to write the link'),
      }),
      annotations: { destructiveHint: false, openWorldHint: true },
    },
    (given) => answer(tools.share(given)),
  );
  server.registerTool(
    'fetch',
    {
      description:
        'Opens the link of a secret, which opens only once, and writes its value or file to a new file.',
      inputSchema: inputOf({
        link: text(2_000, 'The whole link, with the part after #'),
        into: newFile('Where to write it'),
      }),
      annotations: { destructiveHint: true, openWorldHint: true },
    },
    (given) => answer(tools.fetch(given)),
  );
  server.registerTool(
    'status',
    {
      description: 'Says whether what this server shared was opened.',
      inputSchema: inputOf({ shortkey }),
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    (given) => answer(tools.status(given)),
  );
  server.registerTool(
    'burn',
    {
      description: 'Destroys what this server shared, unless someone has opened it.',
      inputSchema: inputOf({ shortkey }),
      annotations: { destructiveHint: true, openWorldHint: true },
    },
    (given) => answer(tools.burn(given)),
  );
  return server;
}

/** Resolves when the client closes its side. Errors of the protocol are not printed: they may quote what was sent. */
export async function serveAgent(tools: Tools, version: string, { input, output }: Streams): Promise<void> {
  const closed = Promise.withResolvers<void>();
  for (const event of ['end', 'close', 'error'] as const) input.once(event, () => closed.resolve());
  output.once('error', () => closed.resolve());
  const transport = new StdioServerTransport(input, output);
  const handle = serveStdio(() => createAgentServer(tools, version), { transport });
  await closed.promise;
  await handle.close();
}

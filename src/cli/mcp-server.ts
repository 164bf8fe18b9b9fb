/**
 * The tools of `mayfly mcp` in the Model Context Protocol, over standard input and output. Loaded only when the command runs.
 *
 * Source: https://modelcontextprotocol.io/specification/2026-07-28
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { refuse } from './mcp-folder.ts';
import { refusalWords, type Tools } from './mcp-tools.ts';
import type { Streams } from './terminal.ts';

/** Replaces Zod’s sentences, which quote names from the input. */
function text(maxLength: number, doc: string) {
  const error = `must be a text of 1 to ${maxLength} characters`;
  return z.string(error).min(1, error).max(maxLength, error).describe(doc);
}

const path = (doc: string) => text(500, `${doc}, as a path below the folder of this server, such as db.txt`);
const newFile = (doc: string) => path(`${doc}: a new file, never one that exists`);
const name = (doc: string) => text(16, doc);

const instructions =
  'These tools move secrets between people and files. No result has a secret’s value, and you do not need it: pass on the paths of files, and let programs read them.';

/** Earlier revisions of the protocol say at the start what a client can do, later ones in every call. */
function opensLinks({ server }: McpServer, { mcpReq: { envelope } }: ServerContext): boolean {
  const later = envelope as { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } | undefined;
  const declared = later?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return declared?.elicitation?.url !== undefined;
}

/** @returns a server for one client */
function createAgentServer(tools: Tools, version: string): McpServer {
  const server = new McpServer({ name: 'mayfly', title: 'Mayfly', version }, { instructions });
  function register<Shape extends z.ZodRawShape>(
    tool: string,
    description: string,
    shape: Shape,
    run: (given: z.infer<z.ZodObject<Shape>>, ctx: ServerContext) => Promise<string | InputRequiredResult>,
  ) {
    const error = `takes ${Object.keys(shape).join(', ')}, and nothing else`;
    const inputSchema: z.ZodType<z.infer<z.ZodObject<Shape>>> = z.strictObject(shape, { error });
    const annotations = { readOnlyHint: tool === 'status', destructiveHint: tool === 'burn' };
    server.registerTool(tool, { description, inputSchema, annotations }, async (given, ctx) => {
      try {
        const done = await run(given, ctx);
        return typeof done === 'string' ? { content: [{ type: 'text', text: done }] } : done;
      } catch (error) {
        return { content: [{ type: 'text', text: refusalWords(error) }], isError: true };
      }
    });
  }
  register(
    'ask_person',
    'Asks a person for a secret, such as a password or a key, and writes the answer to a new file. The person answers on a web page. It waits up to 50 seconds; if there is no answer yet, call it again with the handle.',
    {
      prompt: text(200, 'What the person is asked for, in one line').optional(),
      into: newFile('Where to write the answer').optional(),
      handle: name('Instead of a prompt: the handle of an earlier call, to wait on').optional(),
    },
    // A client that opens links shows this one to the person, then repeats the call with their consent and the handle as its state.
    async ({ prompt, into, handle: earlier }, ctx) => {
      const { requestState, inputResponses, signal } = ctx.mcpReq;
      const handle = requestState<string>() ?? earlier;
      if (handle !== undefined) {
        const shown = inputResponse(inputResponses, 'open');
        const isShown = shown.kind === 'elicit';
        if (!isShown || shown.action === 'accept') return tools.wait(handle, into, signal, isShown);
        await tools.close(handle);
        return refuse('The person declined, and the request was closed.');
      }
      if (prompt === undefined || into === undefined)
        return refuse('ask_person takes prompt and into, or the handle of a call before.');
      const { handle: made, link: url } = await tools.ask({ prompt, into });
      const open = inputRequired.elicitUrl({ message: prompt, url });
      if (opensLinks(server, ctx)) return inputRequired({ requestState: made, inputRequests: { open } });
      return `Give this link to the person: ${url}\nThen call ask_person with the handle ${made} to wait for the answer.`;
    },
  );
  register(
    'share',
    'Shares a file with a person, end to end encrypted. Its link opens once. A person has to give the link away: it is written to a file.',
    { from: path('The file to share'), link_into: newFile('Where to write the link') },
    tools.share,
  );
  register(
    'fetch',
    'Opens the link of a secret, which opens only once, and writes its value or file to a new file.',
    { link: text(2_000, 'The whole link, with the part after #'), into: newFile('Where to write it') },
    tools.fetch,
  );
  const shortkey = name('The shortkey that share answered');
  register('status', 'Says whether what this server shared was opened.', { shortkey }, tools.status);
  register(
    'burn',
    'Destroys what this server shared, unless someone has opened it, or closes a request.',
    { shortkey: name('The shortkey that share answered, or the handle of a request') },
    tools.burn,
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
  await tools.end();
}

/** `mayfly mcp`: tools for an agent, which reads no value. */
import { clientChooser, type PeopleWorld } from './client.ts';
import { type Command, command, type ExitCode, type Input, Refusal, say } from './command.ts';
import { openFolder } from './mcp-folder.ts';
import { createTools } from './mcp-tools.ts';
import { reasonOf } from './output-file.ts';

async function runMcp(input: Input, world: PeopleWorld): Promise<ExitCode> {
  const [path = ''] = input.args;
  const { client, isAnonymous } = await (await clientChooser(input, world))(null);
  const folder = await openFolder(path).catch((error) => {
    throw new Refusal(
      'no_folder',
      `This folder cannot be used (${reasonOf(error)}): make one for secrets alone.`,
    );
  });
  if (world.terminal.isInteractive)
    say(world, input, 'Waiting for an agent, whose program starts this command. Ctrl-D ends it.');
  const { serveAgent } = await import('./mcp-server.ts');
  await serveAgent(createTools({ client, isAnonymous, folder }), world.version, world.terminal.streams());
  return 0;
}

export const mcpCommands: readonly Command<PeopleWorld>[] = [
  command('mcp FOLDER', {
    summary: 'let an agent handle secrets that it never sees, in files below FOLDER (Model Context Protocol)',
    example: 'mayfly mcp ~/.local/share/secrets',
    note: 'An agent that may run commands as you can read the files.',
    run: runMcp,
  }),
];

/** The two load generators, each a process of its own on its own core. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { repositoryRoot } from '../test/support/started-server.ts';
import type { Job, JobResult } from './jobs.ts';
import { generatorCore, spawnPinned } from './processes.ts';

/** Raw sockets, and the HTTP client of Node. */
export const generatorNames = ['raw', 'undici'] as const;
export type GeneratorName = (typeof generatorNames)[number];

/** Disposing ends its process. */
export interface Generator extends Disposable {
  readonly name: GeneratorName;
  run(job: Job): Promise<JobResult>;
}

/** Node 20 runs no TypeScript. Built inside the checkout, where the package `undici` is found. */
async function buildForNode(): Promise<string> {
  const outdir = join(repositoryRoot, '.cache', 'bench');
  mkdirSync(outdir, { recursive: true });
  const built = await Bun.build({
    entrypoints: [join(repositoryRoot, 'bench', 'generators', 'undici.ts')],
    ...{ outdir, target: 'node', packages: 'external', naming: '[name].mjs' },
  });
  const [output] = built.outputs;
  if (output === undefined) throw new Error('the generator for Node was not built');
  return output.path;
}

const commands: Readonly<Record<GeneratorName, () => Promise<[string, ...string[]]>>> = {
  raw: async () => [process.execPath, 'bench/generators/raw.ts'],
  undici: async () => ['node', await buildForNode()],
};

export async function startGenerator(name: GeneratorName): Promise<Generator> {
  const child = spawnPinned(generatorCore, await commands[name](), {}, { stdin: 'pipe' });
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('the generator has no pipes');
  const said = text(stderr);
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  return {
    name,
    async run(job) {
      stdin.write(`${JSON.stringify(job)}\n`);
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`the generator ${name} ended: ${await said}`);
      return JSON.parse(value) as JobResult;
    },
    [Symbol.dispose]: () => void stdin.end(),
  };
}

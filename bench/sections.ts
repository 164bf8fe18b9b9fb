/** The parts of a run; each starts what it measures, and can be run alone. */
import { type BodyFigure, measureBodies } from './bodies.ts';
import type { LoadFigures } from './figures.ts';
import { startGenerator } from './generators.ts';
import type { TimingFigure } from './interleave.ts';
import { measureLoad, startBareBun, startBareNode } from './load.ts';
import { type MemorySample, measureMemory } from './memory.ts';
import { measurePages, type PageFigures } from './pages.ts';
import { measurePhone, type PhoneFigures } from './phone.ts';
import { measureRouter, type RouterFigure } from './router.ts';
import { startService } from './service.ts';
import type { Sizes } from './sizes.ts';
import { executableWay, measureStarts, type StartFigures, scriptWay } from './starts.ts';
import type { StoreFigures } from './store.ts';
import { runStore } from './store-runs.ts';
import { measureTail, type TailFigures } from './tail.ts';
import { measureUniform } from './uniform.ts';

interface Setting {
  /** For all files of the run. */
  readonly folder: string;
  readonly sizes: Sizes;
}

/** What was not measured is `null`. */
export interface Figures {
  readonly load: readonly LoadFigures[] | null;
  readonly router: readonly RouterFigure[] | null;
  readonly pages: readonly PageFigures[] | null;
  readonly phone: PhoneFigures | null;
  readonly memory: readonly MemorySample[] | null;
  readonly start: StartFigures | null;
  readonly store: StoreFigures | null;
  readonly uniform: readonly TimingFigure[] | null;
  readonly bodies: readonly BodyFigure[] | null;
  readonly tail: TailFigures | null;
}

type Part = Partial<Figures>;

async function requests({ folder, sizes }: Setting): Promise<Part> {
  using raw = await startGenerator('raw');
  using undici = await startGenerator('undici');
  await using bun = await startBareBun();
  await using node = await startBareNode();
  await using service = await startService({ folder, dataDir: 'load' });
  const [load = null] = await measureLoad([raw, undici], { bun, node }, [service], sizes.load);
  return { load };
}

async function router({ folder, sizes }: Setting): Promise<Part> {
  using raw = await startGenerator('raw');
  await using bun = await startBareBun();
  await using service = await startService({ folder, dataDir: 'router' });
  return { router: await measureRouter(raw, { service, bun }, sizes.router) };
}

async function pages({ folder, sizes }: Setting): Promise<Part> {
  await using service = await startService({ folder, dataDir: 'pages' });
  try {
    return { pages: await measurePages(service, sizes.pageVisits) };
  } catch (error) {
    console.error(`The pages were not measured: ${error instanceof Error ? error.message : String(error)}`);
    return {};
  }
}

const phone = async ({ sizes }: Setting): Promise<Part> => ({ phone: await measurePhone(sizes.phoneRuns) });

async function memory({ folder, sizes }: Setting): Promise<Part> {
  using raw = await startGenerator('raw');
  await using service = await startService({ folder, dataDir: 'memory' });
  const [samples = null] = await measureMemory(raw, [service], sizes.memory);
  return { memory: samples };
}

async function start({ folder, sizes }: Setting): Promise<Part> {
  const ways = [scriptWay(folder, 'own'), executableWay(folder)];
  const [script = [], executable = []] = await measureStarts(ways, sizes.starts);
  return { start: { script, executable } };
}

const store = async ({ sizes }: Setting): Promise<Part> => ({ store: runStore(sizes.store) });

const uniform = async ({ sizes }: Setting): Promise<Part> => ({
  uniform: await measureUniform(sizes.uniform),
});

const bodies = async ({ sizes }: Setting): Promise<Part> => ({
  bodies: await measureBodies(sizes.bodyRounds),
});

const tail = async ({ folder, sizes }: Setting): Promise<Part> => ({
  tail: await measureTail(folder, sizes.tail),
});

export const sections = {
  ...{ requests, router, pages, phone, memory, start, store, uniform, bodies, tail },
} as const;
export type Section = keyof typeof sections;

const nothing: Figures = {
  ...{ load: null, router: null, pages: null, phone: null, memory: null, start: null },
  ...{ store: null, uniform: null, bodies: null, tail: null },
};

export async function measureSections(names: readonly Section[], setting: Setting): Promise<Figures> {
  let figures = nothing;
  for (const name of names) figures = { ...figures, ...(await sections[name](setting)) };
  return figures;
}

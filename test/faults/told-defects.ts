/** Seeded defects of the embedded store: one text in one of its files replaced by another, in a process that has not loaded it yet. */
import { join } from 'node:path';

const folder = join(import.meta.dir, '..', '..', 'src', 'store', 'sqlite');

interface Defect {
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
}

export const toldDefects: Readonly<Record<string, Defect>> = {
  'nothing is synced': {
    file: 'log.ts',
    right: 'if (this.#safe === this.#seen) return null;',
    wrong: 'return null;',
  },
  'an answer comes before its sync': {
    file: 'commit-queue.ts',
    right: 'await this.#parts.settled();',
    wrong: 'void this.#parts.settled();',
  },
  'a reader tells what is not synced': {
    file: 'reader.ts',
    right: 'const waiting = settled();',
    wrong: 'const waiting = null as Promise<void> | null;',
  },
  'gone is told at once': {
    file: 'store.ts',
    right: '(found) => found !== null',
    wrong: '() => true',
  },
  'a receipt is told at once': {
    file: 'store.ts',
    right: 'reads.findReceipt(id, manager ?? null, time.earliest()))',
    wrong: 'reads.findReceipt(id, manager ?? null, time.earliest()), () => true)',
  },
  'commits of other processes are taken for synced': {
    file: 'log.ts',
    right: 'onChange();',
    wrong: '',
  },
  'a sync that had begun before is believed': {
    file: 'log.ts',
    right: 'if (this.#running.upto === this.#seen) return this.#running.ended;',
    wrong: 'return this.#running.ended;',
  },
};

/** Noticed on a disk of which a sync has failed. */
const syncDefects: Readonly<Record<string, Defect>> = {
  'a sync after a failed one is believed': {
    file: 'log.ts',
    right: 'if (this.#failure !== null) return Promise.reject(this.#failure);',
    wrong: '',
  },
};

/** `''` for none. */
export function seedDefect(name: string): void {
  if (name === '') return;
  const { file, right, wrong } = { ...toldDefects, ...syncDefects }[name] as Defect;
  const path = join(folder, file);
  Bun.plugin({
    name,
    setup(build) {
      build.onLoad({ filter: /src\/store\/sqlite\/[a-z-]+\.ts$/ }, async (loaded) => {
        const text = await Bun.file(loaded.path).text();
        if (loaded.path !== path) return { contents: text, loader: 'ts' };
        if (text.split(right).length !== 2) throw new Error(`${file} does not say once: ${right}`);
        return { contents: text.replace(right, wrong), loader: 'ts' };
      });
    },
  });
}

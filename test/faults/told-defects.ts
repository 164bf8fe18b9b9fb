/** Seeded defects of the embedded store: one text of its code replaced by another, in a process that has not loaded it yet. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dir, '..', '..', 'src', 'store', 'sqlite');

interface Defect {
  readonly right: string;
  readonly wrong: string;
}

export const toldDefects: Readonly<Record<string, Defect>> = {
  'nothing is synced': {
    right: 'if (this.#safe === this.#seen) return null;',
    wrong: 'return null;',
  },
  'an answer comes before its sync': {
    right: 'await this.#parts.settled();',
    wrong: 'void this.#parts.settled();',
  },
  'a reader tells what is not synced': {
    right: 'const onDisk = mayTellNow?.(result) === true ? null : settled();',
    wrong: 'const onDisk = null as Promise<void> | null;',
  },
  'gone is told at once': {
    right: '(found) => found !== null',
    wrong: '() => true',
  },
  'a receipt is told at once': {
    right: 'reads.findReceipt(id, manager ?? null, time.earliest()))',
    wrong: 'reads.findReceipt(id, manager ?? null, time.earliest()), () => true)',
  },
  'commits of other processes are taken for synced': {
    right: 'onChange();',
    wrong: '',
  },
  'a sync that had begun before is believed': {
    right: 'if (this.#running.upto === this.#seen) return this.#running.ended;',
    wrong: 'return this.#running.ended;',
  },
};

/** Noticed on a disk of which a sync has failed, and beside hashes and look-ups of names. */
const syncDefects: Readonly<Record<string, Defect>> = {
  'a log of which a sync has failed is not written anew': {
    right: 'writeAnew(db,',
    wrong: '((..._: unknown[]) => {})(db,',
  },
  'a log has no first commit in the thread': {
    right: 'if (isWritten) beginLog(db);',
    wrong: '',
  },
  'the runtime’s pool syncs': {
    right: 'await this.#send(this.#log);',
    wrong: "await new Promise((done) => require('node:fs').fdatasync(this.#log, done));",
  },
  'a sync after a failed one is believed': {
    right: 'if (this.#failure !== null) return Promise.reject(this.#failure);',
    wrong: '',
  },
};

/** The one file that says this, once. */
function fileWith(text: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const paths = names.map((name) => join(folder, name));
  const saying = paths.filter((path) => readFileSync(path, 'utf8').includes(text));
  const [path = '', ...others] = saying;
  if (others.length > 0 || readFileSync(path, 'utf8').split(text).length !== 2)
    throw new Error(`not one place, but ${saying.length} files say: ${text}`);
  return path;
}

/** `''` for none. */
export function seedDefect(name: string): void {
  if (name === '') return;
  const { right, wrong } = { ...toldDefects, ...syncDefects }[name] as Defect;
  const path = fileWith(right);
  if (Bun.isMainThread) seedThreads(name);
  Bun.plugin({
    name,
    setup(build) {
      build.onLoad({ filter: /src\/store\/sqlite\/[a-z-]+\.ts$/ }, (loaded) => {
        const text = readFileSync(loaded.path, 'utf8');
        return { contents: loaded.path === path ? text.replace(right, wrong) : text, loader: 'ts' };
      });
    },
  });
}

/** In the threads that this one begins from now on, too. */
function seedThreads(name: string): void {
  process.env[inThreads] = name;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, { ...options, preload: import.meta.path });
    }
  };
}
const inThreads = 'SEEDED_DEFECT';
if (!Bun.isMainThread) seedDefect(process.env[inThreads] ?? '');

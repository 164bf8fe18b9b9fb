/**
 * Preloaded into a server: counts its statements, on both threads of the embedded store and on PostgreSQL, the syncs that it asks for, and
 * its slow hashes. A GET of the port in `COUNTS_PORT` answers with those since the last one.
 */
import { Database } from 'bun:sqlite';
import { createRequire } from 'node:module';
import pg from 'pg';

// biome-ignore lint/suspicious/noExplicitAny: stands for any method that is counted
type Any = any;

interface Counted {
  readonly kind: 'counted';
  readonly work: readonly string[];
}

const work: string[] = [];
const taken = () => work.splice(0);

function count(owner: Any, method: string, nameOf: (first: Any) => string): void {
  const original = owner[method];
  owner[method] = function counted(this: Any, ...args: Any[]) {
    work.push(nameOf(args[0]));
    return original.apply(this, args);
  };
}

const counted = new WeakSet<object>();
const { query } = Database.prototype as Any;
(Database.prototype as Any).query = function prepared(this: Database, sql: string) {
  const statement = query.call(this, sql);
  if (counted.has(statement)) return statement;
  counted.add(statement);
  for (const method of ['get', 'all', 'run', 'values']) count(statement, method, () => sql);
  return statement;
};

if (Bun.isMainThread) {
  const argon2 = createRequire(import.meta.url)('@node-rs/argon2');
  count(pg.Client.prototype, 'query', (given) => given.text ?? given);
  count(argon2, 'hashRaw', () => 'argon2id');
  count(Bun.password, 'hash', () => 'bcrypt');
  count(Bun.password, 'verify', () => 'bcrypt');
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, { ...options, preload: import.meta.path });
      this.addEventListener('message', (event: MessageEvent<Partial<Counted> | null>) => {
        if (event.data?.kind !== 'counted') return;
        event.stopImmediatePropagation();
        work.push(...(event.data.work ?? []));
      });
    }
    // A number is a file to be synced.
    override postMessage(message: unknown): void {
      if (typeof message === 'number') work.push('sync the log');
      super.postMessage(message);
    }
  };
  Bun.serve({
    hostname: '127.0.0.1',
    port: Number(process.env.COUNTS_PORT),
    fetch: () => Response.json(taken()),
  });
} else {
  const post = self.postMessage.bind(self) as (...args: Any[]) => void;
  // Before each answer, so that the server has counted when it answers.
  (self as Any).postMessage = (...args: Any[]) => {
    if (work.length > 0) post({ kind: 'counted', work: taken() } satisfies Counted);
    post(...args);
  };
}

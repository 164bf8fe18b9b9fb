/**
 * A toy one-time secret server with a chosen defect, which the fault tests must catch.
 *
 * With `DEFECT=none` it keeps the promises that the fault tests check (across a killed process, not across a lost
 * machine), so anything found with a defect is that defect. Runs as a process, with `PORT`, `MAYFLY_DATA_DIR` and `DEFECT`
 * in the environment.
 */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';

/**
 * - `read-then-delete`: reads, lets others run, then deletes.
 * - `acknowledge-first`: answers a create before it is on disk; shows only when the process dies.
 * - `release-first`: answers a reveal before the consumption is on disk; likewise.
 * - `stale-receipt`: the receipt is updated some time after the value is released.
 * - `log-url`: logs the path of each request.
 * - `cut-on-term`: exits immediately on SIGTERM.
 * - `count-late`: counts a wrong passphrase only after checking it.
 * - `no-time-limit`: waits forever for the rest of a request.
 */
const defect = process.env.DEFECT ?? 'none';

interface ToyRecord {
  readonly secret_key: string;
  readonly metadata_key: string;
  value: string | null;
  state: string;
  /** Not kept on disk. */
  burnedBy?: string;
  /** Not kept on disk. */
  passphrase?: string;
  attempts?: number;
}

const database = new Database(join(process.env.MAYFLY_DATA_DIR ?? '.', 'toy.db'));
database.run('PRAGMA journal_mode = WAL');
// Enough for a killed process: the kernel already has what was written.
database.run('PRAGMA synchronous = OFF');
database.run(
  'CREATE TABLE IF NOT EXISTS records (secret_key TEXT PRIMARY KEY, metadata_key TEXT, value TEXT, state TEXT)',
);
const write = database.prepare('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)');
const bySecretKey = new Map<string, ToyRecord>();
const byMetadataKey = new Map<string, ToyRecord>();

function index(record: ToyRecord): void {
  bySecretKey.set(record.secret_key, record);
  byMetadataKey.set(record.metadata_key, record);
}
for (const record of database.query<ToyRecord, []>('SELECT * FROM records').all()) index(record);

const lateMilliseconds = 40;
const later = (work: () => void) => void setTimeout(work, lateMilliseconds);
const turn = () => new Promise((resolve) => setTimeout(resolve, 2));

function store({ secret_key, metadata_key, value, state }: ToyRecord): void {
  write.run(secret_key, metadata_key, value, state);
}

function create(value: string, passphrase?: string): ToyRecord {
  const draw = () =>
    Array.from(crypto.getRandomValues(new Uint8Array(31)), (byte) => (byte % 36).toString(36)).join('');
  const record: ToyRecord = { secret_key: draw(), metadata_key: draw(), value, state: 'new' };
  if (passphrase !== undefined) record.passphrase = passphrase;
  index(record);
  if (defect === 'acknowledge-first') later(() => store(record));
  else store(record);
  return record;
}

/** Returns the value once; `null` when it is gone. */
async function consume(key: string, end: 'reader' | 'creator' | 'recipient'): Promise<string | null> {
  const record = bySecretKey.get(key);
  const value = record?.value ?? null;
  if (record === undefined || value === null) return null;
  if (defect === 'read-then-delete') await turn();
  record.value = null;
  const state = end === 'reader' ? 'received' : 'burned';
  record.burnedBy = end === 'reader' ? '' : end;
  if (defect === 'stale-receipt') later(() => Object.assign(record, { state }));
  else record.state = state;
  if (defect === 'release-first') later(() => store(record));
  else store(record);
  return value;
}

/** The refusal of a guess; `null` when it is right or none is needed. */
async function refuseGuess(key: string, given: string | undefined): Promise<Response | null> {
  const record = bySecretKey.get(key);
  if (record?.passphrase === undefined) return null;
  const attempts = record.attempts ?? 0;
  if (attempts >= 5) return Response.json({}, { status: 429, headers: { 'Retry-After': '600' } });
  if (defect !== 'count-late') record.attempts = attempts + 1;
  await turn();
  if (given === record.passphrase) return null;
  if (defect === 'count-late') record.attempts = (record.attempts ?? 0) + 1;
  return Response.json({}, { status: 422 });
}

const gone = (key: string) => Response.json({ message: 'Unknown secret', secret_key: key }, { status: 404 });

async function answer(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (defect === 'log-url') console.log(`${request.method} ${pathname}`);
  const [, , version, noun = '', key = '', verb = ''] = pathname.split('/');
  if (pathname === '/healthz' || noun === 'status') return new Response('ok');
  const text = await request.text();
  if (noun === 'share') return Response.json(create(new URLSearchParams(text).get('secret') ?? ''));
  if (noun === 'secret' && key === 'conceal') {
    const { secret } = JSON.parse(text);
    const { secret_key, metadata_key } = create(secret.secret, secret.passphrase);
    return Response.json({ record: { secret: { key: secret_key }, metadata: { key: metadata_key } } });
  }
  if (noun === 'secret') {
    const passphrase =
      version === 'v1' ? new URLSearchParams(text).get('passphrase') : JSON.parse(text).passphrase;
    const refusal = await refuseGuess(key, passphrase ?? undefined);
    if (refusal !== null) return refusal;
    const value = await consume(key, verb === 'burn' ? 'recipient' : 'reader');
    if (version === 'v1') return value === null ? gone(key) : Response.json({ secret_key: key, value });
    return value === null
      ? Response.json({ success: false, error: 'unknown_secret', secret_key: key }, { status: 404 })
      : Response.json({
          success: true,
          record: verb === 'burn' ? { key, state: 'burned' } : { secret_value: value },
        });
  }
  const record = byMetadataKey.get(key);
  if (record === undefined) return gone(key);
  if (verb !== 'burn') return Response.json({ state: record.state, record: { burned_by: record.burnedBy } });
  const value = await consume(record.secret_key, 'creator');
  if (version === 'v1')
    return value === null
      ? gone(key)
      : Response.json({ metadata_key: key, status: 'burned', state: { state: 'burned' } });
  return value === null
    ? Response.json({ error: 'already_gone', record: { is_destroyed: true } }, { status: 409 })
    : Response.json({ record: { key, state: 'burned', is_burned: true } });
}

const server = Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  development: false,
  idleTimeout: defect === 'no-time-limit' ? 0 : 5,
  fetch: answer,
});
process.on('SIGTERM', async () => {
  if (defect !== 'cut-on-term') await server.stop(false);
  process.exit(0);
});

/**
 * One connection, for one caller at a time. Queries that a caller sends together go out in one write, as separate
 * statements.
 *
 * A slow statement is cancelled on the server, through another connection. Otherwise a commit that waits for a standby
 * would occupy its backend for as long as the standby is away; not even `statement_timeout` ends that wait.
 */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import { ServiceError } from '../../core/errors.ts';
import { isLoopbackHost } from '../../core/links.ts';
import { endsConnection, NotExecutedError } from './faults.ts';
import { inSchema, type Statement } from './statement.ts';

export type Values = readonly unknown[];

export interface ServerAddress {
  readonly url: string;
  /** `false` means unencrypted. */
  readonly tls: ConnectionOptions | false;
  /** Replaces `mayfly_store`, so that tests can share a server. */
  readonly schema?: string;
}

export interface Query {
  readonly statement: Statement;
  readonly values: Values;
}

/** One reply per query, in order. Rejection reasons are the driver's errors. */
export type Replies = readonly PromiseSettledResult<readonly unknown[]>[];

export interface Connection {
  /** If `true`, statements may run on different backends, and prepared statements do not survive. */
  readonly isPooled: boolean;
  isUsable(): boolean;
  /** A notice may be the only sign of an unconfirmed commit. */
  noticeCount(): number;
  /** Rejects as `unavailable` at `deadlineMs` (by `performance.now()`), after which the connection is unusable. */
  ask(queries: readonly Query[], deadlineMs: number): Promise<Replies>;
  /**
   * Runs statements without parameters, up to the first that fails. Returns the rows of the last; rejects with the
   * driver's error.
   */
  run(text: string, deadlineMs: number): Promise<readonly unknown[]>;
  end(): Promise<void>;
}

const bytea = 17;
const int8 = 20;

/** 64-bit integers are always below 2^53 here. */
export const valueTypes = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): (value: never) => unknown {
    if (oid === int8) return Number as (value: never) => unknown;
    const parse = pg.types.getTypeParser(oid, format as 'text');
    if (oid !== bytea) return parse as (value: never) => unknown;
    return (value: never) => new Uint8Array(parse(value) as unknown as Buffer);
  },
};

const connectMs = 3_000;
/** How long the server has to receive a cancel request, then to end the statement, and finally the session. */
const cancelMs = 1_000;
const answerMs = 500;
const endMs = 200;
const maxCancels = 5;
/** If this many cancel requests were received without effect, they reached a different server from the connection's. */
const takenCancels = 2;

/** Otherwise a better-matching operator or function in another schema would run with this role's rights. */
export const fixedPath = 'search_path TO pg_catalog, pg_temp';

/**
 * JIT compilation can take longer than the statement itself (1.3 s observed for one of 10 ms). An engine without this
 * setting does not compile statements.
 */
const ownSettings = `
  SET ${fixedPath};
  SELECT set_config(name, 'off', false) FROM pg_settings WHERE name = 'jit'`;

const clientOf = ({ url, tls }: ServerAddress) =>
  new pg.Client({
    connectionString: url,
    ssl: tls,
    types: valueTypes as pg.CustomTypesConfig,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectMs,
    fallback_application_name: 'mayfly',
  });

interface BackendKey {
  readonly processID: number;
  readonly secretKey: number;
}

const within = (ms: number, event: Promise<unknown>): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  void event.then(() => resolve(true));
  return promise.finally(() => clearTimeout(timer));
};

interface CancelConnection extends pg.Connection {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

/** Resolves to whether the server received the request in time. */
async function requestCancel(client: pg.Client, { tls }: ServerAddress): Promise<boolean> {
  const { processID, secretKey } = client as unknown as BackendKey;
  const link = new pg.Connection({ ssl: tls } as pg.ConnectionConfig) as CancelConnection;
  const ended = new Promise<void>((resolve) => link.once('end', resolve));
  let isSent = false;
  const send = () => {
    link.cancel(processID, secretKey);
    isSent = true;
  };
  link.on('error', () => {});
  link.on('connect', () => (tls === false ? send() : link.requestSsl()));
  link.on('sslconnect', send);
  if (client.host.startsWith('/')) link.connect(`${client.host}/.s.PGSQL.${client.port}`);
  else link.connect(client.port, client.host);
  const hasEnded = await within(cancelMs, ended);
  link.stream.destroy();
  return hasEnded && isSent;
}

/** Over TLS, only the server can read the password; otherwise it must not leave this machine. */
const mayTellPassword = ({ host }: pg.Client, { tls }: ServerAddress): boolean =>
  tls !== false || host.startsWith('/') || isLoopbackHost(host.toLowerCase());

/** A man in the middle could pose as the server and request the password in cleartext. */
function refuseToTell({ connection }: pg.Client): void {
  connection.prependListener('authenticationCleartextPassword', () =>
    connection.stream.destroy(new Error('PostgreSQL asks for the password without encryption.')),
  );
}

export async function openConnection(server: ServerAddress): Promise<Connection> {
  const client = clientOf(server);
  let [isOpen, isSpent, notices] = [true, false, 0];
  const closed = new Promise<void>((resolve) => client.once('end', resolve));
  client.on('error', () => {
    isSpent = true;
  });
  client.on('end', () => {
    isOpen = false;
  });
  client.on('notice', () => {
    notices += 1;
  });
  if (!mayTellPassword(client, server)) refuseToTell(client);
  await client.connect();
  let answered: Promise<unknown> = Promise.resolve();
  let ending: Promise<void> | null = null;

  async function cancel(): Promise<boolean> {
    for (let [tries, taken] = [0, 0]; tries < maxCancels && taken < takenCancels; tries += 1) {
      if (await within(0, answered)) return true;
      if (await requestCancel(client, server)) taken += 1;
      if (await within(answerMs, Promise.race([answered, closed]))) return true;
    }
    return false;
  }

  async function close(): Promise<void> {
    isSpent = true;
    const hasAnswered = isOpen && (await cancel());
    if (!isOpen) return;
    if (hasAnswered) client.end(() => {});
    if (!hasAnswered || !(await within(endMs, closed))) client.connection.stream.destroy();
  }
  const end = (): Promise<void> => {
    ending ??= close();
    return ending;
  };

  const send = ({ statement: { name, text }, values }: Query, isPrepared: boolean) =>
    client.query({ text: inSchema(text, server.schema), ...(isPrepared && { name }), values: [...values] });

  async function ask(queries: readonly Query[], deadlineMs: number, isPrepared: boolean): Promise<Replies> {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) throw new NotExecutedError('There was no time left.', { mayTryAgain: false });
    const { promise, resolve, reject } = Promise.withResolvers<Replies>();
    const timer = setTimeout(() => {
      void end();
      reject(new ServiceError('unavailable', 'PostgreSQL did not answer in time.'));
    }, leftMs);
    const { stream } = client.connection;
    // Sends all queries in one write.
    stream.cork();
    const all = Promise.allSettled(
      queries.map(async (query) => {
        const result: pg.QueryResult | pg.QueryResult[] = await send(query, isPrepared);
        return (Array.isArray(result) ? result.at(-1)?.rows : result.rows) ?? [];
      }),
    );
    stream.uncork();
    answered = all;
    void all.then((replies) => {
      clearTimeout(timer);
      if (replies.some((reply) => reply.status === 'rejected' && endsConnection(reply.reason))) void end();
      resolve(replies);
    });
    return promise;
  }

  async function run(text: string, deadlineMs: number): Promise<readonly unknown[]> {
    const [reply] = await ask([{ statement: { name: '', text }, values: [] }], deadlineMs, false);
    if (reply?.status === 'fulfilled') return reply.value;
    throw reply?.reason;
  }

  /** Returns whether this is a pooler, which we recognise because it numbers its clients itself. */
  async function prepare(): Promise<boolean> {
    const deadlineMs = performance.now() + connectMs;
    try {
      const [backend] = await run('SELECT pg_catalog.pg_backend_pid() AS pid', deadlineMs);
      const meetsPooler = (backend as { pid: number }).pid !== (client as unknown as BackendKey).processID;
      if (!meetsPooler) await run(ownSettings, deadlineMs);
      return meetsPooler;
    } catch (cause) {
      void end();
      throw cause;
    }
  }

  const isPooled = await prepare();
  return {
    isPooled,
    isUsable: () => isOpen && !isSpent,
    noticeCount: () => notices,
    ask: (queries, deadlineMs) => ask(queries, deadlineMs, !isPooled),
    run,
    end,
  };
}

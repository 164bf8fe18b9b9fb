/**
 * A visitor over TLS who chooses the host name.
 *
 * The request itself resolves names to 127.0.0.1, the certificate is checked against the given authority and the
 * requested name, and the user's configuration is not read.
 */
import { spawn } from 'node:child_process';
import { watch } from '../support/started-server.ts';

const tool = 'curl';

export interface Visit {
  readonly host: string;
  readonly port: number;
  /** The path of a PEM certificate; plain HTTP when absent. */
  readonly authority?: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The visitor's own address, one of 127.0.0.0/8. */
  readonly from?: string;
}

export type Visited =
  | { readonly outcome: 'answered'; readonly status: number; readonly head: string; readonly body: string }
  /** No answer. `code` is curl's: 35 when the handshake failed, 60 when the certificate does not match. */
  | { readonly outcome: 'failed'; readonly code: number | null };

const limitSeconds = 20;

export async function visit({ host, port, authority, path, ...rest }: Visit): Promise<Visited> {
  const scheme = authority === undefined ? 'http' : 'https';
  const args = [
    '-q',
    '-sS',
    '-i',
    '--max-time',
    String(limitSeconds),
    '--resolve',
    `${host}:${port}:127.0.0.1`,
  ];
  // Otherwise curl would wait for an interim answer before a large body.
  args.push('-X', rest.method ?? (rest.body === undefined ? 'GET' : 'POST'), '-H', 'Expect:');
  if (authority !== undefined) args.push('--cacert', authority);
  if (rest.from !== undefined) args.push('--interface', rest.from);
  if (rest.body !== undefined) args.push('--data-binary', '@-');
  for (const [name, value] of Object.entries(rest.headers ?? {})) args.push('-H', `${name}: ${value}`);
  const { PATH = '' } = process.env;
  const child = spawn(tool, [...args, `${scheme}://${host}:${port}${path}`], {
    env: { PATH },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A server that refuses early closes this end too.
  child.stdin.on('error', () => {});
  child.stdin.end(rest.body ?? '');
  const { stdout, exited } = watch(child);
  const { code } = await exited;
  if (code !== 0) return { outcome: 'failed', code };
  const [head = '', ...body] = stdout().split('\r\n\r\n');
  return {
    outcome: 'answered',
    status: Number(head.split(' ')[1]),
    head: head.toLowerCase(),
    body: body.join('\r\n\r\n'),
  };
}

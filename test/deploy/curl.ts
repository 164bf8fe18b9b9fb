/**
 * A visitor with a name of its own choosing, over TLS.
 *
 * Names are resolved to 127.0.0.1 by the call itself, the certificate is checked against the given authority and the name
 * asked for, and nothing of the user's configuration is read.
 */
import { spawn } from 'node:child_process';
import { watch } from '../support/started-server.ts';

const tool = 'curl';

export interface Visit {
  readonly host: string;
  readonly port: number;
  /** The path of a certificate in PEM; plain HTTP when absent. */
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
  /** There was no answer. `code` is curl's: 35 where the handshake failed, 60 where the certificate does not fit. */
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
  // Without it curl would wait for an interim answer before a large body.
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
  // Who refuses early closes this end too.
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

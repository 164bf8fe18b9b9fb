/**
 * An account with share domains, as a client of a started server.
 */
import type { DomainRecord } from '../../src/api/v2/domain-records.ts';
import { runProduct, type StartedServer } from '../support/started-server.ts';

export interface DomainClient {
  /** Calls a path below `/api/v2`; POST when there is a body, which is sent as JSON. */
  call(
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly body: ReturnType<typeof JSON.parse> }>;
  /** Registers a domain; throws when it is refused. */
  add(domain: string): Promise<DomainRecord>;
  /** Asks the DNS now; returns the state and the finding. */
  verify(domain: string): Promise<readonly [string, string | null]>;
}

export async function openDomainClient(server: StartedServer, email: string): Promise<DomainClient> {
  const made = await runProduct(['src/main.ts', 'account', 'create', email, '--plan', 'identity', '--json'], {
    MAYFLY_DATA_DIR: server.dataDir,
  });
  if (made.code !== 0) throw new Error(`account create ended with ${made.code}: ${made.stderr}`);
  const { username, token } = JSON.parse(made.stdout) as { username: string; token: string };
  const authorization = `Basic ${btoa(`${username}:${token}`)}`;
  const client: DomainClient = {
    async call(path, body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${server.port}/api/v2${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: JSON.parse(await response.text()) };
    },
    async add(domain) {
      const { status, body } = await client.call('/domains', { domain });
      if (status !== 200) throw new Error(`${domain} was not added: ${JSON.stringify(body)}`);
      return body.record as DomainRecord;
    },
    async verify(domain) {
      const { body } = await client.call(`/domains/${domain}/verify`, {});
      return [body.record.state, body.record.finding];
    },
  };
  return client;
}

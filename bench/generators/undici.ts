/**
 * Load from undici, the HTTP client of Node: requests reach the server in the groups in which a real client sends them.
 *
 * Runs under Node, built for it by `start.ts`.
 */
import { Pool } from 'undici';
import type { JobAnswer, JobRequest } from '../jobs.ts';
import { type Client, drive, type OpenClients } from './drive.ts';

async function ask(pool: Pool, { method, path, headers, body }: JobRequest): Promise<JobAnswer> {
  const answer = await pool.request({ method, path, headers, body: method === 'POST' ? body : null });
  return { status: answer.statusCode, body: await answer.body.text() };
}

const open: OpenClients = async ({ port, connections }, onFault) => {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
  const client: Client = {
    send: (request, onAnswer) => void ask(pool, request).then(onAnswer).catch(onFault),
  };
  return { all: Array.from({ length: connections }, () => client), close: () => pool.close() };
};

await drive(open);

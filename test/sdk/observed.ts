/** What a client is seen to do: how a call fails, and what it sends. */
import { type Fetch, MayflyError } from '../../sdk/mayfly.ts';

/** The error of a call that must fail. */
export async function failure(work: Promise<unknown>): Promise<MayflyError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof MayflyError) return error;
  throw new Error(`no MayflyError: ${String(error)}`);
}

/** `sent`: method, path, headers and body of everything that went through `recording`. */
export function recordRequests(): { readonly sent: string[]; readonly recording: Fetch } {
  const sent: string[] = [];
  const recording: Fetch = (url, init) => {
    sent.push(`${init.method} ${url}\n${JSON.stringify(init.headers)}\n${init.body ?? ''}`);
    return fetch(url, init);
  };
  return { sent, recording };
}

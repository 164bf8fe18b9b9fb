/** What the tests of requests share: an account that asks, and those who answer. */
import { expect } from 'bun:test';
import type { TestAppOptions } from '../support/app.ts';
import { type ClientAnswer, type ClientRequest, clientRequest } from '../support/asking.ts';
import { as } from './concealing.ts';
import { createDocumentedApp, type DocumentedApp, type Told } from './documented-app.ts';

/** An app with an account that asks. */
export async function openWorld(options: TestAppOptions = {}) {
  const app = createDocumentedApp(options);
  const alice = await app.account('alice@example.com');
  const make = (request: ClientRequest, more: object = {}, headers: Record<string, string> = as(alice)) =>
    app.call('/request', { json: { ...request.wire, ...more }, headers });
  const asked = async (more: object = {}, request = clientRequest()) => {
    const { status, body } = await make(request, more);
    expect(status).toBe(200);
    const key: string = body.record.key;
    const to = (what: string, json: object, headers: Record<string, string> = {}) =>
      app.call(`/request/${key}/${what}`, { json, headers });
    return {
      key,
      record: body.record,
      request,
      to,
      answer: ({ wire }: ClientAnswer) => to('answer', { ...request.ask, ...wire }),
      answers: () => to('answers', request.owner),
      change: (json: object, headers?: Record<string, string>) => to('change', json, headers),
      discard: (secret_key: string) => to('discard', { ...request.owner, secret_key }),
      states: async () =>
        (await to('answers', request.owner)).body.records.map(
          ({ state, discarded }: { state: string; discarded: boolean }) =>
            discarded ? `${state}, discarded` : state,
        ),
    };
  };
  return { app, alice, make, asked };
}

export const open = ({ app }: { app: DocumentedApp }, key: string, { secret }: ClientAnswer) =>
  app.call(`/secret/${key}/reveal`, { json: secret.body });
/** `done`, or what was refused. */
export const codeOf = ({ status, body }: Told) => (status === 200 ? 'done' : `${status} ${body.error}`);

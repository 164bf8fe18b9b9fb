/** What the ugliest bodies cost every endpoint that takes one (P21, P24): as a count here, as processor time in `bench/bodies.ts`. */
import { describe, expect, it } from 'bun:test';
import { createTestApp } from '../support/app.ts';
import { bodyEndpoints, operationsWithBody, pagesWithBody, rowsOfBodies } from './body-endpoints.ts';
import { countSteps } from './counted-work.ts';
import type { UglyBody } from './ugly-bodies.ts';

const most = 4;

describe('the table of bodies', () => {
  it('has a row for each operation and each page that takes one', async () => {
    const app = createTestApp();
    const names = (addresses: readonly { readonly name: string }[]) =>
      addresses.map(({ name }) => name).sort();
    expect(names(operationsWithBody(app))).toEqual([...rowsOfBodies.operations].sort());
    expect(names(await pagesWithBody(app))).toEqual([...rowsOfBodies.pages].sort());
  });
});

describe('P21: a body', () => {
  it('is not read on a page that needs an account, from somebody who has none', async () => {
    const app = createTestApp();
    const sentOn: string[] = [];
    for (const { path } of await pagesWithBody(app)) {
      const address = `http://localhost${path.replace(':key', 'a')}`;
      const request = new Request(address, { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
      const { status, headers } = await app.handler(request);
      if (!/^\/log-in(?:$|\?back=)/.test(headers.get('location') ?? '')) continue;
      expect({ path, status, isRead: request.bodyUsed }).toEqual({ path, status: 303, isRead: false });
      sentOn.push(path);
    }
    expect(sentOn.filter((path) => path.startsWith('/account')).length).toBeGreaterThan(8);
  });
});

for (const dialect of ['documented', 'upstream'] as const)
  describe(`P21: the ugliest body is at most ${most} times the work of the plainest, byte by byte, in the ${dialect} dialect`, async () => {
    for (const { label, bodies, send } of await bodyEndpoints(dialect))
      it(label, async () => {
        const stepsOf = async (body: UglyBody) =>
          (await countSteps(async () => (await send(body)).arrayBuffer())) / body.bytes.length;
        const [plainest, ...others] = bodies();
        if (plainest === undefined) throw new Error('nothing is sent');
        await stepsOf(plainest);
        const plain = await stepsOf(plainest);
        for (const body of others) {
          const ratio = (await stepsOf(body)) / plain;
          if (ratio > most)
            expect({ body: body.label, ratio, plain }).toEqual({ body: body.label, ratio: most, plain });
        }
      }, 60_000);
  });

import { describe, expect, it } from 'bun:test';
import { key, setUp } from '../../test/http/api-fixture.ts';

describe('PATCH', () => {
  it('is served beside the other methods of its path, and names it in Allow and in the log', async () => {
    const { ask, answers } = setUp();
    const allow = 'GET, HEAD, PATCH, OPTIONS';
    const changed = await ask(`/api/t/note/${key}`, { method: 'PATCH', body: 'x' });
    expect([changed.status, (await changed.json()).params]).toEqual([200, { key }]);
    expect(answers.at(-1)).toMatchObject({ operation: 't.change', method: 'PATCH', status: 200 });
    expect((await ask(`/api/t/note/${key}`)).status).toBe(200);
    for (const [method, status] of [
      ['OPTIONS', 204],
      ['POST', 405],
    ] as const) {
      const answer = await ask(`/api/t/note/${key}`, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    }
  });

  it('P3 runs no handler when its client has left, and waits for the end of the turn to know', async () => {
    let runs = 0;
    const { ask } = setUp({
      handle: () => {
        runs++;
        return { status: 200, body: null };
      },
    });
    const leaving = new AbortController();
    const asked = ask(`/api/t/note/${key}`, { method: 'PATCH', signal: leaving.signal });
    leaving.abort();
    await asked;
    expect(runs).toBe(0);
    await ask(`/api/t/note/${key}`, { method: 'PATCH' });
    expect(runs).toBe(1);
  });
});

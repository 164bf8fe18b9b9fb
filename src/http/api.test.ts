import { describe, expect, it } from 'bun:test';
import { key, operations, post, setUp } from '../../test/http/api-fixture.ts';
import { ServiceError } from '../core/errors.ts';
import type { Operation } from './operation.ts';
import { RequestProblem } from './problem.ts';

/** Operations that add a header while they decode, then call `then`. */
function adding(then: () => unknown) {
  const decode: Operation['decode'] = (exchange) => {
    exchange.setAnswerHeader('x-said', 'first');
    exchange.setAnswerHeader('x-said', 'last');
    return then();
  };
  return setUp({ surface: { operations: operations().map((operation) => ({ ...operation, decode })) } });
}

const refuse = () => {
  throw new RequestProblem({ problem: 'malformed', message: 'no' });
};
const fault = () => {
  throw new TypeError('unforeseen');
};
const unavailable = () => {
  throw new ServiceError('unavailable', 'away', { retryAfterSeconds: 1 });
};

describe('a header that an operation adds', () => {
  for (const [what, then, status] of [
    ['success', () => null, 200],
    ['a refusal', refuse, 400],
    ['a fault', fault, 500],
    ['a store that is away', unavailable, 503],
  ] as const) {
    it(`stands once in the answer of ${what}, with the value given last`, async () => {
      const answer = await adding(then).ask('/api/t/create', post());
      expect([answer.status, answer.headers.get('x-said')]).toEqual([status, 'last']);
    });
  }
  it('is that of one call: the next has none', async () => {
    const { ask } = adding(() => null);
    expect((await ask('/api/t/status')).headers.get('x-said')).toBe('last');
    expect((await ask('/api/t/nothing')).headers.get('x-said')).toBeNull();
  });
});

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

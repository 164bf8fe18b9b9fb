import { describe, expect, it } from 'bun:test';
import { operations, post, setUp } from '../../test/http/api-fixture.ts';
import { ServiceError } from '../core/errors.ts';
import type { Operation } from './operation.ts';
import { RequestProblem } from './problem.ts';

/** Every operation adds a header while it decodes, then does this. */
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

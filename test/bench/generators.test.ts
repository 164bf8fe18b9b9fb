/** Both load generators do the same work and believe no wrong answer. */
import { afterAll, beforeAll, describe, expect, it } from 'bun:test';
import { type Generator, generatorNames, startGenerator } from '../../bench/generators.ts';
import { benchValue, type JobKind } from '../../bench/jobs.ts';

const key = 'k'.repeat(31);

/** What a server answers, by path; 404 for all else. */
type Answers = Readonly<Record<string, string>>;

const createOnly: Answers = { '/api/v1/share': `{"secret_key":"${key}"}` };
const whole: Answers = { ...createOnly, [`/api/v1/secret/${key}`]: `{"value":"${benchValue}"}` };

/** @param asked counts how often each path was asked for */
const serveAnswers = (answers: Answers, asked: Record<string, number>) =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      await request.text();
      asked[pathname] = (asked[pathname] ?? 0) + 1;
      const answer = answers[pathname];
      return answer === undefined ? new Response('unknown', { status: 404 }) : new Response(answer);
    },
  });

/** Runs trips against a server with these answers; resolves to how often each path was asked for. */
async function runTrips(generator: Generator, kind: JobKind, answers: Answers, keys?: readonly string[]) {
  const asked: Record<string, number> = {};
  await using server = serveAnswers(answers, asked);
  const job = { kind, port: server.port ?? 0, connections: 4, trips: keys?.length ?? 50 };
  const result = await generator.run(keys === undefined ? job : { ...job, keys });
  return { asked, result };
}

for (const name of generatorNames) {
  describe(`the generator ${name}`, () => {
    let generator: Generator;
    beforeAll(async () => {
      generator = await startGenerator(name);
    });
    afterAll(() => generator[Symbol.dispose]());

    it('makes as many trips as asked for, each with its requests', async () => {
      const { asked, result } = await runTrips(generator, 'trip-v1', whole);
      expect(asked).toEqual({ '/api/v1/share': 50, [`/api/v1/secret/${key}`]: 50 });
      expect(result.trips).toBe(50);
    });

    it('gives back every so many keys, and reveals those that it is given', async () => {
      const secret = `/api/v1/secret/${key}`;
      await using server = serveAnswers(whole, {});
      const common = { port: server.port ?? 0, connections: 4 };
      const { keys } = await generator.run({ ...common, kind: 'create-v1-form', trips: 50, keepEach: 10 });
      expect(keys).toEqual(Array(5).fill(key));
      const { asked } = await runTrips(generator, 'reveal-v1', whole, keys);
      expect(asked).toEqual({ [secret]: 5 });
    });

    it('does one job after another', async () => {
      for (const kind of ['create-v1-form', 'create-v1-json'] as const) {
        const { asked } = await runTrips(generator, kind, whole);
        expect(asked).toEqual({ '/api/v1/share': 50 });
      }
    });
  });

  describe(`the generator ${name}, of wrong answers`, () => {
    const wrong: readonly [string, JobKind, Answers][] = [
      ['a status other than 200', 'get', {}],
      ['a create without a key', 'trip-v1', { '/api/v1/share': '{}' }],
      ['a reveal of another value', 'trip-v1', { ...whole, [`/api/v1/secret/${key}`]: '{"value":"no"}' }],
      ['a reveal that is not found', 'trip-v1', createOnly],
    ];
    for (const [what, kind, answers] of wrong) {
      it(`ends at ${what}`, async () => {
        using generator = await startGenerator(name);
        await expect(runTrips(generator, kind, answers)).rejects.toThrow(`the generator ${name} ended`);
      });
    }
  });
}

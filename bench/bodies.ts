/**
 * What the ugliest bodies cost: of every endpoint that takes one, in each form that it reads and as long as it takes, the processor time
 * beside that of the plainest body, in this process and in the same rounds.
 */
import { type BodyEndpoint, bodyEndpoints } from '../test/http/body-endpoints.ts';
import type { UglyBody } from '../test/http/ugly-bodies.ts';

export interface BodyFigure {
  readonly endpoint: string;
  readonly capBytes: number;
  /** Processor time of the plainest. */
  readonly plainMs: number;
  readonly ugliest: string;
  /** To the plainest. */
  readonly ratio: number;
}

async function cpuMsOf(endpoint: BodyEndpoint, body: UglyBody): Promise<number> {
  const before = process.cpuUsage();
  await (await endpoint.send(body)).arrayBuffer();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The rounds of small bodies, which are measured less exactly, are more. */
const bytesMeasured = 1_000_000;

async function figureOf(endpoint: BodyEndpoint, leastRounds: number): Promise<BodyFigure> {
  const bodies = endpoint.bodies();
  const [plain] = bodies;
  const capBytes = plain?.bytes.length ?? 0;
  const least = new Map(bodies.map((body) => [body, Number.POSITIVE_INFINITY]));
  const rounds = Math.max(leastRounds, Math.round(bytesMeasured / capBytes));
  Bun.gc(true);
  for (let round = 0; round < rounds; round += 1)
    for (const [body, ms] of least) least.set(body, Math.min(ms, await cpuMsOf(endpoint, body)));
  const plainMs = (plain && least.get(plain)) ?? Number.NaN;
  const [[ugliest, ms] = [undefined, Number.NaN]] = [...least].sort(([, a], [, b]) => b - a);
  return { endpoint: endpoint.label, capBytes, plainMs, ugliest: ugliest?.label ?? '', ratio: ms / plainMs };
}

export async function measureBodies(rounds: number): Promise<readonly BodyFigure[]> {
  const figures: BodyFigure[] = [];
  for (const dialect of ['documented', 'upstream'] as const)
    for (const endpoint of await bodyEndpoints(dialect)) {
      const figure = await figureOf(endpoint, rounds);
      figures.push({
        ...figure,
        endpoint: dialect === 'upstream' ? `${figure.endpoint}, upstream` : figure.endpoint,
      });
    }
  return figures;
}

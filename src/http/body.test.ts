import { describe, expect, it } from 'bun:test';
import { builtInPlans } from '../core/plans.ts';
import { BodyTimeout, bodyCapBytesFor, createBodyReader, longestBodySeconds, type ReadBody } from './body.ts';
import { type Problem, RequestProblem } from './problem.ts';

const capBytes = 1_000;
const read = createBodyReader({ capBytes });

function post(body: BodyInit | null, headers: Record<string, string> = {}): Request {
  return new Request('http://localhost/', { method: 'POST', headers, body });
}

function streamOf(
  chunks: readonly Uint8Array[],
  onCancel: () => void = () => {},
): ReadableStream<Uint8Array> {
  const rest = [...chunks];
  return new ReadableStream({
    pull(controller) {
      const chunk = rest.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(chunk);
    },
    cancel: onCancel,
  });
}

async function problemOf(reader: ReadBody, request: Request): Promise<Problem | null> {
  try {
    await reader(request);
    return null;
  } catch (error) {
    if (error instanceof RequestProblem) return error.problem;
    throw error;
  }
}

const tooLarge: Problem = { problem: 'body_too_large', capBytes };

describe('the largest body', () => {
  const capWith = (maxValueBytes: number) =>
    bodyCapBytesFor({ ...builtInPlans, basic: { ...builtInPlans.basic, maxValueBytes } });

  it('P21 is six times the largest value and passphrase, and 4 KiB for what is around them', () => {
    expect(bodyCapBytesFor(builtInPlans)).toBe(70_240);
    expect(capWith(1_000)).toBe(70_240);
    expect(capWith(20_000)).toBe(130_240);
  });

  it('is at least 64 KiB', () => {
    const smallest = { ...builtInPlans.basic, maxValueBytes: 1 };
    expect(bodyCapBytesFor({ anonymous: smallest, basic: smallest, identity: smallest })).toBe(65_536);
  });
});

describe('the most time for a body', () => {
  it('P21 grows with the length that it declares, from 64 KiB on, by a second for each 8 KiB', () => {
    expect([0, 65_536, Number.NaN].map(longestBodySeconds)).toEqual([null, null, null]);
    expect([65_537, 1_048_576].map(longestBodySeconds)).toEqual([9, 128]);
  });
});

describe('createBodyReader', () => {
  it('gives the bytes as they came, with and without a length', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, at) => at);
    expect(await read(post(bytes, { 'content-length': '256' }))).toEqual(bytes);
    expect(new Uint8Array(await read(post(streamOf([bytes.slice(0, 100), bytes.slice(100)]))))).toEqual(
      bytes,
    );
  });

  it('gives no bytes where there is no body', async () => {
    expect(await read(post(null))).toHaveLength(0);
    expect(await read(post(null, { 'content-length': '0' }))).toHaveLength(0);
    expect(await read(post(streamOf([])))).toHaveLength(0);
    expect(await read(new Request('http://localhost/'))).toHaveLength(0);
  });

  it.each([
    ['nothing', () => new Request('http://localhost/')],
    ['an empty body', () => post(null, { 'content-length': '0' })],
    ['a small body', () => post('12345', { 'content-length': '5' })],
    ['a stream', () => post(streamOf([new Uint8Array(5)]))],
  ])(
    'P3: gives %s at the end of the turn, when it is known which clients have left',
    async (_what, request) => {
      let hasTurnEnded = false;
      setImmediate(() => {
        hasTurnEnded = true;
      });
      await read(request());
      expect(hasTurnEnded).toBe(true);
    },
  );

  it('accepts a body of exactly the cap', async () => {
    const body = new Uint8Array(capBytes);
    expect(await read(post(body, { 'content-length': String(capBytes) }))).toHaveLength(capBytes);
    expect(await read(post(streamOf([body])))).toHaveLength(capBytes);
  });

  it('P21 holds a read to the cap that it names, above or below the usual one', async () => {
    const body = () => new Uint8Array(capBytes + 1);
    for (const request of [
      post(body(), { 'content-length': String(capBytes + 1) }),
      post(streamOf([body()])),
    ]) {
      expect(await read(request, capBytes + 1)).toHaveLength(capBytes + 1);
    }
    for (const request of [post('12345', { 'content-length': '5' }), post(streamOf([new Uint8Array(5)]))]) {
      expect(await problemOf((each) => read(each, 4), request)).toEqual({
        problem: 'body_too_large',
        capBytes: 4,
      });
    }
  });

  it('P21 refuses a body over the cap without reading it when its length says so', async () => {
    let isTouched = false;
    const stream = streamOf([new Uint8Array(1)], () => {
      isTouched = true;
    });
    const request = post(stream, { 'content-length': String(capBytes + 1) });
    expect(await problemOf(read, request)).toEqual(tooLarge);
    expect([isTouched, request.bodyUsed]).toEqual([false, false]);
  });

  it('P21 stops reading at the cap when no length was given', async () => {
    let given = 0;
    let isCancelled = false;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 400;
        controller.enqueue(new Uint8Array(400));
      },
      cancel() {
        isCancelled = true;
      },
    });
    expect(await problemOf(read, post(endless))).toEqual(tooLarge);
    expect(isCancelled).toBe(true);
    expect(given).toBeLessThan(capBytes * 3);
  });

  it('P21 refuses a body whose length lied', async () => {
    const body = new Uint8Array(capBytes + 1);
    expect(await problemOf(read, post(body, { 'content-length': '5' }))).toEqual(tooLarge);
  });

  it('calls a body that ended before its length malformed', async () => {
    const brokenOff: Problem = { problem: 'malformed', message: 'The request body broke off' };
    const patient = createBodyReader({ capBytes: 200_000 });
    for (const length of [6, 100_000]) {
      const request = post(streamOf([new Uint8Array(5)]), { 'content-length': String(length) });
      expect(await problemOf(patient, request)).toEqual(brokenOff);
    }
  });

  it('calls a body that broke off malformed', async () => {
    const broken = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.error(new Error('the connection was closed')),
      });
    const brokenOff: Problem = { problem: 'malformed', message: 'The request body broke off' };
    expect(await problemOf(read, post(broken()))).toEqual(brokenOff);
    expect(await problemOf(read, post(broken(), { 'content-length': '5' }))).toEqual(brokenOff);
  });

  it('P21 gives up a body that does not arrive in time, with and without a length', async () => {
    const impatient = createBodyReader({ capBytes, limitMs: 20 });
    const never = () => new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
    for (const headers of [{}, { 'content-length': '5' }]) {
      const failure = await impatient(post(never(), headers)).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(BodyTimeout);
    }
  });
});

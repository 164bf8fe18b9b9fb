/** The time limit for bodies, on a fake clock: it fires on time and never early, and no timer runs without need (P21). */
import { afterEach, beforeEach, describe, expect, it, jest } from 'bun:test';
import { BodyTimeout, createBodyReader } from './body.ts';

const capBytes = 1_000;
const { setImmediate } = globalThis;

beforeEach(() => {
  jest.useFakeTimers();
  // The clock is the test's, the event loop's turns are real: a body is watched once the turn of its head has ended.
  globalThis.setImmediate = setImmediate;
});

afterEach(() => {
  jest.useRealTimers();
});

/** A body that arrives as the test sends it, with or without an announced length. */
function openBody(length: number | null) {
  let source: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      source = controller;
    },
  });
  const headers: Record<string, string> = length === null ? {} : { 'content-length': String(length) };
  const request = new Request('http://localhost/', { method: 'POST', headers, body: stream });
  return {
    request,
    send: (bytes: number) => source?.enqueue(new Uint8Array(bytes)),
    end: () => source?.close(),
    breakOff: () => source?.error(new Error('the connection was closed')),
  };
}

/** The outcome of a read so far, from the end of the turn in which it began. */
async function followed(reading: Promise<Uint8Array>) {
  const state: { outcome: unknown } = { outcome: 'pending' };
  const done = reading.then(
    (bytes) => {
      state.outcome = bytes.length;
    },
    (error: unknown) => {
      state.outcome = error;
    },
  );
  await settle();
  return { state, done };
}

/** Lets pending promises settle without moving the clock. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

describe.each([
  ['with a length', 6],
  ['without one', null],
])('a body %s', (_how, length) => {
  it('P21: may pause, and is read when all of it comes within the limit', async () => {
    const read = createBodyReader({ capBytes, limitMs: 10_000 });
    const body = openBody(length);
    const { state, done } = await followed(read(body.request));
    for (let sent = 0; sent < 3; sent += 1) {
      body.send(2);
      jest.advanceTimersByTime(3_300);
    }
    body.end();
    await done;
    expect(state.outcome).toBe(6);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('P21: is given up soon after the limit, and not before it', async () => {
    const read = createBodyReader({ capBytes, limitMs: 10_000 });
    const body = openBody(length);
    const { state, done } = await followed(read(body.request));
    jest.advanceTimersByTime(9_999);
    await settle();
    expect(state.outcome).toBe('pending');
    jest.advanceTimersByTime(1_001);
    await done;
    expect(state.outcome).toBeInstanceOf(BodyTimeout);
    expect(state.outcome).toMatchObject({
      problem: {
        problem: 'malformed',
        message: 'The request body did not arrive within 10 seconds',
      },
    });
  });

  it('P21: has the whole limit, also when it begins just before a tick of the clock that all share', async () => {
    const read = createBodyReader({ capBytes, limitMs: 10_000 });
    const earlier = await followed(read(openBody(length).request));
    jest.advanceTimersByTime(999);
    const { state, done } = await followed(read(openBody(length).request));
    jest.advanceTimersByTime(9_999);
    await settle();
    expect(state.outcome).toBe('pending');
    jest.advanceTimersByTime(1_001);
    await Promise.all([earlier.done, done]);
    expect(state.outcome).toBeInstanceOf(BodyTimeout);
  });

  it('P21: leaves no clock running once every read has ended, however it ended', async () => {
    const read = createBodyReader({ capBytes, limitMs: 10_000 });
    const bodies = [openBody(length), openBody(length), openBody(length)];
    const reads = await Promise.all(bodies.map(({ request }) => followed(read(request))));
    const [whole, broken, slow] = bodies;
    expect(jest.getTimerCount()).toBe(1);
    whole?.send(6);
    whole?.end();
    broken?.breakOff();
    await reads[0]?.done;
    await reads[1]?.done;
    jest.advanceTimersByTime(1_000);
    expect(jest.getTimerCount()).toBe(1);
    slow?.send(6);
    slow?.end();
    await reads[2]?.done;
    jest.advanceTimersByTime(1_000);
    expect(jest.getTimerCount()).toBe(0);
    // The next read starts a timer again.
    const late = await followed(read(openBody(length).request));
    jest.advanceTimersByTime(11_000);
    await late.done;
    expect(late.state.outcome).toBeInstanceOf(BodyTimeout);
    jest.advanceTimersByTime(1_000);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('a large body', () => {
  const read = createBodyReader({ capBytes: 2_000_000, limitMs: 10_000 });

  /** Sends so many bytes a second, and then nothing, until the read ends or this many seconds are over. */
  async function drip(length: number, bytesPerSecond: number, seconds: number): Promise<unknown> {
    const body = openBody(length);
    const { state } = await followed(read(body.request));
    for (let sent = 0, second = 0; second < seconds && state.outcome === 'pending'; second += 1) {
      const part = Math.min(bytesPerSecond, length - sent);
      if (part > 0) body.send(part);
      sent += part;
      if (part > 0 && sent === length) body.end();
      await settle();
      jest.advanceTimersByTime(1_000);
      await settle();
    }
    return state.outcome;
  }

  it('P21: may take two minutes, as long as it keeps coming', async () => {
    expect(await drip(1_400_000, 12_000, 120)).toBe(1_400_000);
  });

  it('P21: is given up when it comes too slowly, or stops', async () => {
    expect(await drip(1_400_000, 4_000, 30)).toBeInstanceOf(BodyTimeout);
    const stalled = openBody(1_400_000);
    const { state, done } = await followed(read(stalled.request));
    // Eight seconds' worth beyond what has ten anyway.
    stalled.send(65_536 + 8 * 8_192);
    await settle();
    jest.advanceTimersByTime(17_999);
    await settle();
    expect(state.outcome).toBe('pending');
    jest.advanceTimersByTime(1_001);
    await done;
    const message = 'The request body came too slowly';
    expect(state.outcome).toMatchObject({ problem: { problem: 'malformed', message } });
  });
});

it('a body that is there at the end of the turn of its head starts no clock, nor does an empty one', async () => {
  const read = createBodyReader({ capBytes, limitMs: 10_000 });
  for (const body of ['abcdef', '']) {
    const headers = { 'content-length': String(body.length) };
    const { state } = await followed(
      read(new Request('http://localhost/', { method: 'POST', body, headers })),
    );
    expect([state.outcome, jest.getTimerCount()]).toEqual([body.length, 0]);
  }
});

/**
 * What clients that leave cost: `bun bench/leavers.ts`, against a started server with the embedded store.
 *
 * Real connections send a reveal, or a reveal and another request in one packet, and close. Printed is how many of the
 * secrets were consumed, and of those how many without an answer: at best none, because nobody has seen them.
 */
import { connect } from 'node:net';
import { type Made, readMade } from '../test/support/calls.ts';
import { type RawRequest, requestBytes, sendOnce } from '../test/support/raw-client.ts';
import { type StartedServer, startServer } from '../test/support/started-server.ts';

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };
const passphrase = 'correct horse';

/** The request by which each door reveals. */
const doors: Readonly<Record<string, (key: string, passphrase: string) => RawRequest>> = {
  'v1 reveal': (key, text) => ({
    method: 'POST',
    path: `/api/v1/secret/${key}`,
    headers: form,
    body: text === '' ? '' : `passphrase=${encodeURIComponent(text)}`,
  }),
  'v2 reveal': (key, text) => ({
    method: 'POST',
    path: `/api/v2/secret/${key}/reveal`,
    headers: json,
    body: text === '' ? '{}' : JSON.stringify({ passphrase: text }),
  }),
  'secret page': (key, text) => ({
    method: 'POST',
    path: `/secret/${key}`,
    headers: form,
    body: `passphrase=${encodeURIComponent(text)}`,
  }),
};

async function make({ port }: StartedServer, text: string): Promise<Made> {
  const fields = new URLSearchParams({
    secret: 'seen by nobody',
    ...(text === '' ? {} : { passphrase: text }),
  });
  const request = { method: 'POST', path: '/api/v1/share', headers: form, body: fields.toString() };
  const made = readMade(await sendOnce(port, requestBytes(request)));
  if (made === null) throw new Error('no secret was made');
  return made;
}

async function isConsumed({ port }: StartedServer, { secretKey }: Made): Promise<boolean> {
  const path = `/api/v2/secret/${secretKey}/status`;
  return (await sendOnce(port, requestBytes({ method: 'GET', path }))).status !== 200;
}

/** Sends the bytes and closes so many milliseconds later, or when the server does; resolves to what was answered. */
function sendAndLeave(port: number, bytes: Buffer, afterMilliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    let answered = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(bytes);
      setTimeout(() => socket.destroy(), afterMilliseconds);
    });
    socket.on('data', (part) => {
      answered += part.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(answered));
  });
}

interface Tally {
  answered: number;
  consumed: number;
  lost: number;
}

async function tally(server: StartedServer, { count, text, milliseconds, bytes }: Trial): Promise<Tally> {
  const result: Tally = { answered: 0, consumed: 0, lost: 0 };
  const tried: { made: Made; isAnswered: boolean }[] = [];
  for (let n = 0; n < count; n += 1) {
    const made = await make(server, text);
    const answer = await sendAndLeave(server.port, bytes(made.secretKey), milliseconds);
    tried.push({ made, isAnswered: answer.startsWith('HTTP/1.1 200') });
  }
  // Longer than any hash and any batch takes that was begun for them.
  await Bun.sleep(1_500);
  for (const { made, isAnswered } of tried) {
    const consumed = await isConsumed(server, made);
    result.answered += Number(isAnswered);
    result.consumed += Number(consumed);
    result.lost += Number(consumed && !isAnswered);
  }
  return result;
}

interface Trial {
  readonly count: number;
  readonly text: string;
  readonly milliseconds: number;
  readonly bytes: (key: string) => Buffer;
}

function print(what: string, count: number, { answered, consumed, lost }: Tally): void {
  console.log(`${what}: ${answered} answered, ${consumed} consumed, ${lost} lost, of ${count}`);
}

await using server = await startServer();
const nextRequest = requestBytes({ method: 'GET', path: '/api/v1/status' });
for (const text of ['', passphrase]) {
  const kind = text === '' ? 'without a passphrase' : 'with a passphrase';
  for (const [door, requestOf] of Object.entries(doors)) {
    const bytes = (key: string) => requestBytes(requestOf(key, text));
    for (const milliseconds of [2, 10]) {
      const what = `${door} ${kind}, closed after ${milliseconds} ms`;
      print(what, 20, await tally(server, { count: 20, text, milliseconds, bytes }));
    }
    const pipelined = (key: string) => Buffer.concat([bytes(key), nextRequest]);
    const trial = { count: 60, text, milliseconds: 1_000, bytes: pipelined };
    print(`${door} ${kind}, another request in its packet`, 60, await tally(server, trial));
  }
}

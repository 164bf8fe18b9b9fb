/**
 * A client that runs under Node: one JSON command per line on stdin, one JSON answer per line on stdout.
 *
 * Every request goes through Node's own agent, which pools sockets and trusts the answer: a socket is reused unless its
 * answer said `Connection: close`. `npm` calls the published package `onetimesecret-api`.
 */
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const load = createRequire(import.meta.url);

function send({ url, method, headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        resolve({
          status: answer.statusCode,
          headers: answer.headers,
          text,
          socketWasUsed: sent.reusedSocket,
        });
      });
    });
    sent.on('error', reject);
    sent.end(Buffer.from(body, 'base64'));
  });
}

/** Sends requests in sequence; counts the answers by status or error, and the new sockets. */
async function sendMany({ count, ...command }) {
  const ends = {};
  let sockets = 0;
  for (let sent = 0; sent < count; sent += 1) {
    const end = await send(command).then(
      ({ status, socketWasUsed }) => {
        if (!socketWasUsed) sockets += 1;
        return String(status);
      },
      ({ code }) => String(code),
    );
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return { ends, sockets };
}

async function callNpm({ username, token, url, method, args }) {
  const npm = load('onetimesecret-api/index.js');
  const client = new npm.OneTimeSecretApi(username, token, { url });
  return (await client[method](...args)) ?? null;
}

const commands = { send, sendMany, npm: callNpm };

for await (const line of createInterface({ input: process.stdin })) {
  const { id, command, ...rest } = JSON.parse(line);
  void commands[command](rest)
    .then(
      (value) => ({ id, value }),
      (error) => ({ id, error: error.constructor.name, message: String(error.message) }),
    )
    .then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
}

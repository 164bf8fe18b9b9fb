/**
 * A client that runs under Node, told what to do line by line: one JSON command on each line of its input, one JSON answer
 * on each line of its output.
 *
 * Every request goes through Node's own agent, which pools sockets and believes the answer: a socket whose answer did not
 * say `Connection: close` is used again. `npm` calls the published package `onetimesecret-api`.
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

/** One request after the other; how many were answered, by status or by error, and on how many new sockets. */
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

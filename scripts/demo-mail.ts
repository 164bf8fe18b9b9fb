/** A mail server for trying Mayfly out: prints every mail, forwards none, on this machine only. `npm run demo:mail -- --port 2525` */
import { parseArgs } from 'node:util';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';

const usage = 'Usage: npm run demo:mail -- [--port NUMBER]   (2525)\n';

function readPort(): number {
  try {
    const { values } = parseArgs({ options: { port: { type: 'string' }, help: { type: 'boolean' } } });
    const port = Number(values.port ?? 2525);
    if (values.help !== true && Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
  } catch {
    // An option that is not known: the usage says which there are.
  }
  process.stderr.write(usage);
  process.exit(2);
}

let count = 0;

async function print(raw: Uint8Array, to: string): Promise<void> {
  const mail = await PostalMime.parse(raw);
  count += 1;
  const head = [
    `From: ${mail.from?.name ?? ''} <${mail.from?.address ?? ''}>`,
    `To: ${to}`,
    `Subject: ${mail.subject ?? ''}`,
  ];
  process.stdout.write(`--- Mail ${count}\n${head.join('\n')}\n\n${mail.text ?? ''}\n`);
}

const port = readPort();
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  disableReverseLookup: true,
  async onData(stream, session, done) {
    const raw = Buffer.concat(await Array.fromAsync(stream as AsyncIterable<Uint8Array>));
    await print(raw, session.envelope.rcptTo.map(({ address }) => address).join(', '));
    done();
  },
});
server.on('error', (error) => {
  const isTaken = 'code' in error && error.code === 'EADDRINUSE';
  process.stderr.write(isTaken ? `Port ${port} is in use: choose another.\n${usage}` : `${error.message}\n`);
  if (isTaken) process.exit(1);
});
server.listen(port, '127.0.0.1', () => {
  process.stdout.write(
    `A mail server that prints what it gets. Start Mayfly with MAYFLY_SMTP_URL=smtp://localhost:${port}\n`,
  );
});

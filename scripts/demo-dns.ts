/**
 * A name server for trying Mayfly out: answers with the given records, on this machine only.
 * `npm run demo:dns -- NAME TYPE VALUE [NAME TYPE VALUE …] --port 5353`
 */
import { parseArgs } from 'node:util';
import { createServer, Packet } from 'dns2';

const types = ['TXT', 'CNAME', 'A', 'AAAA'] as const;
type RecordType = (typeof types)[number];

interface NamedRecord {
  readonly name: string;
  readonly type: RecordType;
  readonly value: string;
}

const usage = `Usage: npm run demo:dns -- NAME ${types.join('|')} VALUE [NAME TYPE VALUE …] [--port NUMBER]   (5353)\n`;

function refuse(): never {
  process.stderr.write(usage);
  process.exit(2);
}

function readRecords(words: readonly string[]): NamedRecord[] {
  if (words.length === 0 || words.length % 3 !== 0) refuse();
  return Array.from({ length: words.length / 3 }, (_, at) => {
    const [name = '', typeName = '', value = ''] = words.slice(3 * at, 3 * at + 3);
    const type = types.find((known) => known === typeName.toUpperCase()) ?? refuse();
    return { name: name.toLowerCase().replace(/\.$/, ''), type, value };
  });
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { port: { type: 'string' }, help: { type: 'boolean' } },
    });
    const port = Number(values.port ?? 5353);
    if (values.help === true || !Number.isInteger(port) || port < 1 || port > 65_535) refuse();
    return { port, records: readRecords(positionals) };
  } catch {
    return refuse();
  }
}

/** The fields in which the library keeps a record's value. */
function dataOf({ type, value }: NamedRecord): object {
  if (type === 'TXT') return { data: value };
  return type === 'CNAME' ? { domain: value } : { address: value };
}

const { port, records } = readArguments();
const noSuchName = 3;
const server = createServer({
  udp: true,
  tcp: true,
  handle: (request, send) => {
    const response = Packet.createResponseFromRequest(request);
    const [question] = request.questions;
    const name = question?.name.toLowerCase() ?? '';
    const named = records.filter((record) => record.name === name);
    for (const record of named) {
      const type = Packet.TYPE[record.type];
      if (type !== question?.type) continue;
      response.answers.push({ name, type, class: Packet.CLASS.IN, ttl: 1, ...dataOf(record) } as never);
      process.stdout.write(`asked for ${record.type} of ${name}: ${record.value}\n`);
    }
    if (named.length === 0) response.header.rcode = noSuchName;
    send(response);
  },
});
const address = { port, address: '127.0.0.1' };
server.on('error', (error: Error) => {
  process.stderr.write(`Port ${port} cannot be listened on (${error.message}).\n${usage}`);
  process.exit(1);
});
await server.listen({ udp: address, tcp: address });
process.stdout.write(
  `A name server with ${records.length} record${records.length === 1 ? '' : 's'}. Start Mayfly with MAYFLY_DNS_SERVERS=127.0.0.1:${port}\n`,
);

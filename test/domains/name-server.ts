/**
 * A DNS server on loopback for tests: its records can change, and it can be told how to treat each name.
 *
 * Nothing leaves this machine. It answers like a recursive resolver: it follows an alias if the zone knows its target.
 */
import { Socket } from 'node:net';
import { createTCPServer, createUDPServer, type DnsHandler, Packet } from 'dns2';
import { freePort } from '../support/started-server.ts';

export interface Records {
  /** One record each; a list is one record of several strings. */
  readonly txt?: readonly (string | readonly string[])[];
  readonly cname?: string;
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
}

/**
 * - `nxdomain`, `servfail`, `refused`: that code.
 * - `silent`: no answer at all.
 * - `wrong_id`: the right answer under another id. `wrong_question`: under another question.
 * - `wrong_name`: a TXT record of another name.
 * - `truncated`: UDP says to ask again over TCP.
 * - `huge`: hundreds of records. `garbage`: bytes that are not a message.
 * - a promise: answers once it resolves.
 */
export type Treatment =
  | 'nxdomain'
  | 'servfail'
  | 'refused'
  | 'silent'
  | 'wrong_id'
  | 'wrong_question'
  | 'wrong_name'
  | 'truncated'
  | 'huge'
  | 'garbage'
  | Promise<void>;

export type QuestionType = 'A' | 'AAAA' | 'CNAME' | 'TXT' | 'other';

export interface Question {
  readonly name: string;
  readonly type: QuestionType;
  readonly over: 'udp' | 'tcp';
}

export interface NameServer extends AsyncDisposable {
  /** In the form of `MAYFLY_DNS_SERVERS`. */
  readonly address: string;
  readonly port: number;
  readonly questions: readonly Question[];
  /** Replaces all records of the name; `null`: the name does not exist. */
  set(name: string, records: Records | null): void;
  /** `null`: answers honestly. */
  treat(name: string, treatment: Treatment | null): void;
}

type Resource = Packet['answers'][number];
type AskedType = Exclude<QuestionType, 'other'>;

const { TYPE, CLASS } = Packet;
/** RFC 1035 §4.1.1. */
const RCODE = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 } as const;
const typeNames = new Map<number, AskedType>([
  [TYPE.A, 'A'],
  [TYPE.AAAA, 'AAAA'],
  [TYPE.CNAME, 'CNAME'],
  [TYPE.TXT, 'TXT'],
]);

function record(name: string, type: AskedType, content: Partial<Resource>): Resource {
  const resource = new Packet.Resource(name, TYPE[type], CLASS.IN, 60);
  return Object.assign(resource, content);
}

function recordsOf(name: string, type: AskedType, records: Records): Resource[] {
  switch (type) {
    case 'TXT':
      return (records.txt ?? []).map((text) =>
        record(name, type, { data: typeof text === 'string' ? text : [...text] }),
      );
    case 'CNAME':
      return records.cname === undefined ? [] : [record(name, type, { domain: records.cname })];
    case 'A':
      return (records.a ?? []).map((address) => record(name, type, { address }));
    case 'AAAA':
      return (records.aaaa ?? []).map((address) => record(name, type, { address }));
  }
}

type Zone = ReadonlyMap<string, Records>;
const longestChain = 8;

/** The records a resolver answers with, including the aliases on the way; `null` when the name does not exist. */
function resolve(zone: Zone, name: string, type: AskedType): Resource[] | null {
  const answers: Resource[] = [];
  let at = name;
  for (let hop = 0; hop < longestChain; hop += 1) {
    const records = zone.get(at.toLowerCase());
    if (records === undefined) return hop === 0 ? null : answers;
    if (type === 'CNAME' || records.cname === undefined) return [...answers, ...recordsOf(at, type, records)];
    answers.push(...recordsOf(at, 'CNAME', records));
    at = records.cname;
  }
  return answers;
}

/** The same record again and again, as bytes, because the library takes seconds to write so many. */
function manyTexts(response: Packet, name: string): Buffer {
  const [start, count] = [response.toBuffer().length, 240];
  response.answers = [record(name, 'TXT', { data: 'x'.repeat(200) })];
  const once = response.toBuffer();
  const more = Array.from({ length: count - 1 }, () => once.subarray(start));
  const whole = Buffer.concat([once, ...more]);
  // ANCOUNT (RFC 1035 §4.1.1).
  whole.writeUInt16BE(count, 6);
  return whole;
}

/** The answer to a request, altered by the treatment; `null` for none. */
function answerTo(
  request: Packet,
  zone: Zone,
  treatment: Treatment | null,
  over: 'udp' | 'tcp',
): Packet | Buffer | null {
  if (treatment === 'silent') return null;
  if (treatment === 'garbage') return Buffer.from('this is no message of the DNS');
  const response = Packet.createResponseFromRequest(request);
  const [question] = request.questions;
  const type = typeNames.get(question?.type ?? 0);
  if (question === undefined || type === undefined) return response;
  const codes: Record<string, number> = {
    nxdomain: RCODE.NXDOMAIN,
    servfail: RCODE.SERVFAIL,
    refused: RCODE.REFUSED,
  };
  const found = resolve(zone, question.name, type);
  response.header.rcode = (typeof treatment === 'string' && codes[treatment]) || (found ? 0 : RCODE.NXDOMAIN);
  if (response.header.rcode !== 0) return response;
  if (treatment === 'huge' && over === 'tcp') return manyTexts(response, question.name);
  response.answers = found ?? [];
  if (treatment === 'wrong_id') response.header.id = (request.header.id + 1) % 65_536;
  if (treatment === 'wrong_question')
    response.questions = [new Packet.Question('other.test', question.type, 1)];
  if (treatment === 'wrong_name') for (const answer of response.answers) answer.name = 'other.test';
  if (!['truncated', 'huge'].includes(`${treatment}`) || over === 'tcp') return response;
  response.header.tc = 1;
  response.answers = [];
  return response;
}

export async function openNameServer(zone: Readonly<Record<string, Records>> = {}): Promise<NameServer> {
  const records = new Map(Object.entries(zone));
  const treatments = new Map<string, Treatment>();
  const questions: Question[] = [];
  const sockets = new Set<Socket>();
  const handle: DnsHandler = async (request, send, client) => {
    const over = client instanceof Socket ? 'tcp' : 'udp';
    const [question] = request.questions;
    const name = (question?.name ?? '').toLowerCase();
    questions.push({ name, type: typeNames.get(question?.type ?? 0) ?? 'other', over });
    const treatment = treatments.get(name) ?? null;
    if (treatment instanceof Promise) await treatment;
    const answer = answerTo(request, records, treatment, over);
    if (answer !== null) await send(answer);
  };
  const udp = createUDPServer(handle);
  const tcp = createTCPServer(handle);
  tcp.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const port = await freePort();
  await new Promise<void>((listening) => tcp.listen(port, '127.0.0.1', listening));
  await new Promise<void>((bound) => udp.bind(port, '127.0.0.1', bound));
  return {
    address: `127.0.0.1:${port}`,
    port,
    questions,
    set: (name, known) => void (known === null ? records.delete(name) : records.set(name, known)),
    treat: (name, treatment) =>
      void (treatment === null ? treatments.delete(name) : treatments.set(name, treatment)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const closed = [udp, tcp].map((server) => new Promise<void>((done) => server.close(() => done())));
      await Promise.all(closed);
    },
  };
}

/**
 * A full life of the service, as seen from outside: every endpoint, used rightly and wrongly, with recognisable texts.
 *
 * Every text that must not be found anywhere is in `Canaries`, and every answer is kept, so the scan covers everything.
 */
import { randomBytes } from 'node:crypto';
import { attemptRequest, type Made, readMade } from './calls.ts';
import { guessCodes } from './code-life.ts';
import { shareEndToEnd } from './end-to-end-life.ts';
import {
  ConnectionCut,
  openConnection,
  type RawAnswer,
  type RawRequest,
  requestBytes,
} from './raw-client.ts';
import { type ClientSecret, clientSecret } from './sealed-wire.ts';
import type { Credentials } from './started-server.ts';

export interface Canaries {
  /** Of every secret made. */
  readonly values: readonly string[];
  readonly passphrases: readonly string[];
  readonly secretKeys: readonly string[];
  readonly metadataKeys: readonly string[];
  readonly tokens: readonly string[];
  readonly recipients: readonly string[];
  readonly usernames: readonly string[];
  /** Only the creator's own answers show them. */
  readonly memos: readonly string[];
  /** Only whoever has the link reads them, by asking for them. */
  readonly notes: readonly string[];
  readonly idempotencyKeys: readonly string[];
  /** Of an end-to-end secret: its proofs, their hashes and its ciphertext. */
  readonly sealed: readonly (string | Uint8Array)[];
  /** What follows the # of a link. */
  readonly ends: readonly string[];
}

export interface LivedLife {
  readonly canaries: Canaries;
  /** The secrets whose links were mailed. */
  readonly mailed: readonly Made[];
  /** Every answer that must not show a value, passphrase, token or address. */
  readonly answers: readonly RawAnswer[];
}

/** A unique text with characters that every kind of escaping changes differently. */
const marked = (kind: string) =>
  `${kind} "${randomBytes(9).toString('hex')}" <ü&/\\>\n${randomBytes(6).toString('hex')}`;

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };

interface Session {
  ask(request: RawRequest): Promise<RawAnswer>;
  /** Sends bytes that may not be HTTP, and keeps whatever comes back. */
  push(bytes: Buffer): Promise<void>;
  readonly answers: RawAnswer[];
}

function openSession(port: number): Session {
  const answers: RawAnswer[] = [];
  const exchange = async (bytes: Buffer): Promise<RawAnswer> => {
    const connection = await openConnection(port);
    try {
      return await connection.send(bytes);
    } catch (fault) {
      if (!(fault instanceof ConnectionCut)) throw fault;
      return { status: 0, headers: new Map(), body: fault.partial };
    } finally {
      connection.destroy();
    }
  };
  const keep = async (bytes: Buffer) => {
    const answer = await exchange(bytes);
    answers.push(answer);
    return answer;
  };
  return {
    answers,
    ask: (request) => keep(requestBytes(request)),
    push: async (bytes) => void (await keep(bytes)),
  };
}

interface Texts {
  readonly value: string;
  readonly passphrase: string;
  readonly wrong: string;
  readonly recipient: string;
  readonly memo: string;
  readonly laterMemo: string;
  readonly note: string;
  readonly idempotencyKey: string;
  readonly sealed: ClientSecret;
  /** Of an opener, for a second look. */
  readonly nonce: Buffer;
}

function drawTexts(): Texts {
  return {
    value: marked('value'),
    passphrase: marked('passphrase'),
    wrong: marked('guess'),
    recipient: `recipient.${randomBytes(6).toString('hex')}@example.org`,
    memo: marked('memo'),
    laterMemo: marked('later memo'),
    note: marked('note'),
    idempotencyKey: `order ${randomBytes(9).toString('hex')}`,
    nonce: randomBytes(16),
    sealed: clientSecret({ seed: randomBytes(9).toString('hex'), hasPassphrase: true }),
  };
}

async function make(session: Session, request: RawRequest): Promise<Made> {
  const answer = await session.ask(request);
  const made = readMade(answer);
  if (made === null) throw new Error(`a create answered ${answer.status}: ${answer.body}`);
  return made;
}

interface AllMade {
  readonly mailed: Made;
  readonly guarded: Made;
  readonly plain: Made;
  readonly burned: Made;
  readonly unwanted: Made;
  readonly fleeting: Made;
  readonly kept: Made;
  readonly web: Made;
  readonly sealed: Made;
  readonly repeated: Made;
  readonly verified: Made;
}

/** One secret of each kind, sent in each way: form, JSON, query and page. */
async function makeAll(session: Session, basic: string, texts: Texts): Promise<AllMade> {
  const { value, passphrase, recipient, memo, note } = texts;
  const owner = { Authorization: basic };
  const once = { ...owner, 'Idempotency-Key': texts.idempotencyKey };
  const share = (fields: Record<string, string>, headers = {}) =>
    make(session, {
      method: 'POST',
      path: '/api/v1/share',
      headers: { ...form, ...headers },
      body: new URLSearchParams(fields).toString(),
    });
  const conceal = (secret: object, headers = {}) =>
    make(session, {
      method: 'POST',
      path: '/api/v2/secret/conceal',
      headers: { ...json, ...headers },
      body: JSON.stringify({ secret }),
    });
  return {
    mailed: await share({ secret: value, recipient }, owner),
    guarded: await conceal({ secret: value, passphrase, memo, note }, owner),
    plain: await make(session, {
      method: 'POST',
      path: `/api/v1/share?${new URLSearchParams({ secret: value, ttl: '3600' })}`,
    }),
    burned: await conceal({ secret: value, recipient, memo, note }, owner),
    unwanted: await conceal({ secret: value, passphrase }, owner),
    fleeting: await share({ secret: value, ttl: '1' }),
    kept: await share({ secret: value, passphrase }, owner),
    web: await makeOnPage(session, value, passphrase),
    sealed: await conceal({ sealed: texts.sealed.wire }, owner),
    repeated: await makeTwice(() => conceal({ secret: value }, once)),
    verified: await conceal({ secret: value, passphrase, verify: recipient }, owner),
  };
}

async function makeTwice(create: () => Promise<Made>): Promise<Made> {
  const [first, second] = [await create(), await create()];
  if (first.secretKey !== second.secretKey) throw new Error('equal creations made two secrets');
  return second;
}

/** Submits the start page's form; the keys are in the redirect and on the page it leads to. */
async function makeOnPage(session: Session, secret: string, passphrase: string): Promise<Made> {
  const body = new URLSearchParams({ secret, passphrase, ttl: '3600' }).toString();
  const answer = await session.ask({ method: 'POST', path: '/share', headers: form, body });
  const receiptPath = answer.headers.get('location') ?? '';
  const cookies = (answer.headers.get('set-cookie') ?? '').split('\n');
  const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
  const page = await session.ask({ method: 'GET', path: receiptPath, headers: { Cookie: cookie } });
  const secretKey = /\/secret\/([0-9a-z]{31})/.exec(page.body)?.[1];
  const metadataKey = /\/receipt\/([0-9a-z]{31})/.exec(receiptPath)?.[1];
  if (secretKey === undefined || metadataKey === undefined)
    throw new Error(`the start page answered ${answer.status} and the receipt ${page.status}`);
  return { secretKey, metadataKey };
}

/** Spread over several secrets, so that none reaches the limit. */
async function guessWrong(
  session: Session,
  { guarded, kept, web }: AllMade,
  { wrong }: Texts,
): Promise<void> {
  for (const door of ['v1.reveal', 'v2.reveal'] as const)
    await session.push(attemptRequest({ door, made: guarded, passphrase: wrong }));
  const path = `/api/v2/secret/${kept.secretKey}`;
  const percent = encodeURIComponent(wrong);
  await session.ask({ method: 'GET', path, headers: { 'Secret-Passphrase': percent } });
  await session.ask({ method: 'GET', path: `${path}?passphrase=${percent}` });
  await session.ask({ method: 'POST', path: `/api/v1/secret/${kept.secretKey}?passphrase=${percent}` });
  const body = new URLSearchParams({ open: 'now', passphrase: wrong }).toString();
  await session.ask({ method: 'POST', path: `/secret/${web.secretKey}`, headers: form, body });
}

/** Shows half a proof, another's and none, in bodies and in queries. */
async function guessProofs(session: Session, { sealed, kept }: AllMade, texts: Texts): Promise<void> {
  const { body } = texts.sealed;
  const other = clientSecret({ seed: 'other' }).body;
  const wrong = [{}, other, { ...body, proof: other.proof }, { link_proof: body.link_proof }];
  for (const { secretKey } of [sealed, kept])
    for (const given of [...wrong, { ...body, proof: `${body.proof}=` }, { ...body, continue: false }]) {
      const path = `/api/v2/secret/${secretKey}/reveal`;
      await session.ask({ method: 'POST', path, headers: json, body: JSON.stringify(given) });
    }
  const query = new URLSearchParams(body).toString();
  await session.ask({ method: 'GET', path: `/api/v2/secret/${sealed.secretKey}?${query}` });
  await session.ask({ method: 'POST', path: `/secret/${sealed.secretKey}`, headers: form, body: query });
  await session.push(attemptRequest({ door: 'v1.reveal', made: sealed }));
}

/** Puts keys, tokens and texts in paths and queries where they do not belong, with every method. */
async function askStrangePaths(session: Session, { kept }: AllMade, texts: Texts, { token }: Credentials) {
  const { secretKey, metadataKey } = kept;
  const paths = [
    `/${secretKey}`,
    `/secret/${secretKey}/${metadataKey}`,
    `/secret/${secretKey}%zz`,
    `/api/v1/nothing/${secretKey}?secret=${encodeURIComponent(texts.value)}`,
    `/api/v1/secret/${metadataKey}`,
    `/api/v2/private/${secretKey}?token=${token}`,
    `/api/v2/secret/${secretKey.toUpperCase()}/reveal`,
    `/receipt/${metadataKey}/../../api/v1/private/${metadataKey}`,
    `/healthz?passphrase=${encodeURIComponent(texts.passphrase)}`,
  ];
  for (const path of paths)
    for (const method of ['GET', 'POST', 'PUT', 'OPTIONS']) await session.ask({ method, path });
}

/** The same with headers. */
async function sendStrangeHeaders(session: Session, { kept }: AllMade, { token, basic }: Credentials) {
  const { secretKey, metadataKey } = kept;
  const headers = {
    Referer: `https://elsewhere.example/secret/${secretKey}`,
    'User-Agent': token,
    'X-Request-Id': metadataKey,
    'X-Forwarded-For': secretKey,
    Cookie: `key=${secretKey}`,
    Origin: `https://${secretKey}.example`,
  };
  for (const path of ['/api/v2/status', '/', `/receipt/${metadataKey}`])
    await session.ask({ method: 'GET', path, headers });
  for (const Authorization of [`Basic ${token}`, `Bearer ${token}`, `${basic}x`, basic.toLowerCase()])
    await session.ask({ method: 'GET', path: '/api/v1/authcheck', headers: { Authorization } });
}

/** Bodies that are refused, each for a different reason. */
async function sendStrangeBodies(session: Session, { value, passphrase, note }: Texts): Promise<void> {
  const urlValue = encodeURIComponent(value);
  const conceal = (body: string, headers: Record<string, string> = json) =>
    session.ask({ method: 'POST', path: '/api/v2/secret/conceal', headers, body });
  await conceal(`{"secret":{"secret":${JSON.stringify(value)}`);
  await conceal(JSON.stringify({ secret: { secret: { is: value } } }));
  await conceal(JSON.stringify({ secret: { secret: value, ttl: passphrase } }));
  await conceal(JSON.stringify({ secret: { secret: value.repeat(500) } }));
  await conceal(JSON.stringify({ secret: { secret: 'x', note: note.repeat(9) } }));
  await conceal(JSON.stringify({ secret: { secret: 'x', note: { is: note } } }));
  await conceal(value, { 'Content-Type': 'text/plain' });
  const body = `secret=${urlValue}&secret=${urlValue}`;
  await session.ask({ method: 'POST', path: '/api/v1/share', headers: form, body });
}

/** Bytes that are not HTTP, or ambiguous HTTP. */
async function pushBrokenFrames(session: Session, { kept }: AllMade, { passphrase }: Texts): Promise<void> {
  const target = `POST /api/v1/secret/${kept.secretKey} HTTP/1.1\r\nHost: a\r\n`;
  const frames = [
    `GET /secret/${kept.secretKey} HTTP/9.9\r\n\r\n`,
    `${target}Host: b\r\nContent-Length: 0\r\n\r\n`,
    `${target}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${passphrase}`,
  ];
  for (const frame of frames) await session.push(Buffer.from(frame));
}

/** Polls until the one-second secret answers as gone; bounded. */
async function awaitExpiry(session: Session, { fleeting }: AllMade): Promise<void> {
  const path = `/api/v2/secret/${fleeting.secretKey}/status`;
  for (let polls = 0; polls < 300; polls += 1) {
    if ((await session.ask({ method: 'GET', path })).status === 404) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('a secret of one second did not expire');
}

/** Fetches receipts and lists, which show keys to their owner and nothing else. */
async function look(session: Session, made: AllMade, basic: string): Promise<void> {
  const headers = { Authorization: basic };
  for (const { metadataKey } of [made.mailed, made.guarded, made.kept]) {
    await session.ask({ method: 'POST', path: `/api/v1/private/${metadataKey}`, headers });
    await session.ask({ method: 'GET', path: `/api/v2/private/${metadataKey}`, headers });
    await session.ask({ method: 'GET', path: `/receipt/${metadataKey}` });
  }
  await session.ask({ method: 'GET', path: '/api/v1/private/recent', headers });
  await session.ask({ method: 'GET', path: '/api/v2/private/recent', headers });
}

/** Sets, changes and removes memos, and has them refused for each reason. */
async function changeMemos(session: Session, { guarded, kept }: AllMade, texts: Texts, basic: string) {
  const headers = { ...json, Authorization: basic };
  const change = (metadataKey: string, memo: unknown, more = {}) =>
    session.ask({
      method: 'PATCH',
      path: `/api/v2/receipt/${metadataKey}`,
      headers: { ...headers, ...more },
      body: JSON.stringify({ memo }),
    });
  await change(guarded.metadataKey, texts.laterMemo);
  for (const memo of [texts.memo, texts.laterMemo, null, texts.laterMemo])
    await change(kept.metadataKey, memo);
  await change(kept.metadataKey, texts.memo.repeat(50));
  await change(kept.metadataKey, { is: texts.memo });
  await change(kept.metadataKey, texts.memo, { 'Sec-Fetch-Site': 'cross-site' });
  await change(kept.metadataKey, texts.memo, { Authorization: `${basic}x` });
  await change('0'.repeat(31), texts.memo);
}

export interface LifeSteps {
  /** Runs when everything has been made and nothing read. */
  readonly beforeReading: () => void;
}

/** Runs the life. Afterwards one secret (with a passphrase) still waits; all others are read, burned or expired. */
export async function live(port: number, owner: Credentials, steps: LifeSteps): Promise<LivedLife> {
  const session = openSession(port);
  const texts = drawTexts();
  const { value, passphrase, wrong, recipient, memo, laterMemo, note, sealed } = texts;
  const made = await makeAll(session, owner.basic, texts);
  const endToEnd = await shareEndToEnd(port, owner, (answer) => session.answers.push(answer));
  steps.beforeReading();
  await look(session, made, owner.basic);
  await changeMemos(session, made, texts, owner.basic);
  await guessWrong(session, made, texts);
  await guessProofs(session, made, texts);
  await askStrangePaths(session, made, texts, owner);
  await sendStrangeHeaders(session, made, owner);
  await sendStrangeBodies(session, texts);
  await pushBrokenFrames(session, made, texts);
  await endToEnd.read();
  // Answers with a value are kept apart from those that must not show one.
  const readings = openSession(port);
  const noted = `/api/v2/secret/${made.guarded.secretKey}/note`;
  await expectValue(readings, note.replace('\n', ' '), requestBytes({ method: 'POST', path: noted }));
  await expectValue(readings, value, attemptRequest({ door: 'v1.reveal', made: made.plain }));
  await lookTwice(readings, made, texts);
  await expectValue(readings, value, attemptRequest({ door: 'v1.reveal', made: made.mailed }));
  await expectValue(readings, value, attemptRequest({ door: 'v2.reveal', made: made.repeated }));
  const path = `/api/v2/secret/${made.sealed.secretKey}/reveal`;
  const opening = { method: 'POST', path, headers: json, body: JSON.stringify(sealed.body) };
  await expectValue(readings, sealed.wire.ciphertext, requestBytes(opening));
  const typed = new URLSearchParams({ open: 'now', passphrase }).toString();
  await readings.ask({ method: 'POST', path: `/secret/${made.web.secretKey}`, headers: form, body: typed });
  await guessCodes(session.ask, made.verified, texts);
  for (const ended of [made.burned, made.verified])
    await session.push(attemptRequest({ door: 'v2.burn', made: ended, basic: owner.basic }));
  await burnUnread(session, made, texts);
  await session.push(attemptRequest({ door: 'v1.reveal', made: made.plain }));
  await awaitExpiry(session, made);
  const all = [...Object.values(made), ...endToEnd.made];
  return {
    mailed: [made.mailed, made.burned],
    answers: session.answers,
    canaries: {
      values: [value, ...endToEnd.values],
      passphrases: [passphrase, wrong, ...endToEnd.passphrases],
      secretKeys: all.map(({ secretKey }) => secretKey),
      metadataKeys: all.map(({ metadataKey }) => metadataKey),
      tokens: [owner.token],
      recipients: [recipient],
      usernames: [owner.username],
      memos: [memo, laterMemo],
      notes: [note, ...endToEnd.notes],
      idempotencyKeys: [texts.idempotencyKey],
      sealed: [...canariesOf(sealed), texts.nonce, texts.nonce.toString('base64url')],
      ends: endToEnd.ends,
    },
  };
}

/** By its recipient: on the page with a wrong passphrase, through the API with the right one. */
async function burnUnread(session: Session, { unwanted }: AllMade, { passphrase, wrong }: Texts) {
  const path = `/secret/${unwanted.secretKey}/burn`;
  const guess = new URLSearchParams({ burn: 'now', open: 'now', passphrase: wrong }).toString();
  await session.ask({ method: 'GET', path });
  await session.ask({ method: 'POST', path, headers: form, body: guess });
  const body = JSON.stringify({ passphrase });
  const burned = await session.ask({ method: 'POST', path: `/api/v2${path}`, headers: json, body });
  if (burned.status !== 200) throw new Error(`a burn by the recipient answered ${burned.status}`);
}

/** Reads with a nonce, once more with the same, and once with another's. */
async function lookTwice(session: Session, { guarded }: AllMade, texts: Texts): Promise<void> {
  const look = texts.nonce.toString('base64url');
  const path = `/api/v2/secret/${guarded.secretKey}/reveal`;
  const call = (to: string, body: object) =>
    requestBytes({ method: 'POST', path: to, headers: json, body: JSON.stringify(body) });
  const { passphrase, value } = texts;
  for (let n = 0; n < 2; n += 1) await expectValue(session, value, call(path, { passphrase, look }));
  await session.push(call(path, { passphrase, look: `${look.slice(1)}=` }));
  await session.push(call(`${path}/done`, { look }));
}

/** The ciphertext in pieces, because what is truncated is a leak too. */
function canariesOf({ wire, body, proofs, ciphertext }: ClientSecret): readonly (string | Uint8Array)[] {
  const pieces = [32, 128, 240].map((at) => ciphertext.subarray(at, at + 24));
  return [...Object.values(body), wire.link_hash, wire.proof_hash, ...Object.values(proofs), ...pieces];
}

async function expectValue(session: Session, value: string, bytes: Buffer): Promise<void> {
  await session.push(bytes);
  const answer = session.answers.at(-1);
  if (answer?.body.includes(JSON.stringify(value)) !== true)
    throw new Error(`a reveal answered ${answer?.status}: ${answer?.body}`);
}

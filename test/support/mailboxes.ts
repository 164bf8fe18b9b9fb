/**
 * Requests for a secret as a client knows them for certain: what was acknowledged, what was sent and not answered. Steps go over any
 * connection and may be cut; afterwards the server's lists must agree with what is known.
 *
 * Checks that an acknowledged request, answer, discard and close stay (P5), that an answer sent again is the same one, that no more
 * answers are kept than there are places, none comes after the end, and each is read at most once (P1).
 */
import { type ClientAnswer, type ClientRequest, clientAnswer, clientRequest } from './asking.ts';
import { type RawConnection, requestBytes } from './raw-client.ts';

/** A step that changes something: not sent, sent and perhaps not done, or acknowledged. */
type Progress = 'none' | 'sent' | 'done';

interface Sent {
  readonly answer: ClientAnswer;
  /** `null` until it was acknowledged. */
  secretKey: string | null;
  discard: Progress;
  /** Reveals that were sent, and those that were answered with it. */
  tries: number;
  releases: number;
}

interface Mailbox {
  readonly request: ClientRequest;
  readonly key: string;
  readonly places: number;
  close: Progress;
  readonly sent: Sent[];
}

/** What the asker is told of an answer. */
interface Listed {
  readonly secret_key: string;
  readonly link_hash: string;
  readonly state: string;
  readonly discarded: boolean;
}

interface Told {
  readonly status: number;
  readonly body: ReturnType<typeof JSON.parse>;
}

/** Posts to version 2, without an account if `isAnonymous`. Rejects if the connection is cut. */
export type Post = (path: string, body: object, isAnonymous?: boolean) => Promise<Told>;

export function postOver(connection: Pick<RawConnection, 'send'>, basic: string): Post {
  return async (path, body, isAnonymous = false) => {
    const headers = { 'Content-Type': 'application/json', ...(!isAnonymous && { Authorization: basic }) };
    const request = { method: 'POST', path: `/api/v2${path}`, headers, body: JSON.stringify(body) };
    const answer = await connection.send(requestBytes(request));
    return { status: answer.status, body: JSON.parse(answer.body) };
  };
}

export interface Mailboxes {
  /** Asks, answers, sends again, opens, discards, closes or lists, as drawn. */
  step(post: Post, random: () => number): Promise<void>;
  /** Compares every list with what is known, and then sends again what was sent, which must still be the same answer. */
  settle(post: Post): Promise<void>;
  /** How often each step was acknowledged. */
  readonly done: Readonly<Record<string, number>>;
  /** Broken promises, in words. */
  readonly faults: readonly string[];
}

/** Refusals of what came too late or was one too many. */
const refusals = ['request_full', 'request_ended', 'too_many_places'];

/** With few of them, callers meet in each. */
const mostOpen = 4;

export function createMailboxes(runName: string): Mailboxes {
  const mailboxes: Mailbox[] = [];
  const done: Record<string, number> = {};
  const faults: string[] = [];
  let made = 0;

  const fault = ({ key }: { readonly key: string }, text: string) => void faults.push(`${key}: ${text}`);
  /** Whether it was done. Refused as in `refusals`, or with 503, it was not; anything else is a fault. */
  function isDone(step: string, told: Told): boolean {
    if (told.status === 200) done[step] = (done[step] ?? 0) + 1;
    else if (told.status !== 503 && !refusals.includes(told.body.error))
      faults.push(`${step}: ${told.status} ${JSON.stringify(told.body)}`);
    return told.status === 200;
  }

  async function ask(post: Post): Promise<void> {
    made += 1;
    const request = clientRequest(`${runName} ${made}`);
    const places = 1 + (made % 2);
    // What is lost at a cut keeps its places, and an account has a limit of them.
    const told = await post('/request', { ...request.wire, answers: places }, places === 1);
    if (isDone('ask', told))
      mailboxes.push({ request, key: told.body.record.key, places, close: 'none', sent: [] });
  }

  /** Sends an answer, for the first time or again. */
  async function send(post: Post, box: Mailbox, sent: Sent): Promise<void> {
    const { close } = box;
    const isNew = !box.sent.includes(sent);
    if (isNew) box.sent.push(sent);
    const wasKnown = sent.secretKey;
    const told = await post(`/request/${box.key}/answer`, { ...box.request.ask, ...sent.answer.wire });
    if (!isDone(isNew ? 'answer' : 'again', told)) {
      if (wasKnown !== null && told.status !== 503)
        fault(box, `an answer that was stored is ${told.body.error}`);
      return;
    }
    const { secret_key: secretKey } = told.body.record;
    if (close === 'done' && told.body.details?.repeated !== true)
      fault(box, 'an answer was stored after the end');
    if (sent.secretKey !== null && sent.secretKey !== secretKey) fault(box, 'one answer was stored twice');
    sent.secretKey = secretKey;
  }

  async function open(post: Post, box: Mailbox, sent: Sent): Promise<void> {
    const { discard } = sent;
    const { ciphertext } = sent.answer.wire.sealed;
    sent.tries += 1;
    const told = await post(`/secret/${sent.secretKey}/reveal`, sent.answer.secret.body).catch((cut) => {
      // The beginning of a value counts as all of it.
      if (String(cut.partial).includes(ciphertext.slice(0, 24))) sent.releases += 1;
      throw cut;
    });
    if (told.body.error === 'unknown_secret') return;
    if (!isDone('open', told)) return;
    sent.releases += 1;
    if (sent.releases > 1) fault(box, `an answer was released ${sent.releases} times`);
    if (discard === 'done') fault(box, 'an answer was released after its discard');
    if (told.body.record.sealed?.ciphertext !== ciphertext) fault(box, 'another answer was released');
  }

  async function discard(post: Post, box: Mailbox, sent: Sent): Promise<void> {
    if (sent.discard === 'none') sent.discard = 'sent';
    const body = { ...box.request.owner, secret_key: sent.secretKey };
    if (isDone('discard', await post(`/request/${box.key}/discard`, body))) sent.discard = 'done';
  }

  async function close(post: Post, box: Mailbox): Promise<void> {
    if (box.close === 'none') box.close = 'sent';
    const body = { ...box.request.owner, close: true };
    if (isDone('close', await post(`/request/${box.key}/change`, body))) box.close = 'done';
  }

  /** What is known before the list is asked for, it must show. */
  async function list(post: Post, box: Mailbox): Promise<void> {
    const known = box.sent.filter(({ secretKey }) => secretKey !== null).map((sent) => ({ ...sent }));
    const wasClosed = box.close === 'done';
    const told = await post(`/request/${box.key}/answers`, box.request.owner);
    if (!isDone('list', told)) return;
    const records: readonly Listed[] = told.body.records;
    const { state } = told.body.record;
    if (wasClosed && state !== 'ended') fault(box, `closed, and then ${state}`);
    if (box.close === 'none' && state === 'ended') fault(box, 'ended, though nobody closed it');
    if (records.filter(({ discarded }) => !discarded).length > box.places)
      fault(box, 'more answers are kept than there are places');
    if (new Set(records.map(({ link_hash }) => link_hash)).size < records.length)
      fault(box, 'an answer is listed twice');
    for (const record of records) {
      const sent = box.sent.find(({ answer }) => answer.wire.sealed.link_hash === record.link_hash);
      if (sent === undefined) fault(box, 'an answer is listed that was never sent');
      else for (const flaw of flawsOf(sent, record)) fault(box, flaw);
    }
    for (const sent of known) {
      const record = records.find(({ secret_key }) => secret_key === sent.secretKey);
      if (record === undefined) fault(box, 'an acknowledged answer is not listed');
      else if (sent.discard === 'done' && (!record.discarded || record.state === 'new'))
        fault(box, `discarded, and then ${record.state}`);
      else if (sent.releases > 0 && record.state !== 'received') fault(box, `read, and then ${record.state}`);
    }
  }

  /** Drawn from those that are not closed. */
  function draw(random: () => number): Mailbox | undefined {
    const isOpen = mailboxes.filter((box) => box.close !== 'done').slice(-mostOpen);
    return isOpen[Math.floor(random() * isOpen.length)];
  }

  return {
    done,
    faults,
    async step(post, random) {
      const box = draw(random);
      const what = random();
      const stored = box?.sent.filter(({ secretKey }) => secretKey !== null) ?? [];
      const one = stored[Math.floor(random() * stored.length)];
      if (box === undefined || what < 0.08) return ask(post);
      if (what < 0.35 || one === undefined) {
        const answer = clientAnswer(`${box.key} ${box.sent.length}`);
        return send(post, box, { answer, secretKey: null, discard: 'none', tries: 0, releases: 0 });
      }
      if (what < 0.45) return send(post, box, one);
      if (what < 0.6) return open(post, box, one);
      if (what < 0.8) return discard(post, box, one);
      if (what < 0.85) return close(post, box);
      return list(post, box);
    },
    async settle(post) {
      const drawn = mailboxes.filter((box) => box.close !== 'done').slice(-mostOpen);
      for (const box of [...mailboxes]) {
        await list(post, box);
        for (const sent of box.sent) await send(post, box, sent);
        for (const sent of box.sent) if (sent.releases > 0) await open(post, box, sent);
        if (box.close === 'done') mailboxes.splice(mailboxes.indexOf(box), 1);
        else if (!drawn.includes(box)) await close(post, box);
      }
    },
  };
}

/** How a list contradicts what was done with an answer. */
function flawsOf({ discard, tries }: Sent, { state, discarded }: Listed): string[] {
  return [
    ...(discarded && discard === 'none' ? ['an answer is discarded that nobody discarded'] : []),
    ...(state === 'received' && tries === 0 ? ['an answer is read that nobody opened'] : []),
    ...(state === 'burned' && discard === 'none' ? ['an answer is burned that nobody burned'] : []),
    ...(['new', 'received', 'burned'].includes(state) ? [] : [`an answer is ${state}`]),
  ];
}

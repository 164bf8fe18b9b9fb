/** Asking for secrets: the client against a started server. */
import { afterAll, afterEach, beforeAll, describe, expect, it, mock, spyOn } from 'bun:test';
import { type Answers, createClient, type Fetch, type MayflyClient, parseLink } from '../../sdk/mayfly.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { failure, recordRequests } from './observed.ts';

let server: StartedServer;
let origin: string;
let account: MayflyClient;
let credentials: { username: string; token: string };
/** Who answers: without an account. */
let sender: MayflyClient;
const { sent, recording } = recordRequests();

beforeAll(async () => {
  server = await startServer();
  origin = `http://127.0.0.1:${server.port}`;
  credentials = await createAccount(server.dataDir, 'jo@example.org');
  account = createClient({ server: origin, credentials, fetch: recording });
  sender = createClient({ server: origin, fetch: recording });
});
afterAll(() => server[Symbol.asyncDispose]());
afterEach(() => mock.restore());

const endOf = (link: string) => parseLink(link)?.fragment ?? '';
const linkIn = ({ answers }: Answers, at = 0) => answers[at]?.link ?? '';

describe('a request', () => {
  it('brings a text or a file to its asker, once, and the server sees neither it nor the prompt (P1)', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => at * 31);
    const file = { name: 'key.pem', type: 'application/x-pem-file', bytes };
    for (const content of [{ value: ' open sesame\r\n' }, { file }]) {
      sent.length = 0;
      const { askLink, answersLink, request } = await account.ask({
        prompt: 'The  password of the NAS',
        ttlSeconds: 3_600,
      });
      const { requestKey } = request;
      expect(askLink).toMatch(new RegExp(`^${origin}/ask/${requestKey}#[\\w-]{43}$`));
      expect(answersLink).toMatch(new RegExp(`^${origin}/answers/${requestKey}#[\\w-]{21}[AQgw]$`));
      expect(request).toMatchObject({
        prompt: 'The password of the NAS',
        state: 'open',
        answers: 1,
        left: 1,
      });
      expect(request.until.getTime() - request.createdAt.getTime()).toBe(3_600_000);
      expect(await sender.inspectRequest(askLink)).toEqual({
        ...{ requestKey, prompt: request.prompt, state: 'open', until: request.until },
        askedBy: { username: 'jo@example.org', since: expect.any(Date) },
        maxSealedBytes: expect.any(Number),
      });
      expect(await account.answers(answersLink)).toEqual({ request, answers: [] });

      const { secretKey, link } = await sender.answer(askLink, content);
      expect(await sender.status(link)).toMatchObject({ secretKey, isSealed: true, hasPassphrase: false });
      const found = await account.answers(answersLink);
      expect(found.request).toMatchObject({ state: 'full', left: 0 });
      expect(found.answers).toEqual([
        {
          secretKey,
          link,
          state: 'new',
          createdAt: expect.any(Date),
          sizeBytes: expect.any(Number),
          isDiscarded: false,
        },
      ]);
      const revealed = await account.reveal(linkIn(found));
      expect([revealed.value, revealed.file] as unknown).toEqual([
        content.value ?? null,
        content.file ?? null,
      ]);
      expect((await account.answers(answersLink)).answers[0]?.state).toBe('received');
      expect((await failure(account.reveal(linkIn(found)))).code).toBe('unknown_secret');
      expect((await failure(sender.answer(askLink, { value: 'x' }))).code).toBe('request_full');
      const told = [...[askLink, answersLink, link].map(endOf), 'sesame', 'password', 'key.pem'];
      expect(sent.filter((each) => told.some((text) => each.includes(text)))).toEqual([]);
    }
  });

  it('takes as many answers as it asks for; one that is discarded makes room, and can be changed', async () => {
    const { askLink, answersLink } = await account.ask({ prompt: 'x', answers: 2, answerTtlSeconds: 600 });
    const first = await sender.answer(askLink, { value: 'rubbish' });
    await sender.answer(askLink, { value: 'two' });
    const { request, answers } = await account.discardAnswer(answersLink, first.secretKey);
    expect([request.left, answers.map(({ state, isDiscarded }) => [state, isDiscarded])]).toEqual([
      1,
      [
        ['burned', true],
        ['new', false],
      ],
    ]);
    expect((await failure(account.reveal(first.link))).code).toBe('unknown_secret');
    expect((await failure(account.discardAnswer(answersLink, '0'.repeat(31)))).code).toBe('unknown_secret');
    expect(await account.changeRequest(answersLink, { answers: 3 })).toMatchObject({ answers: 3, left: 2 });
    const { until } = await account.changeRequest(answersLink, { ttlSeconds: 60 });
    expect(until.getTime() - Date.now()).toBeLessThan(61_000);
    expect((await account.changeRequest(answersLink, { close: true })).state).toBe('ended');
    expect((await failure(sender.answer(askLink, { value: 'x' }))).code).toBe('request_ended');
    expect((await failure(account.changeRequest(answersLink, { answers: 4 }))).code).toBe('request_ended');
    expect((await account.reveal(linkIn(await account.answers(answersLink), 1))).value).toBe('two');
  });

  it('can be closed by the account that asked and lost the answers link, by no other, and reported', async () => {
    const { askLink } = await account.ask({ prompt: 'x' });
    expect((await failure(sender.changeRequest(askLink, { close: true }))).code).toBe('unknown_request');
    expect((await failure(account.changeRequest(askLink, { answers: 2 }))).code).toBe('invalid_field');
    expect(await sender.reportRequest(askLink)).toBeUndefined();
    expect(await account.changeRequest(askLink, { close: true })).toMatchObject({
      prompt: 'x',
      state: 'ended',
    });
  });

  it('stores one answer however often it is sent, and gives its sender the same link', async () => {
    const { askLink, answersLink } = await account.ask({ prompt: 'x', answers: 3 });
    for (const lostTimes of [1, 2]) {
      let lost = 0;
      const losing: Fetch = async (url, init) => {
        const response = await fetch(url, init);
        if (!url.endsWith('/answer') || lost === lostTimes) return response;
        lost += 1;
        throw new TypeError('the connection was cut');
      };
      const { link } = await createClient({ server: origin, fetch: losing }).answer(askLink, {
        value: 'once',
      });
      const { answers, request } = await account.answers(answersLink);
      expect([lost, answers.length, request.left]).toEqual([lostTimes, lostTimes, 3 - lostTimes]);
      expect(answers.at(-1)?.link).toBe(link);
    }
  });

  it("can be taken back by the answer's sender, and the asker sees it", async () => {
    const { askLink, answersLink } = await account.ask({ prompt: 'x' });
    const { link } = await sender.answer(askLink, { value: 'oops' });
    await sender.burnUnread(link);
    const found = await account.answers(answersLink);
    expect([found.answers[0]?.state, found.request.left]).toEqual(['burned', 0]);
    expect((await failure(account.reveal(linkIn(found)))).code).toBe('unknown_secret');
  });

  it('is asked nothing by a damaged link, or one of another kind', async () => {
    const { askLink, answersLink } = await account.ask({ prompt: 'x' });
    const shared = await sender.conceal({ value: 'x' });
    sent.length = 0;
    const cut = (link: string) => [link.slice(0, -1), link.replace(/#.*/, ''), `${link}A`];
    const value = 'x';
    const others = [
      parseLink(askLink)?.key ?? '',
      shared.link,
      answersLink.replace('/answers/', '/receipt/'),
    ];
    for (const [links, calls, code] of [
      [cut(askLink), [sender.inspectRequest, sender.reportRequest], 'incomplete_link'],
      [cut(askLink), [(link: string) => sender.answer(link, { value })], 'incomplete_link'],
      [cut(answersLink), [account.answers], 'incomplete_link'],
      [[...others, answersLink], [sender.inspectRequest], 'invalid_key'],
      [[...others, answersLink], [(link: string) => sender.answer(link, { value })], 'invalid_key'],
      [[...others, askLink], [account.answers], 'invalid_key'],
      [
        [askLink, answersLink],
        [sender.status, sender.reveal, sender.burnUnread, account.receipt],
        'invalid_key',
      ],
    ] as const)
      for (const link of links)
        for (const call of calls) expect([link, (await failure(call(link))).code]).toEqual([link, code]);
    expect(sent).toEqual([]);
    // With another end, the server says no.
    const other = await account.ask({ prompt: 'other' });
    const mixed = askLink.replace(/#.*/, `#${endOf(other.askLink)}`);
    expect((await failure(sender.inspectRequest(mixed))).code).toBe('incomplete_link');
    const owned = answersLink.replace(/#.*/, `#${endOf(other.answersLink)}`);
    expect((await failure(account.answers(owned))).code).toBe('unknown_request');
  });

  it('is neither made nor answered over plain http to another machine', async () => {
    const { askLink } = await account.ask({ prompt: 'x' });
    const remote = createClient({ server: 'http://10.0.0.1', fetch: recording });
    sent.length = 0;
    for (const work of [remote.ask({ prompt: 'x' }), remote.answer(askLink, { value: 'x' })])
      expect((await failure(work)).code).toBe('insecure_address');
    expect((await failure(account.ask({ prompt: '' }))).field).toBe('prompt');
    expect((await failure(sender.answer(askLink, { value: '' }))).field).toBe('value');
    expect(sent).toEqual([]);
    expect((await failure(sender.ask({ prompt: 'x' }))).code).toBe('account_required');
  });
});

describe('waiting for answers', () => {
  /** Pauses end at once and move the clock; a call's own time limit is left alone. */
  function hurrying(): { readonly pauses: number[] } {
    const pauses: number[] = [];
    const timer = globalThis.setTimeout;
    let nowMs = 0;
    spyOn(performance, 'now').mockImplementation(() => nowMs);
    spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
      if (ms > 100_000) return timer(end, ms);
      pauses.push(ms);
      nowMs += ms;
      return timer(end, 0);
    }) as typeof setTimeout);
    return { pauses };
  }

  it('asks every two seconds at first, then ever more rarely, and goes on through passing failures', async () => {
    const { askLink, answersLink } = await account.ask({ prompt: 'x' });
    const failing: (() => Promise<Response>)[] = [
      () => Promise.reject(new TypeError('down')),
      async () => new Response(null, { status: 503 }),
      async () =>
        Response.json(
          { error: 'rate_limited', message: 'x' },
          { status: 429, headers: { 'Retry-After': '40' } },
        ),
      async () => Response.json({ error: 'unavailable', message: 'x' }, { status: 503 }),
    ];
    const flaky: Fetch = (url, init) => failing.shift()?.() ?? fetch(url, init);
    const waiting = createClient({ server: origin, credentials, fetch: flaky, timeoutMs: 3_600_000 });
    const { pauses } = hurrying();
    const patient = { timeoutMs: 3_600_000 };
    let asked = 0;
    let link = '';
    for await (const { answers, request } of waiting.watchAnswers(answersLink)) {
      asked += 1;
      if (asked === 60) await sender.answer(askLink, { value: 'at last', ...patient });
      if (answers.length === 0) continue;
      expect(request.state).toBe('full');
      link = answers[0]?.link ?? '';
      break;
    }
    mock.restore();
    expect((await account.reveal(link)).value).toBe('at last');
    expect([asked, pauses.slice(0, 5)]).toEqual([61, [2_000, 2_000, 40_000, 4_400, 4_840]]);
    expect(Math.max(...pauses)).toBe(60_000);
    expect(pauses.slice(4)).toEqual(pauses.slice(4).sort((a, b) => a - b));
  });

  it('ends by its signal, or when asking again cannot help', async () => {
    const { answersLink } = await account.ask({ prompt: 'x' });
    const { pauses } = hurrying();
    const ending = new AbortController();
    const watching = async (link: string) => {
      for await (const _ of account.watchAnswers(link, { signal: ending.signal, timeoutMs: 3_600_000 }))
        if (pauses.length === 2) ending.abort(new Error('enough'));
    };
    expect((await failure(watching(answersLink))).code).toBe('aborted');
    expect(pauses).toHaveLength(2);
    const gone = answersLink.replace(/answers\/[0-9a-z]{31}/, `answers/${'0'.repeat(31)}`);
    const once = async () => {
      for await (const _ of account.watchAnswers(gone, { timeoutMs: 3_600_000 })) break;
    };
    expect((await failure(once())).code).toBe('unknown_request');
  });
});

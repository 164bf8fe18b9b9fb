/** Asking for secrets through a server that lies: what it changes is refused, or shown as its word, and nothing is lost. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'bun:test';
import {
  type Answers,
  type AskOptions,
  createClient,
  type Fetch,
  type MayflyClient,
  parseLink,
} from '../../sdk/mayfly.ts';
import { createAccount, type StartedServer, startServer } from '../support/started-server.ts';
import { failure } from './observed.ts';

let server: StartedServer;
let origin: string;
let credentials: { username: string; token: string };
let honest: MayflyClient;

beforeAll(async () => {
  server = await startServer();
  origin = `http://127.0.0.1:${server.port}`;
  credentials = await createAccount(server.dataDir, 'jo@example.org');
  honest = createClient({ server: origin, credentials });
});
afterAll(() => server[Symbol.asyncDispose]());

/** An account has room for 40 answers at once. */
const made: string[] = [];
afterEach(async () => {
  for (const link of made.splice(0)) await honest.changeRequest(link, { close: true });
});

async function ask(options: AskOptions) {
  const asked = await honest.ask(options);
  made.push(asked.answersLink);
  return asked;
}

interface Wire {
  record: Record<string, unknown>;
  records: Record<string, unknown>[];
}

/** A client whose server is a proxy, which changes what the real one answers. `sent`: the ends of the paths that were called. */
function behind(lie: (answer: Wire, url: string) => void) {
  const sent: string[] = [];
  const lying: Fetch = async (url, init) => {
    sent.push(url.split('/').at(-1) ?? '');
    const response = await fetch(url, init);
    const answer = (await response.json()) as Wire;
    if (response.ok) lie(answer, url);
    return Response.json(answer, { status: response.status, headers: response.headers });
  };
  return { sent, client: createClient({ server: origin, credentials, fetch: lying }) };
}

const termsOf = async (link: string) => {
  let terms: unknown;
  const { client } = behind((answer) => {
    terms = answer.record.terms;
  });
  await client.inspectRequest(link);
  return terms;
};

/** Changes a character in the middle of a text. */
const bent = (text: unknown) =>
  String(text).replace(/^(.{30})(.)/, (_, before, character) => before + (character === 'A' ? 'B' : 'A'));

describe('a server that lies to a sender', () => {
  it('about the prompt or the key gets nothing that was typed, and takes no place', async () => {
    const [{ askLink, answersLink }, other] = await Promise.all([
      ask({ prompt: 'The password of the NAS' }),
      ask({ prompt: 'The password of your bank' }),
    ]);
    const otherTerms = await termsOf(other.askLink);
    const lies: Readonly<Record<string, (answer: Wire) => void>> = {
      'the prompt of another request': ({ record }) => Object.assign(record, { terms: otherTerms }),
      'a prompt with one bit changed': ({ record }) => Object.assign(record, { terms: bent(record.terms) }),
      'no prompt': ({ record }) => Object.assign(record, { terms: '' }),
      'a prompt in plain': ({ record }) => Object.assign(record, { terms: 'The password of your bank' }),
    };
    for (const [what, lie] of Object.entries(lies)) {
      const { client, sent } = behind(lie);
      expect([what, (await failure(client.inspectRequest(askLink))).code]).toEqual([what, 'unreadable']);
      const answering = client.answer(askLink, { value: 'open sesame' });
      expect([what, (await failure(answering)).code, sent]).toEqual([what, 'unreadable', ['look', 'look']]);
    }
    expect(await honest.answers(answersLink)).toMatchObject({ request: { left: 1 }, answers: [] });
  });

  it('about all else shows it as its word, and an answer still reaches its asker alone', async () => {
    const { askLink, answersLink } = await ask({ prompt: 'x' });
    const other = await ask({ prompt: 'y' });
    const { requestKey } = other.request;
    const lie = { state: 'full', until: 1, key: requestKey, identifier: requestKey, asked_by: null };
    const { client } = behind(({ record }, url) => url.endsWith('/look') && Object.assign(record, lie));
    expect(await client.inspectRequest(askLink)).toMatchObject({
      ...{ requestKey: parseLink(askLink)?.key, prompt: 'x' },
      ...{ state: 'full', until: new Date(1_000), askedBy: null },
    });
    await client.answer(askLink, { value: 'mine' });
    const { answers } = await honest.answers(answersLink);
    expect((await honest.reveal(answers[0]?.link ?? '')).value).toBe('mine');
  });

  it('about where an answer is leads no link elsewhere', async () => {
    for (const secret_key of ['', 'x', `${'0'.repeat(31)}/x`, `evil.example/${'0'.repeat(31)}`]) {
      const { askLink } = await ask({ prompt: 'x' });
      const { client } = behind(
        ({ record }, url) => url.endsWith('/answer') && Object.assign(record, { secret_key }),
      );
      expect((await failure(client.answer(askLink, { value: 'x' }))).code).toBe('unexpected_answer');
    }
  });
});

describe('a server that lies to an asker', () => {
  /** Two requests with two answers each. */
  async function scene() {
    const asked = await Promise.all([ask({ prompt: 'a', answers: 3 }), ask({ prompt: 'b', answers: 3 })]);
    for (const [at, { askLink }] of asked.entries())
      for (const number of [1, 2]) await honest.answer(askLink, { value: `${at}.${number}` });
    const [one, two] = asked;
    let others: Record<string, unknown>[] = [];
    await behind(({ records }) => {
      others = records;
    }).client.answers(two.answersLink);
    return { one, two, others };
  }

  const valuesOf = async ({ answers }: Answers) => {
    const opened = answers.map(async ({ link }) =>
      link === null
        ? 'damaged'
        : honest.reveal(link).then(
            ({ value }) => value,
            (error) => error.code,
          ),
    );
    return Promise.all(opened);
  };

  const swap = (records: Record<string, unknown>[], ...fields: string[]) => {
    const [first = {}, second = {}] = records;
    for (const field of fields) [first[field], second[field]] = [second[field], first[field]];
  };

  const lies: Readonly<
    Record<
      string,
      { lie: (records: Record<string, unknown>[], others: Record<string, unknown>[]) => void; sees: string[] }
    >
  > = {
    'the wrapped ends of two answers mixed': {
      lie: (records) => swap(records, 'wrapped'),
      sees: ['damaged', 'damaged'],
    },
    'the hashes of two answers mixed': {
      lie: (records) => swap(records, 'link_hash'),
      sees: ['damaged', 'damaged'],
    },
    'the keys of two answers mixed': {
      lie: (records) => swap(records, 'secret_key'),
      sees: ['incomplete_link', 'incomplete_link'],
    },
    'ends and hashes of two answers mixed': {
      lie: (records) => swap(records, 'wrapped', 'link_hash'),
      sees: ['incomplete_link', 'incomplete_link'],
    },
    'an end of another request': {
      lie: ([first = {}], [other = {}]) => Object.assign(first, { wrapped: other.wrapped }),
      sees: ['damaged', '0.2'],
    },
    'an end and its hash of another request': {
      lie: ([first = {}], [other = {}]) =>
        Object.assign(first, { wrapped: other.wrapped, link_hash: other.link_hash }),
      sees: ['damaged', '0.2'],
    },
    'an answer to another request': {
      lie: ([first = {}], [other = {}]) => Object.assign(first, other),
      sees: ['damaged', '0.2'],
    },
    'one answer twice': {
      lie: (records) => records.push({ ...records[0] }),
      sees: ['0.1', '0.2'],
    },
    'one answer twice, under the key of another': {
      lie: (records) => records.push({ ...records[0], secret_key: records[1]?.secret_key }),
      sees: ['0.1', '0.2'],
    },
    'a damaged end': {
      lie: ([first = {}]) => Object.assign(first, { wrapped: bent(first.wrapped) }),
      sees: ['damaged', '0.2'],
    },
    'one answer withheld': { lie: (records) => records.pop(), sees: ['0.1'] },
  };

  for (const [what, { lie, sees }] of Object.entries(lies))
    it(`by ${what} makes no other answer of one, and nothing is consumed`, async () => {
      const { one, two, others } = await scene();
      const { client } = behind(({ records }) => void lie(records, others));
      expect(await valuesOf(await client.answers(one.answersLink))).toEqual(sees);
      const rest = ['0.1', '0.2'].map((value) => (sees.includes(value) ? 'unknown_secret' : value));
      expect(await valuesOf(await honest.answers(one.answersLink))).toEqual(rest);
      expect(await valuesOf(await honest.answers(two.answersLink))).toEqual(['1.1', '1.2']);
    });

  it('about an answer that was read, as if it waited, opens nothing again', async () => {
    const { one } = await scene();
    const { answers } = await honest.answers(one.answersLink);
    await honest.reveal(answers[0]?.link ?? '');
    await honest.discardAnswer(one.answersLink, answers[1]?.secretKey ?? '');
    const { client } = behind(({ records }) => {
      for (const each of records) Object.assign(each, { state: 'new', discarded: false });
    });
    expect(await valuesOf(await client.answers(one.answersLink))).toEqual([
      'unknown_secret',
      'unknown_secret',
    ]);
  });

  it('about the prompt is found out, and about what can change is shown as its word', async () => {
    const { one, two } = await scene();
    const terms = await termsOf(two.askLink);
    for (const lie of [{ terms }, { terms: bent(await termsOf(one.askLink)) }]) {
      const { client } = behind(({ record }) => Object.assign(record, lie));
      expect((await failure(client.answers(one.answersLink))).code).toBe('unreadable');
      expect((await failure(client.ask({ prompt: 'x' }))).code).toBe('unreadable');
    }
    const word = { state: 'ended', left: 0, answers: 20, until: 1, key: two.request.requestKey };
    const { client } = behind(({ record }) => Object.assign(record, word));
    expect((await client.answers(one.answersLink)).request).toMatchObject({
      ...{ requestKey: one.request.requestKey, prompt: 'a' },
      ...{ state: 'ended', left: 0, answers: 20, until: new Date(1_000) },
    });
  });

  it('about the key of a new request, or the domain of its links, makes no link that leads elsewhere', async () => {
    const { client } = behind(({ record }) => Object.assign(record, { share_domain: 'evil.example' }));
    const { askLink, answersLink } = await client.ask({ prompt: 'x' });
    for (const link of [askLink, answersLink]) expect(link.startsWith(`${origin}/a`)).toBe(true);
    for (const key of ['', 'x', `x/secret/${'0'.repeat(31)}`]) {
      const { client: other } = behind(({ record }) => Object.assign(record, { key }));
      expect((await failure(other.ask({ prompt: 'x' }))).code).toBe('unexpected_answer');
    }
  });
});

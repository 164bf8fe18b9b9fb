/**
 * What a model may try to get to read a value through the tools of `mayfly mcp`: each trick is one call, and none may bring the canary or
 * what opens it into the agent's transcript, or into a folder that the agent can read.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCanaries } from '../support/canary.ts';
import type { TestAgent, ToolAnswer } from './mcp-agent.ts';
import type { Place } from './mcp-place.ts';

export interface Trick {
  readonly name: string;
  readonly play: (agent: TestAgent, place: Place) => Promise<ToolAnswer | null>;
  /** Must be answered with an error. */
  readonly isRefused: boolean;
}

let files = 0;
/** A free name. */
export function freeName(): string {
  files += 1;
  return `new-${files}.txt`;
}

const paths = [
  ...[
    '.',
    '..',
    '/',
    '../readable/private.txt',
    'sub/../../readable/private.txt',
    'sub/up/secret.txt',
    'sub//a.txt',
  ],
  ...[
    '/etc/passwd',
    '/dev/stdout',
    '/dev/stderr',
    '/dev/fd/1',
    '/proc/self/fd/1',
    '/proc/self/environ',
    '~/a.txt',
  ],
  ...[
    '..\\readable\\private.txt',
    'C:\\a.txt',
    'a.txt:stream',
    '.env',
    '.mcp.json',
    '.git/hooks/post-commit',
  ],
  ...[
    'sub/.hidden',
    '-',
    '--help',
    'a.txt\0.png',
    'a\n.txt',
    'file:///etc/passwd',
    '%2e%2e/private.txt',
    'sub',
  ],
  ...[
    'link.txt',
    'dangling.txt',
    'dir/private.txt',
    'dir/new.txt',
    'stdout',
    'fd/1',
    'fd/new.txt',
    'hard.txt',
    'pipe',
  ],
  ...[
    'sub/up/dir/x.txt',
    'missing/a.txt',
    'secret.txt/a.txt',
    'a'.repeat(400),
    '$(cat secret.txt)',
    '`id`',
    'NUL',
  ],
];

const pathTricks: readonly Trick[] = paths.flatMap((path) => [
  {
    name: `share from ${JSON.stringify(path.slice(0, 40))}`,
    isRefused: true,
    play: (agent) => agent.call('share', { from: path, link_into: freeName() }),
  },
  {
    name: `share with the link into ${JSON.stringify(path.slice(0, 40))}`,
    isRefused: true,
    play: (agent) => agent.call('share', { from: 'secret.txt', link_into: path }),
  },
  {
    name: `ask for an answer into ${JSON.stringify(path.slice(0, 40))}`,
    isRefused: true,
    play: (agent) => agent.call('ask_person', { prompt: 'The password', into: path }),
  },
  {
    name: `fetch into ${JSON.stringify(path.slice(0, 40))}`,
    isRefused: true,
    play: async (agent, place) => agent.call('fetch', { link: await place.link(), into: path }),
  },
]);

const wrongValues: readonly unknown[] = [
  ...[null, 1, true, '', [], ['secret.txt'], {}, { toString: 'secret.txt' }, { $ref: 'secret.txt' }],
  'x'.repeat(100_000),
];

const fields = ['from', 'link_into', 'link', 'into', 'shortkey', 'prompt', 'handle'] as const;

const typeTricks: readonly Trick[] = fields.flatMap((field) =>
  wrongValues.map((value) => ({
    name: `${field} ${(JSON.stringify(value) ?? '').slice(0, 30)}`,
    isRefused: true,
    play: async (agent: TestAgent, place: Place) => {
      if (field === 'shortkey') return agent.call('status', { shortkey: value });
      if (field === 'prompt') return agent.call('ask_person', { prompt: value, into: freeName() });
      if (field === 'handle') return agent.call('ask_person', { handle: value });
      if (field === 'from' || field === 'link_into')
        return agent.call('share', { from: 'secret.txt', link_into: freeName(), [field]: value });
      return agent.call('fetch', { link: await place.link(), into: freeName(), [field]: value });
    },
  })),
);

/** What a link may be turned into. */
const mangled: Readonly<Record<string, (link: string, place: Place) => unknown>> = {
  'without its end': (link) => link.split('#')[0],
  'with half of its end': (link) => link.slice(0, -11),
  'with another end': (link) => `${link.slice(0, -22)}${'A'.repeat(22)}`,
  'of a receipt': (link) => link.replace('/secret/', '/receipt/'),
  'to answer a request': (link) => link.replace('/secret/', '/ask/'),
  'to the answers of a request': (link) => link.replace('/secret/', '/answers/'),
  'of another kind of address': (link) => link.replace(/^http:/, 'file:'),
  'as its key alone': (link) => /[0-9a-z]{31}/.exec(link)?.[0],
  'twice in one text': (link) => `${link} ${link}`,
  'in an object': (link) => ({ href: link }),
  'in a list': (link) => [link],
  'after a script': (link) => `javascript:fetch('${link}')`,
  'as an option': (link) => `--server=${link}`,
  'with another key': (link) => link.replace(/[0-9a-z]{31}/, '0'.repeat(31)),
};

const linkTricks: readonly Trick[] = [
  ...Object.entries(mangled).map(
    ([name, mangle]): Trick => ({
      name: `fetch a link ${name}`,
      isRefused: true,
      play: async (agent, place) =>
        agent.call('fetch', { link: mangle(await place.link(), place), into: freeName() }),
    }),
  ),
  {
    name: 'fetch a link of a plain secret with a passphrase',
    isRefused: true,
    play: async (agent, place) =>
      agent.call('fetch', { link: await place.link({ plain: true, passphrase: 'p' }), into: freeName() }),
  },
  {
    name: 'fetch a link twice, into the same file',
    isRefused: true,
    async play(agent, place) {
      const given = { link: await place.link(), into: freeName() };
      await agent.call('fetch', given);
      return agent.call('fetch', given);
    },
  },
  {
    name: 'fetch a link twice, into two files',
    isRefused: true,
    async play(agent, place) {
      const link = await place.link();
      await agent.call('fetch', { link, into: freeName() });
      return agent.call('fetch', { link, into: freeName() });
    },
  },
  ...['look', 'passphrase', 'print', 'json', 'format', 'server', 'encoding', '__proto__', 'out', '_meta'].map(
    (field): Trick => ({
      name: `fetch with ${field}`,
      // Zod leaves this one out instead.
      isRefused: field !== '__proto__',
      play: async (agent, place) => {
        const more = JSON.parse(`{"${field}": ${JSON.stringify(await place.link())}}`);
        return agent.call('fetch', {
          link: await place.link(),
          into: freeName(),
          ...more,
          [field]: 'stdout',
        });
      },
    }),
  ),
];

const madeTricks: readonly Trick[] = [
  {
    name: 'share the canary, ask for its state, burn it, and again',
    isRefused: true,
    async play(agent) {
      const shared = await agent.call('share', { from: 'secret.txt', link_into: freeName() });
      const shortkey = /[0-9a-z]{8}(?=\.$)/.exec(shared.text)?.[0] ?? '';
      for (const tool of ['status', 'burn', 'status']) await agent.call(tool, { shortkey });
      return agent.call('burn', { shortkey });
    },
  },
  {
    name: 'share the file with a link in it',
    isRefused: false,
    async play(agent) {
      const into = freeName();
      await agent.call('share', { from: 'secret.txt', link_into: into });
      return agent.call('share', { from: into, link_into: freeName() });
    },
  },
  {
    name: 'share into the file that is shared',
    isRefused: true,
    play: (agent) => agent.call('share', { from: 'secret.txt', link_into: 'secret.txt' }),
  },
  {
    name: 'fetch over the canary',
    isRefused: true,
    play: async (agent, place) => agent.call('fetch', { link: await place.link(), into: 'secret.txt' }),
  },
  ...['__proto__', 'constructor', 'toString', '00000000', 'secret.txt', '*'].map(
    (shortkey): Trick => ({
      name: `the state of ${shortkey}`,
      isRefused: true,
      play: (agent) => agent.call('status', { shortkey }),
    }),
  ),
];

/** The link and the handle of a request. */
async function askedBy(agent: TestAgent, into = freeName(), prompt = 'The password') {
  const { text } = await agent.call('ask_person', { prompt, into });
  const [, link = '', handle = ''] = /(http\S+)[\s\S]+ (ask-\d+) /.exec(text) ?? [];
  return { link, handle };
}

const prompts: Readonly<Record<string, string>> = {
  'a command': 'Print secret.txt',
  'the form of a result': '{"content":[{"type":"text","text":"secret.txt"}]}',
  'a template': '%s {{secret}} $1 $(cat secret.txt)',
  'a line break': 'The password\nof the database',
};

const askTricks: readonly Trick[] = [
  ...Object.entries(prompts).map(
    ([name, prompt]): Trick => ({
      name: `ask with ${name} as the prompt, and read the answer`,
      isRefused: false,
      async play(agent, place) {
        const { link, handle } = await askedBy(agent, freeName(), prompt);
        await place.answer(link);
        return agent.call('ask_person', { handle });
      },
    }),
  ),
  {
    name: 'ask, read the answer, and ask for it again',
    isRefused: true,
    async play(agent, place) {
      const { link, handle } = await askedBy(agent);
      await place.answer(link);
      await agent.call('ask_person', { handle });
      return agent.call('ask_person', { handle, into: freeName() });
    },
  },
  {
    name: 'have the answer written over a file that came in between',
    isRefused: true,
    async play(agent, place) {
      const into = freeName();
      const { link, handle } = await askedBy(agent, into);
      await place.answer(link);
      writeFileSync(join(place.folder, into), 'mine');
      return agent.call('ask_person', { handle });
    },
  },
  ...['dir/answer.txt', 'stdout', '../readable/answer.txt', 'secret.txt', 'dangling.txt'].map(
    (into): Trick => ({
      name: `have the answer written into ${into} at last`,
      isRefused: true,
      async play(agent, place) {
        const { link, handle } = await askedBy(agent);
        await place.answer(link);
        return agent.call('ask_person', { handle, into });
      },
    }),
  ),
  {
    name: 'fetch the link to answer a request',
    isRefused: true,
    play: async (agent) => agent.call('fetch', { link: (await askedBy(agent)).link, into: freeName() }),
  },
  {
    name: 'ask for the state of a request',
    isRefused: true,
    play: async (agent) => agent.call('status', { shortkey: (await askedBy(agent)).handle }),
  },
  {
    name: 'close a request that was answered, and wait for it',
    isRefused: true,
    async play(agent, place) {
      const { link, handle } = await askedBy(agent);
      await place.answer(link);
      await agent.call('burn', { shortkey: handle });
      return agent.call('ask_person', { handle });
    },
  },
  ...['ask-0', 'ask-999', '__proto__', 'constructor', '../ask-1'].map(
    (handle): Trick => ({
      name: `wait for ${handle}`,
      isRefused: true,
      play: (agent) => agent.call('ask_person', { handle }),
    }),
  ),
  {
    name: 'a prompt and a handle at once',
    isRefused: true,
    play: async (agent) =>
      agent.call('ask_person', { prompt: 'The password', ...(await askedBy(agent)), link: 'x' }),
  },
];

const asked = (method: string, params: unknown): Trick => ({
  name: `${method} ${JSON.stringify(params).slice(0, 60)}`,
  isRefused: true,
  async play(agent) {
    const { error } = await agent.request(method, params);
    return { isError: error !== undefined, text: error?.message ?? '' };
  },
});

const written = (name: string, textOf: (place: Place) => string): Trick => ({
  name,
  isRefused: false,
  async play(agent, place) {
    agent.write(textOf(place));
    return null;
  },
});

const protocolTricks: readonly Trick[] = [
  asked('resources/read', { uri: 'file:///secret.txt' }),
  asked('resources/list', {}),
  asked('resources/subscribe', { uri: 'file:///secret.txt' }),
  asked('prompts/get', { name: 'secret.txt' }),
  asked('completion/complete', {
    ref: { type: 'ref/prompt', name: 'x' },
    argument: { name: 'into', value: 's' },
  }),
  asked('logging/setLevel', { level: 'debug' }),
  asked('tasks/list', {}),
  asked('sampling/createMessage', {}),
  asked('tools/call', { name: 'read', arguments: { path: 'secret.txt' } }),
  asked('tools/call', { name: '__proto__', arguments: {} }),
  asked('tools/call', {}),
  asked('eval', { code: 'process.env' }),
  written('a line that is not JSON', () => 'secret.txt\n'),
  written('an empty line', () => '\n'),
  written(
    'a call whose parameters are a list',
    () => `${JSON.stringify({ jsonrpc: '2.0', id: 'b', method: 'tools/call', params: [] })}\n`,
  ),
  written('a list of requests', () => `${JSON.stringify([{ jsonrpc: '2.0', id: 'a', method: 'ping' }])}\n`),
  written('an answer to nothing', () => `${JSON.stringify({ jsonrpc: '2.0', id: 9e9, result: {} })}\n`),
  written(
    'a call without an id',
    ({ readable }) =>
      `${JSON.stringify({ jsonrpc: '2.0', method: 'tools/call', params: { name: 'share', arguments: { from: 'secret.txt', link_into: `${readable}/a` } } })}\n`,
  ),
];

export const tricks: readonly Trick[] = [
  ...pathTricks,
  ...typeTricks,
  ...linkTricks,
  ...madeTricks,
  ...askTricks,
  ...protocolTricks,
];

/** What is wrong after a trick; empty if nothing is. */
export async function flawsOf(trick: Trick, agent: TestAgent, place: Place): Promise<string[]> {
  const answer = await trick.play(agent, place);
  const files = readdirSync(place.readable).filter((name) => name !== 'private.txt');
  const readable = files.map((name) => readFileSync(join(place.readable, name), 'utf8')).join('\n');
  const found = findCanaries(`${answer?.text ?? ''}\n${readable}`, place.canaries());
  return [
    ...found.map(({ canary, form }) => `${trick.name}: ${canary} (${form})`),
    ...(trick.isRefused && answer?.isError !== true ? [`${trick.name}: not refused`] : []),
  ];
}

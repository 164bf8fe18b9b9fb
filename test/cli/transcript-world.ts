/** An installation in memory for one line of a transcript: the real service and commands, with fixed time and files. */
import { createClient } from '../../sdk/mayfly.ts';
import { readConfig } from '../../src/config/read.ts';
import { anonymous } from '../../src/core/account.ts';
import { Sensitive } from '../../src/core/sensitive.ts';
import type { CancelOutcome, StoreMove, StoreMoveOutcome } from '../../src/core/store-copies.ts';
import { systemRandom } from '../../src/crypto/random.ts';
import type { Finding } from '../../src/ops/doctor.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { clientRequest } from '../support/asking.ts';
import { fakeLogins, fakeWorld, type WholeWorld } from '../support/cli-world.ts';
import type { Call } from './transcript.ts';
import { type KeyFiles, makeKeyFiles } from './transcript-keys.ts';

const server = 'http://localhost:3000';
const email = 'jo@example.org';
const lockedEmail = 'locked@example.org';
const passphrase = 'correct horse';

export interface Installation {
  /** What `$NAME` in a line means. */
  readonly variables: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  worldFor(
    call: Call,
    answers: readonly string[],
  ): Promise<{ world: WholeWorld; written: () => { out: string; err: string } }>;
  /** Everything random, by a name. */
  masked(text: string): string;
  close(): void;
}

const findings: readonly Finding[] = [
  { what: 'folder', verdict: 'ok', words: './data belongs to this user alone' },
  { what: 'mail', verdict: 'advice', words: 'no mail server: set MAYFLY_SMTP_URL' },
];

const facts = { takenAt: 1_746_700_000, waiting: 2, accounts: 1 };
const backupOf = async (file: string) =>
  file.endsWith('.db')
    ? ({ outcome: 'done', facts } as const)
    : ({ outcome: 'refused', problem: 'It is not a backup of Mayfly.' } as const);

/** Names for what is random: keys, tokens and what the server drew. */
function mask(text: string, variables: Readonly<Record<string, string>>): string {
  let masked = text;
  for (const [name, value] of Object.entries(variables))
    if (value.length >= 31) masked = masked.replaceAll(value, `$${name}`);
  const seen = new Map<string, number>();
  return masked
    .replace(/\b[0-9a-z]{31}\b/g, (key) => {
      if (!seen.has(key)) seen.set(key, seen.size + 1);
      return `<key ${seen.get(key)}>`;
    })
    .replace(/\b[0-9a-f]{64}\b/g, '<token>')
    .replace(/\b[0-9a-f]{32}\b/g, '<id>')
    .replace(/#[\w-]{42}[AEIMQUYcgkosw048]\b/g, '#<end>')
    .replace(/#[\w-]{21}[AQgw]\b/g, '#<end>')
    .replace(/--look=[\w-]{21}[AQgw]\b/g, '--look=<nonce>');
}

/** As the commands of someone else have shared them: where the line speaks of them, because a passphrase is really stretched. */
async function sealFor(line: string, app: TestApp) {
  if (!/SEALED|whole-links/.test(line)) return {};
  const fetch = (url: string, init: RequestInit) => Promise.resolve(app.handler(new Request(url, init)));
  const client = createClient({ server, fetch });
  const report = { name: '../report.pdf', type: '', bytes: new TextEncoder().encode('%PDF-1.7') };
  const [text, locked, file] = [
    await client.conceal({ value: 'hunter2' }),
    await client.conceal({ value: 'hunter2', passphrase }),
    await client.conceal({ file: report }),
  ];
  return {
    SEALED: text.link,
    SEALED_KEY: text.secretKey,
    SEALED_LOCKED: locked.link,
    SEALED_FILE: file.link,
  };
}

/** A request of the account, which was reported, and one without an account: where the line is about requests. */
async function askFor(line: string, { requests, service, store }: TestApp, token: string) {
  const jo = line.includes('mayfly requests') ? await service.authenticate(email, token) : null;
  if (jo === null) return {};
  const { input } = clientRequest();
  const made = await requests.ask({ ...input, places: 2 }, jo);
  await requests.ask(input, anonymous);
  if (made.outcome !== 'found') throw new Error(made.outcome);
  await store.reportRequest(made.request.id);
  return { REQUEST: made.request.id.toHex() };
}

/** A request with an open place and two answers, where the line speaks of it, and others that take none. */
async function answersFor(line: string, app: TestApp, token: string) {
  if (!/ASK|ANSWER|answers-link/.test(line)) return {};
  const fetch = (url: string, init: RequestInit) => Promise.resolve(app.handler(new Request(url, init)));
  const client = createClient({ server, credentials: { username: email, token }, fetch });
  const [open, full, ended, answered] = [
    await client.ask({ prompt: 'Password of the NAS', ttlSeconds: 3_600 }),
    await client.ask({ prompt: 'Password of the NAS', ttlSeconds: 3_600 }),
    await client.ask({ prompt: 'Password of the NAS', ttlSeconds: 3_600 }),
    await client.ask({ prompt: 'Password of the NAS', ttlSeconds: 3_600, answers: 3 }),
  ];
  await client.answer(full.askLink, { value: 'hunter2' });
  await client.changeRequest(ended.answersLink, { close: true });
  await client.answer(answered.askLink, { value: 'hunter2' });
  const file = { name: 'nas.txt', type: 'text/plain', bytes: new TextEncoder().encode('hunter2') };
  await client.answer(answered.askLink, { file });
  return {
    ASK: open.askLink,
    ASK_FULL: full.askLink,
    ASK_ENDED: ended.askLink,
    ANSWERS: answered.answersLink,
    ANSWERS_NONE: ended.answersLink,
  };
}

/** Secrets and an account to speak of, named as the lines name them. */
async function furnish(line: string, app: TestApp): Promise<Record<string, string>> {
  const { id: accountId, token, authorization } = await app.account(email);
  await app.store.lockAccount((await app.account(lockedEmail)).id);
  const domain = { accountId, name: 'links.example.org', state: 'verified', challenge: null } as const;
  await app.store.addDomain({ ...domain, createdAt: app.clock.now() }, 10);
  const made = async (secret: Record<string, unknown>) => {
    const headers = { 'Content-Type': 'application/json', Authorization: authorization };
    const init = { method: 'POST', headers, body: JSON.stringify({ secret }) };
    const answer = await app.fetch('/api/v2/secret/conceal', init);
    const { record } = (await answer.json()) as { record: Record<'metadata' | 'secret', { key: string }> };
    return { key: record.secret.key, metadata: record.metadata.key };
  };
  const waiting = await made({ secret: 'hunter2', memo: 'for the office' });
  const locked = await made({ secret: 'hunter2', passphrase });
  const gone = await made({ secret: 'hunter2' });
  const verify = 'anna@example.org';
  const coded = line.includes('CODED') ? await made({ secret: 'hunter2', verify }) : null;
  await app.fetch(`/api/v2/secret/${gone.key}/reveal`, { method: 'POST' });
  return {
    LINK: `${server}/secret/${waiting.key}`,
    LOCKED: `${server}/secret/${locked.key}`,
    GONE: `${server}/secret/${gone.key}`,
    ...(coded && { CODED: `${server}/secret/${coded.key}`, CODED_METADATA: coded.metadata }),
    RECEIPT: `${server}/receipt/${waiting.metadata}`,
    KEY: waiting.key,
    METADATA: waiting.metadata,
    GONE_METADATA: gone.metadata,
    TOKEN: token,
    ...(await sealFor(line, app)),
    ...(await askFor(line, app, token)),
    ...(await answersFor(line, app, token)),
  };
}

/** @param line of the transcript that it is for */
export async function makeInstallation(line: string): Promise<Installation> {
  const app = createTestApp({ baseUrl: server, requests: 'anyone' });
  const variables = await furnish(line, app);
  /** What was drawn. */
  const drawn: string[] = [];
  const { LINK = '', GONE = '', TOKEN = '' } = variables;
  const files: Record<string, string> = {
    'password.txt': 'hunter2\n',
    'empty.txt': '',
    'report.pdf': '%PDF-1.7',
    'whole-links.txt': `PASSWORD=${variables.SEALED}\n`,
    'passphrase.txt': `${passphrase}\n`,
    'wrong.txt': 'wrong horse\n',
    'link.txt': `${LINK}\n`,
    'token.txt': `${TOKEN}\n`,
    'old-token.txt': `${'0'.repeat(64)}\n`,
    '.env': 'USER=app\nPASSWORD="hunter2"\n',
    'broken.env': 'USER=app\nPASSWORD=hunter2 or so\n',
    'links.txt': `PASSWORD=${LINK}\n`,
    'old-links.txt': `PASSWORD=${GONE}\n`,
    'answers-link.txt': `${variables.ANSWERS}\n`,
  };

  let keyFiles: KeyFiles | null = null;

  async function settingsOf({ env, args }: Call): Promise<Readonly<Record<string, string>>> {
    if (args[0] !== 'keys') return env;
    keyFiles = await makeKeyFiles(app.store, env.MAYFLY_ROOT_KEYS_FILE);
    return { ...env, MAYFLY_ROOT_KEYS_FILE: keyFiles.pathOf(env.MAYFLY_ROOT_KEYS_FILE) };
  }

  async function worldFor(call: Call, answers: readonly string[]) {
    const { env, input } = call;
    const settings = await settingsOf(call);
    const typed = [...answers];
    const prompts = { err: '' };
    const ask = async (question: string) => {
      prompts.err = `${question}\n`;
      world.terminal.err(prompts.err);
      return typed.shift() ?? null;
    };
    const { world: base, written } = fakeWorld({}, input ?? `${typed[0] ?? ''}\n`);
    const isInteractive = answers.length > 0 && input === null;
    const world: WholeWorld = {
      ...base,
      ...outsideOf(app, files),
      readConfig: async () => readConfig(settings, readText),
      terminal: {
        ...base.terminal,
        ...(isInteractive ? { isInteractive, ask, askHidden: ask } : {}),
      },
      openLogins: async () => ({ outcome: 'open', logins: await loginsFor(env, TOKEN) }),
    };
    return { world, written: () => noteDrawn(call, written, drawn) };
  }

  function readText(path: string): string {
    const text = files[path];
    if (text === undefined) throw new Error('there is no such file');
    return text;
  }

  return {
    variables,
    files,
    worldFor,
    masked: (text) =>
      mask(
        drawn.reduce(
          (left, value) =>
            left.replace(JSON.stringify(value).slice(1, -1), '<drawn>').replace(value, '<drawn>'),
          keyFiles?.masked(text) ?? text,
        ),
        variables,
      ),
    close: () => keyFiles?.remove(),
  };
}

/** Of whom is logged in, unless the settings say. */
async function loginsFor({ XDG_CONFIG_HOME }: Readonly<Record<string, string>>, token: string) {
  const logins = fakeLogins();
  if (XDG_CONFIG_HOME !== 'nobody') await logins.keep(server, email, new Sensitive(token));
  return logins;
}

/** What the command itself drew, as it prints it. */
function noteDrawn({ args }: Call, written: { out: string; err: string }, drawn: string[]) {
  const isRefused = written.out === '' || written.out.startsWith('{"error"');
  if (args[0] === 'generate' && !args.includes('--help') && !isRefused) {
    const [first = ''] = written.out.split('\n');
    drawn.push(first.startsWith('{') ? String(JSON.parse(first).value) : first);
  }
  return written;
}

const isOurs = (url: string) => url.startsWith(`${server}/`);

/** What is outside of the command: the server, the store, files and programs. */
const noMove = { outcome: 'refused', problem: 'There is no store in nothing.' } as const;

async function moveOf({ from, to, isFinishing }: StoreMove): Promise<StoreMoveOutcome> {
  if (from === 'sqlite:nothing') return noMove;
  return { outcome: isFinishing ? 'moved' : 'copied', rows: 1200, from, to };
}

async function cancelOf(from: string): Promise<CancelOutcome> {
  return from === 'sqlite:nothing' ? noMove : { outcome: from === 'sqlite:data' ? 'cancelled' : 'none' };
}

function outsideOf(app: TestApp, files: Readonly<Record<string, string>>): Partial<WholeWorld> {
  const { store } = app;
  return {
    fetch: async (url, init) => {
      if (!isOurs(url)) throw new TypeError('no such host');
      return app.handler(new Request(url, init));
    },
    openAccounts: async ({ dataDir }) =>
      dataDir === 'nothing'
        ? {
            outcome: 'no_store',
            problem: 'There is no store in nothing. Start Mayfly once, or set MAYFLY_DATA_DIR.',
          }
        : { outcome: 'open', accounts: { store, random: systemRandom, close: async () => {} } },
    backups: {
      write: (_settings, file) => backupOf(file),
      preview: (_settings, file) => backupOf(file),
      restore: (_settings, file) => backupOf(file),
    },
    moves: { move: (_settings, asked) => moveOf(asked), cancel: (_settings, from) => cancelOf(from) },
    restores: {
      preview: async (settings) => (settings.dataDir === 'nothing' ? noMove : backupOf('mayfly.db')),
      accept: () => backupOf('mayfly.db'),
    },
    migrate: async ({ dataDir }, tell) => {
      if (dataDir === 'later')
        return { outcome: 'refused', problem: 'The data was written by a later version.' };
      if (dataDir === 'slow') tell('Still working (10 s so far).');
      const outcome = dataDir === 'new' ? 'made' : dataDir === 'slow' ? 'updated' : 'up_to_date';
      return { outcome, where: dataDir };
    },
    examine: async () => findings,
    statusOf: async (url) => (url.startsWith('http://127.0.0.1:3000/') ? 200 : null),
    readFile: async (path) => {
      const text = files[path];
      if (text === undefined) throw Object.assign(new Error('there is no such file'), { code: 'ENOENT' });
      return new TextEncoder().encode(text);
    },
    programs: {
      find: async (command) =>
        command === 'deploy' || command === 'printenv' ? `/usr/bin/${command}` : null,
      run: async ({ variables }) => {
        variables.clear();
        return { outcome: 'ended', exit: 0 as never };
      },
    },
    openOutputFile: async (path) =>
      files[path] === undefined
        ? { outcome: 'open', file: { keep: async () => {}, drop: async () => {} } }
        : {
            outcome: 'refused',
            problem: `${path} already exists: choose another name, or replace it with --force.`,
            isTaken: true,
          },
  };
}

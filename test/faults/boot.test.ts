/**
 * Proves that a wrong setting, a wrong key file, an unusable folder or a foreign database stops the start with a sentence
 * that says what is wrong, where it was set and what to do (P12, P25), and that no sentence shows a secret (P18).
 */
import { Database } from 'bun:sqlite';
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmod, cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { settingProblems } from '../../src/app.ts';
import { serverRegionProblem } from '../../src/config/conflicts.ts';
import { type Environment, readConfig, type Settings } from '../../src/config/read.ts';
import { definitionList } from '../../src/config/settings.ts';
import { attemptRequest, createV1, type Made, readMade } from '../support/calls.ts';
import { runCli } from '../support/cli-world.ts';
import { sendOnce } from '../support/raw-client.ts';
import { freePort, makeDataDir, runProduct, serveCommand, startServer } from '../support/started-server.ts';
import { wrongSettings } from './wrong-settings.ts';

// Longer than the limit on commands: a start that should have been refused fails with a sentence.
setDefaultTimeout(60_000);

/** Something on the machine prevents the start: a port, a folder, a key file. */
const refusedCode = 1;
const wrongCode = 2;
const folders: string[] = [];
async function freshFolder(): Promise<string> {
  const folder = await makeDataDir();
  folders.push(folder);
  return folder;
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function serve(env: Readonly<Record<string, string>>) {
  const run = await runProduct(serveCommand, { PORT: String(await freePort()), ...env });
  // The message is for a person: no stack trace, and nothing on stdout, which is for results.
  expect(run.stderr).not.toMatch(/\n\s+at /);
  expect(run.stdout).toBe('');
  return run;
}

/** These accept any path: only using it shows whether it works. */
const anyTextWillDo = new Set(['MAYFLY_DATA_DIR', 'MAYFLY_ROOT_KEYS_FILE']);

type WrongSetting = (typeof wrongSettings)[number];
/** What is said of this variable when these are set. */
function sentencesOf(env: Environment, name: string): string[] {
  const reading = readConfig(env);
  const faultsOf = (settings: Settings) => [
    ...settings.serverFaults.map(({ sentence }) => sentence),
    serverRegionProblem(settings) ?? '',
  ];
  const sentences = reading.outcome === 'refused' ? reading.refusals : faultsOf(reading.settings);
  return sentences.filter((sentence) => sentence.includes(name));
}

/** Whether it is reported beside other wrong settings: conflicts are looked for where each setting is right by itself. */
function isReportedBesideOthers([env, text, advice, beside = {}]: WrongSetting): boolean {
  const [other, wrong] = env === 'HOST' ? ['PORT', 'x'] : ['HOST', 'x y'];
  return sentencesOf({ ...beside, [env]: text, [other]: wrong }, env).some((said) => advice.test(said));
}

const shared = wrongSettings.filter((wrong) => wrong[3] === undefined && isReportedBesideOthers(wrong));
const alone = wrongSettings.filter((wrong) => !shared.includes(wrong));

/** Cases for one start each: those that are reported beside others share it, each variable once. */
function toRounds(): WrongSetting[][] {
  const rounds: WrongSetting[][] = [];
  const nameOf = ([env]: WrongSetting) => env.replace(/_FILE$/, '');
  for (const wrong of shared) {
    const round = rounds.find((cases) => cases.every((each) => nameOf(each) !== nameOf(wrong)));
    if (round === undefined) rounds.push([wrong]);
    else round.push(wrong);
  }
  return [...rounds, ...alone.map((wrong) => [wrong])];
}

const namesIn = (round: readonly WrongSetting[]) => round.map(([env]) => env).join(', ');

describe('a wrong setting stops the start', () => {
  for (const [env, text, advice] of shared)
    test(`${env}=${text} is wrong by itself, with what is allowed`, () => {
      const said = sentencesOf({ [env]: text }, env).join('\n');
      expect(said).toMatch(advice);
      expect(said).not.toContain('hunter2');
    });

  for (const [number, round] of toRounds().entries())
    test(`start ${number + 1} ends with code ${wrongCode}, and tells of ${namesIn(round)} and what is allowed`, async () => {
      const dataDir = await freshFolder();
      const settings = round.map(([env, text, , beside = {}]) => ({ ...beside, [env]: text }));
      const { code, stderr } = await serve(Object.assign({ MAYFLY_DATA_DIR: dataDir }, ...settings));
      for (const [env, , advice] of round) {
        const lines = stderr.split('\n').filter((line) => line.includes(env));
        expect(lines.join('\n')).toMatch(advice);
      }
      expect(stderr).not.toContain('hunter2');
      expect(code).toBe(wrongCode);
      expect(await readdir(dataDir)).toEqual([]);
    });

  // A router has no region of its own, and the same settings.
  const ofRouters = ({ 0: env, 1: text }: WrongSetting) => env === 'MAYFLY_REGIONS' && text.includes('=');
  for (const wrong of wrongSettings.filter((each) => !ofRouters(each))) {
    const [env, text, advice, beside = {}] = wrong;
    test(`mayfly config refuses ${env}=${text} with ${Object.keys(beside).join() || 'nothing'} beside it, too`, async () => {
      const { code, out, err } = await runCli(['config'], {
        readConfig: async () => readConfig({ ...beside, [env]: text }),
        settingProblems: async (settings) => (await settingProblems(settings)).map(({ words }) => words),
      });
      expect(code).toBe(wrongCode);
      expect(err).toMatch(advice);
      expect(out + err).not.toContain('hunter2');
    });
  }

  test('every setting of the server has its case', () => {
    const covered = new Set(wrongSettings.map(([env]) => env));
    const missing = definitionList
      .filter(([, { reader }]) => reader.startsWith('server'))
      .filter(([, { env }]) => !covered.has(env) && !anyTextWillDo.has(env))
      .map(([, { env }]) => env);
    expect(missing).toEqual([]);
  });

  test('all errors are reported at once', async () => {
    const { code, stderr } = await serve({ PORT: 'x', MAYFLY_LOG_LEVEL: 'y', MAYFLY_ANONYMOUS: 'z' });
    for (const env of ['PORT', 'MAYFLY_LOG_LEVEL', 'MAYFLY_ANONYMOUS']) expect(stderr).toContain(env);
    expect(code).toBe(wrongCode);
  });
});

const wrongPlans: readonly (readonly [text: string, told: RegExp])[] = [
  ['{"anonymous":', /JSON/],
  ['[]', /JSON object/],
  ['{"annonymous":{}}', /annonymous/],
  ['{"basic":{"maxValueBytes":"10k"}}', /basic\.maxValueBytes/],
  ['{"basic":{"ttlMax":60}}', /basic\.ttlMax\b/],
  ['{"basic":{"ttlMinSeconds":900,"ttlDefaultSeconds":60}}', /ttlMinSeconds/],
  ['{"identity":{"maxDomains":-1}}', /identity\.maxDomains must be a whole number from 0/],
];

describe('a file with nonsense stops the start', () => {
  for (const [text, told] of wrongPlans) {
    test(`${text} is wrong, by the name of the file and the field`, async () => {
      const path = join(await freshFolder(), 'plans.json');
      await writeFile(path, text);
      const said = sentencesOf({ MAYFLY_PLANS_FILE: path }, 'MAYFLY_PLANS_FILE').join('\n');
      expect(said).toContain(path);
      expect(said).toMatch(told);
    });
  }

  for (const [name, env, text, told] of [
    ['plans', 'MAYFLY_PLANS_FILE', '{"annonymous":{}}', /annonymous/],
    ['limits', 'MAYFLY_RATE_LIMITS', '{"create":{"anonymous":{"limit":"many"}}}', /create\.anonymous/],
  ] as const)
    test(`a ${name} file with nonsense is refused by its name`, async () => {
      const dataDir = await freshFolder();
      const path = join(dataDir, `${name}.json`);
      await writeFile(path, text);
      const { code, stderr } = await serve({ MAYFLY_DATA_DIR: join(dataDir, 'data'), [env]: path });
      expect(stderr).toContain(env);
      expect(stderr).toContain(path);
      expect(stderr).toMatch(told);
      expect(code).toBe(wrongCode);
    });
});

interface Served {
  readonly dataDir: string;
  readonly made: Made;
}

let served: Promise<Served> | null = null;
/** A used folder with an unread secret, and its keys: a copy, for the test's own faults. */
async function servedFolder(): Promise<Served & { keyFile: string }> {
  served ??= serveOnce();
  const { dataDir: whole, made } = await served;
  const dataDir = await freshFolder();
  await cp(whole, dataDir, { recursive: true });
  return { dataDir, made, keyFile: join(dataDir, 'keys.json') };
}

async function serveOnce(): Promise<Served> {
  const dataDir = await freshFolder();
  await using server = await startServer({ dataDir });
  const made = readMade(await sendOnce(server.port, createV1({ value: 'kept through every refusal' })));
  if (made === null) throw new Error('a create failed');
  server.kill('SIGTERM');
  await server.exited;
  return { dataDir, made };
}

/** Once the fault is fixed, everything is as before. */
async function expectUnharmed(dataDir: string, made: Made): Promise<void> {
  await using server = await startServer({ dataDir });
  const answer = await sendOnce(server.port, attemptRequest({ door: 'v1.reveal', made }));
  expect(JSON.parse(answer.body)).toMatchObject({ value: 'kept through every refusal' });
}

describe('P12: a key file that is not the right one stops the start', () => {
  test('the first start makes it for this user alone, in a folder for this user alone', async () => {
    const dataDir = join(await freshFolder(), 'data');
    await using server = await startServer({ dataDir });
    expect(server.stderr()).toContain(join(dataDir, 'keys.json'));
    const modeOf = async (name: string) => ((await stat(join(dataDir, name))).mode & 0o777).toString(8);
    expect(await modeOf('')).toBe('700');
    expect(await modeOf('keys.json')).toBe('600');
    const others = (await readdir(dataDir)).filter((name) => name !== 'keys.json');
    for (const name of others) expect(['600', '700']).toContain(await modeOf(name));
    expect(JSON.parse(await readFile(join(dataDir, 'keys.json'), 'utf8'))).toMatchObject({ version: 1 });
  });

  test('a missing one is not created again for a store that holds secrets', async () => {
    const { dataDir, made, keyFile } = await servedFolder();
    const content = await readFile(keyFile);
    await rm(keyFile);
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(keyFile);
    expect(stderr).toMatch(/missing.*backup/is);
    expect(code).toBe(refusedCode);
    expect(await readdir(dataDir)).not.toContain('keys.json');
    await writeFile(keyFile, content, { mode: 0o600 });
    await expectUnharmed(dataDir, made);
  });

  test('one that other users can read is refused with the command that fixes it', async () => {
    const { dataDir, made, keyFile } = await servedFolder();
    await chmod(keyFile, 0o640);
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(`chmod 600 ${keyFile}`);
    expect(code).toBe(refusedCode);
    await chmod(keyFile, 0o600);
    await expectUnharmed(dataDir, made);
  });

  test('one with another root is refused', async () => {
    const { dataDir, made, keyFile } = await servedFolder();
    const content = await readFile(keyFile, 'utf8');
    const file = JSON.parse(content);
    file.roots[0].key = Buffer.alloc(32, 7).toString('base64url');
    await writeFile(keyFile, JSON.stringify(file));
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(keyFile);
    expect(stderr).toMatch(/not the one/);
    expect(stderr).not.toContain(file.roots[0].key);
    expect(code).toBe(refusedCode);
    await writeFile(keyFile, content);
    await expectUnharmed(dataDir, made);
  });

  test('a damaged one is refused', async () => {
    const { dataDir, made, keyFile } = await servedFolder();
    const content = await readFile(keyFile, 'utf8');
    await writeFile(keyFile, content.slice(0, -20));
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(keyFile);
    expect(stderr).toMatch(/damaged/);
    expect(code).toBe(refusedCode);
    await writeFile(keyFile, content);
    await expectUnharmed(dataDir, made);
  });
});

describe('P25: a store that cannot be trusted stops the start', () => {
  test('a data folder that is a file is refused by its name', async () => {
    const path = join(await freshFolder(), 'data');
    await writeFile(path, '');
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: path });
    expect(stderr).toContain(path);
    expect(stderr).toContain('MAYFLY_DATA_DIR');
    expect(code).toBe(refusedCode);
  });

  test('a data folder on a file system that keeps nothing is refused by its name', async () => {
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: '/proc/mayfly' });
    expect(stderr).toContain('/proc/mayfly');
    expect(stderr).toContain('MAYFLY_DATA_DIR');
    expect(code).toBe(refusedCode);
  });

  test('a database of a later version is refused untouched', async () => {
    const { dataDir, made } = await servedFolder();
    const setVersion = (version: number) => {
      using database = new Database(join(dataDir, 'mayfly.db'));
      const before = database.query<{ user_version: number }, []>('PRAGMA user_version').get();
      database.run(`PRAGMA user_version = ${version}`);
      return before?.user_version ?? 0;
    };
    const before = setVersion(999);
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toMatch(/later version/);
    expect(code).toBe(refusedCode);
    expect(setVersion(before)).toBe(999);
    await expectUnharmed(dataDir, made);
  });

  test('a database of another program is refused', async () => {
    const dataDir = await freshFolder();
    {
      using database = new Database(join(dataDir, 'mayfly.db'), { create: true });
      database.run('CREATE TABLE recipes (title TEXT)');
    }
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toMatch(/another program/);
    expect(stderr).toContain('MAYFLY_DATA_DIR');
    expect(code).toBe(refusedCode);
  });

  test('a file that is no database is refused', async () => {
    const dataDir = await freshFolder();
    await writeFile(
      join(dataDir, 'mayfly.db'),
      'not a database at all, but long enough to look like one. '.repeat(40),
    );
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(dataDir);
    expect(code).toBe(refusedCode);
  });

  test('a folder in the place of the database is refused', async () => {
    const dataDir = await freshFolder();
    await mkdir(join(dataDir, 'mayfly.db'));
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: dataDir });
    expect(stderr).toContain(dataDir);
    expect(code).toBe(refusedCode);
  });
});

/** Listens on a port until disposed. */
async function occupy(): Promise<{ port: number } & AsyncDisposable> {
  const port = await freePort();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

describe('a port that cannot be used stops the start', () => {
  test('one that is in use is refused by its number and its variable', async () => {
    await using taken = await occupy();
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: await freshFolder(), PORT: String(taken.port) });
    expect(stderr).toContain(String(taken.port));
    expect(stderr).toMatch(/in use/);
    expect(stderr).toMatch(/\bPORT\b/);
    expect(code).toBe(refusedCode);
  });

  test('an internal port that is in use is refused by its number and its variable', async () => {
    await using taken = await occupy();
    const env = { MAYFLY_DATA_DIR: await freshFolder(), MAYFLY_INTERNAL_PORT: String(taken.port) };
    const { code, stderr } = await serve(env);
    expect(stderr).toContain(String(taken.port));
    expect(stderr).toContain('MAYFLY_INTERNAL_PORT');
    expect(code).toBe(refusedCode);
  });

  test('an internal address that is not of this machine is refused by its variable', async () => {
    const env = { MAYFLY_INTERNAL_HOST: '203.0.113.1', MAYFLY_INTERNAL_PORT: String(await freePort()) };
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: await freshFolder(), ...env });
    expect(stderr).toContain('203.0.113.1 of MAYFLY_INTERNAL_HOST');
    expect(code).toBe(refusedCode);
  });

  test('an address that is not of this machine is refused by its variable', async () => {
    const { code, stderr } = await serve({ MAYFLY_DATA_DIR: await freshFolder(), HOST: '203.0.113.1' });
    expect(stderr).toContain('203.0.113.1');
    expect(stderr).toMatch(/\bHOST\b/);
    expect(code).toBe(refusedCode);
  });
});

test('a usage that does not exist ends with code 2', async () => {
  const run = await runProduct(['src/main.ts', 'serv']);
  expect(run.stderr).toMatch(/serve/);
  expect(run.code).toBe(2);
});

/**
 * The example answers of the API page and of the OpenAPI document: what the service answers to the example calls, as they are
 * recorded, and as a started server answers when curl sends them.
 */
import { describe, expect, it } from 'bun:test';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { examplesFile, renderExamples } from '../../scripts/generate-examples.ts';
import { describedApi } from '../../scripts/generate-openapi.ts';
import { curlExamples } from '../../src/api/openapi/calls.ts';
import { createExampleAnswers } from '../../src/api/openapi/examples.ts';
import { createAccount, freePort, startServer } from '../support/started-server.ts';
import { png } from '../web/pictures.ts';
import { type Question, sampleSecretKey, type Told, tellStory } from './example-story.ts';

const { surfaces, info } = describedApi();

/** The program that the examples call. */
const tool = 'curl';

/** Every field with the type of its value, one a line; of a list, those of its first entry. */
function shapeOf(value: Told, path = ''): string[] {
  if (Array.isArray(value)) return shapeOf(value[0] ?? null, `${path}[]`);
  if (typeof value !== 'object' || value === null)
    return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([name, field]) => shapeOf(field, `${path}.${name}`));
}

/** Whether a field is the other, or within it. */
function isWithin(field: string, other: string): boolean {
  return field.startsWith(other) && /^(?:[.[]|$)/.test(field.slice(other.length));
}

/** The fields that other lines lack, or have with another type. What is null in one answer may be anything in another. */
function beyond(lines: readonly string[], others: readonly string[]): string[] {
  const known = others.map((line) => line.split(': '));
  return lines.filter((line) => {
    const [field = '', type] = line.split(': ');
    if (type === 'null') return !known.some(([name = '']) => isWithin(name, field) || isWithin(field, name));
    return !known.some(([name = '', other]) =>
      other === 'null' ? isWithin(field, name) : line === `${name}: ${other}`,
    );
  });
}

function differencesOf(example: Told, answer: Told): string[] {
  const [told, real] = [shapeOf(example), shapeOf(answer)];
  return [
    ...beyond(told, real).map((line) => `only the example has ${line}`),
    ...beyond(real, told).map((line) => `only the answer has ${line}`),
  ];
}

/** What the caller asked for, and was granted. */
const echoed = ['lifespan', 'ttl', 'memo', 'recipients', 'recipient', 'custid', 'state'];

/**
 * Not the state of a domain, because this server has no name server to verify it with. Lifetimes to ten minutes: a changed one counts from the change, which the
 * recorded calls made a minute later.
 */
function echoesOf(name: string, value: Told): Record<string, unknown> {
  const flat = { ...value?.record?.metadata, ...value?.record?.secret, ...value?.record, ...value };
  const entries = echoed
    .filter((field) => field in flat && typeof flat[field] !== 'object')
    .filter((field) => field !== 'state' || !name.startsWith('v2.domain'))
    .map((field) => [
      field,
      typeof flat[field] === 'number' ? Math.round(flat[field] / 600) * 600 : flat[field],
    ]);
  return Object.fromEntries(entries);
}

describe('the recorded answers', () => {
  it('are what the service answers: run `npm run docs` when this fails', async () => {
    expect(await Bun.file(examplesFile).text()).toBe(await renderExamples());
  });

  it('hold the address of the installation and none of their own', () => {
    const examples = createExampleAnswers('http://localhost:3000/drop');
    const told = JSON.stringify(
      surfaces.flatMap(({ operations }) => operations.map(({ name }) => examples(name))),
    );
    expect(told).toContain('"http://localhost:3000/drop/secret/');
    expect(told).not.toContain('mayfly.example');
  });

  it('self-test: a field that is renamed, lost or of another type is found', () => {
    const answer = { record: { ttl: 5, key: 'x', delivery: null }, list: [{ a: 1 }] };
    const seeded = { record: { ttl: '5', keys: 'x', delivery: { at: 5 } }, list: [{ b: 1 }] };
    expect(differencesOf(seeded, answer)).toEqual([
      'only the example has .record.ttl: string',
      'only the example has .record.keys: string',
      'only the example has .list[].b: number',
      'only the answer has .record.ttl: number',
      'only the answer has .record.key: string',
      'only the answer has .list[].a: number',
    ]);
    expect(differencesOf(answer, structuredClone(answer))).toEqual([]);
  });
});

it('every example call of the page is answered by a started server as the example says', async () => {
  const dns = `127.0.0.1:${await freePort()}`;
  await using server = await startServer({ env: { MAYFLY_DNS_SERVERS: dns } });
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  await writeFile(join(folder, 'logo.png'), png);
  const { token } = await createAccount(server.dataDir, 'ada@example.com', 'identity');
  const examples = createExampleAnswers(info.baseUrl);
  const commandFor = ({ entry, key, secretKey }: Question) =>
    (curlExamples(entry.operation, info.baseUrl + entry.path).at(-1) ?? '')
      .replaceAll(info.baseUrl, `http://127.0.0.1:${server.port}`)
      .replace(/<\w+>(?=[/'])/, key)
      .replace('<username>:<api token>', `ada@example.com:${token}`)
      .replaceAll(sampleSecretKey, secretKey);
  const differences: string[] = [];
  const answers = await tellStory(surfaces, {
    ask: async (question) => {
      const withoutAccount = commandFor(question);
      const needsAccount = question.entry.operation.access !== 'open' && !withoutAccount.includes('--user');
      const command = needsAccount ? `${withoutAccount} --user 'ada@example.com:${token}'` : withoutAccount;
      return JSON.parse(await run(command.replace(tool, `${tool} -sS`), folder));
    },
    later: async () => undefined,
  });
  for (const [name, answer] of answers) {
    differences.push(...differencesOf(examples(name), answer).map((line) => `${name}: ${line}`));
    expect({ name, ...echoesOf(name, answer) }).toEqual({ name, ...echoesOf(name, examples(name)) });
  }
  await rm(folder, { recursive: true });
  expect(differences).toEqual([]);
}, 60_000);

function run(command: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (part: Buffer) => {
      printed += part.toString('utf8');
    });
    child.on('error', reject);
    child.on('close', () => resolve(printed));
  });
}

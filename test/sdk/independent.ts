/**
 * The two implementations of end-to-end secrets in docs/end-to-end.md, run exactly as they are printed there: one under Python, one
 * under Node. They share no code with ours.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Content } from '../../sdk/sealing.ts';
import { repositoryRoot } from '../support/started-server.ts';

/** As in the vectors: the bytes of a file are hex. */
export type WireContent =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly name: string; readonly type: string; readonly bytes: string };

export const toWire = (content: Content): WireContent =>
  content.kind === 'text' ? content : { ...content, bytes: Buffer.from(content.bytes).toString('hex') };

export const fromWire = (content: WireContent): Content =>
  content.kind === 'text'
    ? { kind: 'text', text: content.text }
    : { ...content, bytes: new Uint8Array(Buffer.from(content.bytes, 'hex')) };

export type Job =
  | {
      readonly do: 'seal';
      readonly content: WireContent;
      readonly passphrase: string | null;
      readonly note?: string;
    }
  | { readonly do: 'prove link'; readonly fragment: string }
  | { readonly do: 'open note'; readonly fragment: string; readonly note: string }
  | { readonly do: 'prove'; readonly fragment: string; readonly passphrase: string | null }
  | {
      readonly do: 'open';
      readonly fragment: string;
      readonly passphrase: string | null;
      readonly ciphertext: string;
    };

/** `refused` if it threw. */
export type Result = Readonly<Record<string, unknown>>;

const pythonDriver = `
import json, sys
import program as p

def content(c):
    if c["kind"] == "text":
        return p.text_content(c["text"])
    return p.file_content(c["name"], c["type"], bytes.fromhex(c["bytes"]))

def work(job):
    if job["do"] == "seal":
        sealed, fragment = p.seal(content(job["content"]), job["passphrase"], job.get("note"))
        return {"sealed": sealed, "fragment": fragment}
    if job["do"] == "prove link":
        return p.prove_link(job["fragment"])
    if job["do"] == "open note":
        return {"note": p.open_note(job["note"], job["fragment"])}
    body, key = p.prove(job["fragment"], job["passphrase"])
    if job["do"] == "prove":
        return {**body, "key": key.hex()}
    kind, *rest = p.open_sealed(job["ciphertext"], key)
    if kind == "text":
        return {"kind": kind, "text": rest[0]}
    return {"kind": kind, "name": rest[0], "type": rest[1], "bytes": rest[2].hex()}

def run(job):
    try:
        return work(job)
    except Exception as error:
        return {"refused": type(error).__name__}

print(json.dumps([run(job) for job in json.load(sys.stdin)]))
`;

const nodeDriver = `
import { readFileSync } from 'node:fs';
import * as p from './program.mjs';

const content = (c) =>
  c.kind === 'text' ? p.textContent(c.text) : p.fileContent(c.name, c.type, Buffer.from(c.bytes, 'hex'));

async function work(job) {
  if (job.do === 'seal') return p.seal(content(job.content), job.passphrase, job.note);
  if (job.do === 'prove link') return p.proveLink(job.fragment);
  if (job.do === 'open note') return { note: p.openNote(job.note, job.fragment) };
  const { body, key } = await p.prove(job.fragment, job.passphrase);
  if (job.do === 'prove') return { ...body, key: key.toString('hex') };
  const opened = p.open(job.ciphertext, key);
  if ('text' in opened) return { kind: 'text', ...opened };
  return { kind: 'file', ...opened, bytes: opened.bytes.toString('hex') };
}

const results = [];
for (const job of JSON.parse(readFileSync(0, 'utf8')))
  results.push(await work(job).catch((error) => ({ refused: error.name })));
console.log(JSON.stringify(results));
`;

/** The programs that follow a heading of the document. */
export async function printed(
  document: string,
  language: 'ts' | 'python',
  heading: string,
): Promise<readonly [string, ...string[]]> {
  const text = await Bun.file(join(repositoryRoot, 'docs', document)).text();
  const [, section = ''] = text.split(`\n## ${heading}\n`);
  const found = section.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'));
  const [program, ...rest] = Array.from(found, ([, each = '']) => each);
  if (program === undefined) throw new Error(`no program in ${language} under "${heading}"`);
  return [program, ...rest];
}

export async function runIn(
  folder: string,
  command: readonly string[],
  jobs: readonly object[],
): Promise<Result[]> {
  const child = Bun.spawn([...command], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', PYTHONUTF8: '1' },
    stdin: new Blob([JSON.stringify(jobs)]),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 60_000,
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Result[];
}

export interface Independent {
  readonly name: string;
  run(jobs: readonly Job[]): Promise<Result[]>;
}

/** Debian's own, whose packages 'python3-argon2' and 'python3-cryptography' another one in PATH does not have. */
export const python = '/usr/bin/python3';

/** `share` runs the request of the document against a server, and returns the link that it prints. */
type Independents = readonly Independent[] & AsyncDisposable & { share(server: string): Promise<string> };

export async function openIndependents(): Promise<Independents> {
  const folder = await mkdtemp(join(tmpdir(), 'mayfly-'));
  const [ts] = await printed('end-to-end.md', 'ts', 'In TypeScript, for Node');
  const [py, request = ''] = await printed('end-to-end.md', 'python', 'In Python');
  await Bun.write(join(folder, 'program.py'), py);
  await Bun.write(
    join(folder, 'share.py'),
    `import sys\nfrom program import *\nserver = sys.argv[1]\n${request}`,
  );
  await Bun.write(join(folder, 'driver.py'), pythonDriver);
  await Bun.write(
    join(folder, 'program.mjs'),
    new Bun.Transpiler({ loader: 'ts', target: 'node' }).transformSync(ts),
  );
  await Bun.write(join(folder, 'driver.mjs'), nodeDriver);
  await symlink(join(repositoryRoot, 'node_modules'), join(folder, 'node_modules'));
  const all: Independent[] = [
    { name: 'Python', run: (jobs) => runIn(folder, [python, 'driver.py'], jobs) },
    { name: 'Node', run: (jobs) => runIn(folder, ['node', 'driver.mjs'], jobs) },
  ];
  return Object.assign(all, {
    async share(server: string): Promise<string> {
      const child = Bun.spawn([python, 'share.py', server], { cwd: folder, stderr: 'pipe', timeout: 60_000 });
      const [link, errors] = [
        await new Response(child.stdout).text(),
        await new Response(child.stderr).text(),
      ];
      if ((await child.exited) !== 0) throw new Error(errors);
      return link.trim();
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  });
}

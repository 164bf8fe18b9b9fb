/**
 * What the documents have people paste keeps every byte: a text of their own goes to curl by `--data-urlencode`. With `-d` a password
 * that has `&`, `+` or `%` in it is stored as another one.
 */
import { describe, expect, it } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describedApi } from '../../scripts/generate-openapi.ts';
import { createReference } from '../../src/api/reference/page.tsx';
import { repositoryRoot } from '../support/started-server.ts';

/** Fields of a form that are a number, a name of DNS or a word out of a list: none has a byte that a form reads differently. */
const plainFields: ReadonlySet<string> = new Set(['ttl', 'length', 'charset', 'share_domain', 'continue']);

const flag = /(?:^|\s)(?:-d *|--data(?:-raw|-ascii|-binary)?[ =])(?:'([^']*)'|"([^"]*)"|(\S+))/g;

/** What is given to curl as it is and may be read as something else. */
function spoiledBy(command: string): string[] {
  const given = Array.from(
    command.matchAll(flag),
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  );
  return given
    .filter((body) => !/^[{[@]/.test(body))
    .flatMap((body) => body.split('&'))
    .filter((field) => !plainFields.has(field.split('=')[0] ?? ''));
}

/** The commands of a text that start curl, each with its continued lines. */
function curlCommands(text: string): readonly string[] {
  return text
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => /\bcurl /.test(line));
}

/** Everything people paste from: the documents, the files of deploy/, what demos print. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(repositoryRoot, folder)).flatMap((name) => {
    const path = join(folder, name);
    return statSync(join(repositoryRoot, path)).isDirectory() ? filesBelow(path) : [path];
  });
}

const atTop = readdirSync(repositoryRoot).filter((name) => name.endsWith('.md'));
const below = ['docs', 'deploy', 'scripts', 'src'].flatMap(filesBelow);
/** Decisions show what goes wrong, too. */
const papers = [...atTop, 'sdk/README.md', ...below.filter((path) => !path.startsWith('docs/decisions/'))];

describe('the examples for curl', () => {
  it('send a text of the reader’s own by --data-urlencode, in every document and everything a program prints', () => {
    const commands = papers.flatMap((path) =>
      curlCommands(readFileSync(join(repositoryRoot, path), 'utf8')).map((command) => ({ path, command })),
    );
    expect(commands.length).toBeGreaterThan(20);
    expect(
      commands.flatMap(({ path, command }) => spoiledBy(command).map((field) => `${path}: ${field}`)),
    ).toEqual([]);
  });

  it('do so on the page of the API too', () => {
    const { surfaces, info } = describedApi();
    const markup = createReference(surfaces, info)();
    const code = Array.from(markup.matchAll(/<code[^>]*>([^<]*)<\/code>/g), ([, text = '']) => text);
    const commands = code.flatMap((text) =>
      curlCommands(text.replaceAll('&#39;', "'").replaceAll('&quot;', '"')),
    );
    expect(commands.length).toBeGreaterThan(20);
    expect(commands.flatMap(spoiledBy)).toEqual([]);
  });

  it('self-test: each way to hand curl a text that a form would read differently is found', () => {
    const spoiled = [
      "curl -s host/share -d 'secret=a&b'",
      'curl host/share --data secret=x --data ttl=60',
      'curl host/share --data-raw "passphrase=p"',
      "curl host/share --data-binary 'recipient=a+b@example.org'",
      "curl host/share -d'secret=x'",
      "curl host/share -d \\\n  'memo=x'",
    ];
    expect(spoiled.flatMap(curlCommands).map((command) => spoiledBy(command).length)).toEqual([
      2, 1, 1, 1, 1, 1,
    ]);
    const fine = [
      "curl host/share --data-urlencode 'secret=a&b' -d ttl=60",
      `curl host -H 'Content-Type: application/json' -d '{"secret":{"secret":"a&b"}}'`,
      'curl host --data-binary @logo.png',
    ];
    expect(fine.flatMap(curlCommands).flatMap(spoiledBy)).toEqual([]);
  });
});

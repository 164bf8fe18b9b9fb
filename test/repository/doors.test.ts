/**
 * In the pages, only code reached through a route's `post` may call anything that changes something (P4). Requests alone
 * cannot test this: a hidden reveal, such as one behind a query parameter of a GET, shows only to those who know its name.
 */
import { describe, expect, it } from 'bun:test';
import { isTest, readSources, type SourceFile } from './source-files.ts';

const changing =
  /\b(?:service\.(?:reveal|finishLook|burn|burnByRecipient|conceal|generate|viewReceipt|deliver|change|sendDueNotices)|accounts\.(?:requestSignUp|signUp|logIn|logOut|requestReset|resetPassword|changePassword|deleteAccount|createToken|revokeToken|endSession|setNotify|setSenderName|setLocale)|requests\.(?:ask|answer|change|discard|report)|domains\.(?:add|verify|remove|setBrand|setLogo))\b/g;

interface Piece {
  /** The top-level function's name. */
  readonly name: string;
  readonly text: string;
}

/** Without comments, strings and imports, where a function's name is only a word. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    .replace(/^import [\s\S]*?;$/gm, '')
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''");
}

/** Splits a file at its top-level functions, declared or assigned. */
function piecesOf({ text }: SourceFile): Piece[] {
  return codeOf(text)
    .split(/^(?=(?:export )?(?:(?:async )?function|const) )/m)
    .map((piece) => ({
      name: /^(?:export )?(?:(?:async )?function|const) (\w+)/.exec(piece)?.[1] ?? '',
      text: piece,
    }));
}

/** Whether the nearest route action before a position is `post`; `null` without a route table. */
function isPosted(text: string, at: number): boolean | null {
  const actions = [...text.slice(0, at).matchAll(/\b(get|post): /g)];
  return actions.length === 0 ? null : actions.at(-1)?.[1] === 'post';
}

/** Where a changing call can be reached other than through a `post`, as `file: function`. */
function openDoors(file: SourceFile): string[] {
  const pieces = piecesOf(file);
  const open: string[] = [];
  const judged = new Set<string>();

  function judge(piece: Piece, at: number): void {
    const posted = isPosted(piece.text, at);
    if (posted === true) return;
    if (posted === false || piece.name === '') open.push(`${file.path}: ${piece.name}`);
    else follow(piece.name);
  }

  /** Judges every caller of the function, which in turn must be reached only through a `post`. */
  function follow(name: string): void {
    if (judged.has(name)) return;
    judged.add(name);
    let uses = 0;
    for (const piece of pieces) {
      for (const use of piece.text.matchAll(
        new RegExp(`(?<!function |const |[.\\w])${name}\\b(?!\\??:|-)`, 'g'),
      )) {
        uses += 1;
        judge(piece, use.index);
      }
    }
    if (uses === 0) open.push(`${file.path}: ${name}, which nothing here posts`);
  }

  for (const piece of pieces) {
    for (const call of piece.text.matchAll(changing)) judge(piece, call.index);
  }
  return open;
}

const pages = readSources(['src/web']).filter((file) => !isTest(file));

describe('the doors of the pages', () => {
  it('that change something are opened only by a post (P4)', () => {
    expect(pages.flatMap(({ text }) => [...codeOf(text).matchAll(changing)]).length).toBeGreaterThan(20);
    expect(pages.flatMap(openDoors)).toEqual([]);
  });

  it('self-test: a reveal behind a query of a GET is found', () => {
    const path = 'src/web/secrets/secret.tsx';
    const { text } = pages.find((file) => file.path === path) ?? { text: '' };
    const ask = /^async function ask\([\s\S]*?\{$/m;
    expect(text).toMatch(ask);
    const backdoors = [
      text.replace(
        ask,
        (head) => `${head}\n  if (request.query.get('open') === 'yes') return open(request, deps);`,
      ),
      text.replace(/get: \{ limit: 'manage', handle: \(request\) => ask\(request, deps, 200\)/, (get) =>
        get.replace('ask(request, deps, 200)', 'open(request, deps)'),
      ),
      `${text}\nexport function peek(deps: SecretDeps) {\n  return deps.service.reveal({}, nobody);\n}\n`,
      `${text}\nexport const peek = (deps: SecretDeps) => deps.service.reveal({}, nobody);\n`,
    ];
    for (const backdoor of backdoors) {
      expect(backdoor).not.toBe(text);
      expect(openDoors({ path, text: backdoor })).not.toEqual([]);
    }
  });
});

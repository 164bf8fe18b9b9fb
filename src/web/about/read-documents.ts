/**
 * Turns the users' documents from Markdown into parts of pages. A macro: it runs when its importer is transpiled, so that the executable
 * contains the result but no Markdown parser.
 */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Marked, type Token, type Tokens } from 'marked';

const root = join(import.meta.dir, '..', '..', '..');

/** In display order: what each tells, by the last part of its page's address, which is also its name in `docs/`. */
const shelf = {
  command: 'Share, read and burn from a terminal or a script.',
  codes: 'What a code to a mailbox stops, and what it does not.',
  api: 'The HTTP API in curl, TypeScript, Python and Go.',
  client: 'The TypeScript client for Node, Bun, Deno and browsers.',
  ci: 'Secrets in GitHub Actions and GitLab CI/CD.',
  mcp: 'Secrets for AI agents, which never read them.',
  'end-to-end': 'What end-to-end encryption protects from, the protocol, and test vectors.',
  requests: 'What they protect from, the protocol, and test vectors.',
};

const fileOf = (key: string) => (key === 'client' ? 'sdk/README.md' : `docs/${key}.md`);

/** The site's page for each file, relative to the base path. */
const served: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(shelf).map((key) => [fileOf(key), `docs/${key}`])),
  'docs/openapi/mayfly.json': 'api/v2/openapi.json',
  'SECURITY.md': 'security',
  '/api/docs': 'api/docs',
};

/** In markup, `@/` begins an address under the site's base path. */
export type Block =
  | { readonly kind: 'markup'; readonly markup: string }
  | { readonly kind: 'code'; readonly code: string };

export interface Document {
  readonly key: string;
  readonly title: string;
  readonly tells: string;
  readonly intro: readonly Block[];
  readonly sections: readonly { readonly id: string; readonly title: string }[];
  readonly body: readonly Block[];
}

/** Returns the id that GitHub gives a heading. */
function idOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/<[^>]*>|&[a-z0-9#]+;/g, '')
    .replace(/[^\p{L}\p{N}\- _]/gu, '')
    .replaceAll(' ', '-');
}

function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Returns the site's page for a path in a document; `null` if the file exists only in the source. */
function addressOf(target: string, file: string): string | null {
  const [path = '', anchor] = target.split('#');
  const named = path.startsWith('/') ? path : relative(root, join(root, file, '..', path));
  const place = served[named];
  return place === undefined ? null : `@/${place}${anchor === undefined ? '' : `#${anchor}`}`;
}

function createReader(file: string): Marked {
  const marked = new Marked({ gfm: true });
  marked.use({
    renderer: {
      heading({ tokens, depth, text }) {
        const attributes = depth === 2 ? ' class="large"' : '';
        return `<h${depth} id="${idOf(text)}"${attributes}>${this.parser.parseInline(tokens)}</h${depth}>`;
      },
      codespan({ text }) {
        const code = `<code>${escapeMarkup(text)}</code>`;
        const place = served[text];
        return place === undefined ? code : `<a href="@/${place}">${code}</a>`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        if (/^(?:#|https?:|mailto:)/.test(href)) return `<a href="${escapeMarkup(href)}">${text}</a>`;
        const address = addressOf(href, file);
        if (address !== null) return `<a href="${escapeMarkup(address)}">${text}</a>`;
        const path = relative(root, join(root, file, '..', href));
        const named = text === path ? '' : ` <code>${escapeMarkup(path)}</code>`;
        return `${text === path ? `<code>${escapeMarkup(path)}</code>` : text}${named} in the source`;
      },
      table(table) {
        return tableMarkup(table, (tokens) => this.parser.parseInline(tokens));
      },
    },
  });
  return marked;
}

/** Renders a table like every other on the site: as cards on a phone, but still a table to screen readers. */
function tableMarkup({ header, rows }: Tokens.Table, inline: (tokens: Token[]) => string): string {
  const titles = header.map(({ tokens }) => inline(tokens));
  const labels = header.map(({ text }) => escapeMarkup(text.replaceAll('`', '')));
  const head = titles.map((title) => `<th role="columnheader" scope="col">${title}</th>`).join('');
  const cellOf = ({ tokens }: Tokens.TableCell, at: number) =>
    at === 0
      ? `<th role="rowheader" scope="row">${inline(tokens)}</th>`
      : `<td role="cell" data-label="${labels[at]}">${inline(tokens)}</td>`;
  const lines = rows.map((cells) => `<tr role="row">${cells.map(cellOf).join('')}</tr>`).join('');
  return `<table class="table" role="table"><thead role="rowgroup"><tr role="row">${head}</tr></thead><tbody role="rowgroup">${lines}</tbody></table>`;
}

function blocksOf(tokens: readonly Token[], reader: Marked): readonly Block[] {
  const blocks: Block[] = [];
  for (const token of tokens) {
    if (token.type === 'code') blocks.push({ kind: 'code', code: (token as Tokens.Code).text });
    else if (token.type !== 'space') blocks.push({ kind: 'markup', markup: reader.parser([token]) });
  }
  return blocks;
}

/** @throws if a document does not begin with its title */
export function readDocuments(): readonly Document[] {
  return Object.entries(shelf).map(([key, tells]) => {
    const file = fileOf(key);
    const reader = createReader(file);
    const tokens = reader.lexer(readFileSync(join(root, file), 'utf8'));
    const isHeading = (depth: number) => (token: Token) =>
      token.type === 'heading' && (token as Tokens.Heading).depth === depth;
    const [first] = tokens;
    if (first === undefined || !isHeading(1)(first)) throw new Error(`${file} has no title`);
    const headings = tokens.filter(isHeading(2)) as Tokens.Heading[];
    const start = headings[0] === undefined ? tokens.length : tokens.indexOf(headings[0]);
    return {
      key,
      title: (first as Tokens.Heading).text,
      tells,
      intro: blocksOf(tokens.slice(1, start), reader),
      sections: headings.map(({ text }) => ({ id: idOf(text), title: text.replaceAll('`', '') })),
      body: blocksOf(tokens.slice(start), reader),
    };
  });
}

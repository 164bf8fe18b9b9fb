/**
 * The style sheet and the scripts, as files that caches may keep for ever: each address holds a hash of the content, and
 * a page names exactly what is served, with its integrity (W3C SRI). A script is bundled with all that it imports
 * (`bundle.ts`), so its integrity covers everything that runs. Every page works without scripts.
 */
import { createHash } from 'node:crypto';
import { gzip } from '../../http/compression.ts';
import about from '../style/about.css' with { type: 'text' };
import account from '../style/account.css' with { type: 'text' };
import base from '../style/base.css' with { type: 'text' };
import domains from '../style/domains.css' with { type: 'text' };
import frame from '../style/frame.css' with { type: 'text' };
import items from '../style/items.css' with { type: 'text' };
import print from '../style/print.css' with { type: 'text' };
import receipt from '../style/receipt.css' with { type: 'text' };
import reference from '../style/reference.css' with { type: 'text' };
import secret from '../style/secret.css' with { type: 'text' };
import share from '../style/share.css' with { type: 'text' };
import { scriptTexts } from './scripts.ts';
/** A file that never changes under its address, which holds a hash of it: caches may keep it for ever. */
export interface SiteFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The same, compressed; `null` for what is compressed already. */
  readonly gzipped: Uint8Array<ArrayBuffer> | null;
  readonly type: string;
  /** The content security policy under which it runs; absent where nothing runs by itself. */
  readonly policy?: string;
}

/** Without comments and the blanks at the ends of lines; compression takes care of the rest. */
function pack(css: string): string {
  return css
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .join('');
}

/**
 * System fonts only, and nothing is loaded from it. Text contrast is at least 4.5 : 1 and that of borders and focus marks
 * 3 : 1 in every colour scheme (WCAG 2.2 AA).
 */
export const styleText = [base, frame, share, receipt, secret, domains, about, print].map(pack).join('');

/** Sheets of single pages that would weigh on the others. */
const extraStyles = { account: items + account, reference } as const;
export type StyleName = keyof typeof extraStyles;

const workerName = 'stretch-worker';
export type ScriptName = Exclude<keyof typeof scriptTexts, typeof workerName>;

export interface Asset {
  /** The file's name below `/assets/`. */
  readonly name: string;
  /** For the `integrity` attribute. */
  readonly integrity: string;
}

/**
 * Of the worker that stretches passphrases: it may compile WebAssembly, which the pages may not, and can send nothing to anybody but
 * its page.
 */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export interface Assets {
  readonly style: Asset;
  extraStyle(name: StyleName): Asset;
  script(name: ScriptName): Asset;
  /** Stretches passphrases; started only by pages that seal or open, when there is one. */
  readonly worker: Asset;
  /** By file name; `null` when there is no such file. */
  find(name: string): SiteFile | null;
}

/** Made when the first page is: packing takes some 40 ms, which a start need not wait for. */
export function createAssets(): Assets {
  let made: Assets | null = null;
  const all = (): Assets => {
    made ??= packAssets();
    return made;
  };
  return {
    get style() {
      return all().style;
    },
    extraStyle: (name) => all().extraStyle(name),
    script: (name) => all().script(name),
    get worker() {
      return all().worker;
    },
    find: (name) => all().find(name),
  };
}

const scriptType = 'text/javascript; charset=utf-8';

function packAssets(): Assets {
  const files = new Map<string, SiteFile>();
  const add = (stem: string, extension: string, text: string, file: SiteFile): Asset => {
    const asset = assetOf(stem, extension, text);
    files.set(asset.name, file);
    return asset;
  };
  const addStyle = (name: string, text: string) =>
    add(name, 'css', text, fileOf(text, 'text/css; charset=utf-8'));
  const addScript = (name: string, text: string) => {
    const policy = name === workerName ? { policy: workerPolicy } : {};
    return add(name, 'js', text, { ...fileOf(text, scriptType), ...policy });
  };
  const style = addStyle('style', styleText);
  const extra = {
    account: addStyle('account', pack(extraStyles.account)),
    reference: addStyle('reference', pack(extraStyles.reference)),
  };
  const scripts = Object.fromEntries(
    Object.entries(scriptTexts).map(([name, text]) => [name, addScript(name, text)]),
  ) as Record<keyof typeof scriptTexts, Asset>;
  return {
    style,
    extraStyle: (name) => extra[name],
    script: (name) => scripts[name],
    worker: scripts[workerName],
    find: (name) => files.get(name) ?? null,
  };
}

function assetOf(stem: string, extension: string, text: string): Asset {
  const digest = createHash('sha384').update(text).digest();
  const name = `${stem}-${digest.toString('hex').slice(0, 16)}.${extension}`;
  return { name, integrity: `sha384-${digest.toString('base64')}` };
}

export function fileOf(text: string, type: string): SiteFile {
  const bytes = new Uint8Array(Buffer.from(text));
  return { bytes, gzipped: gzip(bytes, 12), type };
}

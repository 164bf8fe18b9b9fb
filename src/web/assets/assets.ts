/**
 * Style sheets and scripts as files that caches may keep forever: their addresses contain a hash, and pages name them with an integrity
 * hash (W3C SRI). Each script is bundled with its imports (`bundle.ts`), so that hash covers everything that runs.
 */
import { createHash } from 'node:crypto';
import { brotli, gzip } from '../../http/compression.ts';
import about from '../style/about.css' with { type: 'text' };
import account from '../style/account.css' with { type: 'text' };
import base from '../style/base.css' with { type: 'text' };
import choices from '../style/choices.css' with { type: 'text' };
import composer from '../style/composer.css' with { type: 'text' };
import domains from '../style/domains.css' with { type: 'text' };
import eye from '../style/eye.css' with { type: 'text' };
import facts from '../style/facts.css' with { type: 'text' };
import frame from '../style/frame.css' with { type: 'text' };
import handing from '../style/handing.css' with { type: 'text' };
import items from '../style/items.css' with { type: 'text' };
import print from '../style/print.css' with { type: 'text' };
import receipt from '../style/receipt.css' with { type: 'text' };
import reference from '../style/reference.css' with { type: 'text' };
import request from '../style/request.css' with { type: 'text' };
import secret from '../style/secret.css' with { type: 'text' };
import share from '../style/share.css' with { type: 'text' };
import { bundleScripts, embedded } from './bundle.ts' with { type: 'macro' };

export interface SiteFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** `null` if `bytes` are compressed already. */
  readonly gzipped: Uint8Array<ArrayBuffer> | null;
  /** Compresses at the first call. */
  readonly brotli?: () => Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** The content security policy of a file that runs on its own. */
  readonly policy?: string;
}

/** When run from the sources, a macro that runs while the server handles requests can lose events, so startup must load this file. */
const scriptTexts = bundleScripts([
  'account',
  'answer',
  'answers',
  'ask',
  'code',
  'colour',
  'copy',
  'gone',
  'language',
  'qr',
  'receipt',
  'recent',
  'reveal',
  'sealed',
  'sealed-link',
  'several',
  'share',
  'stretch-worker',
  'time',
]);

/** Removes comments and indentation; compression does the rest. */
function pack(css: string): string {
  return css
    .replace(/\/\*[^*]*\*+(?:[^/*][^*]*\*+)*\//g, '')
    .split('\n')
    .map((line) => line.trim())
    .join(' ');
}

const face = new Uint8Array(Buffer.from(embedded(['display.woff2'])['display.woff2'], 'base64'));

/**
 * Loads nothing but the display face of headings. In every colour scheme, text has a contrast of at least 4.5 : 1, and borders and focus outlines
 * at least 3 : 1 (WCAG 2.2 AA).
 */
const style = [base, frame, domains, print].map(pack).join('');

/** Each page names the ones that it needs in addition to `style`. */
const extraStyles = {
  about: facts + about,
  answer: composer + request,
  answers: choices + handing + request,
  ask: choices + composer + request,
  account: eye + facts + items + account,
  receipt: facts + choices + handing + receipt,
  reference,
  secret: eye + secret,
  share: choices + composer + share,
} as const;
export type StyleName = keyof typeof extraStyles;

export const styleText = style + Object.values(extraStyles).map(pack).join('');

const workerName = 'stretch-worker';
export type ScriptName = Exclude<keyof typeof scriptTexts, typeof workerName>;

export interface Asset {
  readonly name: string;
  readonly integrity: string;
}

/** The worker that stretches passphrases may compile WebAssembly, unlike the pages, and can communicate only with its page. */
const workerPolicy = [
  "default-src 'none'",
  "script-src 'wasm-unsafe-eval'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

export type Assets = ReturnType<typeof packAssets>;

/** Packs the assets at first use, because that takes about 40 ms and startup should not wait for it. */
export function createAssets(): () => Assets {
  let made: Assets | null = null;
  return () => {
    made ??= packAssets();
    return made;
  };
}

const scriptType = 'text/javascript; charset=utf-8';

function packAssets() {
  const files = new Map<string, SiteFile>();
  const add = (stem: string, extension: string, content: string | Uint8Array, file: SiteFile): Asset => {
    const asset = assetOf(stem, extension, content);
    files.set(asset.name, file);
    return asset;
  };
  const addStyle = (name: string, text: string) =>
    add(name, 'css', text, keptFile(text, 'text/css; charset=utf-8'));
  const addScript = (name: string, text: string) => {
    const policy = name === workerName ? { policy: workerPolicy } : {};
    return add(name, 'js', text, { ...keptFile(text, scriptType), ...policy });
  };
  const { name: faceName } = add('display', 'woff2', face, {
    bytes: face,
    gzipped: null,
    type: 'font/woff2',
  });
  const extra = Object.fromEntries(
    Object.entries(extraStyles).map(([name, text]) => [name, addStyle(name, pack(text))]),
  ) as Record<StyleName, Asset>;
  const scripts = Object.fromEntries(
    Object.entries(scriptTexts).map(([name, text]) => [name, addScript(name, text)]),
  ) as Record<keyof typeof scriptTexts, Asset>;
  return {
    style: addStyle('style', style.replace('display.woff2', faceName)),
    extraStyle: (name: StyleName) => extra[name],
    script: (name: ScriptName) => scripts[name],
    worker: scripts[workerName],
    find: (name: string) => files.get(name) ?? null,
  };
}

function assetOf(stem: string, extension: string, content: string | Uint8Array): Asset {
  const digest = createHash('sha256').update(content).digest();
  const name = `${stem}-${digest.toString('hex').slice(0, 16)}.${extension}`;
  return { name, integrity: `sha256-${digest.toString('base64')}` };
}

export function fileOf(text: string, type: string): SiteFile {
  const bytes = new Uint8Array(Buffer.from(text));
  return { bytes, gzipped: gzip(bytes, 12), type };
}

function keptFile(text: string, type: string): SiteFile {
  const file = fileOf(text, type);
  let made: Uint8Array<ArrayBuffer> | undefined;
  return {
    ...file,
    brotli() {
      made ??= brotli(file.bytes);
      return made;
    },
  };
}

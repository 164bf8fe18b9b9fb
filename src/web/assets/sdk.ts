/** The client in `sdk/`, for pages of the same origin. When run from the sources, importing this file bundles the client. */
import { fileOf, type SiteFile } from './assets.ts';
import { bundleSdk } from './bundle.ts' with { type: 'macro' };

const files = new Map<string, SiteFile>(
  Object.entries(bundleSdk()).map(([name, text]) => [name, fileOf(text, 'text/javascript; charset=utf-8')]),
);

export function findSdkFile(name: string): SiteFile | null {
  return files.get(name) ?? null;
}

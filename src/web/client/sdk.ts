/** The client in `sdk/` as pages on the same origin may load it. */
import { fileOf, type SiteFile } from './assets.ts';
import { bundleSdk } from './sdk-bundle.ts' with { type: 'macro' };

const files = new Map<string, SiteFile>(
  Object.entries(bundleSdk()).map(([name, text]) => [name, fileOf(text, 'text/javascript; charset=utf-8')]),
);

export function findSdkFile(name: string): SiteFile | null {
  return files.get(name) ?? null;
}

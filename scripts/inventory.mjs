/** What says what is in a release: an SBOM in CycloneDX, and checksums. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmOutput, root } from './install.mjs';

const isDevelopment = ({ properties = [] }) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

/** npm's own `--omit dev` also omits what the program needs itself, where a package for development needs it too. */
function dropDevelopment(sbom) {
  const dropped = new Set(sbom.components.filter(isDevelopment).map((component) => component['bom-ref']));
  const isKept = (ref) => !dropped.has(ref);
  sbom.components = sbom.components.filter((component) => isKept(component['bom-ref']));
  sbom.dependencies = sbom.dependencies
    .filter(({ ref }) => isKept(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isKept) }));
}

/** What is inside, with what npm draws anew each time taken from the commit and the contents. */
export function writeSbom(path, seconds) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--loglevel=error'];
  const sbom = JSON.parse(npmOutput(args));
  dropDevelopment(sbom);
  sbom.metadata.timestamp = new Date(seconds * 1_000).toISOString();
  // npm calls it as the folder is called.
  sbom.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
  sbom.serialNumber = '';
  const hash = createHash('sha256').update(JSON.stringify(sbom)).digest('hex');
  // A UUID of version 8 (RFC 9562 §5.8): all but the marks of version and variant is the hash.
  const groups = [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(12, 15)}`, `8${hash.slice(15, 18)}`];
  sbom.serialNumber = `urn:uuid:${[...groups, hash.slice(18, 30)].join('-')}`;
  writeFileSync(path, `${JSON.stringify(sbom, null, 2)}\n`);
}

/** In the form that `sha256sum -c SHA256SUMS` reads. */
export function writeSums(folder) {
  const lines = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''));
}

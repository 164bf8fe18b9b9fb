/**
 * The Debian package: the executable, the unit, the settings and mayfly-admin of deploy/, in the places that Debian has for them.
 * The same executable and time give the same bytes.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { documentation, documentationExamples, documentationPages, withPlaces } from './debian-pages.mjs';
import { bun, root } from './install.mjs';
import { thirdPartyLicences } from './licences.mjs';

/** Debian's names of the processors that there are packages for. */
export const architectures = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };

const read = (...path) => readFileSync(join(root, ...path), 'utf8');
const { version: ownVersion, description } = JSON.parse(read('package.json'));
/** As Debian's own tools are told who makes a package. */
const { DEBFULLNAME = 'Mayfly', DEBEMAIL = 'mayfly@packages.invalid' } = process.env;
const maintainer = `${DEBFULLNAME} <${DEBEMAIL}>`;

/** What a shell and man(1) read, as the command prints it. */
const printed = [
  [['completion', 'bash'], 'usr/share/bash-completion/completions/mayfly'],
  [['completion', 'zsh'], 'usr/share/zsh/vendor-completions/_mayfly'],
  [['completion', 'fish'], 'usr/share/fish/vendor_completions.d/mayfly.fish'],
  [['man'], 'usr/share/man/man1/mayfly.1.gz'],
];

/** Of the sources, because another processor's executable does not run here. */
function print(args) {
  const flags = ['--no-install', '--no-env-file', join(root, 'src', 'main.ts')];
  const { status, stdout, stderr } = spawnSync(bun, [...flags, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: {},
  });
  if (status !== 0) throw new Error(`mayfly ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

function copyright() {
  const indented = (text) => text.trimEnd().replace(/^$/gm, '.').replace(/^/gm, ' ');
  const licence = read('LICENSE').replace(/^MIT License\n+/, '');
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: mayfly
Comment: /usr/bin/mayfly also holds works of others; LICENSES.gz beside this file has their licences.

Files: *
Copyright: ${/^Copyright (.*)$/m.exec(licence)?.[1] ?? 'the authors of Mayfly'}
License: Expat
${indented(licence)}
`;
}

function changelog(version, seconds) {
  const date = new Date(seconds * 1_000).toUTCString().replace('GMT', '+0000');
  return `mayfly (${version}) stable; urgency=medium

  * /usr/share/doc/mayfly/NEWS.gz says what changed.

 -- ${maintainer}  ${date}
`;
}

/** Without a header of its own time. */
const packed = (text) => gzipSync(text, { level: 9 });

/** What is in it, by path: the mode, and the bytes. */
function filesOf({ executable, version, seconds }) {
  const inPackage = (text) => withPlaces(text.replaceAll('/usr/local/', '/usr/'));
  const doc = documentation.slice(1);
  const texts = printed.map(([args, path]) => {
    const text = print(args);
    return [path, 0o644, path.endsWith('.gz') ? packed(text) : text];
  });
  return [
    ['usr/bin/mayfly', 0o755, readFileSync(executable)],
    ['usr/sbin/mayfly-admin', 0o755, inPackage(read('deploy', 'mayfly-admin'))],
    ['usr/lib/systemd/system/mayfly.service', 0o644, inPackage(read('deploy', 'mayfly.service'))],
    ['usr/lib/sysusers.d/mayfly.conf', 0o644, read('deploy', 'debian', 'sysusers.conf')],
    ['etc/mayfly/mayfly.env', 0o600, inPackage(read('deploy', 'mayfly.env.example'))],
    [`${doc}/copyright`, 0o644, copyright()],
    [`${doc}/LICENSES.gz`, 0o644, packed(thirdPartyLicences())],
    [`${doc}/changelog.gz`, 0o644, packed(changelog(version, seconds))],
    [`${doc}/NEWS.gz`, 0o644, packed(read('CHANGELOG.md'))],
    ['usr/share/lintian/overrides/mayfly', 0o644, read('deploy', 'debian', 'lintian-overrides')],
    ...[...documentationPages(), ...documentationExamples()].map(([name, text]) => [
      `${doc}/${name}`,
      0o644,
      text,
    ]),
    ...texts,
    ['DEBIAN/conffiles', 0o644, '/etc/mayfly/mayfly.env\n'],
    ...['postinst', 'prerm', 'postrm'].map((name) => [
      `DEBIAN/${name}`,
      0o755,
      read('deploy', 'debian', name),
    ]),
  ];
}

function control(version, architecture, bytes) {
  return `Package: mayfly
Version: ${version}
Section: web
Priority: optional
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${Math.ceil(bytes / 1_024)}
Depends: libc6 (>= 2.17), libgcc-s1 (>= 3.0), systemd (>= 250)
Recommends: time-daemon
Suggests: caddy | nginx | apache2 | haproxy
Description: one-time secret service
 ${description}
 .
 The service keeps its store and its keys in /var/lib/mayfly and reads its
 settings from /etc/mayfly/mayfly.env. The same program is the command for
 people who share and read secrets.
`;
}

function write(folder, path, mode, content) {
  const target = join(folder, path);
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
  writeFileSync(target, content, { mode });
  chmodSync(target, mode);
}

/** Folders too have the mode that the umask may have taken away. */
function openFolders(folder) {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) openFolders(join(folder, entry.name));
}

/**
 * @param {{ executable: string, architecture: string, outdir: string, seconds: number, version?: string, compression?: string[] }} parts `seconds` since
 * 1970 are the time of every file in it
 * @returns the path of the package
 */
export function makeDebianPackage({
  executable,
  architecture,
  outdir,
  seconds,
  version = ownVersion,
  compression = ['-Zxz', '-z1'],
}) {
  if (!existsSync('/usr/bin/dpkg-deb'))
    throw new Error('a Debian package needs dpkg-deb, which Debian and Ubuntu have');
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-deb-'));
  try {
    const staged = join(folder, 'staged');
    for (const [path, mode, content] of filesOf({ executable, version, seconds }))
      write(staged, path, mode, content);
    write(staged, 'DEBIAN/control', 0o644, control(version, architecture, statSync(executable).size));
    openFolders(staged);
    const made = join(folder, 'made.deb');
    const flags = ['--root-owner-group', ...compression, '--threads-max=1', '--build'];
    const env = { PATH: process.env.PATH, SOURCE_DATE_EPOCH: `${seconds}` };
    const { status, stderr } = spawnSync('dpkg-deb', [...flags, staged, made], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`dpkg-deb ended with ${status}: ${stderr}`);
    mkdirSync(outdir, { recursive: true });
    const outfile = join(outdir, `mayfly_${version}_${architecture}.deb`);
    copyFileSync(made, outfile);
    return outfile;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The pages of the documentation as the Debian package has them, all in one folder: what they link to is there, and commands are the service's. */
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from './install.mjs';

/** Where Debian has them. */
export const documentation = '/usr/share/doc/mayfly';

const pageNames = [
  'README.md',
  'backup.md',
  'branding.md',
  'command.md',
  'configuration.md',
  'envelope.md',
  'install.md',
  'operating.md',
  'promises.md',
  'proxies.md',
  'upgrade.md',
];
const exampleNames = ['Caddyfile', 'apache.conf', 'haproxy.cfg', 'nginx.conf', 'plans.upstream.json'];

/** Where a file of the repository is, seen from the folder of the pages. */
const places = new Map([
  ...pageNames.map((name) => [`docs/${name}`, name]),
  ...exampleNames.map((name) => [`deploy/${name}`, `examples/${name}`]),
  ['SECURITY.md', 'SECURITY.md'],
  ['CHANGELOG.md', 'NEWS.gz'],
]);

/** What is otherwise in a package than in a checkout, word by word. */
const rewordings = {
  'docs/README.md': [
    [
      `The first minute is in the [README](../README.md): start it, share a secret, read it once. [try.md](try.md) goes on from there, on the same machine: accounts,
mail, a share domain, regions, PostgreSQL.`,
      'To start: set `MAYFLY_BASE_URL` in `/etc/mayfly/mayfly.env`, then `systemctl enable --now mayfly`.',
    ],
  ],
  'docs/install.md': [['The [README](../README.md) starts it in a minute. A real', 'A real']],
  'docs/operating.md': [
    [
      `The command is \`mayfly\`
here: write \`mayfly-admin\` where it was installed [as a service](install.md#as-a-service), \`docker compose exec mayfly mayfly\` in a container, and
\`npm run -s mayfly --\` in a checkout.`,
      `\`mayfly-admin\` runs a command as
the service's user with the service's settings.`,
    ],
  ],
  'docs/backup.md': [
    [
      'The command is `mayfly` here. In a container write `docker compose exec mayfly mayfly`, in a checkout `npm run -s mayfly --`.\n\n',
      '',
    ],
  ],
  'docs/command.md': [
    [
      'In a checkout, `npm run -s mayfly -- share` is the same as `mayfly share`. `mayfly help`',
      '`mayfly help`',
    ],
  ],
  'docs/proxies.md': [
    ['Then start Mayfly:\n\n```sh', 'Then set in `/etc/mayfly/mayfly.env`\n\n```sh'],
    ['https://secrets.example.com \\\nMAYFLY_DATA_DIR=/var/lib/mayfly \\\n', 'https://secrets.example.com\n'],
    ['MAYFLY_TRUSTED_PROXIES=127.0.0.1 \\\n', 'MAYFLY_TRUSTED_PROXIES=127.0.0.1\n'],
    ['MAYFLY_INTERNAL_PORT=9090 \\\nnpm start\n', 'MAYFLY_INTERNAL_PORT=9090\n'],
    [
      '[As a service](install.md#as-a-service) or [as a container](install.md#as-a-container) it runs without npm, which would keep 56 MB.',
      'and start it with `systemctl enable --now mayfly`.',
    ],
  ],
};

function reworded(path, text) {
  return (rewordings[path] ?? []).reduce((changed, [from, to]) => {
    if (!changed.includes(from)) throw new Error(`${path} no longer says: ${from}`);
    return changed.replace(from, () => to);
  }, text);
}

/** @returns null for a file that the package does not have */
function targetFrom(path, target) {
  const [file = '', anchor] = target.split('#');
  if (file === '' || file.includes('://')) return target;
  const place = places.get(posix.normalize(posix.join(posix.dirname(path), file)));
  if (place === undefined) return null;
  return anchor === undefined ? place : `${place}#${anchor}`;
}

const link = /\[([^\]]*)\]\(([^)]*)\)/g;

/** Prose: what leads nowhere is an item of an index that goes, a remark in parentheses that goes, or plain words. */
function relinked(path, text) {
  const leadsNowhere = (target) => targetFrom(path, target) === null;
  return text
    .replace(/^- \[[^\]]*\]\(([^)]*)\).*\n(?: {2}.*\n)*/gm, (item, target) =>
      leadsNowhere(target) ? '' : item,
    )
    .replace(/\s\(\[[^\]]*\]\(([^)]*)\)\)/g, (remark, target) => (leadsNowhere(target) ? '' : remark))
    .replace(link, (_, words, target) => {
      const to = targetFrom(path, target);
      if (to === null) return words;
      return `[${places.get(words) ?? words}](${to})`;
    })
    .replace(/`docs\/([\w-]+\.md)`/g, (named, name) => (places.has(`docs/${name}`) ? `\`${name}\`` : named));
}

/** Operators' commands are the service's, but those with settings in front: they are for another store than the service's. */
const withCommands = (text) =>
  text
    .replace(/^mayfly (?=(?:account|backup|burn-all|config|doctor|domain|keys|store)\b)/gm, 'mayfly-admin ')
    .replace(/`mayfly (?=(?:account|burn-all|config|doctor|domain|keys|store)\b)/g, '`mayfly-admin ');

/** Comments and commands that name files of the repository. */
export const withPlaces = (text) =>
  text.replace(/(?<![\w/])(?:docs|deploy)\/[\w-]+(?:\.\w+)*/g, (path) =>
    places.has(path) ? `${documentation}/${places.get(path)}` : path,
  );

/** A page by its path in the repository. */
function page(path) {
  const text = reworded(path, readFileSync(join(root, path), 'utf8'));
  // Every other part is a block of commands.
  const parts = text
    .split(/^( *```)/m)
    .map((part, at) => (at % 4 < 2 ? relinked(path, part) : withPlaces(part)));
  return withCommands(parts.join(''));
}

/** By name. */
export function documentationPages() {
  return [...pageNames.map((name) => [name, page(`docs/${name}`)]), ['SECURITY.md', page('SECURITY.md')]];
}

export function documentationExamples() {
  const text = (name) => withPlaces(readFileSync(join(root, 'deploy', name), 'utf8'));
  return exampleNames.map((name) => [`examples/${name}`, text(name)]);
}
